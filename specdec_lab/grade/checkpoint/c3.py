"""Exercise 9: acceptance."""

from collections.abc import Callable

from specdec_lab.grade.checkpoint.answers import choice, compared, row, several
from specdec_lab.grade.part import Wrong, number, part

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


def measured(value: object) -> None:
    found = number(value, "α")
    if found > 1:
        raise Wrong("A rate is at most 1: write .5 for 50 %.")
    known = (
        ((27 / 40,), ".675 is 27/40. Drafts behind the first miss were not examined, and do not count.", 5),
        ((27 / 37,), "You divide by the tokens that were written. Which drafts were examined?", None),
        (
            (0.6,),
            ".6 is the share of the rounds without a miss. How many drafts were examined, and how many kept?",
            None,
        ),
        ((0.8,), ".8 counts only the first draft of each round. Later drafts were examined, too.", None),
        (
            ((0 + 0.5 + 2 / 3 + 6) / 10,),
            "This is a mean of ten ratios. Divide the sums: all kept by all examined.",
            None,
        ),
        (
            (0.74,),
            "3.7/5 is the share of the places in a round that were filled, the target's own token included.",
            None,
        ),
    )
    said = "Add up over the ten rounds: how many drafts were examined, the misses included, and how many were kept?"
    compared([found], (27 / 31,), known, said, 0.004)


def per_pass(value: object) -> None:
    known = (
        ((2.7,), "2.7 are the accepted drafts. Each round writes one more token, the target's own.", 6),
        ((3.1,), "3.1 is the number of drafts examined in a round, not of the tokens written.", None),
        ((37.0,), "37 tokens are all that were written: divide them by the number of passes.", None),
        ((3.87,), "This is what a formula expects. The log says how many tokens there were: count them.", None),
        ((2.65,), "This is the formula with .675, which is not α. And the log says how many tokens there were.", 5),
        ((4.0,), "A round proposes 4 drafts; not all of them were kept.", None),
        ((5.0,), "5 would be all drafts kept in every round, and the bonus.", None),
    )
    said = "Divide all tokens that were written by the number of rounds."
    compared([number(value, "The number of tokens per pass")], (3.7,), known, said, 0.01)


def sampled(value: object) -> None:
    known = (
        ((0.42, 0.39), "Σ p · q is the chance that two samples match. A draft is kept with chance min(1, p/q).", 3),
        ((1, 1), "The favourites are equal, but at T = 1 the whole distributions count.", 4),
        ((0.8, 1), "In pair B the favourites are equal, but at T = 1 the whole distributions count.", 4),
        ((0.2, 0.5), "These are the chances that a draft is rejected.", None),
        ((0.5, 0.8), "The two numbers have changed places: A comes first.", None),
        ((0.905, 0.815), "Take the mean over what q draws: a token with a large q counts more.", None),
        ((0.5, 0.4), "These are the target's chances for its favourite. What do the other tokens add?", None),
    )
    said = "At T = 1, α is the chance that a token drawn from q is kept; add up, token by token, what can be kept."
    compared(row(value, 2, "the list for T = 1"), (0.8, 0.5), known, said, 0.004)


def greedy(value: object) -> None:
    known = (
        ((0.8, 0.5), "At T = 0 nothing is drawn: each player says its favourite token.", None),
        ((0, 0), "At T = 0 each player says its favourite token. Are they the same here?", None),
        ((0.5, 0.4), "At T = 0 the target says its favourite with certainty.", None),
        ((1, 0), "At T = 0 how far p and q differ makes no difference, as long as they have one favourite.", None),
    )
    said = "At T = 0 p and q put all their chance on their favourites: is the draft what the target says?"
    compared(row(value, 2, "the list for T = 0"), (1, 1), known, said, 0.004)


@part("9.c3", points=1)
def c3(made: Callable[[], object]) -> None:
    """c3() → α of the log, tokens per pass, α of A and B at T = 1, and at T = 0."""
    looks = {"α": measured, "tokens per pass": per_pass, "α at T = 1": sampled, "α at T = 0": greedy}
    several(made, looks)


@part("9.c3.why", points=1)
def c3_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "D",
        {
            "A": ("Whether two samples are equal is another question, and it happens less often.", 3),
            "B": ("Behind a miss drafts were proposed and not examined. They say nothing about α.", 5),
            "C": ("The text is what the target alone would write, with any α.", 11),
        },
    )
