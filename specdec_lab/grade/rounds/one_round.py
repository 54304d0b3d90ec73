"""Exercise 2: what a round writes, and its marks."""

from collections.abc import Callable, Sequence

from specdec_lab.grade.part import Wrong, begun, listed, part, shown, whole
from specdec_lab.trace import ACCEPTED, BONUS, CORRECTED, DISCARDED, REJECTED

MARKS = (ACCEPTED, REJECTED, DISCARDED, CORRECTED, BONUS)

ROUNDS = (  # (drafts, the target's choices at γ + 1 places)
    ([4, 8, 1, 9], [4, 8, 7, 9, 2]),  # agrees after the miss
    ([4, 8, 1, 9], [4, 8, 1, 9, 2]),  # all right
    ([5, 6, 7], [3, 6, 7, 1]),  # nothing right at the first place, all after it
    ([7, 0, 7, 7, 0], [7, 0, 3, 7, 5, 0]),  # equal tokens, and the token 0
    ([2], [2, 0]),
    ([2], [6, 5]),
    ([1, 2, 3, 4], [1, 2, 3, 5, 6]),  # misses at the end
    ([3, 1, 4, 1], [1, 4, 1, 5, 9]),  # right one place too late
    ([0, 0, 0], [0, 0, 0, 0]),
    ([1, 2, 3, 4, 5, 6], [1, 9, 3, 9, 5, 9, 9]),
)


