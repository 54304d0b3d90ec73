"""What a reader's own numbers say, as one or two sentences below a result: `sd.in_words`.

A lesson cannot know what a machine will measure: times may rise, stay, fall or jump. So each sentence is chosen from
the numbers themselves. Here is only what no table or plot beside it shows; those the reader is asked to read.
"""

from collections.abc import Hashable, Mapping, Sequence
from statistics import mean, median

from specdec_lab.engine.trace import Trace
from specdec_lab.formats import joined
from specdec_lab.measure.costs import Race, doubts, times_as_long, width_at
from specdec_lab.measure.prompts import TIED

AS_LONG = 0.05  # two times that differ by less than this share of the smaller one are called equal
UNSURE, SURE = 0.4, 0.8  # chances of the target's favourite

Interval = tuple[float, float]


def verdict(ratios: Mapping[str, tuple[float, Interval]]) -> str:
    """Which ratios lie clearly above 1, which below, and which cannot be told from it: their interval holds 1, or they
    lie within TIED of it.

    Args:
        ratios: by name, each with its interval.
    """
    sides: dict[str, list[str]] = {"Gained": [], "Lost": [], "No difference that these prompts can show": []}
    gained, lost, level = sides.values()
    for name, (ratio, (low, high)) in ratios.items():
        clear = abs(ratio - 1) > TIED and not low <= 1 <= high
        (level if not clear else gained if ratio > 1 else lost).append(f"{name} ({ratio:.2f})")
    return " ".join(f"{side}: {joined(names)}." for side, names in sides.items() if names)


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


def predictions(hoped: Mapping[str, Mapping[Hashable, float]], found: Mapping[Hashable, float]) -> str:
    """Numbers that were predicted in some ways, beside what was found, over the same settings."""
    said = []
    for way, gain in hoped.items():
        offs = [gain[x] / found[x] - 1 for x in found]
        side = "too high" if min(offs) > 0 else "too low" if max(offs) < 0 else "in both directions"
        far = [abs(x) for x in offs]
        some = f"{mean(far):.0%} off on average and {max(far):.0%} at most, {side}"
        said.append(f"{way}: {some if max(far) >= 0.01 else 'less than 1% off everywhere'}.")
    return " ".join(said)


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


def passes(times: Mapping[int, Sequence[float]]) -> str:
    """T(k), with k = 1 and k = 5 among them, as `sd.pass_times` returns it."""
    five, twice, widest = times_as_long(times, 5), width_at(times, 2), max(times)
    if five > 1 + AS_LONG:
        first = (
            f"Here five tokens take about {five:.1f} times as long as one: four drafts are checked in "
            f"{10 * round(10 * (five - 1))} % more time."
        )
    elif five < 1 - AS_LONG:
        first = (
            f"Here five tokens take only {five:.2f} times as long as one: products of matrices run better with several "
            f"rows on this machine, and plain decoding is not at its best."
        )
    else:
        first = f"Here five tokens take {five:.2f} times as long as one: four drafts are checked at no cost."
    if twice:
        second = f"A pass takes twice as long with about {twice:.0f} tokens."
    else:
        second = f"Even {widest} tokens take less than twice as long as one."
    doubt = doubts(times)
    return f"{first} {second}" + (f" {doubt}" if doubt else "")


def sureness(traces: Mapping[str, Mapping[str, Trace]]) -> str:
    """α of the tested drafts where the target was unsure, and where it was sure."""
    places = [d for of in traces.values() for t in of.values() for r in t.rounds for d in r.tested]
    unsure = [d.overlap for d in places if d.p_top[0][1] < UNSURE]
    sure = [d.overlap for d in places if d.p_top[0][1] > SURE]
    if not (unsure and sure):
        return "The target was equally sure at all of these places."
    low, high = mean(unsure), mean(sure)
    measured = (
        f"Where the target gives its favourite less than {UNSURE}, α is {low:.2f}, over {len(unsure)} drafts. "
        f"Where it gives it more than {SURE}, α is {high:.2f}, over {len(sure)}."
    )
    return measured if high > low else f"{measured} So here a sure target was no easier to guess."
