"""Exercise 9, why several positions cost about one: q1() → T(1), T(5), T(200) in milliseconds; q1_why() → a letter."""

from specdec_grader.kit import Mistake, Wrong, part
from specdec_grader.sheets.checkpoint.answers import choice, given, numbers

TIMES = numbers("list of times", right=[2.7, 2.7, 5.4], room=0.005,
    hint="Reading takes the bytes divided by bytes a second, once; computing takes .27 GFLOP for each token.", mistakes=[
    Mistake("You read the weights once for each token. A pass reads them once for all its tokens.", [2.7, 13.5, 540]),
    Mistake("How often are the weights read in a pass over 5 tokens?", [2.7, 13.5, 5.4]),
    Mistake("With 200 tokens the weights are still read once. How long is the arithmetic?", [2.7, 2.7, 540]),
    Mistake("You only count the reading. How long does the arithmetic of 200 tokens take?", [2.7, 2.7, 2.7]),
    Mistake("You add reading and computing. They go on at the same time: the longer one counts.", [2.727, 2.835, 8.1]),
    Mistake("You only count the arithmetic. The weights have to be read, too.", [0.027, 0.135, 5.4]),
    Mistake("A pass lasts until both reading and computing are done: the longer one counts.", [0.027, 0.135, 2.7])])  # fmt: skip


@part("9.q1", points=1, asks=[TIMES])
def times(made: object) -> None:
    found = TIMES.read(given(made))
    if TIMES.equal([1000 * t for t in found], TIMES.right()):
        raise Wrong("These are seconds. Give milliseconds.", 0.5)
    TIMES.compare([found])


choice("9.q1.why", "D",
    Mistake("The check uses the whole target, all its layers and weights; else it would say something else.", "A"),
    Mistake("Every draft goes through all of the target's layers: a pass with γ drafts has γ + 1 rows.", "B", belief=9),
    Mistake("Look at your T(200): rows are free only as long as their arithmetic takes less than the reading.", "C", belief=8))  # fmt: skip
