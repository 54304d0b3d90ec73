"""Exercise 9: who does what."""

import re
from collections.abc import Callable

from specdec_lab.grade.checkpoint.answers import choice, several
from specdec_lab.grade.part import Wrong, listed, part, shown, whole

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


SYMBOLS = {"✓": "accepted", "✗": "rejected", "↻": "corrected", "–": "discarded", "-": "discarded", "+": "bonus"}
SYMBOLS |= {"✔": "accepted", "x": "rejected", "×": "rejected", "—": "discarded"}  # what is easier to type
BAD_MARK = "A mark is accepted, rejected, discarded, corrected or bonus (or its symbol); one of yours is {}."


def words(value: object, what: str) -> list[str]:
    """Tokens, as a list of them or as one text; spaces around them do not count."""
    items = value.replace(",", " ").split() if isinstance(value, str) else listed(value, None, what)
    return [str(x).strip() for x in items]


def marks(value: object) -> list[str]:
    """Marks by their names, however they were written."""
    if isinstance(value, str):
        value = re.findall(r"[a-z]+|[^\sa-z,]", value.lower())
    found = [str(x).strip().lower() for x in listed(value, None, "The list of marks")]
    found = [SYMBOLS.get(x, x) for x in found]
    for x in found:
        if x not in SYMBOLS.values():
            raise Wrong(BAD_MARK.format(shown(x)))
    return found


WRITTEN = {
    "the cat sat by a": (
        "The last draft agrees with the target, but it stands after the miss: its row is about a text with `on`.",
        1,
    ),
    "the cat sat a": ("The `a` stands after the miss, and the place of the miss itself is not left empty.", 1),
    "the cat sat by a .": ("The target's column is not one sentence: below the miss it is about a text with `on`.", 1),
    "the cat sat": ("In the place of the miss the round writes one more token, the target's own.", 6),
    "the cat sat on": ("`on` was rejected, so it is not written. What stands in its place?", None),
    "the cat sat on a": ("These are the drafts. What did the target say in the fourth row?", None),
    "the cat sat on a .": ("Not all drafts agree with the target: look at the fourth row.", None),
    "by": ("The drafts that were accepted are written too, and not only the target's token.", None),
}


def written(value: object) -> None:
    found = " ".join(words(value, "The list of written tokens"))
    if found == "the cat sat by":
        return
    said, misconception = WRITTEN.get(
        found, ("Written are the accepted drafts, from left to right, and then one token of the target.", None)
    )
    raise Wrong(f"You say that the round writes “{found}”. {said}" if found else said, misconception=misconception)


def marked(value: object) -> None:
    found = marks(value)
    if len(found) != 6:
        raise Wrong(f"There are six marks, one for each of the five drafts and one at the end; you give {len(found)}.")
    drafts, own = found[:5], found[5]
    if drafts == ["accepted"] * 5:
        raise Wrong("You accept every draft. Compare the fourth one with what the target says there.")
    if drafts[:3] != ["accepted"] * 3:
        raise Wrong("The first three drafts are what the target says: what is the mark for that?")
    if drafts[3] == "corrected":
        raise Wrong("The fourth mark is the draft's, `on`. The mark of what replaces it comes at the end.")
    if drafts[3] != "rejected":
        raise Wrong("The fourth draft was compared, and it is not what the target says: what is the mark for that?")
    if drafts[4] == "accepted":
        raise Wrong("The last draft agrees with the target, but the round had ended before it.", misconception=1)
    if drafts[4] == "rejected":
        raise Wrong("The last draft was never compared with anything, so it was not rejected.")
    if drafts[4] != "discarded":
        raise Wrong("What is the mark of a draft that stands after the miss?")
    if own == "bonus":
        raise Wrong("The target's token is a bonus only where all drafts were kept.")
    if own != "corrected":
        raise Wrong("What is the mark of the token that stands in the place of a miss?")


KEPT = {
    (1, 2, 3, 4, 6): ("Row 6 was computed at the last draft, and that one is not in the text, whatever it says.", 1),
    (2, 3, 4): ("Where was row 1 computed? That token is in the text, too.", None),
    (1, 2, 3): ("Where was row 4 computed? That token is in the text.", None),
    (1, 2, 3, 4, 5): ("Row 5 was computed at `on`, which is not in the text; no row was computed at `by`.", None),
    (1, 2, 3, 4, 5, 6): ("Two of the six rows were computed at tokens that are not in the text.", None),
    (0, 1, 2, 3): ("The rows are numbered from 1 to 6.", None),
}


def kept(value: object) -> None:
    items = listed(value, None, "The list of rows")
    found = tuple(sorted(whole(x, "Each number of a row") for x in items))
    if found == (1, 2, 3, 4):
        return
    said, misconception = KEPT.get(found, ("An entry stays if the token at which its row was computed is kept.", None))
    raise Wrong(said, misconception=misconception)


@part("9.c1", points=1)
def c1(made: Callable[[], object]) -> None:
    """c1() → tokens written, marks, rows whose entries stay."""
    several(made, {"the tokens written": written, "the marks": marked, "the rows that stay": kept})


@part("9.c1.why", points=1)
def c1_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "C",
        {
            "A": ("The target said so about a text with `on` in it, and `on` is not there.", 1),
            "B": ("The pass is finished before anything is compared: six rows were computed, one for this draft.", 9),
            "D": ("There is a bonus only where all drafts were kept, and it is the target's.", 10),
        },
    )
