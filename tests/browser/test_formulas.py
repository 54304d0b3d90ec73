"""The formulas that a page computes by itself are those of theory.py, over the whole range of the controls."""

import itertools

import pytest

from specdec_lab import theory
from specdec_lab.show.live import script
from specdec_lab.show.sandbox import normalised

V = [[1.0] * 11, [1 + 0.05 * k for k in range(11)], [1.0, 1.0, 1.3, 1.3, 1.9, 2.5, 3.0, 3.0, 4.0, 5.0, 6.0]]


@pytest.fixture(scope="module")
def computed(browser):
    """Evaluates an expression with theory.js in front of it: (expression, argument) → value."""
    page = browser.new_page()
    yield lambda expression, x: page.evaluate(f"(x) => {{ {script('theory.js')}; return {expression}; }}", x)
    page.close()


def test_the_rules_of_the_sandbox(computed):
    rows = [normalised(w) for w in itertools.product((0, 1, 50, 100), repeat=3)]
    pairs = [[p, q] for p, q in itertools.product(rows, rows)]
    names = computed("Object.keys(RULES)", None)
    assert names == list(theory.RULES)
    for name in names:
        found = computed(
            "x[1].map(([p, q]) => [...RULES[x[0]](p, q), emitted(p, q, ...RULES[x[0]](p, q))])", [name, pairs]
        )
        for (p, q), triple in zip(pairs, found):
            accepts, replacement = theory.RULES[name](p, q)
            right = accepts, replacement, theory.emitted(p, q, accepts, replacement)
            assert triple == [pytest.approx(list(row), abs=1e-12) for row in right]
    alphas = computed("x.map(([p, q]) => acceptance(p, q))", pairs)
    assert alphas == pytest.approx([theory.acceptance(p, q) for p, q in pairs], abs=1e-12)


def test_the_speed_up_of_the_explorer(computed):
    cases = list(itertools.product((0, 0.05, 0.3, 0.75, 0.99), (1, 2, 5, 10), (0, 0.01, 0.3, 1), (0, 0.03, 0.5), V))
    found = computed(
        "x.map(([a, g, c, o, v]) => [expectedTokens(a, g), speedup(a, g, c, v[g], o), bestGamma(a, c, v, o), breakEven(g, c, v[g], o)])",
        [list(case) for case in cases],
    )
    for (alpha, gamma, c, o, v), (tokens, gain, best, even) in zip(cases, found):
        assert tokens == pytest.approx(theory.expected_tokens(alpha, gamma), abs=1e-12)
        assert gain == pytest.approx(theory.speedup(alpha, gamma, c, v[gamma], o), abs=1e-12)
        assert best == theory.best_gamma(alpha, c, v, o)
        right = theory.break_even(gamma, c, v[gamma], o)
        assert even == (None if right is None else pytest.approx(right, abs=1e-9))
