"""The two judges that draw much, with few draws: what they compute, and what they say about answers that err in one way."""

import re

import pytest
from specdec_grader.mistakes import mistakes_of
from specdec_grader.part import WRONG, judged
from specdec_grader.sheets import e04_acceptance_rate as sheet
from specdec_grader.sheets import e10_trees
from specdec_grader.sheets.e04_acceptance_rate import alpha_hat

from specdec_lab.theory import siblings

ONE = sheet.COPIED
ALPHA = alpha_hat([ONE])


@pytest.fixture
def few_draws(monkeypatch):
    monkeypatch.setattr(sheet, "RUNS", 400)
    monkeypatch.setattr(sheet, "SEEDS", range(2))
    sheet.bootstrap.cache_clear()
    yield
    sheet.bootstrap.cache_clear()


def constant(*ends, others=None):
    """The same ends for copies of one text, and others for other texts."""
    return lambda texts, dice: ends if texts == [ONE] * len(texts) else others or ends


@pytest.mark.parametrize(
    ("made", "told", "belief"),
    [
        (constant(0.2, 0.9), ["is [0.2, 0.9]", "it should have no width"], None),
        (constant(0.9, 0.9), [f"α of this text, {sheet.pretty(ALPHA)}", "accepted divided by the tested"], None),
        (constant(0.5, 0.5), ["is [0.5, 0.5]", "Discarded drafts were never tested"], 5),
    ],
)
def test_4_interval_ten_copies_of_a_text_have_no_width(made, told, belief):
    """ONE accepts 2, 4 and 0 of 4 drafts: 6 of 12 proposed, 6 of 8 tested."""
    assert ALPHA == 0.75
    verdict = judged("4.interval", made)
    assert verdict.status == WRONG and all(part in verdict.message for part in told), verdict.message
    assert verdict.misconception == belief and verdict.points == 0


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (constant(0.75, 0.75, others=(0.9, 0.1)), "It is too wide"),
        (constant(0.75, 0.75, others=(0.3, 0.3)), "It is too narrow"),
        (constant(0.75, 0.75, others=(0.0, 1.0)), "It is too wide"),
        (
            lambda texts, dice: tuple(x + 0.15 * (texts != [ONE] * 10) for x in sheet.interval(texts)),
            "Draw texts, divide",
        ),
        (lambda texts, dice: (alpha_hat(texts), alpha_hat(texts) + 0.3 * (texts != [ONE] * 10)), "too narrow"),
    ],
)
def test_4_interval_what_is_said_about_other_texts(few_draws, made, told):
    verdict = judged("4.interval", made)
    assert told in verdict.message and verdict.points == 0


CHANGED_RULES = list(mistakes_of(e10_trees.WRONG_OFFERS, e10_trees.offer))


@pytest.mark.parametrize("mistake", CHANGED_RULES, ids=lambda mistake: mistake.said)
def test_10_offer_a_changed_rule_is_told_its_mistake(coarse_grids, mistake):
    for rule in mistake.results:
        verdict = judged("10.offer", rule)
        assert f"and not p. {mistake.said}" in verdict.message, verdict.message
        assert re.search(r"two drafts, what comes out is \[(\d\.\d{1,2}(, |\])){3}", verdict.message)
        assert verdict.misconception == mistake.belief and verdict.points == 0


def test_10_offer_the_grid_gives_what_the_theory_adds_up():
    for p, q in e10_trees.OFFER.cases:
        out, kept = e10_trees.output_of(e10_trees.offer, p, q)
        assert max(abs(a - b) for a, b in zip(out, p)) < 0.02 and abs(sum(out) - 1) < 1e-9
        assert abs(kept - siblings(p, q, 2).kept) < 0.02
    assert e10_trees.without([0.5, 0.2, 0.3], 0) == [0.0, 0.4, 0.6]


def test_10_offer_a_draft_is_refused_where_both_sides_are_equal():
    assert e10_trees.offer([0.5, 0.5, 0.0], [2], [[0.5, 0.0, 0.5]], [0.0], 0.9) == 1  # p(x) = 0
    assert e10_trees.offer([0.2, 0.8], [0], [[0.4, 0.6]], [0.5], 0.1) == 1  # u · q = p
    assert [e10_trees.looked_up([0.0, 0.1, 0.3], w) for w in (0.0, 0.24, 0.26, 0.99)] == [1, 1, 2, 2]
