"""What single judges of the exercises ask about, and what they say about answers that err in one way.

Wrong answers that need no more than a line stand in tests/answers; the changes of a right one are test_mistakes'.
"""

import functools
import itertools
import math
import re

import pytest
from answers import e06_variants as variants
from specdec_grader.checks import grade_part
from specdec_grader.mistakes import known_mistakes
from specdec_grader.part import RIGHT, WRONG
from specdec_grader.sheets import e03_exactly_the_target as exactness
from specdec_grader.sheets import e05_choosing_gamma as choosing_gamma
from specdec_grader.sheets import e07_when_it_backfires as backfires
from specdec_grader.sheets import e10_trees as trees

# 3.test: made-up tests that know which rule is right

SOUND = exactness.SOUND, exactness.OTHER_SOUND
DRAWS, KEEPS, TWICE = exactness.PLANTED.values()


def accepting(*rules):
    """A test that calls these rules right, and all others wrong."""
    return lambda rule: rule in (*SOUND, *rules)


def test_3_test_each_planted_rule_is_to_be_called_wrong():
    assert grade_part("3.test", accepting()).points == 3
    for rule, name in ((DRAWS, "draws from p"), (KEEPS, "accepts every draft"), (TWICE, "uses the number")):
        verdict = grade_part("3.test", accepting(rule))
        assert (verdict.status, verdict.points) == (WRONG, 1.0)
        assert name in verdict.message
    verdict = grade_part("3.test", accepting(DRAWS, TWICE))
    assert verdict.points == 0.5 and "draws from p" in verdict.message and "Two things can hide it" in verdict.message


@pytest.mark.parametrize(("misses", "status"), [(1, RIGHT), (2, WRONG), (5, WRONG)])
def test_3_test_chance_may_call_a_right_rule_wrong_once(misses, status):
    calls = itertools.count()
    verdict = grade_part("3.test", lambda rule: rule in SOUND and next(calls) >= misses)
    assert verdict.status == status and (status == RIGHT or "room for chance" in verdict.message)


def test_3_test_the_calls_come_in_another_order_each_time():
    orders = []
    for _ in range(4):
        order = []
        grade_part("3.test", lambda rule, order=order: order.append(rule) or accepting()(rule))
        orders.append(order)
    assert len(orders[0]) >= 8 and any(order != orders[0] for order in orders)


@pytest.mark.parametrize("rule", [lambda p, q, x, u, w: 1, lambda p, q, x, u, w: int(2 * (u if u < 0.5 else w))])
def test_3_rule_that_follows_u_in_part_or_nothing_is_not_told_so(coarse_grids, rule):
    assert "Draw with w" in grade_part("3.rule", TWICE).message
    assert "Draw with w" not in grade_part("3.rule", rule).message


def as_a_rule(formula):
    """The rule whose output this formula computes: it keeps and draws what the formula says."""

    @functools.cache
    def steps(p, q):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exactness, "output", lambda q, kept, other: (kept, other))
            return formula(p, q)

    def rule(p, q, x, u, w):
        found = steps(tuple(p), tuple(q))
        if not callable(found[0]):  # the formula is q itself: no draft is ever rejected
            return x
        kept, other = found
        return x if u < kept(x) else trees.looked_up(other(x), w, scale=False)

    return rule


@pytest.mark.slow
@pytest.mark.parametrize("mistake", exactness.OUTPUT.mistakes, ids=lambda mistake: mistake.said)
def test_3_rule_with_a_known_mistake_is_told_it(coarse_grids, mistake):
    for formula in mistake.results:
        verdict = grade_part("3.rule", as_a_rule(formula))
        assert mistake.said in verdict.message, verdict.message
        assert verdict.misconception == mistake.belief and verdict.points == 0


# 5.least and 7


@pytest.mark.parametrize(("off", "points"), [(0.0004, 2), (0.0006, 1.5), (0.009, 1.5), (0.02, 0)])
def test_5_least_is_asked_for_to_half_a_thousandth(off, points):
    def answer(gamma, cost):
        alpha = choosing_gamma.least_alpha(gamma, cost)
        return alpha + off if alpha and alpha < 1 else alpha

    assert grade_part("5.least", answer).points == points


@pytest.mark.parametrize("machine", [x for x in vars(backfires).values() if isinstance(x, backfires.Pass)], ids=str)
def test_7_a_machine_costs_what_is_said_of_it(machine):
    formula = machine.formula.replace("·", "*").replace("^", "**").replace("⌈", "math.ceil(").replace("⌉", ")")
    for n in (1, 2, 16, 25, 40, 48, 100, 1000):
        assert machine(n) == pytest.approx(eval(formula, {"n": n, "max": max, "math": math}), rel=0.01)
    assert repr(machine) == f"{machine.name}(n) = {machine.formula}"


# 6.improve


@pytest.mark.parametrize(("most", "times", "points"), [(7, 1.039, 0), (1, 1.049, 0), (5, 1.112, 1), (4, 1.136, 2)])
def test_6_improve_each_step_that_is_reached_is_a_third(most, times, points):
    verdict = grade_part("6.improve", lambda text, gamma: variants.with_loops(text, most))
    assert (
        verdict.points == points
        and f"{times} times the plain version (1.22); the steps are 1.05, 1.12, 1.18." in verdict.message
    )


# 10.offer


@pytest.mark.parametrize("mistake", [*known_mistakes(trees.offer)], ids=lambda mistake: mistake.said)
def test_10_offer_a_changed_rule_is_told_its_mistake(coarse_grids, mistake):
    for rule in mistake.results:
        verdict = grade_part("10.offer", rule)
        assert f"and not p. {mistake.said}" in verdict.message, verdict.message
        assert re.search(r"two drafts, what comes out is \[(\d\.\d{1,2}(, |\])){3}", verdict.message)
        assert verdict.misconception == mistake.belief and verdict.points == 0
