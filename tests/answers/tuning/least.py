"""Answers to 5.least."""

from answers.tuning.speedup import E


def by_halving(gamma, cost):
    if cost > gamma + 1:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if E(middle, gamma) < cost:
            low = middle
        else:
            high = middle
    return high


def by_newton(gamma, cost):
    if cost > gamma + 1:
        return None
    alpha = 1.0
    for _ in range(60):
        slope = sum(i * alpha ** (i - 1) for i in range(1, gamma + 1))
        alpha = max(0.0, alpha - (E(alpha, gamma) - cost) / slope)
    return alpha


def by_fine_grid(gamma, cost):
    return next((i / 10_000 for i in range(10_001) if E(i / 10_000, gamma) >= cost), None)


def halved(value, never=None):
    """With another sum in place of E."""

    def answer(gamma, cost):
        low, high = 0.0, 1.0
        if value(1.0, gamma) < cost:
            return never
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if value(middle, gamma) >= cost else (middle, high)
        return high

    return answer


def grows_beyond_one(gamma, cost):
    alpha = 0.0
    while E(alpha, gamma) < cost:
        alpha += 0.0002
    return alpha


def coarse(gamma, cost):
    return next((i / 100 for i in range(101) if E(i / 100, gamma) >= cost), None)


def strict(gamma, cost):
    return None if cost >= gamma + 1 else by_halving(gamma, cost)


def below_plain(gamma, cost):
    return by_halving(gamma, cost) if cost > 1 else None


def forever(gamma, cost):
    low, high = 0.0, 1.0
    while E((low + high) / 2, gamma) != cost:
        low, high = ((low + high) / 2, high) if E((low + high) / 2, gamma) < cost else (low, (low + high) / 2)
    return low


RIGHT = {"5.least": [by_halving, by_newton, by_fine_grid]}
WRONG = {
    "5.least": {
        "each draft by itself": (lambda n, x: (x - 1) / n, "only counts if all before it", None),
        "endless drafts": (lambda n, x: 1 - 1 / x, "endless drafts", None),
        "a share of all": (lambda n, x: x / (n + 1), "the first is certain", None),
        "without the target's token": (halved(lambda a, n: E(a, n) - 1), "one token too much", 6),
        "without the target's token, never None": (halved(lambda a, n: E(a, n) - 1, 1.0), "one token too much", 6),
        "without the bonus": (halved(lambda a, n: E(a, n - 1)), "The last power", 6),
        "one power too many": (halved(lambda a, n: E(a, n + 1)), "one power of α too many", None),
        "all or nothing": (halved(lambda a, n: 1 + a**n), "only rounds in which all drafts are kept", None),
        "γ times the cost": (lambda n, x: by_halving(n, n * x + 1), "do not multiply it by γ", None),
        "one pass too many": (lambda n, x: by_halving(n, x + 1), "only once in the cost", 6),
        "S at α = 1": (lambda n, x: (n + 1) / x, "S at α = 1", None),
        "always 1": (lambda n, x: 1.0, "a smaller one is enough", None),
        "never None": (lambda n, x: by_halving(n, x) or 1.0 if x > 1 else 0.0, "no α is enough", None),
        "beyond 1": (grows_beyond_one, "no α is enough", None),
        "a coarse grid": (coarse, "not near enough", None),
        "rounded": (lambda n, x: (x <= n + 1 and round(by_halving(n, x), 2)) or None, "not near enough", None),
        "nothing at the upper edge": (strict, "just enough", None),
        "nothing at the lower edge": (below_plain, "never loses", None),
        "too often None": (lambda n, x: by_halving(n, x) if x < 2 else None, "which is enough", None),
        "something else": (lambda n, x: 0.5, "a round writes", None),
        "text": (lambda n, x: "high", "should be a number", None),
        "waits for ever": (lambda n, x: forever(n, x), "a loop that never stops", None),
    }
}
