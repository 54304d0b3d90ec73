"""Exercise 8: what an engine counts."""

from collections.abc import Callable, Sequence
from statistics import fmean

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import Wrong, listed, number, part, same, shown
from specdec_lab.theory import expected_tokens

Cards = Sequence[tuple[int, Sequence[float]]]  # (rounds, survival by place) of each card
Alphas = list[float | None]

ENGINES: tuple[tuple[Cards], ...] = (
    ([(200, [0.8, 0.6, 0.45])],),
    ([(300, [0.9, 0.72]), (100, [0.5, 0.1])],),
    ([(100, [0.5, 0.0, 0.0])],),
    ([(60, [0.75, 0.5, 0.25, 0.25]), (20, [0.25, 0.25, 0.25, 0.0]), (120, [0.5, 0.25, 0.0, 0.0])],),
    ([(0, [0.0, 0.0]), (50, [0.6, 0.3])],),
    ([(40, [0.7])],),
    ([(10, [0.0, 0.0])],),
)


def pooled(cards: Cards) -> list[float]:
    """Survival by place over all rounds of all cards."""
    rounds = sum(n for n, _ in cards)
    return [sum(n * s[i] for n, s in cards) / rounds for i in range(len(cards[0][1]))]


def divided(survival: Sequence[float], unknown: float | None = None) -> Alphas:
    before = [1.0, *survival]
    return [b / a if a else unknown for a, b in zip(before, survival)]


def mean_of(rows: Sequence[Alphas], weights: Sequence[float]) -> Alphas:
    """Place by place, over the rows that have a number there."""
    out: Alphas = []
    for place in zip(*rows):
        known = [(w, a) for w, a in zip(weights, place) if a is not None and w]
        out.append(sum(w * a for w, a in known) / sum(w for w, _ in known) if known else None)
    return out


def _running(survival: Sequence[float]) -> Alphas:
    out, product = [], 1.0
    for s in survival:
        product *= s
        out.append(product)
    return out


ALPHA_MISTAKES = (
    Mistake("This is survival itself: divide it by survival one place earlier.", pooled),
    Mistake(
        "This is one rate for all places, accepted by proposed. α of a place counts only the rounds that got there.",
        lambda cards: [fmean(pooled(cards))] * len(cards[0][1]),
        5,
    ),
    Mistake(
        "Where no round arrives, α is unknown: None, and not 0.",
        lambda cards: divided(pooled(cards), 0.0),
    ),
    Mistake("Where no round arrives, α is unknown: None, and not 1.", lambda cards: divided(pooled(cards), 1.0)),
    Mistake(
        "If rounds get to a place and none gets past it, α is 0 there; unknown is what comes after it.",
        lambda cards: [a or None for a in divided(pooled(cards))],
    ),
    Mistake(
        "You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
        lambda cards: mean_of([divided(s) for _, s in cards], [1] * len(cards)),
    ),
    Mistake(
        "You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
        lambda cards: mean_of([divided(s) for n, s in cards if n], [1] * len(cards)),
    ),
    Mistake(
        "You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
        lambda cards: divided(mean_of([list(s) for _, s in cards], [1] * len(cards))),
    ),
    Mistake(
        "You weigh the α's of the cards by all of their rounds. What counts at a place are the rounds that got there: add up survivors, then divide.",
        lambda cards: mean_of([divided(s) for _, s in cards], [n for n, _ in cards]),
    ),
    Mistake("This is one card; the others count, too.", lambda cards: divided(cards[0][1])),
    Mistake("This is one card; the others count, too.", lambda cards: divided(cards[-1][1])),
    Mistake(
        "You multiply the survivals up; they are products already. Divide each by the one before it.",
        lambda cards: _running(pooled(cards)),
    ),
    Mistake(
        "You subtract one survival from another. A rate is a quotient: of those that arrived, how many got past?",
        lambda cards: [a - b for a, b in zip([1.0, *pooled(cards)], pooled(cards))],
    ),
    Mistake(
        "Upside down: survivors of a place, divided by those of the place before.",
        lambda cards: [a / b if b else None for a, b in zip([1.0, *pooled(cards)], pooled(cards))],
    ),
    Mistake(
        "You divide by survival at the first place. Divide by the place right before.",
        lambda cards: [s / p[0] if p[0] else None for p in [pooled(cards)] for s in p],
    ),
)


