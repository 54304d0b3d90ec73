"""From prompts to a report: what each drafter brings, the decision, and up to how many texts at once it holds."""

import statistics
from collections.abc import Callable, Mapping, Sequence

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import Say, silent
from specdec_lab.formats import percentile
from specdec_lab.lab import Lab
from specdec_lab.measure import bench
from specdec_lab.measure.costs import batch_costs
from specdec_lab.measure.prompts import Prompt, first_of_each_kind
from specdec_lab.measure.results import Counts, tokens_per_pass
from specdec_lab.measure.serving import StepCosts
from specdec_lab.measure.traffic.decision import DEPLOY, decide

COPY = (
    "lookup",
    "lookup-tree",
    "suffix",
    "hybrid",
)  # drafters that copy, and so have no drafts in some of their rounds
BATCHES = (1, 2, 4, 8, 16)  # texts at once, for which steps are timed


def compare_drafters(
    lab: Lab,
    prompts: Sequence[Prompt],
    drafters: Sequence[str] | Mapping[str, int],
    repeats: int = 2,
    say: Say = silent,
    **settings,
) -> dict:
    """Decode all prompts plainly and with each drafter, and decide.

    Args:
        drafters: {drafter: its γ}. Without a γ each one has what is best in a pilot on a few of the prompts.
        settings: those of `Lab.settings`.

    Returns:
        As plain data: the rows of `bench`; the fastest drafter beside each other one ("compared") and chosen by other
        prompts ("judged"); the interval of tokens per pass by drafter; latency; what `decide` says; and a policy.
    """
    if isinstance(drafters, Mapping):
        gammas = drafters
    else:
        few = first_of_each_kind(prompts, 3)
        say(f"Looking for each drafter's best γ on {len(few)} prompts …")
        gammas = bench.best_gammas(lab, few, drafters, **settings)
    runs = bench.decode_all(lab, prompts, gammas, repeats=repeats, say=say, **settings)
    rows = list(bench.rows(prompts, runs, prompts))
    plain, *drafted = runs
    ids = [p.id for p in prompts]
    drafted.sort(key=lambda run: bench.ratio_to_plain(run, plain, ids) or 0.0, reverse=True)
    fastest, *others = drafted
    blind = chosen_blindly(drafted, prompts)
    measured = {
        "rows": rows,
        "judged": {
            "prompts": len(ids),
            "ratio_to_plain": bench.ratio_to_plain(blind, plain, ids),
            "ratio_interval": bench.ratio_interval(blind, plain, ids),
        },
        # The ratio to another arm is computed as the ratio to plain decoding is: on the same prompts, drawn together.
        "compared": [
            {
                "first": fastest.arm,
                "second": run.arm,
                "ratio": bench.ratio_to_plain(fastest, run, ids),
                "interval": bench.ratio_interval(fastest, run, ids),
            }
            for run in others
        ],
        "tokens_interval": {run.arm: list(tokens_per_pass(counts(run, ids))[1]) for run in drafted},
    }
    by_arm = bench.overall(rows)
    decided = decide(
        {run.arm: by_arm[run.arm] for run in drafted},
        measured["judged"],
        measured["compared"],
        {name: high for name, (_, high) in measured["tokens_interval"].items()},
    )
    chosen = next(run for run in drafted if run.arm == decided["estimate"]["drafter"])
    schedule = []
    if decided["verdict"] == DEPLOY:
        say("Timing batches, to see up to how many texts it pays …")
        schedule = best_schedule(lab, prompts, chosen)
    return {
        **measured,
        "latency": {run.arm: latency(run, prompts) for run in (plain, chosen)},
        **decided,
        "policy": policy_of(decided, rows, schedule),
    }


def counts(run: bench.Run, ids: Sequence[str]) -> Counts:
    """New tokens and passes of each prompt, in its first repeat."""
    return {i: (len(run.traces[i][0].tokens), run.traces[i][0].target_passes) for i in ids}


