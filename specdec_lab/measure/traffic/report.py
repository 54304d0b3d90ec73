"""From measured rounds to a decision: which drafter, with which γ, for which prompts, up to how many texts at once."""

import statistics
from collections.abc import Sequence

from specdec_lab.formats import percentile
from specdec_lab.lab import Lab
from specdec_lab.measure import bench
from specdec_lab.measure.costs import batch_costs
from specdec_lab.measure.prompts import FEW, Prompt, first_of_each_kind
from specdec_lab.measure.serving import StepCosts
from specdec_lab.say import Say, silent

BATCHES = (1, 2, 4, 8)


def short_enough(lab: Lab, prompts: Sequence[Prompt], new: int) -> tuple[list[Prompt], list[str]]:
    """The prompts that leave room for `new` tokens, and a sentence for each other one."""
    fit, problems = [], []
    for prompt in prompts:
        n = len(lab.encode(prompt.content, prompt.raw))
        if n + new <= lab.target.context:
            fit.append(prompt)
        else:
            problems.append(
                f"The prompt “{prompt.id}” was left out: it has {n} tokens, and {lab.target.name} can see "
                f"{lab.target.context}, the answer included."
            )
    return fit, problems


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
    run = next(r for r in runs if r.arm == best["arm"])
    say("Timing batches, to see up to how many texts it pays …")
    costs = batch_costs(lab.target, lab.encode("one two three"), BATCHES, (0, best["gamma"]), samples=3)
    limit = texts_at_once(StepCosts(costs), best)
    return {
        "rows": rows,
        "latency": {"plain": latency(runs[0], prompts), best["arm"]: latency(run, prompts)},
        **decide(rows, best, limit),
    }


def latency(run: bench.Run, prompts: Sequence[Prompt]) -> dict:
    """Milliseconds a new token, over prompts (the median of each over the repeats); prefill excluded."""
    ms = [1e3 * statistics.median(t.seconds / len(t.tokens) for t in run.traces[p.id]) for p in prompts]
    return {"mean": statistics.fmean(ms), "p50": statistics.median(ms), "p95": percentile(ms, 0.95)}


def texts_at_once(costs: StepCosts, row: dict) -> int:
    """The most texts with which drafts pay, up to BATCHES[-1]. The drafts of a step are made one text after the other.

    At least one: whether a single text gains was measured by the clock, which tells it better than these costs.
    """
    too_many = costs.crossover(row["gamma"], row["tokens_per_pass"], row["d"] * costs(1, 0))
    return BATCHES[-1] if too_many is None else max(1, too_many - 1)


def decide(rows: Sequence[dict], best: dict, limit: int) -> dict:
    """The policy and the verdict, with the sentence that defends it.

    deploy: even the lower end of the interval of the speed-up is above 1. don't: the upper end is
    below 1. unclear: anything else, or fewer than FEW prompts.
    """
    name, gamma, interval = best["arm"], best["gamma"], best["ratio_interval"]
    losing = [r["kind"] for r in rows if r["arm"] == name and r["kind"] != "overall" and r["ratio_to_plain"] < 1]
    if interval is None:
        verdict, why = "unclear", f"{best['prompts']} prompts are too few for an interval: bring at least {FEW}"
    elif interval[0] > 1:
        verdict, why = "deploy", f"even the low end, {interval[0]:.2f}, is faster than plain decoding"
    elif interval[1] < 1:
        verdict, why = "don't", f"even the high end, {interval[1]:.2f}, is slower than plain decoding"
    else:
        verdict, why = "unclear", "the interval holds both a gain and a loss: bring more prompts, or leave it off"
    measured = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    deploy = verdict == "deploy"
    return {
        "verdict": verdict,
        "reason": f"The best drafter is {name} with γ = {gamma}: {best['ratio_to_plain']:.2f} times plain decoding{measured}; {why}.",
        "policy": {
            "drafter": name if deploy else None,
            "gamma": gamma if deploy else 0,
            "off_for_kinds": losing if deploy else [],
            "off_above_texts_at_once": limit if deploy else 0,
            "largest_batch_measured": BATCHES[-1],
        },
    }
