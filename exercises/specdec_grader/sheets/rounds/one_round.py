"""Exercise 2: play(drafts, choices) → (tokens written, marks)."""

from collections.abc import Callable, Sequence
from typing import Any

from specdec_grader.kit import Mistake, Question, Wrong, common_start, listed, part, results, shown, whole
from specdec_lab.engine.trace import ACCEPTED, BONUS, CORRECTED, DISCARDED, REJECTED

WORDS = (ACCEPTED, REJECTED, DISCARDED, CORRECTED, BONUS)
SEEN = "With the drafts {} and the choices {}"
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
    ([4711, 4712, 4713], [int("4711"), int("4712"), 5000, 5001]),  # equal, and other objects
)


def matching(drafts: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The drafts that agree with the target, also those behind a miss."""
    return [x for x, y in zip(drafts, choices) if x == y]


def mistake(said: str, *ways: Callable[[list[int], list[int], int], Any], belief: int | None = None) -> Mistake:
    """A mistake in a round. Its formulas get the drafts, the choices, and how many drafts are accepted."""
    return Mistake(said, *(lambda d, c, way=way: way(d, c, common_start(d, c)) for way in ways), belief=belief)


def two_results(made: Callable[..., object], what: str) -> tuple[Sequence, Sequence]:
    """What the learner's function gives for all rounds: the first of its two results, and the second."""
    found = [listed(pair) for pair in results(made, ROUNDS)]
    for pair in found:
        if len(pair) != 2:
            raise Wrong(f"Your function should return two {what}; it returned {shown(pair)}.")
    return tuple(zip(*found))


AFTER_A_MISS = (
    "After the first miss nothing counts: the choices there were computed behind a draft that is not in the text."
)


def what_is_written(case: tuple[list[int], list[int]], found: list[int]) -> str | Mistake:
    drafts, choices = case
    a = common_start(drafts, choices)
    if a < len(drafts) and found[: a + 1] == choices[: a + 1]:
        late = matching(drafts[a + 1 :], choices[a + 1 :])
        return Mistake(AFTER_A_MISS, belief=1 if set(found[a + 1 :]) <= set(late) else None)
    place = f"the first miss is at place {a + 1}" if a < len(drafts) else "there is no miss"
    return f"Here {place}, so {choices[: a + 1]} is written."


TOKENS = Question(
    cases=ROUNDS, right=lambda d, c: c[: common_start(d, c) + 1],
    seen=f"{SEEN} you write {{found}}.", hint=what_is_written,
    mistakes=[
        mistake(f"{AFTER_A_MISS} And the target's own token is missing.", lambda d, c, a: matching(d, c), belief=1),
        mistake(AFTER_A_MISS,
                lambda d, c, a: [*matching(d, c), c[a]],
                lambda d, c, a: [*matching(d, c), c[-1]],
                lambda d, c, a: [*matching(d, c), c[len(matching(d, c))]],
                lambda d, c, a: [*c[: a + 1], *matching(d[a + 1 :], c[a + 1 :])], belief=1),
        mistake(AFTER_A_MISS, lambda d, c, a: c),
        mistake(f"{AFTER_A_MISS} And the bonus is missing.", lambda d, c, a: c[:-1]),
        mistake("The target's own token is missing: a correction at the first miss, or a bonus behind the last draft.",
                lambda d, c, a: d[:a], belief=6),
        mistake("The bonus is missing: if all drafts are right, the last choice is written as well.",
                lambda d, c, a: c[: a + 1] if a < len(d) else d, belief=6),
        mistake("The correction is missing: at the first miss the target's own choice is written.",
                lambda d, c, a: d[:a] if a < len(d) else c, belief=6),
        mistake("The bonus is the target's choice behind the last draft, and no draft.",
                lambda d, c, a: c[: a + 1] if a < len(d) else [*d, d[-1]], belief=10),
        mistake("The bonus is missing, and the first draft that misses is not written; the target's choice stands there.",
                lambda d, c, a: d[: a + 1]),
        mistake("You write the rejected draft and its correction. The correction stands in its place.",
                lambda d, c, a: [*d[: a + 1], c[a]] if a < len(d) else c),
        mistake("You write all drafts. Only those before the first miss are written.", lambda d, c, a: d if a < len(d) else c),
        mistake("You write all drafts, whatever the target says about them.", lambda d, c, a: d, lambda d, c, a: [*d, c[-1]]),
        mistake("You always take the last choice. After a miss it is the choice at the place of the miss.", lambda d, c, a: [*d[:a], c[-1]]),
        mistake("The correction comes from one place too late: it is the choice at the place of the miss.",
                lambda d, c, a: [*d[:a], c[min(a + 1, len(d))]]),
        mistake("You compare each draft with the choice one place later. The first choice is about the first draft.",
                lambda d, c, a: [*d[: common_start(d, c[1:])], c[common_start(d, c[1:])]],
                lambda d, c, a: c[1 : common_start(d, c[1:]) + 2]),
        mistake("The accepted drafts are missing: they are written, too.", lambda d, c, a: [c[a]])])  # fmt: skip


def right_marks(drafts: list[int], choices: list[int]) -> list[str]:
    a, gamma = common_start(drafts, choices), len(drafts)
    missed = [ACCEPTED] * a + [REJECTED] + [DISCARDED] * (gamma - a - 1) + [CORRECTED]
    return missed if a < gamma else [ACCEPTED] * gamma + [BONUS]


def wrong_mark(case: tuple[list[int], list[int]], found: list[str]) -> Mistake:
    """The first mark that is wrong. Each rule looks at one place, so it holds whatever the other marks are."""
    drafts, choices = case
    a, gamma, right = common_start(drafts, choices), len(drafts), right_marks(drafts, choices)
    late = [mark for mark, x, y in list(zip(found, drafts, choices))[a + 1 :] if x == y]
    for mark in found:
        if mark not in WORDS:
            return Mistake(f"{shown(mark)} is no mark: the words are {', '.join(WORDS)}.")
    mistakes = (
        (ACCEPTED in late, Mistake("A draft after the first miss is never accepted, even if it agrees.", belief=1)),
        (a < gamma and found == [CORRECTED if mark == REJECTED else mark for mark in right[:-1]],
         Mistake("The rejected draft and its correction are two tokens, with a mark each: "
                 "rejected stands in the row of drafts, corrected at the end.")),
        (found == right[:-1], Mistake("The mark of the target's own token is missing: it is the last one.")),
        (len(found) != len(right), Mistake(f"There should be {len(right)} marks: one for each draft, then one for the target's own token.")),
        (found[:-1] == right[:-1],
         Mistake(f"The last mark should be {right[-1]}: the target's own token is a correction after a miss, and a bonus if there was none.")),
        (REJECTED in found[a + 1 : gamma], Mistake("Only one draft is rejected. Those after it are not compared: discarded.")),
        (found[a:gamma][:1] == [DISCARDED], Mistake("The first miss was compared, and is different: rejected.")),
        (True, Mistake(f"They should be {right}.")),
    )  # fmt: skip
    return next(mistake for is_so, mistake in mistakes if is_so)


MARKS = Question(
    cases=ROUNDS, right=right_marks,
    seen=lambda case, found, _: f"{SEEN.format(*case)} your tokens are right, and your marks are {shown(found, 120)}.",
    hint=wrong_mark)  # fmt: skip


@part("2.round", points=3, asks=[TOKENS, MARKS])
def one_round(made: Callable[[list, list], tuple]) -> None:
    written, marks = two_results(made, "lists, the tokens and the marks")
    marks = [listed(found, what="The second result") for found in marks]
    written = [listed(found, what="The first result") for found in written]
    if any(isinstance(token, str) for found in written for token in found):
        raise Wrong("The tokens that are written come first, then the marks.")
    TOKENS.compare([[whole(token, "A written token") for token in found] for found in written])
    MARKS.compare(marks, earned=2 / 3)
