"""Exercise 9: why throughput can fall."""

from collections.abc import Callable

from specdec_lab.grade.checkpoint.answers import choice, compared, several
from specdec_lab.grade.part import Wrong, number, part, shown

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


CHANGED = {
    "v": "v",
    "cost": "v",
    "the cost of a pass": "v",
    "alpha": "alpha",
    "α": "alpha",
    "e": "e",
    "nothing": "nothing",
    "quality": "quality",
}


def changed(value: object) -> None:
    name = CHANGED.get(value.strip().lower()) if isinstance(value, str) else None
    if name is None:
        raise Wrong(f"What changed? Write “alpha”, “E” or “v”; you write {shown(value)}.")
    if name == "alpha":
        raise Wrong("Look at the column of α: it is the same in both lines.", misconception=13)
    if name == "e":
        raise Wrong("E follows from α and γ. Has one of them changed?")
    if name == "nothing":
        raise Wrong("α and E are as before, but the speed does not follow from them alone.", misconception=7)
    if name == "quality":
        raise Wrong("The text is the target's, at any load.", misconception=11)


def ratio(value: object) -> None:
    known = (
        ((3.05,), "α and E have not changed, so you expect the same gain. What does a pass cost now?", 7),
        ((0.41,), "You left out the target's own token: with α = .75 and γ = 4 a pass writes more than 2.05.", 6),
        ((0.6,), "α · γ = 3 treats α as a share of the proposed drafts; behind a miss none is kept.", 5),
        ((0.8,), "1 + α · γ = 4 treats α as a share of the proposed drafts; behind a miss none is kept.", 5),
        ((0.15,), "α is not the number of tokens a pass. First compute E from α and γ.", None),
        ((0.2,), "The pass costs 5 plain ones, but it also writes more than one token.", None),
        ((1.64,), "The gain is upside down: 2 should mean twice as fast.", None),
        ((15.25,), "A pass that costs more makes the gain smaller, and not larger.", None),
        ((1.0,), "A gain of 1 would mean that nothing is won or lost. Divide the tokens by the cost.", None),
        ((0.66,), "This is with 3.3 tokens per pass, which belongs to γ = 5.", None),
    )
    said = "Compute the tokens per pass from α and γ, and divide by what the pass costs."
    compared([number(value, "The new gain")], (3.05 / 5,), known, said, 0.004)


@part("9.q2", points=1)
def q2(made: Callable[[], object]) -> None:
    """q2() → what changed, and the new gain."""
    several(made, {"what changed": changed, "the new gain": ratio})


@part("9.q2.why", points=1)
def q2_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "B",
        {
            "A": ("No draft changes what is written, good or bad, at any load.", 11),
            "C": ("The log says that α is .75 with 64 texts as with one.", 13),
            "D": ("The same number of tokens from a pass that takes five times as long is no gain.", 7),
        },
    )
