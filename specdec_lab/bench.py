"""Measuring drafters on many prompts: tokens per pass, acceptance, and time against plain decoding.

Every arm decodes every prompt, prompt by prompt in one process, in a new random order each time;
so whatever else the machine does hits all arms alike. Times exclude prefill. They may be taken from
some of the prompts, several times, where acceptance needs all of them, once.
"""

import json
import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.lab import Lab
from specdec_lab.record import Keep
from specdec_lab.trace import Trace

PLAIN = "plain"
PILOT_GAMMA = 8  # drafts a round while the best γ is looked for


@dataclass(frozen=True)
class Prompt:
    id: str
    kind: str
    content: str | list[dict]
    raw: bool = False


def read_prompts(source: str = "builtin") -> list[Prompt]:
    """The built-in prompts, or those of a JSON-lines file (its form is described in the README).

    Raises:
        LabError: naming the line that cannot be used.
    """
    if source == "builtin":
        text = resources.files("specdec_lab").joinpath("data/prompts.jsonl").read_text(encoding="utf-8")
    else:
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise LabError(f"The prompts in {source} cannot be read ({e}).") from e
    prompts: list[Prompt] = []
    for number, line in enumerate(text.split("\n"), start=1):  # JSON may hold the other line breaks
        if not line.strip():
            continue
        try:
            prompts.append(read_prompt(json.loads(line)))
            if prompts[-1].id in {p.id for p in prompts[:-1]}:
                raise ValueError(f"the id “{prompts[-1].id}” stands twice")
        except ValueError as e:
            raise LabError(
                f'Line {number} of {source} is no prompt ({e}): it must be {{"id", "kind", "prompt"}} or '
                '{"id", "kind", "messages"}.'
            ) from e
    if not prompts:
        raise LabError(f"There are no prompts in {source}.")
    return prompts


def read_prompt(entry: dict) -> Prompt:
    """One line's prompt; ValueError says what is wrong with it."""
    if not isinstance(entry, dict):
        raise ValueError("it is no object")
    if missing := {"id", "kind", "messages" if "messages" in entry else "prompt"} - set(entry):
        raise ValueError(f"“{min(missing)}” is missing")
    if "messages" in entry:
        content = entry["messages"]
        if not isinstance(content, list) or not content:
            raise ValueError("“messages” must be a list of messages")
        if not all(isinstance(m, dict) and {"role", "content"} <= set(m) for m in content):
            raise ValueError("each message needs “role” and “content”")
    else:
        content = entry["prompt"]
        if not isinstance(content, str) or not content.strip():
            raise ValueError("the prompt is empty")
    return Prompt(str(entry["id"]), str(entry["kind"]), content, bool(entry.get("raw", False)))


@dataclass
class Run:
    """All traces of one arm: prompt id → one trace for each repeat."""

    arm: str
    gamma: int
    traces: dict[str, list[Trace]] = field(default_factory=dict)


def measure(
    lab: Lab,
    prompts: Sequence[Prompt],
    gammas: dict[str, int],
    *,
    repeats: int = 1,
    timed: Sequence[Prompt] | None = None,
    say: Callable[[str], None] = lambda line: None,
    **settings,
) -> list[Run]:
    """Decode every prompt with every arm, plain first among them; `gammas` gives each drafter's γ.

    Args:
        repeats: decode the `timed` prompts so often, for steadier times, and the others once.
        timed: default: all prompts.
        settings: those of `Lab.settings`.

    One text before all others is decoded and thrown away.

    Raises:
        LabError: for a prompt that is too long.
    """
    drafters = {name: lab.drafter(name) for name in gammas}
    runs = {PLAIN: Run(PLAIN, 0)} | {name: Run(name, gamma) for name, gamma in gammas.items()}
    arms = list(runs)

    def decode(arm: str, ids: list[int], request: int) -> Trace:
        common = settings | {"request": request, "keep": Keep()}
        if arm == PLAIN:
            trace = lab.plain(ids, **common)
        else:
            trace = lab.speculative(ids, drafters[arm], gamma=gammas[arm], **common)
        if trace.interrupted:
            raise KeyboardInterrupt
        trace.check()
        return trace

    encoded = [lab.encode(p.content, p.raw) for p in prompts]  # all of them first: nothing is lost to a bad one
    for prompt, ids in zip(prompts, encoded):
        if len(ids) >= lab.target.context:
            raise LabError(
                f"The prompt “{prompt.id}” has {len(ids)} tokens, too many for {lab.target.name}: leave it out."
            )
    for arm in arms:
        decode(arm, encoded[0][:4], 0)
    once = list(zip(range(len(prompts)), prompts, encoded))
    todo = once + [job for job in once if timed is None or job[1] in timed] * (repeats - 1)
    dice = random.Random(0)
    for done, (number, prompt, ids) in enumerate(todo, start=1):
        for arm in dice.sample(arms, len(arms)):
            runs[arm].traces.setdefault(prompt.id, []).append(decode(arm, ids, number))
        say(f"{done} of {len(todo)} prompts ({prompt.id})")
    return list(runs.values())


