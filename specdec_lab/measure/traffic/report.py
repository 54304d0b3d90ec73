"""From measured rounds to a decision: which drafter, with which γ, for which prompts, up to how many texts at once."""

import statistics
from collections.abc import Callable, Sequence

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import Say, silent
from specdec_lab.formats import percentile
from specdec_lab.lab import Lab
from specdec_lab.measure import bench
from specdec_lab.measure.costs import batch_costs
from specdec_lab.measure.prompts import FEW, Prompt, first_of_each_kind
from specdec_lab.measure.serving import StepCosts

COPY = (
    "lookup",
    "lookup-tree",
    "suffix",
    "hybrid",
)  # drafters that copy, and so have no drafts in some of their rounds
BATCHES = (1, 2, 4, 8, 16)  # texts at once, for which steps are timed


def compare_drafters(
    lab: Lab, prompts: Sequence[Prompt], drafters: Sequence[str], repeats: int = 2, say: Say = silent, **settings
) -> dict:
    """Decode all prompts plainly and with each drafter at its best γ.

    Args:
        settings: those of `Lab.settings`.

    Returns:
        The rows of `bench`, latency, a policy and a verdict, as plain data.
    """
    few = first_of_each_kind(prompts, 3)
    say(f"Looking for each drafter's best γ on {len(few)} prompts …")
    gammas = bench.best_gammas(lab, few, drafters, **settings)
    runs = bench.decode_all(lab, prompts, gammas, repeats=repeats, say=say, **settings)
    rows = list(bench.rows(prompts, runs, prompts))
    best = max((r for r in rows if r["kind"] == "overall" and r["gamma"]), key=lambda r: r["ratio_to_plain"])
    plain, *drafted = runs
    fastest = next(run for run in drafted if run.arm == best["arm"])
    say("Timing batches, to see up to how many texts it pays …")
    rounds = [r for p in prompts for r in fastest.traces[p.id][0].rounds]
    tokens = {g: 1 + statistics.fmean(min(r.accepted, g) for r in rounds) for g in gammas_up_to(best["gamma"])}
    text = lab.encode(prompts[0].content, prompts[0].raw)
    # A drafter that copies has drafts in some steps only. Here it is timed as if it had them in all: so the schedule
    # may turn drafts off too early, but not too late.
    drafter = None if best["arm"] in COPY else lab.drafter(best["arm"])
    costs = StepCosts(batch_costs(lab.target, text, BATCHES, list(tokens), samples=3, drafter=drafter))
    blind, ids = chosen_blindly(drafted, prompts), [p.id for p in prompts]
    judged = {
        "prompts": len(ids),
        "ratio_to_plain": bench.ratio_to_plain(blind, plain, ids),
        "ratio_interval": bench.ratio_interval(blind, plain, ids),
    }
    return {
        "rows": rows,
        "judged": judged,
        "latency": {run.arm: latency(run, prompts) for run in (plain, fastest)},
        **decide(rows, best, judged, costs.schedule(tokens)),
    }


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


def decide(rows: Sequence[dict], best: dict, judged: dict, schedule: Sequence[tuple[int, int, int]]) -> dict:
    """The verdict, the sentence that gives its reason, and the policy.

    deploy: even the lower end of the interval of the speed-up is above 1. don't: the upper end is
    below 1. unclear: anything else, or fewer than FEW prompts. With a single text drafts stay on even where the costs
    of batches, which are measured less well, say otherwise.

    Args:
        rows: of all drafters, as `bench.rows` makes them; best: the one of the fastest drafter.
        judged: the speed-up and its interval, of drafters that were each chosen without the prompt that judges them.
        schedule: as `StepCosts.schedule` makes it.
    """
    name, gamma, interval = best["arm"], best["gamma"], judged["ratio_interval"]
    losing = [r["kind"] for r in rows if r["arm"] == name and r["kind"] != "overall" and r["ratio_to_plain"] < 1]
    if interval is None:
        verdict, why = "unclear", f"{judged['prompts']} prompts are too few for an interval: bring at least {FEW}"
    elif interval[0] > 1:
        verdict, why = "deploy", f"even the low end, {interval[0]:.2f}, is faster than plain decoding"
    elif interval[1] < 1:
        verdict, why = "don't", f"even the high end, {interval[1]:.2f}, is slower than plain decoding"
    else:
        verdict, why = "unclear", "the interval holds both a gain and a loss: bring more prompts, or leave it off"
    gains = [f"{best['ratio_to_plain']:.2f} times plain decoding on these {judged['prompts']} prompts"]
    if len({r["arm"] for r in rows}) > 2:
        gains.append(f"{judged['ratio_to_plain']:.2f} times where it was chosen by the other prompts")
    measured = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    deploy = verdict == "deploy"
    return {
        "verdict": verdict,
        "reason": f"The best drafter is {name} with γ = {gamma}: {', and '.join(gains)}{measured}; {why}.",
        "policy": {
            "drafter": name if deploy else None,
            "gamma": gamma if deploy else 0,
            "off_for_kinds": losing if deploy else [],
            "off_above_texts_at_once": max([1, *(high for _, high, g in schedule if g)]) if deploy else 0,
            "largest_batch_measured": BATCHES[-1],
            "schedule": [list(stretch) for stretch in schedule] if deploy else [],
        },
    }
