"""How many times as fast drafts make decoding, and which drafter is ahead."""

from collections.abc import Mapping, Sequence
from statistics import median

from specdec_lab.engine.trace import Trace
from specdec_lab.formats import joined
from specdec_lab.measure.bench import overall
from specdec_lab.measure.costs import Race
from specdec_lab.measure.prompts import TIED
from specdec_lab.measure.results import saved_results
from specdec_lab.show.in_words.common import AS_LONG, above_or_below, slow_ones


def race(result: Race) -> str:
    """Tokens of a round, its cost, and what comes of them."""
    E, S = result.speculative.tokens_per_pass, result.ratio
    cost = E / S
    if S > 1 + AS_LONG:
        end = f"{S:.2f} times as fast."
    elif S < 1 - AS_LONG:
        end = f"{S:.2f} times as fast, so here the drafts were a loss."
    else:
        end = f"{S:.2f} times as fast: neither a gain nor a loss that the clock can show."
    doubt = f" {result.doubt}" if result.doubt else ""
    return (
        f"A round wrote {E:.2f} tokens and took {cost:.2f} times as long as a step of plain decoding: "
        f"{E:.2f} / {cost:.2f} ≈ {end}{doubt}"
    )


def recorded() -> str:
    """The best drafter of the recorded run over the built-in prompts."""
    result = saved_results(temperature=0.0, gamma="best", dtype="float32")[0]
    rows = {arm: row for arm, row in overall(result["rows"], peers=False).items() if row["gamma"]}
    name, best = max(rows.items(), key=lambda item: item[1]["ratio_to_plain"])
    low, high = best["ratio_interval"]
    draft = rows["model"]["ratio_to_plain"]
    return (
        f"{best['prompts']} prompts, greedy, one at a time, on {result['meta']['hardware']}: the draft model is {draft:.2f} "
        f"times as fast as plain decoding. The best drafter of this course, {name}, is {best['ratio_to_plain']:.2f} times as "
        f"fast, and other prompts of these kinds would give {low:.2f} to {high:.2f}."
    )


def fastest(rows: Mapping[str, Mapping], names: Sequence[str]) -> str:
    """Of some drafters of a recorded run, the one that the clock puts first, and those that lie within TIED of it.

    Args:
        rows: as `bench.overall` gives them.
    """
    order = sorted(names, key=lambda name: -rows[name]["ratio_to_plain"])
    best, *others = order
    level = [n for n in others if rows[n]["ratio_to_plain"] * (1 + TIED) > rows[best]["ratio_to_plain"]]
    E = max(names, key=lambda name: rows[name]["tokens_per_pass"])
    if level:
        first = f"By the clock {joined([best, *level])} lie within 2 %, and are not put in an order."
    else:
        ahead = rows[best]["ratio_to_plain"] / rows[others[0]]["ratio_to_plain"]
        overlap = above_or_below(*(rows[name]["ratio_interval"] for name in (best, others[0]))) == 0
        first = f"By the clock {best} is ahead, {ahead:.2f} times as fast as {others[0]}, which comes next"
        first += ". Their intervals overlap, so other prompts may put them in another order." if overlap else "."
    return f"{first} The most tokens per pass, {rows[E]['tokens_per_pass']:.2f}, has {E}."


def ranked(paces: Mapping[str, Sequence[float]]) -> str:
    """Ways that took turns, by their tokens a second: the fastest, and those that it cannot be told from.

    These are the ways of which some run was as fast as some of the fastest way's, or whose median lies within TIED.
    """
    best, *others = sorted(paces, key=lambda way: -median(paces[way]))
    ahead = {way: median(paces[best]) / median(paces[way]) for way in others}
    level = [way for way in others if ahead[way] < 1 + TIED or max(paces[way]) >= min(paces[best])]
    clear = [f"{ahead[way]:.2f} times as fast as “{way}”" for way in others if way not in level]
    same = f"“{best}” and {joined([f'“{way}”' for way in level])} cannot be told apart" if level else ""
    if not clear:
        return f"{same} here."
    if not same:
        return f"“{best}” is the fastest: {joined(clear)}."
    return f"{same} here. “{best}” is {joined(clear)}."


def gained(ratios: Mapping[str, tuple[float, tuple[float, float]]]) -> str:
    """Which ratios lie clearly above 1, which below, and which cannot be told from it: their interval holds 1, or they
    lie within TIED of it.

    Args:
        ratios: by name, each with its interval.
    """
    above, below, level = [], [], []
    for name, (ratio, (low, high)) in ratios.items():
        clear = abs(ratio - 1) > TIED and not low <= 1 <= high
        (level if not clear else above if ratio > 1 else below).append(f"{name} ({ratio:.2f})")
    said = [
        f"{verb}: {joined(some)}."
        for verb, some in (("Gained", above), ("Lost", below), ("No difference that these prompts can show", level))
        if some
    ]
    return " ".join(said)


