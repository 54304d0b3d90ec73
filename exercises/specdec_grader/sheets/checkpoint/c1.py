"""Exercise 9, who does what: c1() → tokens written, marks, rows whose entries stay; c1_why() → a letter."""

import re

from specdec_grader.kit import Mistake, Wrong, common_start, listed, shown, whole
from specdec_grader.sheets.checkpoint.answers import choice, fixed, several

DRAFTS = ["the", "butter", "and", "add", "some", "eggs"]
SAYS = ["the", "butter", "then", "add", "some", "sugar", "slowly"]  # the target, row by row
MISS = common_start(DRAFTS, SAYS)  # the place of the first miss, from 0: the drafts before it are accepted
BEHIND = range(MISS + 1, len(DRAFTS))  # the places of the discarded drafts
LATE = [i for i in BEHIND if DRAFTS[i] == SAYS[i]]  # those that agree all the same

SYMBOLS = {"✓": "accepted", "✗": "rejected", "↻": "corrected", "–": "discarded", "-": "discarded", "+": "bonus"}
SYMBOLS |= {"✔": "accepted", "x": "rejected", "×": "rejected", "—": "discarded"}  # what is easier to type


def words(*tokens: str) -> str:
    return " ".join(tokens)


def sentence(value: object) -> str:
    """Tokens, given as a list of them or as one text; spaces around them do not count."""
    text = value.replace(",", " ").split() if isinstance(value, str) else value
    return words(*(str(word).strip() for word in listed(text, what="The list of written tokens")))


def marks(value: object) -> list[str]:
    """Marks by their names, however they were written."""
    if isinstance(value, str):
        value = re.findall(r"[a-z]+|[^\sa-z,]", value.lower())
    found = [str(x).strip().lower() for x in listed(value, what="The list of marks")]
    found = [SYMBOLS.get(x, x) for x in found]
    if unknown := [x for x in found if x not in SYMBOLS.values()]:
        names = "accepted, rejected, discarded, corrected or bonus (or its symbol)"
        raise Wrong(f"A mark is {names}; one of yours is {shown(unknown[0])}.")
    return found


def rows(value: object) -> list[int]:
    return sorted(whole(x, "Each number of a row") for x in listed(value, what="The list of rows", ordered=False))


def wrong_mark(_: tuple, found: list[str]) -> Mistake:
    size = len(DRAFTS)
    drafts, miss, own = found[:size], found[MISS : MISS + 1], found[size:]
    agree, behind = [found[i] for i in LATE if i < len(found)], found[MISS + 1 : size]
    mistakes = (
        (len(found) != size + 1, Mistake(f"There are {size + 1} marks, one for each of the {size} drafts and one at the end; you give {len(found)}.")),
        (drafts == ["accepted"] * size, Mistake("You accept every draft. Compare `and` with what the target says in its place.")),
        (drafts[:MISS] != ["accepted"] * MISS,
         Mistake("`the` and `butter` are what the target says in their places. The row at a token is about the token *behind* it.")),
        (miss == ["corrected"], Mistake("The third mark is the draft's, `and`. The mark of what replaces it comes at the end.")),
        (miss != ["rejected"], Mistake("The third draft was compared, and it is not what the target says: what is the mark for that?")),
        ("accepted" in agree, Mistake("`add` and `some` agree with the target, but the round had ended before them.", belief=1)),
        ("rejected" in behind, Mistake("A draft behind the miss was never compared with anything, so it was not rejected.")),
        (behind != ["discarded"] * len(behind), Mistake("What is the mark of a draft that stands after the miss?")),
        (own == ["bonus"], Mistake("The target's token is a bonus only where all drafts were kept.")),
        (True, Mistake("What is the mark of the token that stands in the place of a miss?")),
    )  # fmt: skip
    return next(mistake for is_so, mistake in mistakes if is_so)


KEPT, CORRECTION, AGREE = DRAFTS[:MISS], SAYS[MISS], [DRAFTS[i] for i in LATE]
WRITTEN = fixed(words(*KEPT, CORRECTION), read=sentence,
    seen=lambda _, found, right: f"You say that the round writes “{found}”." if found else "",
    hint="Written are the accepted drafts, from left to right, and then one token of the target.", mistakes=[
    Mistake("`add some` agrees with the target, but stands after the miss: those rows are about a text with `and`.",
            words(*KEPT, CORRECTION, *AGREE), words(*SAYS[: LATE[-1] + 2]), belief=1),
    Mistake("What agrees after the miss does not count, and the place of the miss itself is not left empty.", words(*KEPT, *AGREE), belief=1),
    Mistake("The target's column is not one sentence: behind the miss it is about a text with `and`.", words(*SAYS), belief=1),
    Mistake("In the place of the miss the round writes one more token, the target's own.", words(*KEPT), belief=6),
    Mistake("`and` was rejected, so it is not written. What stands in its place?", words(*DRAFTS[: MISS + 1])),
    Mistake("These are the drafts. What does the target say behind `butter`?", words(*DRAFTS)),
    Mistake("Not all drafts agree with the target: look at what it says behind `butter`.", words(*DRAFTS, SAYS[-1])),
    Mistake("The drafts that were accepted are written too, and not only the target's token.", CORRECTION),
    Mistake("You compare a draft with its own row. What the target says in a row comes *behind* the token of that row.", SAYS[1])])  # fmt: skip
MARKED = fixed(
    ["accepted"] * MISS + ["rejected"] + ["discarded"] * len(BEHIND) + ["corrected"], read=marks, hint=wrong_mark
)
STAY = list(range(1, MISS + 2))  # row 1 was computed at the last token of the text, row i + 2 at the draft with index i
ALL = list(range(1, len(SAYS) + 1))
ROWS = fixed(STAY, read=rows, hint="An entry stays if the token at which its row was computed is in the text after the round.", mistakes=[
    Mistake("Rows 5 and 6 were computed at `add` and `some`, and these two are not in the text, whatever the target says.",
            [*STAY, *(i + 2 for i in LATE)], belief=1),
    Mistake("An entry belongs to the token at which its row was computed, and not to what the target says there.",
            [*range(1, MISS + 1), *(i + 1 for i in LATE)], belief=1),
    Mistake("Where was row 1 computed? That token is in the text, too.", STAY[1:]),
    Mistake("Where was row 3 computed? That token is in the text.", STAY[:-1]),
    Mistake("Row 4 was computed at `and`, which is not in the text; no row was computed at `then`.", [*STAY, MISS + 2]),
    Mistake("Four of the seven rows were computed at tokens that are not in the text.", ALL),
    Mistake("The rows are numbered from 1 to 7.", [n - 1 for n in STAY])])  # fmt: skip

several("9.c1", {"the tokens written": WRITTEN, "the marks": MARKED, "the rows that stay": ROWS})
choice("9.c1.why", "C",
    Mistake("The target said so about a text with `and` in it, and `and` is not there.", "A", belief=1),
    Mistake("The pass is finished before anything is compared: seven rows were computed, one for each of these two as well.", "B", belief=9),
    Mistake("There is a bonus only where all drafts were kept, and it is one token, the target's.", "D", belief=10))  # fmt: skip
