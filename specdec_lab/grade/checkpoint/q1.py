"""Exercise 9: why several positions cost about one."""

from collections.abc import Callable

from specdec_lab.grade.checkpoint.answers import choice, compared, given, row
from specdec_lab.grade.part import Wrong, part, same

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


def passes(value: object) -> None:
    found = row(value, 3, "the list of times")
    if all(same(1000 * a, b, 0.006) for a, b in zip(found, (2.7, 2.7, 5.4))):
        raise Wrong("These are seconds. Give milliseconds.", 0.5)
    known = (
        (
            (2.7, 13.5, 540),
            "You read the weights once for each token. A pass reads them once for all its tokens.",
            None,
        ),
        ((2.7, 13.5, 5.4), "How often are the weights read in a pass over 5 tokens?", None),
        ((2.7, 2.7, 540), "With 200 tokens the weights are still read once. How long is the arithmetic?", None),
        ((2.7, 2.7, 2.7), "You only count the reading. How long does the arithmetic of 200 tokens take?", None),
        (
            (2.727, 2.835, 8.1),
            "You add reading and computing. They go on at the same time: the longer one counts.",
            None,
        ),
        ((0.027, 0.135, 5.4), "You only count the arithmetic. The weights have to be read, too.", None),
        ((0.027, 0.135, 2.7), "A pass lasts until both reading and computing are done: the longer one counts.", None),
    )
    said = "Reading takes the bytes divided by bytes a second, once; computing takes .27 GFLOP for each token."
    compared(found, (2.7, 2.7, 5.4), known, said, 0.005)


@part("9.q1", points=1)
def q1(made: Callable[[], object]) -> None:
    """q1() → T(1), T(5), T(200) in milliseconds."""
    passes(given(made))


@part("9.q1.why", points=1)
def q1_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "D",
        {
            "A": (
                "The check uses the whole target, all its layers and weights; else it would say something else.",
                None,
            ),
            "B": ("Every draft goes through all of the target's layers: a pass with γ drafts has γ + 1 rows.", 9),
            "C": (
                "Look at your T(200): rows are free only as long as their arithmetic takes less than the reading.",
                8,
            ),
        },
    )
