"""When times of passes cannot be trusted: another program ran, or its noise hides what they should show."""

import statistics
from collections.abc import Mapping, Sequence

from specdec_lab.formats import short

LEAST = 0.95  # of T at the narrowest width: a wider pass that takes less is doubtful
FALL = 0.9  # the same against any narrower width: there a wider pass may be a little faster, by another method
SMALL = 0.05  # of T at the narrowest width: a spread below this hides nothing that a lesson speaks about
ENOUGH = 5  # turns: if so many all say the same, it is not by chance
AGAIN = "Probably another program was running: measure again, when nothing else runs."


def doubts(times: Mapping[int, Sequence[float]]) -> str | None:
    """What speaks against the result of `pass_times`, as a sentence that asks to measure again; None if nothing does.

    Either a pass over more tokens took less time, or one and the same pass differs more from time to
    time than the widest does from the narrowest.
    """
    T = {k: statistics.median(times[k]) for k in sorted(times)}
    first = min(T)
    falls = [(T[b] / T[a], a, b) for a in T for b in T if a < b and T[b] < (LEAST if a == first else FALL) * T[a]]
    if falls:
        ratio, a, b = min(falls)
        turns = len(times[a])
        steady = turns >= ENOUGH and all(wide < narrow for narrow, wide in zip(times[a], times[b]))
        said = f"These times are doubtful: {b} tokens took {short(ratio)} times as long as {a}"
        if not steady:
            return f"{said}. {AGAIN}"
        return (
            f"{said}, and it was so in each of {turns} turns. Measure again, when nothing else runs: if it stays, "
            f"this machine's products of matrices run better with {b} rows than with {a}."
        )
    spread = statistics.median(_middle_half(seconds) for seconds in times.values())
    effect = T[max(T)] - T[first]
    if spread > max(effect, SMALL * T[first]):
        return (
            f"These times say little: one and the same pass differs by {1e3 * spread:.2g} ms from time to time, and "
            f"{max(T)} tokens by {1e3 * effect:.2g} ms from {first}. {AGAIN}"
        )
    return None


def _middle_half(seconds: Sequence[float]) -> float:
    """The distance between the ends of the middle half of some times (interquartile range): one slow moment does not
    change it.
    """
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive") if len(seconds) > 1 else [0.0] * 3
    return high - low
