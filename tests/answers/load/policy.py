"""Answers to 7.policy."""

from specdec_lab.course.judges.load import MEASURED, STEP
from specdec_lab.measure.serving import StepCosts, always, load_aware

COSTS = StepCosts(MEASURED)


def dearest(texts, last):
    """The γ with the most tokens a second; back only when few are left."""
    if not last and texts > 10:
        return 0
    return max((0, 2, 4), key=lambda g: STEP[g] / COSTS(texts, g))


class Memory:
    """Watches a few steps before it lets drafts come back, and steps down first."""

    def __init__(self):
        self.quiet = 0

    def __call__(self, texts, last):
        self.quiet = self.quiet + 1 if texts <= 8 else 0
        if last:
            return 4 if texts <= 10 else 2 if texts <= 20 else 0
        return 4 if self.quiet >= 3 or texts <= 2 else 0


def prices_without_a_gap(texts, last):
    return max((0, 2, 4), key=lambda g: STEP[g] / COSTS(texts, g))


class OnceOff:
    def __init__(self):
        self.off = False

    def __call__(self, texts, last):
        self.off = self.off or texts > 12
        return 0 if self.off else 4


def every_other_step(texts, last):
    return 0 if last or texts > 12 else 4


RIGHT = {"7.policy": [load_aware(4, off_above=14, on_below=8), dearest, Memory()]}
WRONG = {
    "7.policy": {
        "never": (always(0), "never drafts", None),
        "always four": (always(4), "even when the batch is full", None),
        "always two": (always(2), "even when the batch is full", None),
        "the other way round": (lambda texts, last: 4 if texts > 12 else 0, "other way round", None),
        "never turns on": (lambda texts, last: 4 if last and texts < 12 else 0, "they never come back", None),
        "once off, always off": (OnceOff(), "they never come back", None),
        "a limit far too high": (load_aware(4, 48), "still drafts where it loses", None),
        "too high, with a gap": (load_aware(4, 40, 30), "still drafts where it loses", None),
        "a limit too low": (load_aware(4, 1), "rows are nearly free", None),
        "a low limit": (load_aware(4, 2), "stops too early", None),
        "two drafts alone": (load_aware(2, 16, 8), "which γ writes most", None),
        "no gap": (load_aware(4, 24), "must catch up", None),
        "prices without a gap": (prices_without_a_gap, "must catch up", None),
        "on and off": (every_other_step, "must catch up", None),
        "three drafts": (lambda texts, last: 3 if texts < 10 else 0, "was not measured", None),
        "True": (lambda texts, last: texts < 10, "was not measured", None),
        "half a draft": (lambda texts, last: 4 / texts, "a whole number", None),
        "no return": (lambda texts, last: 4 if texts < 10 else None, "returns nothing for texts = 10", None),
        "raises": (lambda texts, last: {1: 4}[texts], "KeyError", None),
    }
}
