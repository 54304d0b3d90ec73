"""Measuring drafters on many prompts: tokens per pass, acceptance, and time against plain decoding.

An arm is one way of decoding. Every arm decodes every prompt, prompt by prompt in one process, in a new
random order each time; so whatever else the machine does hits all arms alike. Times exclude prefill.
Acceptance needs all prompts, once; times may be taken from some of them, several times.
"""

import copy
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from specdec_lab.choices import PEERS
from specdec_lab.engine.decode import Keep
from specdec_lab.engine.drafter import Drafter
from specdec_lab.engine.trace import ACCEPTED, Round, Trace
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.lab import Lab
from specdec_lab.measure.costs import pass_times
from specdec_lab.measure.prompts import FEW, Prompt, bootstrap_interval

PLAIN = "plain"
PILOT_GAMMA = 8  # drafts a round while the best γ is looked for
OF_ROUNDS = ("alpha", "alpha_by_position", "d", "v", "o", "ratio_from_parts", "slow_rounds")  # None for plain decoding
SLOW = 0.1  # From this share of the time on, slow rounds make a time doubtful.


@dataclass
class Run:
    """All texts of one arm: prompt id → one trace for each repeat."""

    arm: str
    gamma: int | None  # None for plain decoding
    traces: dict[str, list[Trace]] = field(default_factory=dict)


def usable(lab: Lab, prompts: Sequence[Prompt], new: int) -> tuple[list[Prompt], list[str]]:
    """The prompts that the target's template takes and that leave room for `new` tokens, and a sentence for each other
    one: a prompt that cannot be decoded loses no run.
    """
    fit, problems = [], []
    for prompt in prompts:
        try:
            n = len(lab.encode(prompt.content, prompt.raw))
        except LabError as e:
            problems.append(f"The prompt “{prompt.id}” was left out. {e}")
            continue
        if n + new <= lab.target.context:
            fit.append(prompt)
        else:
            problems.append(
                f"The prompt “{prompt.id}” was left out: it has {n} tokens, and {lab.target.name} can see "
                f"{lab.target.context}, the answer included."
            )
    return fit, problems


def decode_all(
    lab: Lab,
    prompts: Sequence[Prompt],
    gammas: Mapping[str, int],
    *,
    repeats: int = 1,
    timed: Sequence[Prompt] | None = None,
    say: Say = silent,
    **settings,
) -> list[Run]:
    """Decode every prompt with every arm. To warm up, each arm first decodes a short text that is thrown away.

    Args:
        gammas: each drafter's γ, by the drafter's name.
        repeats: how often the `timed` prompts are decoded, for steadier times; the others are decoded once.
        timed: default: all prompts.
        settings: those of `Lab.settings`.

    Returns:
        A run for each arm: plain decoding, and the drafters.
    """

    def speculative(drafter: Drafter, gamma: int, ids: list[int], **request) -> Trace:
        # A copy for each text: what it holds in memory goes with it, and the next text can have that.
        return lab.speculative(ids, drafter=copy.copy(drafter), gamma=gamma, keep=Keep(), **request)

    arms: dict[str, Callable[..., Trace]] = {PLAIN: lab.plain}
    arms |= {name: partial(speculative, lab.drafter(name), gamma) for name, gamma in gammas.items()}
    runs = {arm: Run(arm, gammas.get(arm)) for arm in arms}

    def decode(arm: str, ids: list[int], request: int) -> Trace:
        trace = arms[arm](ids, request=request, **settings)
        if trace.interrupted:
            raise KeyboardInterrupt
        trace.check()
        return trace

    encoded = [lab.encode(p.content, p.raw) for p in prompts]
    for arm in arms:
        decode(arm, encoded[0][:4], 0)
    once = list(zip(range(len(prompts)), prompts, encoded))
    todo = once + [job for job in once if timed is None or job[1] in timed] * (repeats - 1)
    dice = random.Random(0)
    for done, (number, prompt, ids) in enumerate(todo, start=1):
        for arm in dice.sample(list(arms), len(arms)):
            runs[arm].traces.setdefault(prompt.id, []).append(decode(arm, ids, number))
        say(f"{done} of {len(todo)} prompts ({prompt.id})")
    return list(runs.values())


