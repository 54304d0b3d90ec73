"""The one decision of a report: which drafter, or none, and why. The page, the letter and the policy follow it."""

from collections.abc import Mapping, Sequence

from specdec_lab.measure.prompts import ENOUGH, TIED

DEPLOY, DONT, UNCLEAR, TOO_FEW = "deploy", "don't", "unclear", "too few prompts"


def decide(
    rows: Mapping[str, dict], judged: Mapping, compared: Sequence[Mapping], most_tokens: Mapping[str, float]
) -> dict:
    """The verdict, the sentences that give its reason, and the estimate that it rests on.

    Drafters that cannot be told apart from the fastest one are candidates as it is, and the *safest* of them is the
    one with the largest low end. The fastest one was chosen by these very prompts, and so looks too good on them; its
    interval is the one of `judged`.

    too few prompts: fewer than ENOUGH. deploy: even the low end of the safest candidate is above 1. don't: the high end
    of every candidate is below 1, or it cannot gain whatever the clock says (`cannot_gain`). unclear: anything else.

    Args:
        rows: {drafter: its row over all prompts, as `bench.rows` makes it}, the fastest first.
        judged: how many prompts; times plain decoding and the interval of that, where each prompt was judged with the
            drafter that was the fastest on the others.
        compared: for each other drafter how many times as fast the fastest one is, with the interval of this ratio.
        most_tokens: {drafter: the high end of the interval of its tokens per pass}.

    Returns:
        The "estimate" is about the candidate that would be switched on; if none would, about the fastest drafter.
    """
    fastest, prompts = next(iter(rows)), judged["prompts"]
    trusted = {name: (row["ratio_to_plain"], row["ratio_interval"]) for name, row in rows.items()}
    if len(rows) > 1:
        trusted[fastest] = judged["ratio_to_plain"], judged["ratio_interval"]
    chosen, tied = fastest, []
    if prompts < ENOUGH:
        verdict, why = TOO_FEW, f"{prompts} prompts are too few to decide: bring at least {ENOUGH}"
    else:
        tied = [other for other in compared if round(other["interval"][0], 2) <= 1 + TIED]
        candidates = [fastest, *(other["second"] for other in tied)]
        low, high = ({name: trusted[name][1][end] for name in candidates} for end in (0, 1))
        safest = max(candidates, key=low.__getitem__)
        if low[safest] > 1:
            chosen, verdict = safest, DEPLOY
            why = f"even the low end, {low[safest]:.2f}, is faster than plain decoding"
        elif all(high[name] < 1 or cannot_gain(rows[name], most_tokens[name]) for name in candidates):
            verdict, why = DONT, why_not(rows[fastest], high[fastest], most_tokens[fastest])
        else:
            verdict, why = UNCLEAR, "neither a gain nor a loss is shown: bring more prompts, or leave drafts off"
    said = [measured(rows[fastest], judged, alone=len(rows) == 1)]
    if prompts >= ENOUGH:
        said += beside_others(fastest, compared, tied)
    if verdict == DEPLOY and tied:
        safe = rows[chosen]
        known = "" if chosen == fastest else f", {times(*trusted[chosen])} as fast as plain decoding"
        said.append(f"{chosen} with γ = {safe['gamma']} is the safer one{known}")
    ratio, interval = trusted[chosen]
    return {
        "verdict": verdict,
        "reason": f"{'. '.join(said)}; {why}.",
        "estimate": {
            "drafter": chosen,
            "gamma": rows[chosen]["gamma"],
            "ratio_to_plain": ratio,
            "ratio_interval": interval,
        },
    }


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


def measured(row: Mapping, judged: Mapping, alone: bool) -> str:
    """What the fastest drafter brings on these prompts and, if it was chosen among several, on others."""
    own = times(row["ratio_to_plain"], row["ratio_interval"])
    said = (
        f"{row['arm']} with γ = {row['gamma']} is {own} as fast as plain decoding on these {judged['prompts']} prompts"
    )
    if alone:
        return said
    blind = times(judged["ratio_to_plain"], judged["ratio_interval"])
    return f"{said}, and {blind} where the drafter was chosen by the other prompts"


def beside_others(fastest: str, compared: Sequence[Mapping], tied: Sequence[Mapping]) -> list[str]:
    """Whether the fastest drafter can be told apart from the others: a sentence, or none where there is no other."""
    shown = tied or compared[:1]
    ratios = " and ".join(f"{times(c['ratio'], c['interval'])} as fast as {c['second']}" for c in shown)
    if tied:
        names = " and ".join([fastest, *(c["second"] for c in tied)])
        return [f"{names} cannot be told apart here: {fastest} is {ratios}"]
    return [f"It is {ratios}"] if compared else []


def times(ratio: float, interval: Sequence[float] | None) -> str:
    between = " ({:.2f} to {:.2f})".format(*interval) if interval else ""
    return f"{ratio:.2f} times{between}"
