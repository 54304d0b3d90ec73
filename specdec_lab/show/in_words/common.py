"""What the sentences share: when two numbers are called equal, and lists of them."""

from collections.abc import Mapping, Sequence

from specdec_lab.formats import joined, short
from specdec_lab.measure.bench import doubt

AS_LONG = 0.05  # two times that differ by less than this share of the smaller one are called equal

Times = Mapping[int, Sequence[float]]
Interval = tuple[float, float]


def slow_ones(rows: Mapping[str, Mapping], more: str = "") -> list[str]:
    """A sentence for each row of `bench.overall` whose times are doubtful."""
    return [said for name, row in rows.items() if (said := doubt(name + more, row))]


def above_or_below(a: Interval, b: Interval) -> int:
    """1 where interval a lies above b, −1 where it lies below, and 0 where they overlap: then nothing is said."""
    return (a[0] > b[1]) - (a[1] < b[0])


def listed(numbers: Sequence[float]) -> str:
    """Numbers in a sentence."""
    return joined([short(x) for x in numbers])
