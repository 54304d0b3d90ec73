"""What the judges of the exercises ask about: machines, rules and edges are what is said of them."""

import math

import pytest
from specdec_grader.sheets import e05_choosing_gamma as choosing_gamma
from specdec_grader.sheets import e07_when_it_backfires as backfires
from specdec_grader.sheets.e11_todays_designs import PAIRS, RULES

from specdec_lab.theory import acceptance, emitted, residual


@pytest.mark.parametrize("machine", [x for x in vars(backfires).values() if isinstance(x, backfires.Pass)], ids=str)
def test_7_a_machine_costs_what_is_said_of_it(machine):
    formula = machine.formula.replace("·", "*").replace("^", "**").replace("⌈", "math.ceil(").replace("⌉", ")")
    for n in (1, 2, 16, 25, 40, 48, 100, 1000):
        assert machine(n) == pytest.approx(eval(formula, {"n": n, "max": max, "math": math}), rel=0.01)
    assert repr(machine) == f"{machine.name}(n) = {machine.formula}"


@pytest.mark.parametrize(("edge", "why"), choosing_gamma.EDGES.items())
def test_5_least_edges_are_where_it_is_said_that_they_are(edge, why):
    gamma, cost = edge
    assert (cost > gamma + 1) is (why == choosing_gamma.NEVER)
    assert (cost <= 1) is ("no more than a plain pass" in why) and (cost == gamma + 1) is ("comes out even" in why)


# 11.which: the rules are given, and what they do is said in the exercise

P, Q = (0.45, 0.3, 0.15, 0.06, 0.04), (0.1, 0.0, 0.5, 0.3, 0.1)


def test_11_which_rules_do_what_they_are_called():
    kept, rest = RULES["exact"](P, Q)
    assert emitted(P, Q, kept, rest) == pytest.approx(P)
    assert sum(b * a for a, b in zip(kept, Q)) == pytest.approx(acceptance(P, Q))
    assert RULES["p again"](P, Q) == (kept, P)
    assert RULES["likely enough"](P, Q) == ([1, 1, 1, 0, 0], P)
    assert RULES["one of the best two"](P, Q) == ([1, 1, 0, 0, 0], residual(P, Q))
    assert all(0 <= chance <= 1 for chance in kept)


@pytest.mark.parametrize("pair", PAIRS)
def test_11_which_rules_can_be_told_apart(pair):
    outputs = [emitted(*pair, *rule(*pair)) for rule in RULES.values()]
    for i, one in enumerate(outputs):
        assert all(sum(abs(a - b) for a, b in zip(one, other)) > 0.1 for other in outputs[:i])
