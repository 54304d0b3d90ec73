"""Questions about a given case, as the checkpoint asks them: functions without arguments, and one right answer."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from specdec_grader.coerce import common_start, listed, nothing, reject_empty, same, shown, typed, word
from specdec_grader.mistakes import Mistake, StillOpen, Wrong, known_mistakes
from specdec_grader.part import part
from specdec_grader.question import Question, question
from specdec_lab.engine.trace import ACCEPTED, BONUS, CORRECTED, DISCARDED, REJECTED

# Kinds of questions

fixed = partial(question, cases=[()])


def one_number(right: Callable[[], float], what: str, room: float, **about: Any) -> Question:
    """room: how far the number may be off, for rounding; a part of it, where it is above 1."""
    return fixed(right, read=partial(typed, what=what), equal=partial(same, tolerance=room), **about)


def numbers(right: Callable[[], Sequence[float]], what: str, room: float, **about: Any) -> Question:
    """A list of numbers, with room for each."""

    def read(value: object) -> list[float]:
        return [typed(x, f"Each item of the {what}") for x in listed(apart(value), len(right()), f"The {what}")]

    return fixed(right, read=read, equal=partial(same, tolerance=room), **about)


# What was typed


def apart(value: object) -> object:
    """What stands in one text, with commas between."""
    return re.split(r"[,;]\s+", value) if isinstance(value, str) and "," in value else value


NAMES = {ACCEPTED: "✓✔✅", REJECTED: "✗✘❌x×✕✖", DISCARDED: "–-—−", CORRECTED: "↻", BONUS: "+"}  # and easier to type
SYMBOLS = {symbol: name for name, symbols in NAMES.items() for symbol in symbols}


def text_of(value: object) -> str:
    """Tokens, given as a list of them or as one text; spaces around them do not count."""
    text = value.replace(",", " ").split() if isinstance(value, str) else value
    return " ".join(str(token).strip(" “”\"'`") for token in listed(text, what="The list of written tokens"))


def read_marks(value: object) -> list[str]:
    """Marks by their names, however they were written."""
    if isinstance(value, str):
        value = re.findall(
            r"[a-z]+|[^\sa-z,]", value.lower().replace("\ufe0f", "")
        )  # which makes a colour picture of a sign
    found = [str(x).strip("\ufe0f ").lower() for x in listed(value, what="The list of marks")]
    return [word(SYMBOLS.get(x, x), NAMES, "A mark (or its symbol)") for x in found]


def letter_of(value: object) -> str:
    value = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
    begins = re.match(r"\W*([A-Da-d])(\W|$)", value) if isinstance(value, str) else None
    if not begins:
        raise Wrong(f"Return one letter, “A”, “B”, “C” or “D”; you return {shown(value)}.")
    return begins[1].upper()


# The marks of a round


def marks_of_round(drafts: Sequence, choices: Sequence) -> list[str]:
    """A mark for each draft, and one for the target's own token."""
    kept, gamma = common_start(drafts, choices), len(drafts)
    if kept == gamma:
        return [ACCEPTED] * gamma + [BONUS]
    return [ACCEPTED] * kept + [REJECTED] + [DISCARDED] * (gamma - kept - 1) + [CORRECTED]


def hint_for_marks(drafts: Sequence, choices: Sequence, found: Sequence[str], accepted_late: str) -> str | Mistake:
    """Which of the marks that were found is the first that is wrong, and what each mark says.

    Args:
        accepted_late: is told where a draft behind the first miss is accepted since it agrees.
    """
    right, miss = marks_of_round(drafts, choices), common_start(drafts, choices)
    if any(mark == ACCEPTED and x == y for mark, x, y in list(zip(found, drafts, choices))[miss + 1 :]):
        return Mistake(accepted_late, belief=1)
    if len(found) != len(right):
        asked = f"There should be {len(right)} marks: one for each draft, then one for the target's own token"
        return f"{asked}; you give {len(found)}."
    place = common_start(found, right)
    if place == len(right) - 1:
        return "The last mark is that of the target's own token: corrected after a miss, bonus if there was none."
    compared = "Drafts up to the first miss are compared, and accepted or rejected; those behind it are discarded."
    return f"Mark {place + 1}, “{found[place]}”, is wrong. {compared}"


# Parts


def given(made: object) -> object:
    """What the learner's function returned; some hand in the answer itself."""
    return reject_empty(made() if callable(made) else made)


def several(id: str, questions: dict[str, Question]) -> None:
    """Register a part that asks for several things, each a question of its own.

    Each right one earns its share, and the first wrong one is told.
    """

    def faults(values: Sequence) -> list[Wrong]:
        found = []
        for (name, asked), value in zip(questions.items(), values):
            try:
                asked.compare([asked.read(value)])
            except StillOpen:
                found.append(Wrong(f"Still missing: {name}."))
            except Wrong as e:
                found.append(Wrong(f"About {name}: {e}", belief=e.belief))
        return found

    @part(id, points=1, asks=list(questions.values()))
    def judge_several(made: object) -> None:
        values = listed(apart(given(made)))
        if len(values) != len(questions):
            names = ", ".join(questions)
            raise Wrong(f"Your function should return {len(questions)} things: {names}. It returns {len(values)}.")
        if all(map(nothing, values)):
            raise StillOpen
        wrong = faults(values)
        if len(wrong) == 2 and not faults(values[::-1]):
            raise Wrong(f"These are exchanged: the order is {', '.join(questions)}.", 0.5)
        if wrong:
            raise Wrong(str(wrong[0]), 1 - len(wrong) / len(questions), wrong[0].belief)


def alone(id: str, asked: Question) -> None:
    """Register a part that asks for one thing."""

    @part(id, points=1, asks=[asked])
    def judge_alone(made: object) -> None:
        asked.compare([asked.read(given(made))])


def letter(heading: str, right: str) -> Question:
    """A letter; below the heading known/e09_checkpoint.md says of each other letter why it is wrong."""

    def chosen():
        return right

    return Question([()], chosen, read=letter_of, mistakes=known_mistakes(chosen, "e09_checkpoint", heading))


def choice(id: str, right: str) -> None:
    """Register a part that asks for a letter."""
    alone(id, letter(id, right))
