"""Answers to 4.claim."""

import itertools

from answers.acceptance.tokens import E


def by_search(alpha, gamma, claimed):
    distance, nearest = min((abs(E(alpha, n) - claimed), n) for n in range(101))
    return E(alpha, gamma), nearest if distance <= 0.05 else None


def by_table(alpha, gamma, claimed):
    table = list(itertools.accumulate(alpha**i for i in range(101)))
    best = None
    for n, tokens in enumerate(table):
        if abs(tokens - claimed) <= 0.05 and (best is None or abs(tokens - claimed) < abs(table[best] - claimed)):
            best = n
    return [table[gamma], best]


def by_steps(alpha, gamma, claimed):
    tokens, power, best = [1.0], 1.0, 0
    for n in range(1, 101):
        power *= alpha
        tokens.append(tokens[-1] + power)
        if abs(tokens[n] - claimed) < abs(tokens[best] - claimed):
            best = n
    return tokens[gamma], (best if abs(tokens[best] - claimed) <= 0.05 else None)


def claim(value=E, source=lambda a, n, e: by_search(a, n, e)[1]):
    return lambda alpha, gamma, claimed: (value(alpha, gamma), source(alpha, gamma, claimed))


def nearest_of(gammas, far=0.05):
    def source(alpha, gamma, claimed):
        near = min(gammas, key=lambda n: abs(E(alpha, n) - claimed))
        return near if abs(E(alpha, near) - claimed) <= far else None

    return source


def without_end(alpha, gamma, claimed):
    n = 0
    while E(alpha, n) < claimed:
        n += 1
    return E(alpha, gamma), n


def reaches(alpha, gamma, claimed):
    return next((n for n in range(101) if E(alpha, n) >= claimed), None)


def first_near(alpha, gamma, claimed):
    return next((n for n in range(101) if abs(E(alpha, n) - claimed) <= 0.05), None)


def up_to_the_given(alpha, gamma, claimed):
    return nearest_of(range(gamma + 1))(alpha, gamma, claimed)


RIGHT = {"4.claim": [by_search, by_table, by_steps]}
WRONG = {
    "4.claim": {
        "believes it": (claim(value=lambda a, n: {0.75: 3.3}.get(a, E(a, n))), "It should be E", None),
        "gives the claim back": (lambda a, n, e: (e, by_search(a, n, e)[1]), "This is the claimed number", None),
        "without the target's token": (claim(value=lambda a, n: E(a, n) - 1), "own token is missing", 6),
        "each draft by itself": (claim(value=lambda a, n: 1 + a * n), "as if it were kept", None),
        "a rounded value": (claim(value=lambda a, n: round(E(a, n), 2)), "do not round", None),
        "gives γ back": (claim(source=lambda a, n, e: n), "the γ that was asked for", None),
        "counts the terms": (
            claim(source=lambda a, n, e: None if (m := by_search(a, n, e)[1]) is None else m + 1),
            "You count the terms",
            None,
        ),
        "the first that reaches it": (claim(source=reaches), "Take the γ that comes nearest", None),
        "the first that is near": (claim(source=first_near), "a later one may be nearer", None),
        "never None": (claim(source=nearest_of(range(101), 100)), "the answer is None", None),
        "never None, the larger": (claim(source=nearest_of(range(100, -1, -1), 100)), "the answer is None", None),
        "the larger of two": (claim(source=nearest_of(range(100, -1, -1))), "the smaller one", None),
        "not γ = 0": (claim(source=nearest_of(range(1, 101))), "do not look at γ = 0", None),
        "only smaller γ": (claim(source=up_to_the_given), "beyond the γ that was asked for", None),
        "stops at 10": (claim(source=nearest_of(range(11))), "look at all γ up to 100", None),
        "compares exactly": (claim(source=nearest_of(range(101), 0)), "see which one comes nearest", None),
        "swapped": (lambda a, n, e: by_search(a, n, e)[::-1], "swapped", None),
        "text": (claim(source=lambda a, n, e: "five"), "should be a γ or None", None),
        "one number": (E.__get__(0.5), "TypeError", None),
        "only the value": (lambda a, n, e: E(a, n), "should be a list", None),
        "looks without end": (without_end, "a loop that never stops", None),
    }
}
