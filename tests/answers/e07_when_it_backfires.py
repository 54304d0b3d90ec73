"""Answers to exercise 7."""

import heapq

from specdec_grader.supplied.arrivals import MEASURED, STEP
from stand_ins import load_aware

from specdec_lab.measure.serving import StepCosts, always
from specdec_lab.theory import expected_tokens as E


def by_sum(T, texts, gamma, alpha):
    return sum(alpha**i for i in range(gamma + 1)) * T(texts) / T(texts * (gamma + 1))


def falling_alpha(T, texts, gamma, alpha):
    return by_sum(T, texts, gamma, alpha / texts**0.5)


def by_loop(T, D, gamma, alpha, most, gain=by_sum):
    for texts in range(1, most + 1):
        costs = gamma * D(texts) / T(texts * (gamma + 1))  # in units of the target's pass
        if gain(T, texts, gamma, alpha) / (1 + costs) < 0.999999:
            return texts
    return None


def by_prices(texts, last, costs=StepCosts(MEASURED)):
    """The γ with the most tokens a second."""
    return max((0, 2, 4), key=lambda gamma: STEP[gamma] / costs(texts, gamma))


class Patient:
    """Waits for a few quiet steps, also at the very beginning."""

    def __init__(self):
        self.quiet = 0

    def __call__(self, texts, last):
        self.quiet = self.quiet + 1 if texts <= 8 else 0
        return 4 if self.quiet > 2 or (last and texts <= 16) else 0


def once_off(texts, last, off=[]):  # noqa: B006  it remembers
    off += [texts] * (texts > 12)
    return 0 if off else 4


def by_heap(chances, T):
    """Takes the next draft of each text from a heap."""
    heap = [(-of_text[0], text, 0) for text, of_text in enumerate(chances) if of_text]
    heapq.heapify(heap)
    counts, tokens, rows = [0] * len(chances), len(chances), len(chances)
    while heap:
        chance, text, place = heapq.heappop(heap)
        if tokens * T(rows + 1) > (tokens - chance) * T(rows):
            break
        counts[text], tokens, rows = place + 1, tokens - chance, rows + 1
        if place + 1 < len(chances[text]):
            heapq.heappush(heap, (-chances[text][place + 1], text, place + 1))
    return tuple(counts)


RIGHT = {
    "7.gain": [lambda T, n, g, a: (n * E(a, g) / T(n * (g + 1))) / (n / T(n))],
    "7.crossover": [by_loop],
    "7.check": [by_heap],
    "7.policy": [load_aware(4, off_above=14, on_below=8), lambda texts, last: 0 if not last and texts > 10 else by_prices(texts, last), Patient()],
}  # fmt: skip
WRONG = {
    "7.gain": {
        "α falls with the batch": (falling_alpha, "the gain is 2.95; yours is 1.39. How many"),
        "nothing for γ = 0": (lambda T, n, g, a: by_sum(T, n, g, a) if g else None, "returns nothing for"),
    },
    "7.crossover": {
        "α falls with the batch": (lambda *case: by_loop(*case, gain=falling_alpha), "the answer is 27; yours is 11. For how many"),
        "infinity for None": (lambda *case: by_loop(*case) or float("inf"), "a finite number"),
    },
    "7.check": {
        "the same for all": (lambda chances, T: [1] * len(chances), "the answer is [3, 0, 0]; yours is [1, 1, 1]. Which draft is the likeliest"),
    },
    "7.policy": {
        "never": (always(0), "never drafts"),
        "the other way round": (lambda texts, last: 4 if texts > 12 else 0, "other way round"),
        "once off, always off": (once_off, "they never come back"),
        "a limit far too high": (load_aware(4, 48), "with 48 texts and γ = 4 a step writes 3.3 times as many tokens as one without drafts, and takes 4.8 times", None, 1),
        "a low limit": (load_aware(4, 2), "stops too early", None, 2),
        "two drafts alone": (load_aware(2, 16, 8), "which γ writes most", None, 3),
        "no gap": (load_aware(4, 24), "must catch up", None, 2),
    },
}  # fmt: skip