def leading(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens a and b have in common at their beginning."""
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


# Part 1


@part("2.round", points=3)
def one_round(made: Callable[[list, list], tuple]) -> None:
    """play(drafts, choices) → (tokens written, marks)."""
    begun(made)
    found = []
    for drafts, choices in ROUNDS:
        pair = listed(made(list(drafts), list(choices)), None, "What your function returns")
        if len(pair) != 2:
            raise Wrong(f"Your function should return two lists, the tokens and the marks; it returned {shown(pair)}.")
        found.append((pair[0], listed(pair[1], None, "The second result")))
    written = [listed(tokens, None, "The first result") for tokens, _ in found]
    if any(isinstance(token, str) for tokens in written for token in tokens):
        raise Wrong("The tokens that are written come first, then the marks.")
    written = [[whole(token, "A written token") for token in tokens] for tokens in written]
    if error := wrongly_written(written):
        raise error
    if error := wrongly_marked([marks for _, marks in found]):
        raise error


def case(drafts: Sequence[int], choices: Sequence[int]) -> str:
    return f"With the drafts {list(drafts)} and the choices {list(choices)}"


def wrongly_written(written: list[list[int]]) -> Wrong | None:
    """What is wrong with the tokens, if anything is; a way to write them is named if it explains all rounds."""
    kept = [leading(drafts, choices) for drafts, choices in ROUNDS]
    right = [[*drafts[:a], choices[a]] for (drafts, choices), a in zip(ROUNDS, kept)]
    if written == right:
        return None
    (drafts, choices), tokens, a, want = next(
        (*found, want) for *found, want in zip(ROUNDS, written, kept, right) if found[1] != want
    )
    seen = f"{case(drafts, choices)} you write {tokens}."

    def is_way(way: Callable[[list[int], list[int], int], list[int]]) -> bool:
        return all(way(d, c, a) == tokens for (d, c), tokens, a in zip(ROUNDS, written, kept))

    for way, said, misconception in WAYS:
        if is_way(way):
            return Wrong(f"{seen} {said}", misconception=misconception)
    if a < len(drafts) and tokens[: a + 1] == want and len(tokens) > a + 1:
        late = matching(drafts[a + 1 :], choices[a + 1 :])
        return Wrong(f"{seen} {AFTER_A_MISS}", misconception=1 if set(tokens[a + 1 :]) <= set(late) else None)
    place = f"the first miss is at place {a + 1}" if a < len(drafts) else "there is no miss"
    return Wrong(f"{seen} Here {place}, so {want} is written.")


def matching(drafts: list[int], choices: list[int]) -> list[int]:
    return [x for x, y in zip(drafts, choices) if x == y]


AFTER_A_MISS = (
    "After the first miss nothing counts: the choices there were computed behind a draft that is not in the text."
)
NO_OWN = "The target's own token is missing"
WAYS = (  # (what is written with γ drafts, the choices and a right ones; what is said; misconception)
    (lambda d, c, a: matching(d, c), f"{AFTER_A_MISS} And {NO_OWN.lower()}.", 1),
    (lambda d, c, a: [*matching(d, c), c[a]], AFTER_A_MISS, 1),
    (lambda d, c, a: [*matching(d, c), c[-1]], AFTER_A_MISS, 1),
    (lambda d, c, a: [*matching(d, c), c[len(matching(d, c))]], AFTER_A_MISS, 1),
    (lambda d, c, a: c if a == len(d) else [*d[:a], c[a], *matching(d[a + 1 :], c[a + 1 :])], AFTER_A_MISS, 1),
    (lambda d, c, a: c, AFTER_A_MISS, None),
    (lambda d, c, a: c[:-1], f"{AFTER_A_MISS} And the bonus is missing.", None),
    (lambda d, c, a: d[:a], f"{NO_OWN}: a correction at the first miss, or a bonus behind the last draft.", 6),
    (
        lambda d, c, a: [*d[:a], *c[a : a + 1]] if a < len(d) else d,
        "The bonus is missing: if all drafts are right, the last choice is written as well.",
        6,
    ),
    (
        lambda d, c, a: d[:a] if a < len(d) else c,
        "The correction is missing: at the first miss the target's own choice is written.",
        6,
    ),
    (
        lambda d, c, a: [*d[:a], c[a]] if a < len(d) else [*d, d[-1]],
        "The bonus is the target's choice behind the last draft, and no draft.",
        10,
    ),
    (
        lambda d, c, a: d[: a + 1],
        "The bonus is missing, and the first draft that misses is not written; the target's choice stands there.",
        None,
    ),
    (
        lambda d, c, a: [*d[: a + 1], c[a]] if a < len(d) else c,
        "You write the rejected draft and its correction. The correction stands in its place.",
        None,
    ),
    (
        lambda d, c, a: d if a < len(d) else c,
        "You write all drafts. Only those before the first miss are written.",
        None,
    ),
    (lambda d, c, a: d, "You write all drafts, whatever the target says about them.", None),
    (lambda d, c, a: [*d, c[-1]], "You write all drafts, whatever the target says about them.", None),
    (
        lambda d, c, a: [*d[:a], c[-1]],
        "You always take the last choice. After a miss it is the choice at the place of the miss.",
        None,
    ),
    (
        lambda d, c, a: [*d[:a], c[min(a + 1, len(d))]],
        "The correction comes from one place too late: it is the choice at the place of the miss.",
        None,
    ),
    (
        lambda d, c, a: [*d[: leading(d, c[1:])], c[leading(d, c[1:])]],
        "You compare each draft with the choice one place later. The first choice is about the first draft.",
        None,
    ),
    (
        lambda d, c, a: [*d[: leading(d, c[1:])], c[leading(d, c[1:]) + 1]] if leading(d, c[1:]) < len(d) else c[1:],
        "You compare each draft with the choice one place later. The first choice is about the first draft.",
        None,
    ),
    (lambda d, c, a: [c[a]], "The accepted drafts are missing: they are written, too.", None),
)


def wrongly_marked(marks: list[list]) -> Wrong | None:
    """What is wrong with the marks, once the tokens are right: most of the points are earned."""
    earned = 2 / 3
    for (drafts, choices), found in zip(ROUNDS, marks):
        a, gamma = leading(drafts, choices), len(drafts)
        missed = [ACCEPTED] * a + [REJECTED] + [DISCARDED] * (gamma - a - 1) + [CORRECTED]
        right = missed if a < gamma else [ACCEPTED] * gamma + [BONUS]
        if found == right:
            continue
        seen = f"{case(drafts, choices)} your tokens are right, and your marks are {shown(found, 120)}."
        agree = [place for place in range(a + 1, gamma) if drafts[place] == choices[place]]
        for mark in found:
            if mark not in MARKS:
                return Wrong(f"{seen} {shown(mark)} is no mark: the words are {', '.join(MARKS)}.", earned)
        if any(found[place : place + 1] == [ACCEPTED] for place in agree):
            return Wrong(f"{seen} A draft after the first miss is never accepted, even if it agrees.", earned, 1)
        if a < gamma and found == [ACCEPTED] * a + [CORRECTED] + [DISCARDED] * (gamma - a - 1):
            return Wrong(
                f"{seen} The rejected draft and its correction are two tokens, with a mark each: rejected stands "
                "in the row of drafts, corrected at the end.",
                earned,
            )
        if found == right[:-1]:
            return Wrong(f"{seen} The mark of the target's own token is missing: it is the last one.", earned)
        if len(found) != gamma + 1:
            return Wrong(
                f"{seen} There should be {gamma + 1} marks: one for each draft, then one for the target's own token.",
                earned,
            )
        if found[-1] != right[-1] and found[:-1] == right[:-1]:
            return Wrong(
                f"{seen} The last mark should be {right[-1]}: the target's own token is a correction after a miss, "
                "and a bonus if there was none.",
                earned,
            )
        if a < gamma and REJECTED in found[a + 1 : gamma]:
            return Wrong(f"{seen} Only one draft is rejected. Those after it are not compared: discarded.", earned)
        if a < gamma and found[a] == DISCARDED:
            return Wrong(f"{seen} The first miss was compared, and is different: rejected.", earned)
        return Wrong(f"{seen} They should be {right}.", earned)
    return None
