"""Exercise 4: α of a trace."""

from collections.abc import Callable, Sequence

from specdec_lab.grade.acceptance.tokens import _alike
from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import number, part, same

Row = dict[str, float]  # only the tokens with a chance above 0
Text = list[list[str]]  # rounds of marks


def a_round(kept: int, gamma: int = 4) -> list[str]:
    if kept == gamma:
        return ["accepted"] * gamma + ["bonus"]
    return ["accepted"] * kept + ["rejected"] + ["discarded"] * (gamma - kept - 1) + ["corrected"]


def cut(kept: int, gamma: int = 4) -> list[str]:
    """A stop came with the last accepted draft: what stood behind it was not examined, and nothing was added."""
    return ["accepted"] * kept + ["discarded"] * (gamma - kept)


def a_text(*kept: int, gamma: int = 4) -> Text:
    return [a_round(n, gamma) for n in kept]


SILENT = ["plain"]  # lookup found nothing to copy
COPIED = a_text(2, 4, 0)
TRACES: tuple[list[Text], ...] = (
    [a_text(2, 4, 0, 1)],
    [a_text(4, 4, 3), a_text(0, 1, 0, 0, 2, 0, 0, 1, 0, 1)],
    [a_text(3, 1, 3, gamma=3), a_text(0, 2, 0, gamma=3), a_text(3, 3, gamma=3)],
    [[SILENT, *a_text(4, 4), SILENT, SILENT], [*a_text(0, 0, 1), SILENT]],
    [[*a_text(4, 2), cut(2)], [*a_text(0, 0, 1, 0), cut(1)], a_text(0, 0)],
    [a_text(0, 0, 0)],
)


def counts(of: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Accepted and tested drafts in some rounds."""
    marks = [mark for each in of for mark in each]
    accepted = marks.count("accepted")
    return accepted, accepted + marks.count("rejected")


def ratio(of: Sequence[tuple[int, int]]) -> float:
    """α: the ratio of the sums."""
    return sum(a for a, _ in of) / sum(n for _, n in of)


def alpha_of(texts: Sequence[Text]) -> float:
    return ratio([counts(text) for text in texts])


def _flat(texts: Sequence[Text]) -> list[str]:
    return [mark for text in texts for each in text for mark in each]


def _rounds(texts: Sequence[Text]) -> list[list[str]]:
    return [each for text in texts for each in text]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _of(*names: str) -> Callable[[Sequence[Text]], int]:
    return lambda texts: sum(_flat(texts).count(name) for name in names)


ACCEPTED, TESTED = _of("accepted"), _of("accepted", "rejected")
PROPOSED = _of("accepted", "rejected", "discarded")
WRITTEN = _of("accepted", "corrected", "bonus", "plain")
OWN = "A corrected token, a bonus or a plain one is the target's own: it is no draft, and does not count."
RATES = (
    Mistake(
        "You divide by all proposed drafts. A discarded draft was never examined, so it says nothing about α.",
        lambda texts: ACCEPTED(texts) / PROPOSED(texts),
        5,
    ),
    Mistake(
        "You divide by γ times the rounds, so drafts that were never examined, or never made, count as wrong.",
        lambda texts: (
            ACCEPTED(texts) / (max(map(PROPOSED, ([[each]] for each in _rounds(texts)))) * len(_rounds(texts)))
        ),
        5,
    ),
    Mistake(
        "You take the mean of the texts' own rates. A text with few drafts then weighs as much as one with many: "
        "divide the sum by the sum.",
        lambda texts: _mean([alpha_of([text]) for text in texts]),
        earned=0.5,
    ),
    Mistake(
        "You take the mean of the rounds' own rates. A round that tested one draft then weighs as much as one that "
        "tested four: divide the sum by the sum.",
        lambda texts: _mean([ratio([counts([each])]) for each in _rounds(texts) if TESTED([[each]])]),
        earned=0.25,
    ),
    Mistake(
        "You take the mean of the rounds' own rates, and divide by drafts that were never examined.",
        lambda texts: _mean([ACCEPTED([[each]]) / PROPOSED([[each]]) for each in _rounds(texts) if PROPOSED([[each]])]),
        5,
    ),
    Mistake("You divide by all marks; only drafts that were examined count.", lambda t: ACCEPTED(t) / len(_flat(t))),
    Mistake(OWN, lambda t: WRITTEN(t) / len(_flat(t))),
    Mistake(OWN, lambda t: WRITTEN(t) / PROPOSED(t)),
    Mistake(OWN, lambda t: WRITTEN(t) / TESTED(t)),
    Mistake(OWN, lambda t: ACCEPTED(t) / _of("accepted", "rejected", "bonus", "corrected")(t)),
    Mistake(OWN, lambda t: ACCEPTED(t) / _of("accepted", "rejected", "bonus", "corrected", "plain")(t)),
    Mistake(OWN, lambda t: _of("accepted", "bonus")(t) / _of("accepted", "rejected", "bonus")(t)),
    Mistake(OWN, lambda t: ACCEPTED(t) / WRITTEN(t)),
    Mistake(
        "This is the number of accepted drafts a round, not the chance of a draft.",
        lambda t: ACCEPTED(t) / len(_rounds(t)),
    ),
    Mistake("These are tokens per pass, not α.", lambda t: WRITTEN(t) / len(_rounds(t))),
    Mistake(
        "You look at the first draft of each round only; the later ones that were examined count too.",
        lambda t: _mean([each[0] == "accepted" for each in _rounds(t) if each[0] != "plain"]),
    ),
    Mistake(
        "This is the share of rounds without a miss, not the chance of a draft.",
        lambda t: _mean([each[-1] == "bonus" for each in _rounds(t)]),
    ),
    Mistake("This is the chance of a rejection.", lambda t: 1 - ACCEPTED(t) / TESTED(t)),
    Mistake(
        "In a round that was cut short by a stop you count a rejected draft that is not there: count the marks.",
        lambda t: ACCEPTED(t) / (ACCEPTED(t) + sum("discarded" in each or "rejected" in each for each in _rounds(t))),
        earned=0.5,
    ),
)


@part("4.rate", points=2)
def alpha_hat(made: Callable[[list[Text]], float]) -> None:
    """alpha_hat(texts) → α of the trace."""
    cases = [(texts,) for texts in TRACES]
    found = [number(x, "α") for x in answers(made, cases)]
    right = [alpha_of(texts) for texts in TRACES]
    if _alike(found, right):
        return
    i = next(i for i, (x, r) in enumerate(zip(found, right)) if not same(x, r))
    accepted = ", ".join(" ".join(str(each.count("accepted")) for each in text) for text in TRACES[i])
    before = f"For texts whose rounds accept {accepted} drafts your function gives {told(found[i])}."
    raise named(
        explained(RATES, cases, found),
        before,
        "Count the accepted drafts, count those that were examined (accepted or rejected), and divide."
        if 0 <= found[i] <= 1
        else "This is no chance: it must lie between 0 and 1.",
    )
