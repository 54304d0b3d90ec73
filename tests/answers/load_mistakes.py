"""Answers to exercise 7, each with one mistake that its judges know, computed as a learner would."""

from answers.load import by_loop, by_sum

from specdec_lab.theory import expected_tokens as E


def by_tokens(tokens):
    return lambda T, n, g, a: tokens(a, g) * T(n) / T(n * (g + 1))


def losing(
    tokens=E,
    rows=lambda n, g: n + n * g,
    drafting=lambda D, n, g: g * D(n),
    plain=lambda n: n,
    loses=lambda x: x < 0.999999,
):
    """Text by text, with something changed."""

    def made(T, D, g, a, most):
        for n in range(1, most + 1):
            if loses(tokens(a, g) * T(plain(n)) / (drafting(D, n, g) + T(rows(n, g)))):
                return n
        return None

    return made  # fmt: skip


def last_paying(T, D, g, a, most):
    pays = [n for n in range(1, most + 1) if E(a, g) * T(n) >= g * D(n) + T(n * g + n)]
    return pays[-1] if pays else 0


def instead(of_none):
    """What is given in the place of None."""
    return lambda *case: of_none(case[-1]) if (found := by_loop(*case)) is None else found


PER_PLACE, TOGETHER, ONE_ROW = "a pass for each place", "for all texts at once", "goes over one row for each text"
STILL, NONE = "still pays; the next one", "Where it pays up to `most`"


def by_room(texts, last):
    return 4 if (16 if last else 10) / texts > 1 else 0


class Patient:
    """Waits for a few quiet steps, also at the very beginning."""

    def __init__(self):
        self.quiet = 0

    def __call__(self, texts, last):
        self.quiet = self.quiet + 1 if texts <= 8 else 0
        return 4 if self.quiet > 2 or (last and texts <= 16) else 0


RIGHT = {"7.policy": [by_room, Patient()]}
WRONG = {
    "7.gain": {
        "tokens": (lambda T, n, g, a: E(a, g), "These are the tokens per pass", 7),
        "γ rows": (lambda T, n, g, a: E(a, g) * T(n) / T(n * g if g else n), "γ + 1 rows into the pass, not γ"),
        "drafts of one text": (lambda T, n, g, a: E(a, g) * T(n) / T(n + g), "drafts of its own"),
        "all accepted": (by_tokens(lambda a, g: g + 1), "Not all drafts are accepted"),
        "one text": (lambda T, n, g, a: by_sum(T, 1, g, a), "the gain of one text alone"),
        "against one text": (lambda T, n, g, a: E(a, g) * T(1) / T(n * g + n), "and not over one text"),
        "texts on one side": (lambda T, n, g, a: n * by_sum(T, n, g, a), "is on both sides"),
        "tokens of the batch": (lambda T, n, g, a: n * E(a, g) / T(n * g + n), "what the batch does without drafts"),
        "tokens of one text": (lambda T, n, g, a: E(a, g) / T(n * g + n), "the tokens of one text by the cost"),
        "no token of the target": (by_tokens(lambda a, g: E(a, g) - 1), "bonus token is missing", 6),
        "each draft by itself": (by_tokens(lambda a, g: 1 + g * a), "not always"),
        "a power too few": (by_tokens(lambda a, g: sum(a**i for i in range(g))), "one power of α more"),
        "a power too many": (by_tokens(lambda a, g: sum(a**i for i in range(g + 2))), "one power of α less"),
        "costs": (lambda T, n, g, a: T(n) / T(n * g + n), "compares the costs only"),
        "costs upside down": (lambda T, n, g, a: T(n * g + n) / T(n), "compares the costs only"),
    },
    "7.policy": {
        "never off again": (lambda texts, last: 4 if last or texts < 12 else 0, "still drafts where it loses"),
        "in a full batch only": (lambda texts, last: 4 if last and texts > 12 else 0, "other way round"),
    },
    "7.crossover": {
        "the last, or most": (lambda *case: by_loop(*case) - 1 if by_loop(*case) else case[-1], STILL),
        "the last, or most, or None": (lambda *case: (by_loop(*case) - 1 if by_loop(*case) else case[-1]) or None, STILL),
        "the last that pays, or 0": (last_paying, STILL),
        "the last that pays, or None": (lambda *case: last_paying(*case) or None, STILL),
        "exactly 1": (losing(loses=lambda x: x <= 1), "With a gain of exactly 1"),
        "one pass of the drafter": (losing(drafting=lambda D, n, g: D(n)), PER_PLACE),
        "one wide pass of the drafter": (losing(drafting=lambda D, n, g: D(n * g)), PER_PLACE),
        "drafts for one text": (losing(drafting=lambda D, n, g: g * D(1)), TOGETHER),
        "drafts text by text": (losing(drafting=lambda D, n, g: n * g * D(1)), TOGETHER),
        "γ + 1 rows in the drafter": (losing(drafting=lambda D, n, g: g * D(n + n * g)), ONE_ROW),
        "γ rows in the drafter": (losing(drafting=lambda D, n, g: g * D(n * g)), ONE_ROW),
        "γ + 1 passes of the drafter": (losing(drafting=lambda D, n, g: g * D(n) + D(n)), "The drafter makes γ passes", 10),
        "costs": (losing(lambda a, g: 1), "There a step with drafts begins to cost more. It loses"),
        "costs, against one text": (losing(lambda a, g: 1, plain=lambda n: 1), "to cost more than a pass for one text"),
        "against one text": (losing(plain=lambda n: 1), "and not over one text"),
        "not the last": (lambda *case: by_loop(*case[:-1], case[-1] - 1), "`most` itself counts"),
        "0 for None": (instead(lambda most: 0), NONE),
        "−1 for None": (instead(lambda most: -1), NONE),
        "most for None": (instead(lambda most: most), NONE),
        "most + 1 for None": (instead(lambda most: most + 1), NONE),
        "γ rows": (losing(rows=lambda n, g: n * g if g else n), "target's pass, not γ"),
        "drafts of one text": (losing(rows=lambda n, g: n + g), "drafts of its own"),
        "all accepted": (losing(lambda a, g: g + 1), "Not all drafts are accepted"),
        "rows": (lambda T, D, g, *rest: None if (n := by_loop(T, D, g, *rest)) is None else n * g + n, "These are rows"),
        "no token of the target": (losing(lambda a, g: E(a, g) - 1), "missing in the tokens per pass", 6),
        "each draft by itself": (losing(lambda a, g: 1 + g * a), "1 + γ·α is too much"),
    },
}  # fmt: skip