def sampling(sampled: Trace, greedy: Trace, drafter: str = "eagle") -> str:
    """What sampling costs: one text at temperature 1 and greedy, and a drafter in the recorded runs of both."""
    here = (
        f"This text: {sampled.tokens_per_pass:.2f} tokens per pass. Written greedily, the same prompt has "
        f"{greedy.tokens_per_pass:.2f}. One text decides nothing."
    )
    results = [saved_results(temperature=t, gamma="best", dtype="float32")[0] for t in (0.0, 1.0)]
    first, second = (overall(result["rows"])[drafter] for result in results)
    gains = [row["ratio_to_plain"] - 1 for row in (first, second)]
    pace = "{ratio_to_plain:.2f} times ({ratio_interval[0]:.2f}–{ratio_interval[1]:.2f})"
    many = (
        f"On {first['prompts']} prompts, recorded on {results[0]['meta']['hardware']}, {drafter} is {pace.format_map(first)} "
        f"as fast as plain decoding when greedy, and {pace.format_map(second)} at temperature 1"
    )
    if above_or_below(first["ratio_interval"], second["ratio_interval"]) > 0 and gains[0] > 0:
        return f"{here} {many}: sampling costs {1 - max(gains[1], 0) / gains[0]:.0%} of the gain."
    return f"{here} {many}."


def best_gammas(results: Mapping[int, Mapping[str, dict]]) -> str:
    """The best γ of each drafter, from the rows of `bench.overall` by γ and drafter: by the medians of their rounds."""
    gains = {
        name: {gamma: rows[name]["ratio_from_parts"] for gamma, rows in results.items()}
        for name in (arm for arm, row in next(iter(results.values())).items() if row["gamma"])
    }
    most = {name: max(of.values()) for name, of in gains.items()}

    def best(name: str) -> str:
        good = [str(gamma) for gamma, gain in gains[name].items() if gain * (1 + AS_LONG) > most[name]]
        return f"“{name}” {most[name]:.2f} times with γ = {' or '.join(good)}"

    order = sorted(most, key=lambda name: -most[name])
    won = [name for name in order if most[name] > 1 + TIED]
    lost = [f"“{name}”" for name in order if most[name] < 1 - TIED]
    even = [f"“{name}”" for name in order if abs(most[name] - 1) <= TIED]
    said = [f"As fast as plain decoding: {', '.join(map(best, won))}."] if won else ["Nothing gains here."]
    if even:
        said.append(f"{joined(even)} at best {'come' if len(even) > 1 else 'comes'} out even.")
    if lost:
        said.append(f"{joined(lost)} {'lose' if len(lost) > 1 else 'loses'} with every γ tried here.")
    said += [slow for gamma, rows in results.items() for slow in slow_ones(rows, f", γ = {gamma}")]
    return " ".join(said)


def other_program(rows: Mapping[str, dict]) -> str:
    """A program's plain decoding beside its drafts: rows of `bench.overall`, the plain arm first."""
    (plain, first), *others = rows.items()
    paces = [f"{row['tokens_per_second']:.0f} with “{name}”" for name, row in others]
    sides = {name: above_or_below(row["ratio_interval"], first["ratio_interval"]) for name, row in others}
    ends = [
        f"{joined([f'“{name}”' for name, side in sides.items() if side == wanted])} {words}"
        for wanted, words in ((1, "is faster"), (0, "cannot be told apart from it"), (-1, "is slower"))
        if wanted in sides.values()
    ]
    return f"“{plain}” writes {first['tokens_per_second']:.0f} tokens a second, {joined(paces)}: {'; '.join(ends)}."


def drafters_on_a_card(greedy: Mapping[str, float], warm: Mapping[str, float], same: Mapping[str, int], of: int) -> str:
    """Recorded tokens a second by arm, "plain" among them: greedy and at temperature 1; and greedy texts that are plain's."""
    said = []
    for how, pace in (("Greedy", greedy), ("At temperature 1", warm)):
        ratio = {arm: pace[arm] / pace["plain"] for arm in warm if arm != "plain"}
        ends = [
            f"{words}: {joined([f'“{arm}” {x:.2f}' for arm, x in ratio.items() if fits(x)])}"
            for words, fits in (
                ("faster than plain decoding", lambda x: x > 1 + TIED),
                ("as fast", lambda x: abs(x - 1) <= TIED),
                ("slower", lambda x: x < 1 - TIED),
            )
            if any(map(fits, ratio.values()))
        ]
        said.append(f"{how}, {'; '.join(ends)}.")
    other = [f"{of - same[arm]} with “{arm}”" for arm in warm if same[arm] < of]
    said.append(
        f"Of {of} greedy texts some are not plain decoding's: {joined(other)}. There a near-tie fell otherwise in 16 bits."
        if other
        else f"All {of} greedy texts are plain decoding's."
    )
    return " ".join(said)
