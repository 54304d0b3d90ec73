"""Exercise 8: from_engine(cards) → (α by place, tokens per pass), from what an engine counts."""

import itertools
import operator
from collections.abc import Callable, Sequence
from statistics import fmean

from specdec_grader.kit import Mistake, Question, Wrong, listed, number, part, results, shown
from specdec_lab.measure.traffic.endpoint import conditional
from specdec_lab.theory import expected_tokens

Cards = Sequence[tuple[int, Sequence[float]]]  # (rounds, survival by place) of each card
Alphas = list[float | None]

ENGINES = (
    ([(200, [0.8, 0.6, 0.45])],), ([(300, [0.9, 0.72]), (100, [0.5, 0.1])],), ([(100, [0.5, 0.0, 0.0])],),
    ([(60, [0.75, 0.5, 0.25, 0.25]), (20, [0.25, 0.25, 0.25, 0.0]), (120, [0.5, 0.25, 0.0, 0.0])],),
    ([(0, [0.0, 0.0]), (50, [0.6, 0.3])],), ([(40, [0.7])],), ([(10, [0.0, 0.0])],),
)  # fmt: skip


def pooled(cards: Cards) -> list[float]:
    """Survival by place over all rounds of all cards."""
    rounds = sum(n for n, _ in cards)
    return [sum(n * s[i] for n, s in cards) / rounds for i in range(len(cards[0][1]))]


def alphas(survival: Sequence[float], unknown: float | None = None) -> Alphas:
    """α of each place; `unknown` where no round arrives."""
    known = conditional(survival)
    return known + [unknown] * (len(survival) - len(known))


def mean_over_cards(cards: Cards, weight: Callable[[int], float]) -> Alphas:
    """Of the cards' own α's, place by place, over the cards that have one there; `weight` is given a card's rounds."""
    places = zip(*(alphas(s) for _, s in cards))
    known = [[(a, weight(n)) for (n, _), a in zip(cards, place) if a is not None and weight(n)] for place in places]
    return [fmean(*zip(*pairs)) if pairs else None for pairs in known]


ALPHAS = Question(
    cases=ENGINES, right=lambda cards: alphas(pooled(cards)),
    seen="For the cards {} α by place is {right}; yours is {found}.",
    hint="Of the rounds that got to a place, on all cards together, how many got past it?",
    mistakes=[
        Mistake("This is survival itself: divide it by survival one place earlier.", pooled),
        Mistake("This is one rate for all places, accepted by proposed. α of a place counts only the rounds that got there.",
                lambda cards: [fmean(pooled(cards))] * len(cards[0][1]), belief=5),
        Mistake("Where no round arrives, α is unknown: None, and not 0.", lambda cards: alphas(pooled(cards), 0.0)),
        Mistake("Where no round arrives, α is unknown: None, and not 1.", lambda cards: alphas(pooled(cards), 1.0)),
        Mistake("If rounds get to a place and none gets past it, α is 0 there; unknown is what comes after it.",
                lambda cards: [a or None for a in alphas(pooled(cards))]),
        Mistake("You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
                lambda cards: mean_over_cards(cards, lambda n: 1),
                lambda cards: mean_over_cards(cards, lambda n: n > 0),
                lambda cards: alphas([fmean(place) for place in zip(*(s for _, s in cards))])),
        Mistake("You weigh the α's of the cards by all of their rounds. What counts at a place are the rounds that got there: "
                "add up survivors, then divide.", lambda cards: mean_over_cards(cards, lambda n: n)),
        Mistake("This is one card; the others count, too.", lambda cards: alphas(cards[0][1]), lambda cards: alphas(cards[-1][1])),
        Mistake("You multiply the survivals up; they are products already. Divide each by the one before it.",
                lambda cards: list(itertools.accumulate(pooled(cards), operator.mul))),
        Mistake("You subtract one survival from another. A rate is a quotient: of those that arrived, how many got past?",
                lambda cards: [a - b for a, b in itertools.pairwise([1.0, *pooled(cards)])]),
        Mistake("Upside down: survivors of a place, divided by those of the place before.",
                lambda cards: [a / b if b else None for a, b in itertools.pairwise([1.0, *pooled(cards)])]),
        Mistake("You divide by survival at the first place. Divide by the place right before.",
                lambda cards: [s / p[0] if p[0] else None for p in [pooled(cards)] for s in p])])  # fmt: skip
TOKENS = Question(
    cases=ENGINES, right=lambda cards: 1 + sum(pooled(cards)),
    seen="The α's are right. For the cards {} tokens per pass are {right}; yours are {found}.",
    hint="How many drafts does a round keep on average, and what does the target add?",
    mistakes=[
        Mistake("The token that the target adds in each round is missing.", lambda cards: sum(pooled(cards)), belief=6),
        Mistake("You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
                *(lambda cards, one=one: expected_tokens(one(pooled(cards)), len(cards[0][1]))
                  for one in (fmean, lambda s: fmean(conditional(s)), lambda s: s[0]))),
        Mistake("You add up the α's. A draft at place 3 counts only if those before it survived, too: add up the survivals.",
                lambda cards: 1 + sum(conditional(pooled(cards)))),
        Mistake("You take the mean over cards. A card with more rounds counts more: all tokens by all rounds.",
                lambda cards: fmean(1 + sum(s) for _, s in cards), lambda cards: fmean(1 + sum(s) for n, s in cards if n)),
        Mistake("You add up the cards; all tokens by all rounds is asked for.", lambda cards: 1 + sum(sum(s) for _, s in cards)),
        Mistake("This is one card; the others count, too.", lambda cards: 1 + sum(cards[0][1]), lambda cards: 1 + sum(cards[-1][1])),
        Mistake("Not all drafts are accepted.", lambda cards: 1.0 + len(cards[0][1])),
        Mistake("The last survival counts the rounds in which all drafts were kept. The others wrote something, too: add up all survivals.",
                lambda cards: 1 + pooled(cards)[-1] * len(cards[0][1]))])  # fmt: skip


def read(value: object, places: int) -> tuple[Alphas, float]:
    """The two results of one engine: an α of each place, and tokens per pass."""
    by_place, tokens = listed(value, 2)
    by_place = listed(by_place, what="The list of α's")
    if len(by_place) != places:
        yours = f"With {places} places there should be {places} α's; yours are {shown(by_place)}."
        raise Wrong(f"{yours} A place that no round reached has None.")
    return [None if a is None else number(a, "Each α") for a in by_place], number(tokens, "Tokens per pass")


@part("8.survival", points=2, asks=[ALPHAS, TOKENS])
def judge_survival(made: Callable[[Cards], tuple[Alphas, float]]) -> None:
    found = [read(value, len(cards[0][1])) for (cards,), value in zip(ENGINES, results(made, ENGINES))]
    by_place, tokens = zip(*found)
    ALPHAS.compare(by_place, earned=0.5 * (TOKENS.first_wrong(tokens) is None))
    TOKENS.compare(tokens, earned=0.5)
