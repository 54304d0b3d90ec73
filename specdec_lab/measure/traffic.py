"""From prompts to a report: what each drafter brings, the one decision, and up to how many texts at once it holds."""

import statistics
from collections.abc import Callable, Mapping, Sequence

from specdec_lab.engine.trace import ACCEPTED, Trace
from specdec_lab.errors import Say, silent
from specdec_lab.formats import percentile
from specdec_lab.lab import Lab
from specdec_lab.measure import bench
from specdec_lab.measure.costs import batch_costs
from specdec_lab.measure.prompts import DEPLOY, DONT, ENOUGH, LONG, TIED, TOO_FEW, UNCLEAR, Prompt, first_of_each_kind
from specdec_lab.measure.results import tokens_per_pass
from specdec_lab.measure.serving import StepCosts

COPY = "lookup", "lookup-tree", "hybrid", "hybrid-tree"  # they copy, and so have no drafts in some of their rounds
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
    plain, *drafted = runs = bench.decode_all(lab, prompts, gammas, repeats=repeats, say=say, **settings)
    rows, ids = list(bench.rows(prompts, runs, prompts)), [p.id for p in prompts]
    drafted.sort(key=lambda run: bench.ratio_to_plain(run, plain, ids), reverse=True)
    fastest, *others = drafted
    cut_at = min((len(t.tokens) for i in ids for t in plain.traces[i] if t.stop == "limit"), default=None)
    judged = {"prompts": len(ids), "cut_at": cut_at, **ratio(chosen_blindly(drafted, prompts), plain, ids)}
    # The ratio to another arm is computed as the ratio to plain decoding is: on the same prompts, drawn together.
    compared = [
        {"first": fastest.arm, "second": run.arm, "ratio": r["ratio_to_plain"], "interval": r["ratio_interval"]}
        for run, r in ((run, ratio(fastest, run, ids)) for run in others)
    ]
    intervals = {run.arm: tokens_interval(run, ids) for run in drafted}
    decided = decide({run.arm: bench.overall(rows)[run.arm] for run in drafted}, judged, compared, intervals)
    chosen = next(run for run in drafted if run.arm == decided["estimate"]["drafter"])
    schedule = []
    if decided["verdict"] == DEPLOY:
        say("Timing batches, to see up to how many texts it pays …")
        schedule = best_schedule(lab, prompts, chosen)
    return {
        "rows": rows,
        "judged": judged,
        "compared": compared,
        "tokens_interval": intervals,
        "latency": {run.arm: latency(run, prompts) for run in (plain, chosen)},
        **decided,
        "policy": policy_of(decided, rows, schedule),
    }


def ratio(run: bench.Run, other: bench.Run, ids: Sequence[str]) -> dict:
    found = bench.ratio_to_plain(run, other, ids), bench.ratio_interval(run, other, ids)
    return dict(zip(("ratio_to_plain", "ratio_interval"), found))


def tokens_interval(run: bench.Run, ids: Sequence[str]) -> list[float]:
    """The 95 % interval of tokens per pass, from each prompt's first repeat."""
    counts = {i: (len(run.traces[i][0].tokens), run.traces[i][0].target_passes) for i in ids}
    return list(tokens_per_pass(counts)[1])


def decide(
    rows: Mapping[str, dict],
    judged: Mapping,
    compared: Sequence[Mapping],
    tokens_intervals: Mapping[str, Sequence[float]],
) -> dict:
    """The verdict, the sentences that give its reason, and the estimate that it rests on.

    Drafters that cannot be told apart from the fastest one are candidates as it is, and the *safest* of them is the
    one with the largest low end. The fastest one was chosen by these very prompts, and so looks too good on them; its
    interval is the one of `judged`.

    too few prompts: fewer than ENOUGH. unclear: answers that were cut off before LONG tokens. deploy: even the low end
    of the safest candidate is above 1. don't: the high end of every candidate is below 1, or it cannot gain whatever
    the clock says (`cannot_gain`). unclear: anything else.

    Args:
        rows: {drafter: its row over all prompts, as `bench.rows` makes it}, the fastest first.
        judged: how many prompts; at how many tokens an answer was cut off, if one was; times plain decoding and the
            interval of that, where each prompt was judged with the drafter that was the fastest on the others.
        compared: for each other drafter how many times as fast the fastest one is, with the interval of this ratio.
        tokens_intervals: {drafter: the interval of its tokens per pass}.

    Returns:
        The "estimate" is about the candidate that would be switched on; if none would, about the fastest drafter.
    """
    fastest = next(iter(rows))
    trusted = rows if len(rows) == 1 else {**rows, fastest: judged}
    said = [what_it_brings(rows[fastest], judged, alone=len(rows) == 1)]

    def decided(verdict: str, name: str, why: str) -> dict:
        estimate = {key: trusted[name][key] for key in ("ratio_to_plain", "ratio_interval")}
        estimate = {"drafter": name, "gamma": rows[name]["gamma"], **estimate}
        return {"verdict": verdict, "reason": f"{'. '.join(said)}; {why}.", "estimate": estimate}

    if judged["prompts"] < ENOUGH:
        return decided(TOO_FEW, fastest, f"{judged['prompts']} prompts are too few to decide: bring at least {ENOUGH}")
    if (cut := judged["cut_at"]) and cut < LONG:
        return decided(UNCLEAR, fastest, f"answers cut off at {cut} tokens decide nothing: give them {LONG} or more")
    tied = [other for other in compared if round(other["interval"][0], 2) <= 1 + TIED]
    said += beside_others(fastest, compared, tied)
    candidates = [fastest, *(other["second"] for other in tied)]
    low, high = ({name: trusted[name]["ratio_interval"][end] for name in candidates} for end in (0, 1))
    most = {name: tokens_intervals[name][1] for name in candidates}
    safest = max(candidates, key=low.__getitem__)
    if low[safest] > 1:
        if tied:
            known = "" if safest == fastest else f", {times(rows[safest])} as fast as plain decoding"
            said.append(f"{safest} with γ = {rows[safest]['gamma']} is the safer one{known}")
        return decided(DEPLOY, safest, f"even the low end, {low[safest]:.2f}, is faster than plain decoding")
    if all(high[name] < 1 or cannot_gain(rows[name], most[name]) for name in candidates):
        return decided(DONT, fastest, why_not(rows[fastest], high[fastest], most[fastest]))
    why = "neither a gain nor a loss is shown: bring more prompts, or leave drafts off"
    return decided(UNCLEAR, fastest, why)