def rows(prompts: Sequence[Prompt], runs: Sequence[Run], timed: Sequence[Prompt]) -> Iterator[dict]:
    """The report: a row for each arm and kind of prompt, and one over all of them ("overall").

    Args:
        timed: those of the prompts whose times count, at least one of each kind.
    """
    plain = runs[0]
    kinds = list(dict.fromkeys(p.kind for p in prompts))
    for run in runs:
        for kind in ("overall", *kinds):
            ids = ([p.id for p in some if kind in ("overall", p.kind)] for some in (prompts, timed))
            yield {"arm": run.arm, "kind": kind} | row(run, plain, *ids)


def row(run: Run, plain: Run, ids: Sequence[str], timed: Sequence[str]) -> dict:
    """One row. Everything is per token or per round, over all prompts together: long texts weigh more.

    Times are those of the prompts `timed`, in all repeats; everything else is of all `ids`, each counted once.
    """
    traces = [run.traces[i][0] for i in ids]
    together = Trace([], [r for t in traces for r in t.rounds])
    passes = together.tokens_per_pass
    steps, clocked = ([t for i in timed for t in of.traces[i]] for of in (plain, run))
    step = sum(t.seconds for t in steps) / sum(len(t.tokens) for t in steps)
    rounds = [r.seconds for t in clocked for r in t.rounds]
    parts = [sum(getattr(seconds, part) for seconds in rounds) / len(rounds) for part in ("draft", "verify", "loop")]
    d, v, o = (seconds / step for seconds in parts)
    speculative = run is not plain
    return {
        "gamma": run.gamma if speculative else None,
        "prompts": len(ids),
        "new_tokens": len(together.tokens),
        "tokens_per_pass": passes,
        "alpha": together.alpha,
        "alpha_by_position": together.alpha_by_position if speculative else None,
        "d": d if speculative else None,
        "v": v if speculative else None,
        "o": o if speculative else None,
        "tokens_per_second": sum(len(t.tokens) for t in clocked) / sum(t.seconds for t in clocked),
        "ratio_to_plain": ratio(run, plain, timed),
        "ratio_interval": interval(run, plain, timed) if speculative else None,
        "ratio_predicted": passes / (d + v + o) if speculative else None,
        "repetition": statistics.fmean(repetition(t.tokens) for t in traces),
    }


def ratio(run: Run, plain: Run, ids: Sequence[str]) -> float:
    """Plain seconds per token / this arm's, each summed over the prompts; medians over the repeats."""

    def cost(of: Run) -> float:
        seconds = sum(statistics.median(t.seconds for t in of.traces[i]) for i in ids)
        return seconds / sum(len(of.traces[i][0].tokens) for i in ids)

    return cost(plain) / cost(run)


def interval(run: Run, plain: Run, ids: Sequence[str], draws: int = 400) -> list[float] | None:
    """95 % of the ratio, by bootstrap over prompts (tokens of one text are not independent)."""
    if len(ids) < 5:
        return None
    dice = random.Random(0)
    ratios = sorted(ratio(run, plain, dice.choices(ids, k=len(ids))) for _ in range(draws))
    return [ratios[math.floor(0.025 * draws)], ratios[math.ceil(0.975 * draws) - 1]]


def repetition(tokens: Sequence[int], n: int = 4) -> float:
    """The share of n-grams that stood in the same text before: a small model's greedy loops flatter lookup."""
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def best_gamma(pilot: Run, plain: Run, ids: Sequence[str]) -> int:
    """The γ that the pilot's rounds predict to be fastest: S(γ) = E(γ) / (d + v + o).

    E(γ) is what the pilot's rounds would have emitted had they stopped at γ drafts. The cost of
    drafting is taken as proportional to the drafts, and that of the verify pass as a straight
    line between a plain step and the pilot's mean pass.
    """
    rounds = [r for i in ids for t in pilot.traces[i] for r in t.rounds]
    report = row(pilot, plain, ids, ids)
    drafted = statistics.fmean(len(r.drafted) for r in rounds)

    def predicted(gamma: int) -> float:
        emitted = 1 + statistics.fmean(min(r.accepted, gamma) for r in rounds)
        share = statistics.fmean(min(len(r.drafted), gamma) for r in rounds) / drafted if drafted else 0.0
        return emitted / (share * report["d"] + 1 + share * (report["v"] - 1) + report["o"])

    return max(range(1, PILOT_GAMMA + 1), key=predicted)


def first_of_each_kind(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """At most `most` prompts of each kind, in their order."""
    seen: dict[str, int] = {}
    chosen = []
    for p in prompts:
        seen[p.kind] = seen.get(p.kind, 0) + 1
        if seen[p.kind] <= most:
            chosen.append(p)
    return chosen
