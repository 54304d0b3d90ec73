"""Exercise 10: who_sees(parents) → for each draft its place behind the text, and the drafts that its row sees."""

from collections.abc import Sequence

from specdec_grader.kit import Mistake, Question, Wrong, listed, part, whole

Seen = list[tuple[int, list[int]]]
TREES = (
    [-1, 0, 1], [-1, -1, 0, 0, 1], [-1, -1, -1], [-1, 0, 0, 1, 3, 2, -1, 6], [-1, -1, 1, 0, 2, 2, 4], [-1], [],
)  # fmt: skip


def way(parents: Sequence[int], i: int) -> list[int]:
    """The drafts from the text to draft i, itself included."""
    return [] if i < 0 else [*way(parents, parents[i]), i]


def right(parents: list[int]) -> Seen:
    return [(len(way(parents, i)), way(parents, i)) for i in range(len(parents))]


def read(value: object) -> Seen:
    pairs = [listed(pair, 2, "Each item of your list, (place, drafts),") for pair in listed(value)]
    return [(whole(place, "A place"), sorted(whole(j, "A draft") for j in listed(seen, what="The drafts that are seen", ordered=False))) for place, seen in pairs]  # fmt: skip


def wrong(place=lambda parents, i: len(way(parents, i)), seen=way):
    """The answer with another place, or with other drafts seen."""
    return lambda parents: [(place(parents, i), sorted(seen(parents, i))) for i in range(len(parents))]


def older(parents: Sequence[int], i: int) -> list[int]:
    return list(range(i + 1))


def by_index(parents: Sequence[int], i: int) -> int:
    return i + 1


def children(parents: Sequence[int], i: int) -> list[int]:
    below = [i]
    for j in range(i + 1, len(parents)):
        below += [j] if parents[j] in below else []
    return below


SEES = Question(
    cases=[(parents,) for parents in TREES], right=right, read=read,
    seen="For the parents {} your function gives {found}.",
    hint="Start at a draft and go from parent to parent, until −1. Those are the ones it sees; how many are they?",
    mistakes=[
        Mistake("Each row sees all older rows, and its place is its number: that is a chain. In a tree a row sees only its own way.", wrong(by_index, older)),
        Mistake("What each row sees is right. But its place is that of its depth: drafts for the same place of the text have the same one.",
                wrong(by_index), earned=0.5),
        Mistake("The places are right. But a row must not see older drafts of another way: only its own way back to the text.",
                wrong(seen=older), wrong(seen=lambda parents, i: [j for j in range(i + 1) if len(way(parents, j)) <= len(way(parents, i))]), earned=0.5),
        Mistake("A row also sees itself: it is the newest token of its own text.",
                wrong(seen=lambda parents, i: way(parents, i)[:-1]), wrong(seen=lambda parents, i: way(parents, i)[:-1], place=lambda parents, i: len(way(parents, i)) - 1), earned=0.5),
        Mistake("A first draft stands one place behind the text: count from 1.", wrong(lambda parents, i: len(way(parents, i)) - 1), earned=0.75),
        Mistake("A row sees its parent, and the parent's parent, and so on up to the text.",
                wrong(seen=lambda parents, i: [j for j in {parents[i], i} if j >= 0])),
        Mistake("You follow the children. A row sees what stands before it, not what goes on from it.", wrong(seen=children)),
        Mistake("Siblings stand for the same place, and are in no text together: they do not see each other.",
                wrong(seen=lambda parents, i: sorted({*way(parents, i), *(j for j in range(i) if parents[j] == parents[i])})), earned=0.25),
        Mistake("The text is no draft: leave −1 out.", wrong(seen=lambda parents, i: [-1, *way(parents, i)]), earned=0.5)])  # fmt: skip


@part("10.sees", points=2, asks=[SEES])
def who_sees(made) -> None:
    given = list(TREES[1])
    made(given)
    if given != TREES[1]:
        raise Wrong("Your function changes the list of parents that it is given. Work on a copy.")
    SEES.judge(made)
