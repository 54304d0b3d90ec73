"""Exercise 10: walk(parents, drafts, choices) → (the drafts that are kept, in order; the token that the target adds)."""

from collections.abc import Callable, Sequence

from specdec_grader.kit import Mistake, Question, listed, part, whole

Walked = tuple[list[int], int]
ROUNDS = (  # parents, drafts, the target's choice behind the text and behind each draft
    ([-1, 0, 1], [4, 8, 1], [4, 8, 7, 2]),  # a chain
    ([-1, -1, 0, 0, 1], [5, 3, 7, 6, 6], [3, 7, 6, 1, 2, 9]),  # the second first draft
    ([-1, -1, 0, 0, 1], [5, 3, 7, 6, 6], [5, 6, 6, 1, 2, 9]),  # the second behind the first, down to a leaf
    ([-1, -1, 0, 0, 1], [5, 3, 7, 6, 6], [8, 7, 6, 1, 2, 9]),  # none
    ([-1, -1, 1, 0, 2, 2, 4], [2, 9, 2, 9, 1, 9, 3], [9, 9, 2, 9, 0, 4, 5, 6]),  # equal tokens on different ways
    ([-1, 0, 0, 1, 3, 2, -1, 6], [1, 2, 3, 4, 5, 6, 7, 8], [1, 3, 4, 6, 5, 0, 9, 8, 2]),
    ([-1, 0, 0, 1, 3, 2, -1, 6], [1, 2, 3, 4, 5, 6, 7, 8], [7, 3, 4, 6, 5, 0, 9, 1, 2]),  # the last way, and a miss
    ([-1, -1, -1], [0, 1, 2], [2, 5, 6, 0]),  # three for one place
    ([-1, -1, 0], [4, 6, 4], [6, 4, 0, 7]),
    ([-1], [3], [3, 1]),
    ([], [], [5]),
)


def walk(parents: Sequence[int], drafts: Sequence[int], choices: Sequence[int]) -> Walked:
    return walked()(parents, drafts, choices)


def walked(
    start: int = -1,
    follows: Callable[[Sequence[int], int, int], bool] = lambda parents, i, at: parents[i] == at,
    says: Callable[[Sequence[int], int], int] = lambda choices, at: choices[at + 1],
) -> Callable[..., Walked]:
    """The walk, or with something changed: which drafts stand behind a place, and what the target says there."""

    def made(parents: Sequence[int], drafts: Sequence[int], choices: Sequence[int]) -> Walked:
        at, way = start, []
        while True:
            fits = [i for i in range(at + 1, len(drafts)) if follows(parents, i, at) and drafts[i] == says(choices, at)]
            if not fits:
                return way, says(choices, at)
            at = fits[0]
            way.append(at)

    return made


def longest(parents: Sequence[int], drafts: Sequence[int], choices: Sequence[int]) -> Walked:
    """Every draft that is what the target says behind its parent, also behind a miss."""
    way = [i for i, x in enumerate(drafts) if x == choices[parents[i] + 1]]
    return way, choices[(way[-1] if way else -1) + 1]


def read(value: object) -> Walked:
    kept, token = listed(value, 2, "What your function returns, (kept, token),")
    return [whole(i, "A kept draft") for i in listed(kept, what="The drafts that are kept")], whole(token, "The token")


WALK = Question(
    cases=ROUNDS, right=walk, read=read, seen="With the parents {}, the drafts {} and the choices {} your function gives {found}; it should be {right}.",
    hint="Begin at the text (−1). Among the drafts that stand there, look for the one that is the target's choice, and go on behind it.",
    mistakes=[
        Mistake("You keep drafts behind one that is not kept. A way is kept from the text on, without a gap.", longest, belief=1),
        Mistake("You compare a draft with the choice *behind* it. What decides about a draft is the choice behind its parent.",
                walked(says=lambda choices, at: choices[min(at + 2, len(choices) - 1)])),
        Mistake("You take any later draft with the right token. It must stand behind the last one that was kept: look at its parent.",
                walked(follows=lambda parents, i, at: True)),
        Mistake("You give the tokens of the drafts; give their numbers, as they stand in the list.",
                lambda parents, drafts, choices: ([drafts[i] for i in walk(parents, drafts, choices)[0]], walk(parents, drafts, choices)[1]), earned=0.5),
        Mistake("The kept drafts are right. The token is the target's choice behind the last of them.",
                lambda parents, drafts, choices: (walk(parents, drafts, choices)[0], choices[-1]),
                lambda parents, drafts, choices: (walk(parents, drafts, choices)[0], choices[0]),
                lambda parents, drafts, choices: (walk(parents, drafts, choices)[0], choices[len(walk(parents, drafts, choices)[0])]), earned=0.5),
        Mistake("You only try the first draft at each place. The others there are offered as well.",
                walked(follows=lambda parents, i, at: parents[i] == at and at not in parents[:i])),
        Mistake("You stop after one draft. Go on behind it.",
                lambda parents, drafts, choices: (walk(parents, drafts, choices)[0][:1], choices[([-1, *walk(parents, drafts, choices)[0]][:2])[-1] + 1]))])  # fmt: skip


@part("10.walk", points=3, asks=[WALK])
def kept_way(made: Callable[..., object]) -> None:
    WALK.judge(made)
