"""Answers to 4.tokens."""

import torch


def by_powers(alpha, gammas):
    return [sum(alpha**i for i in range(gamma + 1)) for gamma in gammas]


def by_closed_form(alpha, gammas):
    if alpha == 1:
        return [gamma + 1 for gamma in gammas]
    return torch.tensor([(1 - alpha ** (gamma + 1)) / (1 - alpha) for gamma in gammas], dtype=torch.float64)


def by_lengths(alpha, gammas):
    """From the distribution of what a round writes."""
    return tuple(
        sum((n + 1) * alpha**n * (1 - alpha) for n in range(gamma)) + (gamma + 1) * alpha**gamma for gamma in gammas
    )


def curve(formula):
    return lambda alpha, gammas: [formula(alpha, gamma) for gamma in gammas]


def E(alpha, gamma):
    return sum(alpha**i for i in range(gamma + 1))


def closed(alpha, gamma):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha)


RIGHT = {"4.tokens": [by_powers, by_closed_form, by_lengths]}
WRONG = {
    "4.tokens": {
        "without the target's token": (curve(lambda a, n: E(a, n) - 1), "own token is missing", 6),
        "each draft by itself": (curve(lambda a, n: 1 + a * n), "as if it were kept or not by itself", None),
        "α times γ": (curve(lambda a, n: a * n), "And the target's own token is missing", 6),
        "the last power is missing": (curve(lambda a, n: E(a, n - 1)), "The last power", 6),
        "the last power is missing, closed": (curve(lambda a, n: closed(a, n - 1)), "The last power", 6),
        "one power too many": (curve(lambda a, n: E(a, n + 1)), "one power of α too many", None),
        "without γ": (curve(lambda a, n: 1 / (1 - a)), "endless drafts", None),
        "all or nothing": (curve(lambda a, n: 1 + n * a**n), "all or nothing", None),
        "all kept": (curve(lambda a, n: a**n), "chance that all drafts are kept", None),
        "the most": (curve(lambda a, n: n + 1), "the most tokens", None),
        "a share of the most": (curve(lambda a, n: a * (n + 1)), "the first token is certain", None),
        "the sum is not divided": (curve(lambda a, n: 1 - a ** (n + 1)), "divided by 1 − α", None),
        "α = 1 divides by 0": (curve(closed), "For α = 1 your closed form", None),
        "α = 1 gives 1": (curve(lambda a, n: 1 if a == 1 else closed(a, n)), "every draft is kept there", None),
        "α = 0 gives 0": (curve(lambda a, n: E(a, n) if a else 0), "still writes the target's own token", 6),
        "sorted": (lambda a, g: [E(a, n) for n in sorted(g)], "in another order", None),
        "rounded": (curve(lambda a, n: round(E(a, n), 2)), "do not round", None),
        "for one γ": (lambda a, g: E(a, g[0]), "one number for each γ", None),
        "one short": (lambda a, g: [E(a, n) for n in g[1:]], "should have 5 items", None),
        "a dict": (lambda a, g: {n: E(a, n) for n in g}, "should be a list", None),
        "γ as a list in a power": (lambda a, g: (1 - a ** (g + 1)) / (1 - a), "TypeError", None),
        "sometimes nothing": (lambda a, g: [E(a, n) for n in g] if a > 0.5 else None, "returns nothing", None),
        "something else": (curve(lambda a, n: 1 + a), "add these chances up", None),
    }
}
