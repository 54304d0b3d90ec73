"""How exercise 3 judges a learner's test: made-up tests that know which rule is right, and err in one way."""

import itertools
import re

import pytest
from specdec_grader.part import RIGHT, WRONG, judged
from specdec_grader.sheets import e03_exactly_the_target as exactness

pytestmark = pytest.mark.usefixtures("coarse_grids")
DRAWS, KEEPS, TWICE = exactness.PLANTED.values()


def accepting(*rules):
    """A test that calls these rules right, and all others wrong."""
    return lambda rule: rule in (exactness.SOUND, exactness.OTHER_SOUND, *rules)


def test_3_test_each_planted_rule_is_to_be_called_wrong():
    assert judged("3.test", accepting()).points == 3
    for rule, name in ((DRAWS, "draws from p"), (KEEPS, "accepts every draft"), (TWICE, "uses the number")):
        verdict = judged("3.test", accepting(rule))
        assert (verdict.status, verdict.points) == (WRONG, 1.0)
        assert name in verdict.message and "Does it use" not in verdict.message
    verdict = judged("3.test", accepting(DRAWS, TWICE))
    assert verdict.points == 0.5 and "draws from p" in verdict.message and "Does it use" in verdict.message


SOUND = exactness.SOUND, exactness.OTHER_SOUND


def test_3_test_a_right_rule_may_be_called_wrong_by_chance_once_and_not_twice():
    for misses, status in ((1, RIGHT), (2, WRONG), (5, WRONG)):
        calls = itertools.count()
        verdict = judged("3.test", lambda rule, calls=calls, most=misses: rule in SOUND and next(calls) >= most)
        assert verdict.status == status, verdict.message
        assert status == RIGHT or "leave more room for chance" in verdict.message


def test_3_test_more_than_one_rule_is_right():
    """Whoever compares tokens with those of a rule of their own calls another right rule wrong."""
    verdict = judged("3.test", lambda rule: rule is exactness.SOUND)
    assert verdict.status == WRONG and "not single tokens with those of a rule of your own" in verdict.message


def test_3_test_the_calls_come_in_another_order_each_time():
    orders = []
    for _ in range(4):
        order = []
        judged("3.test", lambda rule, order=order: order.append(rule) or accepting()(rule))
        orders.append(order)
    assert len(orders[0]) >= 8 and any(order != orders[0] for order in orders)


def test_3_test_the_answer_is_true_or_false():
    for made in (lambda rule: "right", lambda rule: "wrong" if rule is KEEPS else rule in SOUND):
        verdict = judged("3.test", made)
        assert verdict.status == WRONG and "True or False" in verdict.message


def test_3_test_the_given_rules_do_what_they_say():
    p, q = (0.2, 0.3, 0.5), (0.6, 0.2, 0.2)  # what is lacking: 0, 0.1, 0.3
    for u, w, written in ((0.1, 0.9, 0), (0.9, 0.0, 1), (0.9, 0.2, 1), (0.9, 0.3, 2), (0.9, 0.99, 2)):
        assert exactness.SOUND(p, q, 0, u, w) == written
    assert DRAWS(p, q, 0, 0.9, 0.1) == 0 and KEEPS(p, q, 0, 0.99, 0.5) == 0
    assert [TWICE(p, q, 0, 0.9, w) for w in (0.0, 0.9)] == [2, 2]


def after_a_rejection(p, q, x, u, w):
    """The rule, but p is left as the residual where a draft was rejected."""
    if u * q[x] < p[x]:
        return x
    for i, share in enumerate(q):
        p[i] = max(0.0, p[i] - share)
    place = w * sum(p)
    return next(i for i, total in enumerate(itertools.accumulate(p)) if place < total)


def test_3_rule_p_may_not_be_changed_in_a_rejection_either():
    verdict = judged("3.rule", after_a_rejection)
    assert verdict.status == WRONG and "Work on copies" in verdict.message


def test_3_rule_what_comes_out_is_told_with_two_places():
    said = judged("3.rule", exactness.rule_by("bug: after a rejection, draw from p")).message
    assert re.search(r"what comes out is \[[\d.]+, \d\.\d\d[,\]]", said)


def test_3_rule_whose_replacement_follows_u_is_found():
    def until(u, w):
        return u if u < 0.5 else w

    assert exactness.looks_at_u_again(TWICE)
    for other in (exactness.SOUND, lambda p, q, x, u, w: 1, lambda p, q, x, u, w: int(2 * until(u, w))):
        assert not exactness.looks_at_u_again(other)