def _one_rate(cards: Cards) -> float:
    return expected_tokens(fmean(pooled(cards)), len(cards[0][1]))


PASS_MISTAKES = (
    Mistake(
        "The token that the target adds in each round is missing.",
        lambda cards: sum(pooled(cards)),
        6,
    ),
    Mistake(
        "You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
        _one_rate,
    ),
    Mistake(
        "You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
        lambda cards: expected_tokens(fmean(a for a in divided(pooled(cards)) if a is not None), len(cards[0][1])),
    ),
    Mistake(
        "You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
        lambda cards: expected_tokens(pooled(cards)[0], len(cards[0][1])),
    ),
    Mistake(
        "You add up the α's. A draft at place 3 counts only if those before it survived, too: add up the survivals.",
        lambda cards: 1 + sum(a or 0.0 for a in divided(pooled(cards))),
    ),
    Mistake(
        "You take the mean over cards. A card with more rounds counts more: all tokens by all rounds.",
        lambda cards: fmean(1 + sum(s) for _, s in cards),
    ),
    Mistake(
        "You take the mean over cards. A card with more rounds counts more: all tokens by all rounds.",
        lambda cards: fmean(1 + sum(s) for n, s in cards if n),
    ),
    Mistake(
        "You add up the cards; all tokens by all rounds is asked for.", lambda cards: 1 + sum(sum(s) for _, s in cards)
    ),
    Mistake("This is one card; the others count, too.", lambda cards: 1 + sum(cards[0][1])),
    Mistake("This is one card; the others count, too.", lambda cards: 1 + sum(cards[-1][1])),
    Mistake("Not all drafts are accepted.", lambda cards: 1.0 + len(cards[0][1])),
    Mistake(
        "The last survival counts the rounds in which all drafts were kept. The others wrote something, too: add up all survivals.",
        lambda cards: 1 + pooled(cards)[-1] * len(cards[0][1]),
    ),
)


def equal_lists(a: Alphas, b: Alphas) -> bool:
    return len(a) == len(b) and all(x is y is None or (None not in (x, y) and same(x, y)) for x, y in zip(a, b))


def rates(value: object, places: int) -> Alphas:
    found = listed(value, None, "The list of α's")
    if len(found) != places:
        raise Wrong(
            f"With {places} places there should be {places} α's; yours are {shown(found)}. A place that no round reached has None."
        )
    return [None if a is None else number(a, "Each α") for a in found]


@part("8.survival", points=2)
def survival(made: Callable[[Cards], tuple[Alphas, float]]) -> None:
    """from_engine(cards) → (α by place, tokens per pass)."""
    alphas, tokens = [], []
    for (cards,), value in zip(ENGINES, answers(made, ENGINES)):
        pair = listed(value, 2, "What your function returns")
        alphas.append(rates(pair[0], len(cards[0][1])))
        tokens.append(number(pair[1], "Tokens per pass"))
    right_alphas = all(equal_lists(a, divided(pooled(cards))) for (cards,), a in zip(ENGINES, alphas))
    right_tokens = all(same(t, 1 + sum(pooled(cards))) for (cards,), t in zip(ENGINES, tokens))
    for (cards,), a, t in zip(ENGINES, alphas, tokens):
        if not right_alphas and not equal_lists(a, right := divided(pooled(cards))):
            before = f"For the cards {told(list(cards))} α by place is {told(right)}; yours is {told(a)}."
            mistake = explained(ALPHA_MISTAKES, ENGINES, alphas, equal_lists)
            wrong = named(
                mistake, before, "Of the rounds that got to a place, on all cards together, how many got past it?"
            )
            raise Wrong(str(wrong), 0.5 * right_tokens, wrong.misconception)
        if right_alphas and not same(t, right := 1 + sum(pooled(cards))):
            before = f"The α's are right. For the cards {told(list(cards))} tokens per pass are {told(right)}; yours are {told(t)}."
            mistake = explained(PASS_MISTAKES, ENGINES, tokens)
            wrong = named(
                mistake, before, "How many drafts does a round keep on average, and what does the target add?"
            )
            raise Wrong(str(wrong), 0.5, wrong.misconception)
