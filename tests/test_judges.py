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
from specdec_grader.sheets import e11_todays_designs as designs
from specdec_grader.supplied.arrivals import DAY, NIGHT, NOON, with_fixed_gamma

from specdec_lab.measure.serving import Served, ServingLog
from specdec_lab.theory import acceptance, emitted, residual, siblings

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


@pytest.mark.parametrize(
    ("made", "said"),
    [(lambda rule: rule is exactness.SOUND, "compared with p"), (lambda rule: "right", "True or False")],
)
def test_3_test_what_a_test_is_told(made, said):
    verdict = grade_part("3.test", made)
    assert verdict.status == WRONG and said in verdict.message


def test_3_test_the_calls_come_in_another_order_each_time():
    orders = []
    for _ in range(4):
        order = []
        grade_part("3.test", lambda rule, order=order: order.append(rule) or accepting()(rule))
        orders.append(order)
    assert len(orders[0]) >= 8 and any(order != orders[0] for order in orders)


def test_3_test_the_given_rules_do_what_they_say():
    p, q = (0.2, 0.3, 0.5), (0.6, 0.2, 0.2)  # what is lacking: 0, 0.1, 0.3
    for u, w, written in ((0.1, 0.9, 0), (0.9, 0.0, 1), (0.9, 0.2, 1), (0.9, 0.3, 2), (0.9, 0.99, 2)):
        assert exactness.SOUND(p, q, 0, u, w) == written
    assert DRAWS(p, q, 0, 0.9, 0.1) == 0 and KEEPS(p, q, 0, 0.99, 0.5) == 0
    assert [TWICE(p, q, 0, 0.9, w) for w in (0.0, 0.9)] == [2, 2]


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


@pytest.mark.parametrize("mistake", exactness.OUTPUT.mistakes, ids=lambda mistake: mistake.said)
def test_3_rule_with_a_known_mistake_is_told_it(coarse_grids, mistake):
    for formula in mistake.results:
        verdict = grade_part("3.rule", as_a_rule(formula))
        assert mistake.said in verdict.message, verdict.message
        assert verdict.misconception == mistake.belief and verdict.points == 0


# 5.least and 7: machines and edges are what is said of them


@pytest.mark.parametrize(("edge", "why"), choosing_gamma.EDGES.items())
def test_5_least_edges_are_where_it_is_said_that_they_are(edge, why):
    gamma, cost = edge
    assert (cost > gamma + 1) is (why == choosing_gamma.NEVER)
    assert (cost <= 1) is ("no more than a plain pass" in why) and (cost == gamma + 1) is ("comes out even" in why)


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


GOALS = {  # milliseconds a token: mean, and what 95 % stay within
    NIGHT: (7.15, 8.75),  # with γ = 4 always it takes 6.810 and 8.338; 1.05 times that is 7.151 and 8.755
    NOON: (34.55, 45.54),  # without drafts 33.547 and 44.221; 1.03 times that is 34.553 and 45.548
    DAY: (27.89, 42.71),  # without drafts 29.367 and 42.714; 0.95 times the mean is 27.899
}


def log(mean: float, slowest: float) -> ServingLog:
    """A hundred requests of a token each, of which ten take longest."""
    others = (100 * mean - 10 * slowest) / 90
    return ServingLog([Served(0.0, 0.0, ms / 1000, tokens=1) for ms in [others] * 90 + [slowest] * 10])


@pytest.mark.parametrize("when", GOALS)
def test_7_policy_each_goal_is_about_the_mean_and_the_slowest(when):
    logs = {at: log(*goal) for at, goal in GOALS.items()}
    mean, slowest = GOALS[when]
    assert backfires.missed(logs) == []
    assert backfires.missed({**logs, when: log(mean + 0.01, slowest)}) == [when]
    assert backfires.missed({**logs, when: log(mean, slowest + 0.01)}) == [when]


def test_7_policy_the_goals_are_told_in_their_order():
    assert backfires.missed(with_fixed_gamma(0)) == [NIGHT, DAY]
    assert backfires.missed(with_fixed_gamma(4)) == [NOON, DAY]


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


def test_10_offer_the_grid_gives_what_the_theory_adds_up():
    for p, q in trees.OFFER.cases:
        out, kept = trees.output_of(trees.offer, p, q)
        assert max(abs(a - b) for a, b in zip(out, p)) < 0.02 and abs(sum(out) - 1) < 1e-9
        assert abs(kept - siblings(p, q, 2).kept) < 0.02
    assert trees.without([0.5, 0.2, 0.3], 0) == [0.0, 0.4, 0.6]


def test_10_offer_a_draft_is_refused_where_both_sides_are_equal():
    assert trees.offer([0.5, 0.5, 0.0], [2], [[0.5, 0.0, 0.5]], [0.0], 0.9) == 1  # p(x) = 0
    assert trees.offer([0.2, 0.8], [0], [[0.4, 0.6]], [0.5], 0.1) == 1  # u · q = p
    assert [trees.looked_up([0.0, 0.1, 0.3], w) for w in (0.0, 0.24, 0.26, 0.99)] == [1, 1, 2, 2]


# 11.which: the rules are given, and what they do is said in the exercise


def test_11_which_rules_do_what_they_are_called():
    p, q = (0.45, 0.3, 0.15, 0.06, 0.04), (0.1, 0.0, 0.5, 0.3, 0.1)
    kept, rest = designs.RULES["exact"](p, q)
    assert emitted(q, kept, rest) == pytest.approx(p)
    assert sum(b * a for a, b in zip(kept, q)) == pytest.approx(acceptance(p, q))
    assert designs.RULES["p again"](p, q) == (kept, p)
    assert designs.RULES["likely enough"](p, q) == ([1, 1, 1, 0, 0], p)
    assert designs.RULES["one of the best two"](p, q) == ([1, 1, 0, 0, 0], residual(p, q))


@pytest.mark.parametrize("pair", designs.PAIRS)
def test_11_which_rules_can_be_told_apart(pair):
    outputs = [emitted(pair[1], *rule(*pair)) for rule in designs.RULES.values()]
    for one, other in itertools.combinations(outputs, 2):
        assert sum(abs(a - b) for a, b in zip(one, other)) > 0.1