def cannot_gain(row: Mapping, most: float) -> bool:
    """Whether the drafts of a round cost more than it can gain, whatever the clock says.

    A round writes `most` tokens at the most. It costs one pass, which is not cheaper than a plain step (or v, on a
    machine where a wider pass is cheaper), and d for the drafts; its loop comes on top.
    """
    return most <= row["d"] + min(1.0, row["v"])


def why_not(row: Mapping, high: float, most: float) -> str:
    if high < 1:
        return f"even the high end, {high:.2f}, is slower than plain decoding"
    return (
        f"a round writes {row['tokens_per_pass']:.2f} tokens, {most:.2f} at the most with other prompts, and its drafts "
        f"alone cost {row['d']:.2f} of a plain step: that cannot pay"
    )


def what_it_brings(row: Mapping, judged: Mapping, alone: bool) -> str:
    """What the fastest drafter brings on these prompts and, if it was chosen among several, on others."""
    on = f"these {judged['prompts']} prompts, over {row['new_tokens'] / row['prompts']:.0f} tokens an answer"
    said = f"{row['arm']} with γ = {row['gamma']} is {times(row)} as fast as plain decoding on {on}"
    return said if alone else f"{said}, and {times(judged)} where the drafter was chosen by the other prompts"


def beside_others(fastest: str, compared: Sequence[Mapping], tied: Sequence[Mapping]) -> list[str]:
    """Whether the fastest drafter can be told apart from the others: a sentence, or none where there is no other."""
    shown = [{**c, "ratio_to_plain": c["ratio"], "ratio_interval": c["interval"]} for c in tied or compared[:1]]
    ratios = " and ".join(f"{times(c)} as fast as {c['second']}" for c in shown)
    if tied:
        names = " and ".join([fastest, *(c["second"] for c in tied)])
        return [f"{names} cannot be told apart here: {fastest} is {ratios}"]
    return [f"It is {ratios}"] if compared else []


def times(row: Mapping) -> str:
    between = " ({:.2f} to {:.2f})".format(*row["ratio_interval"]) if row["ratio_interval"] else ""
    return f"{row['ratio_to_plain']:.2f} times{between}"


def best_schedule(lab: Lab, prompts: Sequence[Prompt], run: bench.Run) -> list[tuple[int, int, int]]:
    """The best γ of this run's drafter by the number of texts at once, as `StepCosts.schedule` makes it."""
    rounds = [r for p in prompts for r in run.traces[p.id][0].rounds]
    tokens = {  # of a tree g drafts, whatever their depth
        g: 1 + statistics.fmean(sum(d.status == ACCEPTED for d in r.drafted[:g]) for r in rounds)
        for g in gammas_up_to(run.gamma or 0)
    }
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
    seconds = {
        run.arm: {p.id: statistics.median(t.seconds for t in run.traces[p.id]) for p in prompts} for run in drafted
    }
    tokens = {run.arm: {p.id: len(run.traces[p.id][0].tokens) for p in prompts} for run in drafted}
    sums = {name: (sum(seconds[name].values()), sum(tokens[name].values())) for name in seconds}

    def on_others(run: bench.Run, prompt: str) -> float:
        """Seconds a token, without this prompt."""
        all_seconds, all_tokens = sums[run.arm]
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
    """What to switch on: nothing, if the verdict is not to deploy. A kind of prompt is left out where even the high end of
    its interval is a loss.

    With a single text drafts stay on even where the costs of batches, which are measured less well, say otherwise.

    Args:
        decided: as `decide` returns it. rows: of all arms and kinds, as `bench.rows` makes them.
        schedule: as `StepCosts.schedule` makes it.
    """
    deploy, name = decided["verdict"] == DEPLOY, decided["estimate"]["drafter"]
    kinds = [r for r in rows if r["arm"] == name and r["kind"] != "overall"]
    losing = [r["kind"] for r in kinds if r["ratio_interval"] and r["ratio_interval"][1] < 1]
    return {
        "drafter": name if deploy else None,
        "gamma": decided["estimate"]["gamma"] if deploy else 0,
        "off_for_kinds": losing if deploy else [],
        "off_above_texts_at_once": max([1, *(high for _, high, g in schedule if g)]) if deploy else 0,
        "largest_batch_measured": BATCHES[-1],
        "schedule": [list(stretch) for stretch in schedule] if deploy else [],
    }
