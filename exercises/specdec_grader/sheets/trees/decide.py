"""Exercise 10: best_shape(texts, T, shapes) → the name of the fastest shape, or "plain"."""

from collections.abc import Callable

from specdec_grader.kit import Mistake, Question, Wrong, part, shown

Times = dict[int, float]  # T(k) of some k, in milliseconds
Shapes = dict[str, dict[str, float]]  # by name: drafts, tokens per pass (E), and d in plain steps of this batch

LAPTOP = {1: 20.0, 2: 20.2, 3: 20.6, 5: 21.8, 9: 24.0, 12: 27.0, 17: 30.0, 20: 33.0, 36: 50.0, 4: 21.0, 68: 90.0}
CARD = {
    1: 9.0,
    3: 9.0,
    5: 9.0,
    9: 9.1,
    17: 9.2,
    4: 9.0,
    12: 9.1,
    20: 9.3,
    36: 9.9,
    68: 12.0,
    16: 9.2,
    48: 10.9,
    80: 13.5,
    144: 21.0,
    272: 38.0,
}
SHAPES = {
    "chain 2": {"drafts": 2, "E": 1.8, "d": 0.08},
    "chain 4": {"drafts": 4, "E": 2.05, "d": 0.16},
    "tree 8": {"drafts": 8, "E": 2.4, "d": 0.15},
    "tree 16": {"drafts": 16, "E": 2.65, "d": 0.2},
}
CASES = (
    (1, LAPTOP, SHAPES), (4, LAPTOP, SHAPES), (1, CARD, SHAPES), (4, CARD, SHAPES), (16, CARD, SHAPES),
    (1, {1: 10.0, 5: 16.0}, {"chain 4": {"drafts": 4, "E": 2.9, "d": 0.5}}),  # 2.9 tokens in 2.1 plain steps
    (1, {1: 10.0, 5: 22.0}, {"chain 4": {"drafts": 4, "E": 2.05, "d": 0.1}}),  # nothing pays
    (1, {1: 10.0, 3: 10.5, 5: 11.0}, {"chain 2": {"drafts": 2, "E": 1.9, "d": 0.1}, "chain 4": {"drafts": 4, "E": 2.4, "d": 0.8}}),
    (2, {1: 5.0, 2: 10.0, 4: 11.0, 10: 26.0}, {"chain 1": {"drafts": 1, "E": 1.3, "d": 0.1}, "tree 4": {"drafts": 4, "E": 2.2, "d": 0.1}}),
)  # fmt: skip


def gain(texts: int, T: Times, shape: dict[str, float]) -> float:
    """Times plain: E / (d + v)."""
    return shape["E"] / (shape["d"] + T[texts * (shape["drafts"] + 1)] / T[texts])


def largest(score: Callable[[int, Times, dict], float], plain: float = 1.0) -> Callable[..., str]:
    def made(texts: int, T: Times, shapes: Shapes) -> str:
        scores = {name: score(texts, T, shape) for name, shape in shapes.items()} | {"plain": plain}
        return max(scores, key=scores.__getitem__)

    return made


def read(value: object) -> str:
    names = {name for _, _, shapes in CASES for name in shapes} | {"plain"}
    if not isinstance(value, str) or value not in names:
        raise Wrong(f'Your function should return the name of a shape, or "plain"; it returned {shown(value)}.')
    return value


DECIDE = Question(
    cases=CASES, right=largest(gain), read=read,
    seen=lambda case, found, right: f"With {case[0]} texts, T = {shown(case[1], 60)} and the shapes {list(case[2])} your function takes {found!r}; {right!r} is faster.",
    hint="Times plain is E / (d + v), and v is T(texts · (drafts + 1)) / T(texts). Plain decoding is 1.",
    mistakes=[
        Mistake("You take the most tokens per pass. Rows and drafting cost time, too.", largest(lambda texts, T, s: s["E"]), belief=7),
        Mistake("You count the rows of one text. In a batch each text brings its own: texts · (drafts + 1).",
                largest(lambda texts, T, s: gain(1, {k: T.get(k, T[min(T)]) for k in (1, s["drafts"] + 1)}, s))),
        Mistake("The row of the newest token is missing: a round with n drafts computes n + 1 rows for each text.",
                largest(lambda texts, T, s: s["E"] / (s["d"] + T.get(texts * s["drafts"], max(T.values())) / T[texts]))),
        Mistake("You compare with a plain step of one text; these are plain steps of the whole batch: T(texts).",
                largest(lambda texts, T, s: s["E"] / (s["d"] + T[texts * (s["drafts"] + 1)] / T[min(T)]))),
        Mistake("Drafting, d, is missing in the cost.", largest(lambda texts, T, s: s["E"] / (T[texts * (s["drafts"] + 1)] / T[texts]))),
        Mistake("The target's pass is missing in the cost.", largest(lambda texts, T, s: s["E"] / (s["d"] + 1))),
        Mistake("Where no shape reaches 1, give \"plain\".", largest(gain, plain=0.0), earned=0.5),
        Mistake("You take the smallest shape that pays; take the fastest.",
                lambda texts, T, shapes: next((n for n, s in shapes.items() if gain(texts, T, s) > 1), "plain")),
        Mistake("Some shape is faster than plain decoding here.", "plain")])  # fmt: skip


@part("10.decide", points=2, asks=[DECIDE])
def best_shape(made: Callable[[int, Times, Shapes], object]) -> None:
    try:
        DECIDE.judge(made)
    except KeyError as e:
        if not str(e).isdecimal():  # another dict was asked, such as that of a shape
            raise
        rows = "A round with n drafts computes n + 1 rows for each text, and all texts are in one pass: texts · (n + 1). Without drafts it is texts."
        raise Wrong(f"Your code asks T for {e} rows, and no pass here has so many. {rows}") from None
