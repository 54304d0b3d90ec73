"""Exercise 6: prompt lookup."""

from collections.abc import Callable, Sequence

from specdec_lab.grade.cases import Mistake, answers, explained, named
from specdec_lab.grade.part import Wrong, listed, part, shown, whole

Propose = Callable[[list[int], int], Sequence[int]]


def place(text: Sequence[int], lengths: Sequence[int], ends: Callable[[int, int], Sequence[int]] | None = None):
    """(length, end) of the first match with the end of the text, in this order of lengths and places; or None."""
    size = len(text)
    for n in lengths:
        for end in range(size - 1, n - 1, -1) if ends is None else ends(n, size):
            if 0 < n <= end and list(text[end - n : end]) == list(text[size - n :]):
                return n, end
    return None


def onwards(text: Sequence[int], begin: int, gamma: int) -> list[int]:
    """gamma tokens from the place `begin`; where the text ends, the copy goes on with itself."""
    out = list(text)
    for i in range(begin, begin + gamma):
        out.append(out[i])
    return out[len(text) :]


def lookup(text: Sequence[int], gamma: int, longest: int = 3) -> list[int]:
    found = place(text, range(longest, 0, -1))
    return onwards(text, found[1], gamma) if found else []


def _other(lengths: Sequence[int] = (3, 2, 1), ends=None, begin=lambda n, end: end, copy=onwards) -> Propose:
    """Lookup with something changed: the lengths, the places, where the copy begins, or how it is made."""

    def made(text: Sequence[int], gamma: int) -> list[int]:
        found = place(text, lengths, ends)
        return copy(text, begin(*found), gamma) if found else []

    return made


def _one_by_one(text: Sequence[int], gamma: int) -> list[int]:
    out: list[int] = []
    for _ in range(gamma):
        out += lookup([*text, *out], 1)
    return out


CASES: tuple[tuple[list[int], int], ...] = (
    ([1, 2, 3, 9, 8, 1, 2, 3], 2),
    ([4, 5, 6, 7, 2, 6, 8, 4, 5, 6], 3),  # the longest run, though a shorter one stands nearer
    ([1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3], 4),  # twice: the later one
    ([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], 2),  # a run of two stands nearer, and goes on differently
    ([1, 2, 3, 4, 5, 9, 2, 3, 4, 6, 1, 2, 3], 2),  # what was copied stands nearer, too
    ([3, 7, 1, 9, 6, 4, 3, 5, 2, 1, 9], 4),  # a run of two
    ([6, 1, 4, 2, 5, 8, 4], 3),  # a run of one
    ([1, 2, 3, 4, 5], 3),  # nothing
    ([7, 7], 3),  # right before the end, and the copy goes on with itself
    ([1, 2, 1, 2], 5),
    ([3, 5, 5, 5], 4),
    ([1, 2, 1, 9, 1, 2, 1, 2, 1], 3),  # the match and the end of the text share a token
    ([9, 4, 4, 1, 8, 2, 4, 4, 1, 8, 3, 7, 2, 4, 1, 8], 3),  # three match in both; four in neither
    ([7, 1, 2, 3, 4, 5, 1, 2, 3, 9, 7, 1, 2, 3], 2),  # a run of four, longer than it may be, stands further back
    ([8, 6, 8], 6),
    ([5], 4),
    ([], 4),
    ([1, 2, 1, 2], 0),
)
BEGINS_LATE = "A run may also stand at the very beginning of the text; you begin your search one place too late."
MISTAKES = (
    Mistake(
        "Did you find the end of the text itself? It always matches, and nothing follows it: look only for places that something follows.",
        lambda text, gamma: [],
    ),
    Mistake(
        "You propose all that follows, and not at most γ tokens: each draft is a row that the target must compute.",
        lambda text, gamma: (
            onwards(text, found[1], max(gamma, len(text) - found[1])) if (found := place(text, (3, 2, 1))) else []
        ),
        8,
    ),
    Mistake("You take the earliest place; take the most recent one.", _other(ends=lambda n, size: range(n, size))),
    Mistake("You copy the tokens that match; copy those that follow them.", _other(begin=lambda n, end: end - n)),
    Mistake(
        "Your copy begins one token too late: it must begin right behind the match.",
        _other(
            begin=lambda n, end: end + 1,
            copy=lambda text, begin, gamma: onwards(text, begin, gamma) if begin < len(text) else [],
        ),
    ),
    Mistake(
        "Your copy begins one token too late: it must begin right behind the match.",
        _other(begin=lambda n, end: end + 1, copy=lambda text, begin, gamma: list(text[begin : begin + gamma])),
    ),
    Mistake(
        "Your copy stops where the text ends. Let it go on with what it has copied itself.",
        _other(copy=lambda text, begin, gamma: list(text[begin : begin + gamma])),
    ),
    Mistake(
        "You give up when no run of three is found; then look for two, and then for one. A wrong draft does no harm: it is refused.",
        _other((3,)),
    ),
    Mistake("You look at the last token first, or only at it; begin with a run of three, then two.", _other((1,))),
    Mistake("You look for runs of two at most; begin with three.", _other((2, 1))),
    Mistake("You stop before runs of one token; the last token alone counts, too.", _other((3, 2))),
    Mistake(
        "You also look for runs of four or more tokens; three is the most here.", lambda t, g: lookup(t, g, len(t))
    ),
    Mistake("You also look for runs of four tokens; three is the most here.", lambda t, g: lookup(t, g, 4)),
    Mistake(
        "A match may also end one token before the end of the text: in 7 7 the first 7 is a place.",
        _other(ends=lambda n, size: range(size - 2, n - 1, -1)),
    ),
    Mistake(
        "A match may share tokens with the end of the text: in 1 2 1 2 1 the run 1 2 1 stands twice.",
        _other(ends=lambda n, size: range(size - n, n - 1, -1)),
    ),
    Mistake(BEGINS_LATE, _other(ends=lambda n, size: range(size - 1, n, -1))),
    Mistake(
        "You look for a new place after each copied token. Find one place, and copy all tokens from there.", _one_by_one
    ),
    Mistake(
        "With γ = 0 there is nothing to propose; your function proposes a token.",
        lambda text, gamma: lookup(text, gamma or 1),
    ),
)


def drafts(value: object) -> list[int]:
    """What a drafter returned, as a list of whole numbers."""
    return [whole(token, "A proposed token") for token in listed(value, None, "What your function returns")]


@part("6.propose", points=3)
def propose(made: Propose) -> None:
    """propose(text, gamma) → at most gamma token ids."""
    found = [drafts(value) for value in answers(made, CASES)]
    given = list(CASES[1][0])
    made(given, 3)
    if given != CASES[1][0]:
        raise Wrong("Your function changes the text that it is given. Work on a copy: the target still needs it.")
    for (text, gamma), proposed in zip(CASES, found):
        if proposed != (right := lookup(text, gamma)):
            before = (
                f"For the text {text} and γ = {gamma} the proposal should be {right}; yours is {shown(proposed, 60)}."
            )
            mistake = explained(MISTAKES, CASES, found, lambda a, b: a == b)
            raise named(
                mistake, before, "Which run matches the end of the text, where does it stand, and what follows it?"
            )
