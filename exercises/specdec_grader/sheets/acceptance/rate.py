"""Exercise 4: alpha_hat(texts) → α of a trace; a text is a list of rounds, and a round is a list of marks."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

from specdec_grader.kit import Mistake, Question, number, part, pretty
from specdec_grader.sheets.acceptance.overlap import hint_for_a_chance

Text = list[list[str]]  # rounds of marks

ACCEPTED = {"accepted"}
TESTED = ACCEPTED | {"rejected"}
PROPOSED = TESTED | {"discarded"}
OWN = {"corrected", "bonus", "plain"}


def count(texts: Sequence[Text], kinds: set[str]) -> int:
    return sum(mark in kinds for text in texts for marks in text for mark in marks)


def share(kinds: set[str], among: set[str]) -> Callable[[Sequence[Text]], float]:
    """The formula: how many marks of these kinds there are, divided by how many among them."""
    return lambda texts: count(texts, kinds) / count(texts, among)


alpha_of = share(ACCEPTED, TESTED)


def rounds(texts: Sequence[Text]) -> list[list[Text]]:
    """Each round as a trace of its own."""
    return [[[marks]] for text in texts for marks in text]


def a_text(*kept: int, gamma: int = 4) -> Text:
    """A text with a round for each number in `kept`: of its γ drafts so many are accepted."""
    return [
        ["accepted"] * n + (["rejected"] + ["discarded"] * (gamma - n - 1) + ["corrected"] if n < gamma else ["bonus"])
        for n in kept
    ]


def cut_short(kept: int, gamma: int = 4) -> list[str]:
    """A stop came with the last accepted draft: what stood behind it was not examined, and nothing was added."""
    return ["accepted"] * kept + ["discarded"] * (gamma - kept)


def seen(case: tuple[list[Text]], found: float, right: float) -> str:
    accepted = ", ".join(" ".join(str(marks.count("accepted")) for marks in text) for text in case[0])
    return f"For texts whose rounds accept {accepted} drafts your function gives {pretty(found)}."


SILENT = ["plain"]  # lookup found nothing to copy
RATE = Question(
    right=alpha_of, read=partial(number, what="α"), seen=seen,
    cases=(([a_text(2, 4, 0, 1)],), ([a_text(4, 4, 3), a_text(0, 1, 0, 0, 2, 0, 0, 1, 0, 1)],),
           ([a_text(3, 1, 3, gamma=3), a_text(0, 2, 0, gamma=3), a_text(3, 3, gamma=3)],),
           ([[SILENT, *a_text(4, 4), SILENT, SILENT], [*a_text(0, 0, 1), SILENT]],),
           ([[*a_text(4, 2), cut_short(2)], [*a_text(0, 0, 1, 0), cut_short(1)], a_text(0, 0)],), ([a_text(0, 0, 0)],)),
    hint=hint_for_a_chance("Count the accepted drafts, count those that were examined (accepted or rejected), and divide."),
    mistakes=[
        Mistake("You divide by all proposed drafts. A discarded draft was never examined, so it says nothing about α.", share(ACCEPTED, PROPOSED), belief=5),
        Mistake("You divide by γ times the rounds, so drafts that were never examined, or never made, count as wrong.",
                lambda t: count(t, ACCEPTED) / (max(count(one, PROPOSED) for one in rounds(t)) * len(rounds(t))), belief=5),
        Mistake("You take the mean of the texts' own rates. A text with few drafts then weighs as much as one with many: divide the sum by the sum.",
                lambda t: fmean(alpha_of([text]) for text in t), earned=0.5),
        Mistake("You take the mean of the rounds' own rates. A round that tested one draft then weighs as much as one that tested four: divide the sum by the sum.",
                lambda t: fmean(alpha_of(one) for one in rounds(t) if count(one, TESTED)), earned=0.25),
        Mistake("You divide by all marks; only drafts that were examined count.", share(ACCEPTED, PROPOSED | OWN)),
        Mistake("A corrected token, a bonus or a plain one is the target's own: it is no draft, and does not count.",
                share(ACCEPTED | OWN, PROPOSED | OWN), share(ACCEPTED | OWN, PROPOSED), share(ACCEPTED | OWN, TESTED),
                share(ACCEPTED, TESTED | {"bonus", "corrected"}), share(ACCEPTED, TESTED | OWN), share(ACCEPTED, ACCEPTED | OWN),
                share(ACCEPTED | {"bonus"}, TESTED | {"bonus"})),
        Mistake("This is the number of accepted drafts a round, not the chance of a draft.", lambda t: count(t, ACCEPTED) / len(rounds(t))),
        Mistake("These are tokens per pass, not α.", lambda t: count(t, ACCEPTED | OWN) / len(rounds(t))),
        Mistake("You look at the first draft of each round only; the later ones that were examined count too.",
                lambda t: fmean(marks[0] == "accepted" for text in t for marks in text if marks != SILENT)),
        Mistake("This is the share of rounds without a miss, not the chance of a draft.", lambda t: count(t, {"bonus"}) / len(rounds(t))),
        Mistake("This is the chance of a rejection.", share({"rejected"}, TESTED)),
        Mistake("In a round that was cut short by a stop you count a rejected draft that is not there: count the marks.",
                lambda t: count(t, ACCEPTED) / (count(t, ACCEPTED) + sum(count(one, {"rejected", "discarded"}) > 0 for one in rounds(t))), earned=0.5)])  # fmt: skip

part("4.rate", points=2, asks=[RATE])(RATE.judge)