def identical(runs: Sequence[Run]) -> dict[str, int]:
    """For each arm, how many of its texts, of the first repeat, are plain decoding's, token for token."""
    plain, *others = runs
    return {run.arm: sum(t[0].tokens == plain.traces[i][0].tokens for i, t in run.traces.items()) for run in others}


def rows(prompts: Sequence[Prompt], runs: Sequence[Run], timed: Sequence[Prompt]) -> Iterator[dict]:
    """The report: a row for each arm and kind of prompt, and one over all of them ("overall").

    Args:
        runs: as `decode_all` returned them, plain decoding first.
        timed: those of the prompts whose times count, at least one of each kind.
    """
    plain = runs[0]
    kinds = list(dict.fromkeys(p.kind for p in prompts))
    for run in runs:
        for kind in ("overall", *kinds):
            ids = ([p.id for p in some if kind in ("overall", p.kind)] for some in (prompts, timed))
            yield {"arm": run.arm, "kind": kind} | summary(run, plain, *ids)


def overall(rows: Iterable[dict], peers: bool = True) -> dict[str, dict]:
    """{arm: its row over all kinds of prompts}, of a report; with the arms of other programs, or without."""
    wanted = (row for row in rows if row["kind"] == "overall" and (peers or not row["arm"].startswith(PEERS)))
    return {row["arm"]: row for row in wanted}


def doubt(name: str, row: Mapping) -> str | None:
    """What speaks against the times of a row of the report, as a sentence that asks to measure again; None if nothing."""
    if (row["slow_rounds"] or 0) <= SLOW:
        return None
    said = f"Doubtful: a few slow rounds took {row['slow_rounds']:.0%} of the time of {name}."
    return f"{said} Measure again, when nothing else runs."


def summary(run: Run, plain: Run, ids: Sequence[str], timed: Sequence[str]) -> dict:
    """What a row says of one arm and some prompts. All numbers are per token or per round: long texts weigh more.

    Args:
        ids: of all these prompts; everything but times comes from them, each counted once.
        timed: ids of the prompts that times come from, in all repeats.
    """
    texts = [run.traces[i][0] for i in ids]
    clocked = [t for i in timed for t in run.traces[i]]
    tokens = sum(len(t.tokens) for t in texts)
    speculative = run is not plain
    step = statistics.median(r.seconds.total for i in timed for t in plain.traces[i] for r in t.rounds)
    return {
        "gamma": run.gamma if speculative else None,
        "prompts": len(ids),
        "new_tokens": tokens,
        "tokens_per_pass": tokens / sum(t.target_passes for t in texts),
        **(summary_of_rounds(texts, clocked, step) if speculative else dict.fromkeys(OF_ROUNDS)),
        "tokens_per_second": tokens_per_second(clocked),
        "ratio_to_plain": ratio_to_plain(run, plain, timed),
        "ratio_interval": ratio_interval(run, plain, timed) if speculative else None,
        "repetition": statistics.fmean(repetition(t.tokens) for t in texts),
    }


def summary_of_rounds(texts: Sequence[Trace], clocked: Sequence[Trace], step: float) -> dict:
    """What only rounds tell, by OF_ROUNDS: the acceptance in `texts`, and where the time of `clocked` went.

    d, v and o are what a round takes for drafting, for the verify pass and for the loop, in units of the median plain
    step (see `median_per_round`). ratio_from_parts is the speed-up that follows from them: E / (d + v + o). slow_rounds is the
    part of the clock that they leave out: 0.1 where one tenth of the time went into a few slow rounds.
    """
    together, timed = (Trace([], [r for t in some for r in t.rounds]) for some in (texts, clocked))
    d, v, o = (median_per_round(timed.rounds, part) / step for part in ("draft", "verify", "loop"))
    speedup = (timed.tokens_per_pass or 0.0) / (d + v + o)
    clock = statistics.fmean(r.seconds.total for r in timed.rounds) / step
    return dict(zip(OF_ROUNDS, (together.alpha, together.alpha_by_position, d, v, o, speedup, 1 - (d + v + o) / clock)))


def median_per_round(rounds: Sequence[Round], part: str) -> float:
    """Seconds that a round takes for "draft", "verify" or "loop": the median of the rounds with as many drafts, and the
    mean of these medians over all rounds. So one pause moves nothing, and a hybrid's cheap rounds count with its dear ones.
    """
    seconds: dict[int, list[float]] = {}
    for r in rounds:
        seconds.setdefault(len(r.drafted), []).append(getattr(r.seconds, part))
    return sum(len(some) * statistics.median(some) for some in seconds.values()) / len(rounds)


