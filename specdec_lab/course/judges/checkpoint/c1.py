"""Exercise 9, who does what: c1() → tokens written, marks, rows whose entries stay; c1_why() → a letter."""

import re

from specdec_lab.course.judges.checkpoint.answers import choice, fixed, several
from specdec_lab.course.judges.kit import Mistake, Wrong, listed, shown, whole

SYMBOLS = {"✓": "accepted", "✗": "rejected", "↻": "corrected", "–": "discarded", "-": "discarded", "+": "bonus"}
SYMBOLS |= {"✔": "accepted", "x": "rejected", "×": "rejected", "—": "discarded"}  # what is easier to type


def sentence(value: object) -> str:
    """Tokens, given as a list of them or as one text; spaces around them do not count."""
    text = value.replace(",", " ").split() if isinstance(value, str) else value
    return " ".join(str(word).strip() for word in listed(text, what="The list of written tokens"))


def marks(value: object) -> list[str]:
    """Marks by their names, however they were written."""
    if isinstance(value, str):
        value = re.findall(r"[a-z]+|[^\sa-z,]", value.lower())
    found = [str(x).strip().lower() for x in listed(value, what="The list of marks")]
    found = [SYMBOLS.get(x, x) for x in found]
    if unknown := [x for x in found if x not in SYMBOLS.values()]:
        words = "accepted, rejected, discarded, corrected or bonus (or its symbol)"
        raise Wrong(f"A mark is {words}; one of yours is {shown(unknown[0])}.")
    return found


def rows(value: object) -> list[int]:
    return sorted(whole(x, "Each number of a row") for x in listed(value, what="The list of rows"))


def wrong_mark(_: tuple, found: list[str]) -> Mistake:
    drafts, miss, last, own = found[:5], found[3:4], found[4:5], found[5:]
    mistakes = (
        (len(found) != 6, Mistake(f"There are six marks, one for each of the five drafts and one at the end; you give {len(found)}.")),
        (drafts == ["accepted"] * 5, Mistake("You accept every draft. Compare the fourth one with what the target says there.")),
        (drafts[:3] != ["accepted"] * 3, Mistake("The first three drafts are what the target says: what is the mark for that?")),
        (miss == ["corrected"], Mistake("The fourth mark is the draft's, `on`. The mark of what replaces it comes at the end.")),
        (miss != ["rejected"], Mistake("The fourth draft was compared, and it is not what the target says: what is the mark for that?")),
        (last == ["accepted"], Mistake("The last draft agrees with the target, but the round had ended before it.", belief=1)),
        (last == ["rejected"], Mistake("The last draft was never compared with anything, so it was not rejected.")),
        (last != ["discarded"], Mistake("What is the mark of a draft that stands after the miss?")),
        (own == ["bonus"], Mistake("The target's token is a bonus only where all drafts were kept.")),
        (True, Mistake("What is the mark of the token that stands in the place of a miss?")),
    )  # fmt: skip
    return next(mistake for is_so, mistake in mistakes if is_so)


WRITTEN = fixed("the cat sat by", read=sentence,
    seen=lambda _, found, right: f"You say that the round writes “{found}”." if found else "",
    hint="Written are the accepted drafts, from left to right, and then one token of the target.", mistakes=[
    Mistake("The last draft agrees with the target, but it stands after the miss: its row is about a text with `on`.", "the cat sat by a", belief=1),
    Mistake("The `a` stands after the miss, and the place of the miss itself is not left empty.", "the cat sat a", belief=1),
    Mistake("The target's column is not one sentence: below the miss it is about a text with `on`.", "the cat sat by a .", belief=1),
    Mistake("In the place of the miss the round writes one more token, the target's own.", "the cat sat", belief=6),
    Mistake("`on` was rejected, so it is not written. What stands in its place?", "the cat sat on"),
    Mistake("These are the drafts. What did the target say in the fourth row?", "the cat sat on a"),
    Mistake("Not all drafts agree with the target: look at the fourth row.", "the cat sat on a ."),
    Mistake("The drafts that were accepted are written too, and not only the target's token.", "by")])  # fmt: skip
MARKED = fixed(["accepted"] * 3 + ["rejected", "discarded", "corrected"], read=marks, hint=wrong_mark)
KEPT = fixed([1, 2, 3, 4], read=rows, hint="An entry stays if the token at which its row was computed is kept.", mistakes=[
    Mistake("Row 6 was computed at the last draft, and that one is not in the text, whatever it says.", [1, 2, 3, 4, 6], belief=1),
    Mistake("Where was row 1 computed? That token is in the text, too.", [2, 3, 4]),
    Mistake("Where was row 4 computed? That token is in the text.", [1, 2, 3]),
    Mistake("Row 5 was computed at `on`, which is not in the text; no row was computed at `by`.", [1, 2, 3, 4, 5]),
    Mistake("Two of the six rows were computed at tokens that are not in the text.", [1, 2, 3, 4, 5, 6]),
    Mistake("The rows are numbered from 1 to 6.", [0, 1, 2, 3])])  # fmt: skip

several("9.c1", {"the tokens written": WRITTEN, "the marks": MARKED, "the rows that stay": KEPT})
choice("9.c1.why", "C",
    Mistake("The target said so about a text with `on` in it, and `on` is not there.", "A", belief=1),
    Mistake("The pass is finished before anything is compared: six rows were computed, one for this draft.", "B", belief=9),
    Mistake("There is a bonus only where all drafts were kept, and it is the target's.", "D", belief=10))  # fmt: skip
