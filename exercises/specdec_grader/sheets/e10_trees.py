"""Exercise 10: what a draft of a tree sees, which way is kept, several drafts for one place, and chain or tree."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial

from specdec_grader.coerce import listed, reject_empty, same, shown, whole, word
from specdec_grader.guard import explain_error
from specdec_grader.mistakes import Wrong, known_mistakes
from specdec_grader.part import part, part_of_one
from specdec_grader.question import Question, points, question, tokens_of
from specdec_lab.theory import Row, lacking, residual, siblings  # noqa: F401 - mistakes are written with lacking

# 10.sees: draft i follows draft parents[i], and −1 is the text

Seen = list[tuple[int, list[int]]]  # for each draft its place after the text, and the drafts that its row sees


def places_and_drafts(value: object) -> Seen:
    found = []
    for pair in listed(value):
        place, seen = listed(pair, 2, "Each item of your list, (place, drafts),")
        drafts = listed(seen, what="The drafts that are seen", ordered=False)
        found.append((whole(place, "A place"), sorted(whole(j, "A draft") for j in drafts)))
    return found


def way(parents: Sequence[int], i: int) -> list[int]:
    """The drafts from the text to draft i, itself included."""
    return [] if i < 0 else [*way(parents, parents[i]), i]


def who_sees(parents):
    answer = []
    for i in range(len(parents)):
        seen = way(parents, i)
        place = len(seen)
        answer.append((place, seen))
    return answer


SEES = question(
    who_sees,
    read=places_and_drafts,
    cases=(
        ([-1, 0, 1],),
        ([-1, -1, 0, 0, 1],),
        ([-1, -1, -1],),
        ([-1, 0, 0, 1, 3, 2, -1, 6],),
        ([-1, -1, 1, 0, 2, 2, 4],),
        ([-1],),
        ([],),
    ),
    seen="For the parents {} your function gives {found}.",
    hint="Start at a draft and go from parent to parent, until −1. Those are the ones it sees; how many are they?",
)


@part("10.sees", points=2, asks=[SEES])
def judge_sees(made: Callable[[list[int]], Seen]) -> None:
    SEES.judge(made)
    given = [-1, -1, 0, 0, 1]
    made(given)
    if given != [-1, -1, 0, 0, 1]:
        raise Wrong("Your function changes the list of parents that it is given. Work on a copy.", 0.5)


# 10.walk: choices are what the target says after the text, and after each draft

Walked = tuple[list[int], int]  # the drafts that are kept, in order; the token that the target adds


def kept_and_token(value: object) -> Walked:
    kept, token = listed(value, 2, "What your function returns, (kept, token),")
    return [whole(i, "A kept draft") for i in listed(kept, what="The drafts that are kept")], whole(token, "The token")


def walk(parents, drafts, choices):
    at, kept = -1, []
    while True:
        fits = [i for i, parent in enumerate(parents) if parent == at and drafts[i] == choices[at + 1]]
        if not fits:
            return kept, choices[at + 1]
        at = fits[0]
        kept.append(at)


WALK = question(
    walk,
    read=kept_and_token,
    cases=(
        ([-1, 0, 1], [4, 8, 1], [4, 8, 7, 2]),  # a chain
        ([-1, -1, 0, 0, 1], [5, 3, 7, 6, 6], [3, 7, 6, 1, 2, 9]),  # the second first draft
        ([-1, -1, 0, 0, 1], [5, 3, 7, 6, 6], [5, 6, 6, 1, 2, 9]),  # the second one after the first, down to a leaf
        ([-1, -1, 0, 0, 1], [5, 3, 7, 6, 6], [8, 7, 6, 1, 2, 9]),  # none
        ([-1, -1, 1, 0, 2, 2, 4], [2, 9, 2, 9, 1, 9, 3], [9, 9, 2, 9, 0, 4, 5, 6]),  # equal tokens on different ways
        ([-1, 0, 0, 1, 3, 2, -1, 6], [1, 2, 3, 4, 5, 6, 7, 8], [1, 3, 4, 6, 5, 0, 9, 8, 2]),
        ([-1, 0, 0, 1, 3, 2, -1, 6], [1, 2, 3, 4, 5, 6, 7, 8], [7, 3, 4, 6, 5, 0, 9, 1, 2]),  # the last way, and a miss
        ([-1, -1, -1], [0, 1, 2], [2, 5, 6, 0]),  # three for one place
        ([-1, -1, 0], [4, 6, 4], [6, 4, 0, 7]),
        ([-1], [3], [3, 1]),
        ([], [], [5]),
    ),
    seen="With the parents {}, the drafts {} and the choices {} your function gives {found}; it should be {right}.",
    hint="Begin at the text (−1). Among the drafts that stand there, look for the one that is the target's choice, "
    "and go on after it.",
)
part_of_one("10.walk", points=3, asked=WALK)


# 10.offer: what comes out of a place with two drafts is computed from the rule, and compared with p

Offer = Callable[[Row, Sequence[int], Sequence[Row], Sequence[float], float], int]

CELLS, FINE = 30, 12  # points of [0, 1) at which the rule is asked, for each u and for w


def looked_up(row: Row, w: float, scale: bool = True) -> int:
    """The token at w of a distribution; the last one where nothing is left.

    Args:
        scale: it need not add up to 1.
    """
    place = w * sum(row) if scale else w
    return next((i for i, total in enumerate(itertools.accumulate(row)) if place < total), len(row) - 1)


def offer(p, drafts, qs, us, w):
    wanted = p
    for x, q, u in zip(drafts, qs, us):
        if u * q[x] < wanted[x]:
            return x
        wanted = residual(wanted, q)
    return looked_up(wanted, w)


def without(q: Row, x: int) -> Row:
    """q with one token left out, scaled up to 1."""
    return [0.0 if y == x else share / (1 - q[x]) for y, share in enumerate(q)]


def written(
    rule: Offer, p: Row, drafts: Sequence[int], qs: Sequence[Row], numbers: Sequence[tuple[Sequence[float], float]]
) -> list[int]:
    """The tokens that a rule writes for several (us, w)."""
    cases = [(list(p), list(drafts), [list(q) for q in qs], list(us), w) for us, w in numbers]
    return tokens_of(rule, cases, len(p))


def output_of(rule: Offer, p: Row, q: Row) -> tuple[list[float], float]:
    """What comes out of the place with two drafts, none drawn twice, and how often one of them is kept: all draws, and
    all numbers on a grid.

    A rule compares each u with a border and looks w up in a distribution, so for each pair of u it is asked with the
    smallest and the largest w first, and with those between only where they make a difference.
    """
    out, kept = [0.0] * len(p), 0.0
    smallest, *between, largest = points(FINE)
    for x, y in itertools.permutations(range(len(q)), 2):
        chance = q[x] * without(q, x)[y] / CELLS**2
        ask = partial(written, rule, p, (x, y), (q, without(q, x)))
        us = list(itertools.product(points(CELLS), repeat=2))
        low, high = (ask([(u, w) for u in us]) for w in (smallest, largest))
        drawn = iter(ask([(u, w) for u, a, b in zip(us, low, high) if a != b for w in between]))
        for a, b in zip(low, high):
            kept += chance * (a in (x, y))
            for token in (a, b, *([a] * len(between) if a == b else itertools.islice(drawn, len(between)))):
                out[token] += chance / FINE
    return out, kept


def output(rule: Offer) -> Callable[[Row, Row], list[float]]:
    return lambda p, q: output_of(rule, p, q)[0]


def seen_offer(pair: tuple[Row, Row], out: list[float], p: Row) -> str:
    q, rounded = list(pair[1]), [round(x, 2) for x in out]
    return f"With p = {list(p)}, q = {q} and two drafts, what comes out is {rounded}, and not p."


OFFER = Question(
    cases=(
        ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)),
        ((0.1, 0.6, 0.3), (0.5, 0.25, 0.25)),
        ((0.25, 0.5, 0.25), (0.6, 0.1, 0.3)),
    ),
    right=lambda p, q: p,
    equal=partial(same, tolerance=0.025),
    seen=seen_offer,
    hint="Test the first with p. Test the second with what the first one left. "
    "If both are refused, draw from what the second one left of that.",
    mistakes=[mistake.adapted(output) for mistake in known_mistakes(offer)],
)


@part("10.offer", points=3, seconds=60)
def judge_offer(made: Offer) -> None:
    reject_empty(made([0.5, 0.5], [0, 1], [[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5], 0.5))
    try:
        found = [output_of(made, p, q) for p, q in OFFER.cases]
    except (ZeroDivisionError, ValueError, IndexError) as e:
        asked = "Is what is left scaled up to 1 after each refusal, norm(max(0, p − q))?"
        raise Wrong(f"{explain_error(e)} {asked} Else the next draft takes away too much of it.") from None
    OFFER.compare([out for out, _ in found])
    if any(kept < siblings(p, q, 2).kept - 0.05 for (p, q), (_, kept) in zip(OFFER.cases, found)):
        asked = "is the second one offered when the first is refused?"
        raise Wrong(f"What comes out is p, but fewer drafts are kept than could be: {asked}", 2 / 3)
    p, drafts, qs = [0.1, 0.2, 0.3, 0.4], [0, 1, 2], [[0.7, 0.1, 0.1, 0.1], [0, 0.5, 0.3, 0.2], [0, 0, 0.6, 0.4]]
    numbers = [(us, w) for us in itertools.product((0.05, 0.4, 0.95), repeat=3) for w in (0.1, 0.6, 0.95)]
    if written(made, p, drafts, qs, numbers) != written(offer, p, drafts, qs, numbers):
        raise Wrong("With two drafts your rule is right, with three it is not. Go through them in a loop.", 2 / 3)
    if written(made, [0.0, 0.5, 0.5], [0, 1], [[0.6, 0.4, 0.0], [0.0, 1.0, 0.0]], [((0.0, 0.5), 0.5)]) == [0]:
        raise Wrong("A draft with p = 0 was accepted at u = 0. Accept only if u · q is strictly less than p.", 2 / 3)


# 10.decide

Times = dict[int, float]  # T(k) of some k, in milliseconds
Shapes = dict[str, dict[str, float]]  # by name: drafts, tokens per pass (E), and d in plain steps of this batch

LAPTOP = {1: 20.0, 2: 20.2, 3: 20.6, 5: 21.8, 9: 24.0, 12: 27.0, 17: 30.0, 20: 33.0, 36: 50.0, 4: 21.0, 68: 90.0}
CARD = {1: 9.0, 3: 9.0, 5: 9.0, 9: 9.1, 17: 9.2}  # for one text
CARD |= {4: 9.0, 12: 9.1, 20: 9.3, 36: 9.9, 68: 12.0}  # for 4
CARD |= {16: 9.2, 48: 10.9, 80: 13.5, 144: 21.0, 272: 38.0}  # for 16
SHAPES = {
    "chain 2": {"drafts": 2, "E": 1.8, "d": 0.08},
    "chain 4": {"drafts": 4, "E": 2.05, "d": 0.16},
    "tree 8": {"drafts": 8, "E": 2.4, "d": 0.15},
    "tree 16": {"drafts": 16, "E": 2.65, "d": 0.2},
}
LATE = {"chain 4": {"drafts": 4, "E": 2.9, "d": 0.5}}  # 2.9 tokens in 2.1 plain steps
LOSING = {"chain 4": {"drafts": 4, "E": 2.05, "d": 0.1}}
COSTLY = {"chain 2": {"drafts": 2, "E": 1.9, "d": 0.1}, "chain 4": {"drafts": 4, "E": 2.4, "d": 0.8}}
EARLY = {"chain 1": {"drafts": 1, "E": 1.3, "d": 0.1}, "tree 4": {"drafts": 4, "E": 2.2, "d": 0.1}}


def seen_decide(case: tuple[int, Times, Shapes], found: str, right: str) -> str:
    texts, T, shapes = case
    asked = f"With {texts} texts, T = {shown(T, 60)} and the shapes {list(shapes)}"
    return f"{asked} your function takes {found!r}; {right!r} is faster."


def best_shape(texts, T, shapes):
    best, fastest = "plain", 1.0
    for name, shape in shapes.items():
        v = T[texts * (shape["drafts"] + 1)] / T[texts]
        gain = shape["E"] / (shape["d"] + v)
        if gain > fastest:
            best, fastest = name, gain
    return best


DECIDE = question(
    best_shape,
    read=partial(word, known=[*SHAPES, *EARLY, "plain"]),
    cases=(
        (1, LAPTOP, SHAPES),
        (4, LAPTOP, SHAPES),
        (1, CARD, SHAPES),
        (4, CARD, SHAPES),
        (16, CARD, SHAPES),
        (1, {1: 10.0, 5: 16.0}, LATE),
        (1, {1: 10.0, 5: 22.0}, LOSING),
        (1, {1: 10.0, 3: 10.5, 5: 11.0}, COSTLY),
        (2, {1: 5.0, 2: 10.0, 4: 11.0, 10: 26.0}, EARLY),
    ),
    seen=seen_decide,
    hint="Times plain is E / (d + v), and v is T(texts · (drafts + 1)) / T(texts). Plain decoding is 1.",
)


@part("10.decide", points=2, asks=[DECIDE])
def judge_decide(made: Callable[[int, Times, Shapes], str]) -> None:
    try:
        DECIDE.judge(made)
    except KeyError as e:
        if not str(e).isdecimal():  # another dict was asked, such as that of a shape
            raise
        rows = (
            "A round with n drafts computes n + 1 rows for each text, and all texts are in one pass: texts · (n + 1)."
        )
        said = f"Your code asks T for {e} rows, and no pass here has so many. {rows} Without drafts it is texts."
        raise Wrong(said) from None