def best_schedule(lab: Lab, prompts: Sequence[Prompt], run: bench.Run) -> list[tuple[int, int, int]]:
    """The best γ of this run's drafter by the number of texts at once, as `StepCosts.schedule` makes it."""
    rounds = [r for p in prompts for r in run.traces[p.id][0].rounds]
    tokens = {g: 1 + statistics.fmean(min(r.accepted, g) for r in rounds) for g in gammas_up_to(int(run.gamma or 0))}
    text = lab.encode(prompts[0].content, prompts[0].raw)
    # A drafter that copies has drafts in some steps only. Here it is timed as if it had them in all: so the schedule
    # may turn drafts off too early, but not too late.
    drafter = None if run.arm in COPY else lab.drafter(run.arm)
    costs = StepCosts(batch_costs(lab.target, text, BATCHES, list(tokens), samples=3, drafter=drafter))
    return costs.schedule(tokens)


def chosen_blindly(drafted: Sequence[bench.Run], prompts: Sequence[Prompt]) -> bench.Run:
    """A run in which each prompt has the texts of the drafter that was the fastest on all *other* prompts.

    A drafter that is chosen as the fastest on some prompts looks a little too good on these same prompts. (The γ of
    each drafter does come from a pilot on a few of them.)
    """
    seconds, tokens = (
        {run.arm: {p.id: of(run.traces[p.id]) for p in prompts} for run in drafted}
        for of in (lambda texts: statistics.median(t.seconds for t in texts), lambda texts: len(texts[0].tokens))
    )
    pace = {name: (sum(seconds[name].values()), sum(tokens[name].values())) for name in seconds}

    def on_others(run: bench.Run, prompt: str) -> float:
        """Seconds a token, without this prompt."""
        all_seconds, all_tokens = pace[run.arm]
        others = all_tokens - tokens[run.arm][prompt]
        return (all_seconds - seconds[run.arm][prompt]) / others if others else 0.0

    best = {p.id: min(drafted, key=lambda run: on_others(run, p.id)) for p in prompts}
    return bench.Run("the best on other prompts", None, {i: run.traces[i] for i, run in best.items()})


def latency(run: bench.Run, prompts: Sequence[Prompt]) -> dict:
    """What a user waits for, in milliseconds: medians over the repeats, of which these are taken over the prompts.

    Returns:
        first: to the first token, which comes with the first round, the reading of the prompt included; the mean.
            In vLLM, SGLang and TensorRT-LLM it comes out of the reading itself, before any draft.
        mean, p50, p95: for a new token after the prompt was read.
        answer: for the whole answer, the reading of the prompt included; the mean.
    """

    def of(what: Callable[[Trace], float]) -> list[float]:
        return [1e3 * statistics.median(map(what, run.traces[p.id])) for p in prompts]

    ms = of(lambda t: t.seconds / len(t.tokens))
    return {
        "first": statistics.fmean(of(lambda t: t.clock[0])),
        "mean": statistics.fmean(ms),
        "p50": statistics.median(ms),
        "p95": percentile(ms, 0.95),
        "answer": statistics.fmean(of(lambda t: sum(t.clock))),
    }


def gammas_up_to(most: int) -> list[int]:
    """The γ that a schedule chooses from: none, 1, 2, 4, … and `most`."""
    return sorted({0, most, *(g for g in (1, 2, 4, 8) if g < most)})


def policy_of(decided: dict, rows: Sequence[dict], schedule: Sequence[tuple[int, int, int]]) -> dict:
    """What to switch on: nothing, if the verdict is not to deploy.

    With a single text drafts stay on even where the costs of batches, which are measured less well, say otherwise.

    Args:
        decided: as `decide` returns it. rows: of all arms and kinds, as `bench.rows` makes them.
        schedule: as `StepCosts.schedule` makes it.
    """
    deploy, name = decided["verdict"] == DEPLOY, decided["estimate"]["drafter"]
    losing = [r["kind"] for r in rows if r["arm"] == name and r["kind"] != "overall" and r["ratio_to_plain"] < 1]
    return {
        "drafter": name if deploy else None,
        "gamma": decided["estimate"]["gamma"] if deploy else 0,
        "off_for_kinds": losing if deploy else [],
        "off_above_texts_at_once": max([1, *(high for _, high, g in schedule if g)]) if deploy else 0,
        "largest_batch_measured": BATCHES[-1],
        "schedule": [list(stretch) for stretch in schedule] if deploy else [],
    }
