"""The formulas against enumeration, simulation and the worked examples of the course."""

import itertools
import random

import pytest

from specdec_lab import theory


def test_expected_tokens_by_enumeration():
    """Over every pattern of hits and misses."""
    alpha, gamma = 0.63, 5
    total = 0.0
    for hits in itertools.product((True, False), repeat=gamma):
        chance = 1.0
        for hit in hits:
            chance *= alpha if hit else 1 - alpha
        accepted = next((i for i, hit in enumerate(hits) if not hit), gamma)
        total += chance * (accepted + 1)
    assert theory.expected_tokens(alpha, gamma) == pytest.approx(total)


@pytest.mark.parametrize(("c", "gamma", "gain"), [(0.1, 6, 2.47), (0.2, 4, 1.87), (0.3, 3, 1.55), (0.5, 2, 1.22)])
def test_the_best_gamma_moves_with_the_drafts_cost(c, gamma, gain):
    assert theory.best_gamma(0.8, c, [1.0] * 13) == gamma
    assert theory.speedup(0.8, gamma, c) == pytest.approx(gain, abs=0.005)
    assert theory.best_gamma(0.1, 0.5, [1.0, 1.3, 1.5]) == 0  # every one loses


def test_break_even():
    for gamma, *costs in [(4, 0.05, 1.0), (4, 0.05, 1.6), (1, 0.3, 1.2), (3, 0.1, 1.1, 0.2)]:
        alpha = theory.break_even(gamma, *costs)
        assert theory.speedup(alpha, gamma, *costs) == pytest.approx(1.0, abs=1e-9)
        assert theory.speedup(alpha - 0.01, gamma, *costs) < 1
    assert theory.break_even(1, 1.0) == 1.0  # two tokens for two passes, if every draft is right
    assert theory.break_even(1, 1.01) is theory.break_even(2, 1.0, 1.5) is None
    for v in (1.0, 0.9):  # always a gain
        assert theory.break_even(2, 0.0, v) == pytest.approx(0.0, abs=1e-9)


def test_the_loop_costs_as_the_pass_does():
    assert theory.speedup(0.75, 4, c=0.1, v=1.2, o=0.15) == pytest.approx(3.05078125 / 1.75)
    assert theory.best_gamma(0.8, 0.1, [1.0] * 9, o=0.0) < theory.best_gamma(0.8, 0.1, [1.0] * 9, o=1.0)


def random_rows(seed: int, n: int = 4):
    dice = random.Random(seed)

    def row():
        weights = [dice.random() ** 3 for _ in range(n)]
        if dice.random() < 0.3:
            weights[dice.randrange(n)] = 0.0
        return [x / sum(weights) for x in weights]

    return row(), row()


@pytest.mark.parametrize("name", theory.RULES)
def test_exact_rules_are_exact_and_bugs_are_not(name):
    exact = not name.startswith(("bug", "relaxed"))
    worst = 0.0
    for seed in range(200):
        p, q = random_rows(seed)
        out = theory.emitted(q, *theory.RULES[name](p, q))
        assert sum(out) == pytest.approx(1.0)
        worst = max(worst, max(abs(a - b) for a, b in zip(out, p)))
    assert (worst < 1e-9) == exact


def test_several_drafts_for_one_place_by_hand():
    """p = (0.5, 0.3, 0.2), q = (0.2, 0.2, 0.6). The first is refused with chance 0.4 (always the third token), and leaves
    (0.75, 0.25, 0). SampledTree again: 0.2 + 0.2 of the second are kept. Without the third: 0.5 + 0.25."""
    p, q = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)
    again, without = theory.siblings(p, q, 2, again=True), theory.siblings(p, q, 2)
    assert again.kept == pytest.approx(0.6 + 0.4 * 0.4) and without.kept == pytest.approx(0.6 + 0.4 * 0.75)
    for found in (again, without, theory.siblings(p, q, 3)):
        assert found.output == pytest.approx(list(p))
    assert theory.siblings(p, q, 1).kept == pytest.approx(theory.acceptance(p, q))
    assert theory.siblings(p, (1.0, 0.0, 0.0), 2).output == pytest.approx(list(p))  # nothing is left to draw
    wrong = theory.siblings(p, q, 2, again=True, left=lambda p, q: p)
    assert wrong.output != pytest.approx(list(p), abs=0.05)


# Accepted with 1/3, 1, 1; refused with 0.4; lacking 0.25 of the second, 0.15 of the third.
P, Q = (0.2, 0.45, 0.35), (0.6, 0.2, 0.2)


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("the rule", P),
        ("another exact way", P),
        ("bug: after a rejection, draw from p", (0.28, 0.38, 0.34)),
        ("bug: after a rejection, draw from the draft's q", (0.44, 0.28, 0.28)),
        ("bug: after a rejection, take the target's favourite", (0.2, 0.6, 0.2)),
        ("bug: accept every draft", Q),
        ("bug: accept only the target's favourite", (0.0, 0.7, 0.3)),
        ("relaxed", (0.12, 0.47, 0.41)),
    ],
)
def test_what_each_rule_emits_by_hand(name, out):
    (rule,) = (rule for full_name, rule in theory.RULES.items() if full_name.startswith(name))
    assert theory.emitted(Q, *rule(P, Q)) == pytest.approx(out)


def test_rules_where_a_chance_is_zero_or_one():
    rule, match = (theory.RULES[name] for name in theory.RULES if "exact way" in name or "the rule" in name)
    assert rule((0.5, 0.5), (0.0, 1.0)) == ([1.0, 0.5], [1.0, 0.0])
    assert rule(P, P) == ([1.0] * 3, list(P))
    assert match((1.0, 0.0), (1.0, 0.0)) == ([1.0, 0.0], [1.0, 0.0])