def tokens_per_second(texts: Sequence[Trace]) -> float:
    return sum(len(t.tokens) for t in texts) / sum(t.seconds for t in texts)


def ratio_to_plain(run: Run, plain: Run, ids: Sequence[str]) -> float:
    """Plain seconds per token / this arm's, each summed over the prompts; medians over the repeats."""

    def seconds_per_token(arm: Run) -> float:
        seconds = sum(statistics.median(t.seconds for t in arm.traces[i]) for i in ids)
        return seconds / sum(len(arm.traces[i][0].tokens) for i in ids)

    return seconds_per_token(plain) / seconds_per_token(run)


def ratio_interval(run: Run, plain: Run, ids: Sequence[str]) -> list[float] | None:
    """The 95 % interval of the ratio; None for fewer than FEW prompts."""
    interval = bootstrap_interval(partial(ratio_to_plain, run, plain), ids) if len(ids) >= FEW else None
    return interval and list(interval)


def repetition(tokens: Sequence[int], n: int = 4) -> float:
    """The share of n-grams that stood in the same text before. Texts that repeat themselves are easy to copy from."""
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def split_pilot(prompts: Sequence[Prompt]) -> tuple[list[Prompt], list[Prompt]]:
    """About a quarter of the prompts of each kind, for pilots; and the prompts to measure on: the others, or all
    prompts if the others are fewer than FEW. A kind's only prompt is both, so that no kind is missing in the result.

    Every fourth, not the first ones: files have an order, and the first ones of a kind may be the easy ones.
    """
    kinds = Counter(p.kind for p in prompts)
    each = max(1, len(prompts) // len(kinds) // 4)
    pilot = []
    for kind in kinds:
        pilot += [p for p in prompts if p.kind == kind][::4][:each]
    others = [p for p in prompts if p not in pilot or kinds[p.kind] == 1]
    return pilot, others if len(others) >= FEW else list(prompts)


def best_gammas(lab: Lab, prompts: Sequence[Prompt], drafters: Sequence[str], **settings) -> dict[str, int]:
    """Each drafter's best γ, from a pilot run on these prompts. `settings` are those of `Lab.settings`."""
    plain, *pilots = decode_all(lab, prompts, dict.fromkeys(drafters, PILOT_GAMMA), **settings)
    passes = pass_times(lab.target, [k for k in range(1, PILOT_GAMMA + 2) if k <= lab.target.context])
    cost = {k: statistics.median(seconds) for k, seconds in passes.items()}
    return {pilot.arm: best_gamma(pilot, plain, list(pilot.traces), cost) for pilot in pilots}


def best_gamma(pilot: Run, plain: Run, ids: Sequence[str], cost: Mapping[int, float]) -> int:
    """The γ with which the pilot's rounds predict the largest speed-up.

    E(γ) is what the pilot's rounds would have emitted if they had stopped at γ drafts (in a tree the likeliest come
    first). The time of drafting is taken as proportional to the number of drafts, round by round (a hybrid's rounds
    differ). The verify pass costs what a pass of its width costs: with weights in 4 bits that is no straight line.

    Args:
        cost: T(k), seconds of a pass over k tokens, for k up to PILOT_GAMMA + 1.
    """
    rounds = [r for i in ids for t in pilot.traces[i] for r in t.rounds]
    costs = summary(pilot, plain, ids, ids)
    drafting = sum(r.seconds.draft for r in rounds)

    def predicted(gamma: int) -> float:
        emitted = 1 + statistics.fmean(sum(d.status == ACCEPTED for d in r.drafted[:gamma]) for r in rounds)
        parts = ((r.seconds.draft, min(1, gamma / max(1, len(r.drafted)))) for r in rounds)
        d = costs["d"] * sum(s * part for s, part in parts) / drafting if drafting else 0.0
        v = statistics.fmean(cost[min(len(r.drafted), gamma, max(cost) - 1) + 1] for r in rounds) / cost[1]
        return emitted / (d + v + costs["o"])

    return max(range(1, PILOT_GAMMA + 1), key=predicted)
