"""The prediction from parts: on a clock that knows the answer, and where the parts are known."""

import pytest
from test_auto import slowed
from tiny import TinyModel

from specdec_lab import theory
from specdec_lab.drafters import HybridDrafter, LookupDrafter, ModelDrafter
from specdec_lab.lab import Lab
from specdec_lab.measure.predict import Single, predicted_ratio

ALPHABET = 6


@pytest.fixture
def lab(monkeypatch) -> Lab:
    """A tiny target whose passes take 1.0, and 0.1 more for each further row."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    target = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    slowed(target, now, lambda row: 1.0 + 0.1 * (len(row) - 1))
    lab = Lab(target, None, frozenset())
    lab.now = now
    return lab


@pytest.mark.parametrize("gamma", [1, 3])
def test_a_draft_that_is_always_right(lab, gamma):
    draft = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    slowed(draft, lab.now, lambda row: 0.25)
    ratio = predicted_ratio(lab, ModelDrafter(draft), gamma, [[0, 1], [2, 3, 1]], max_new_tokens=20)
    assert ratio == pytest.approx((gamma + 1) / (1 + 0.1 * gamma + 0.25 * gamma), rel=0.02)


def test_a_draft_that_is_often_wrong(lab):
    """α is counted on single drafts, and what they cost is not."""
    draft = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    other = TinyModel(ALPHABET, seed=9, spread=0.5, context=400)
    right = draft.logits
    draft.logits = lambda text: right(text) if len(text) % 3 else other.logits(text)
    single = Single()
    texts = [[0, 1], [2, 3, 1], [5, 0]]
    for i, text in enumerate(texts):
        lab.speculative(text, ModelDrafter(draft), gamma=single, request=i, max_new_tokens=30)
    alpha = single.alpha("model")
    assert 0.3 < alpha < 0.95
    slowed(draft, lab.now, lambda row: 0.25)
    ratio = predicted_ratio(lab, ModelDrafter(draft), 3, texts, max_new_tokens=30)
    assert ratio == pytest.approx(theory.speedup(alpha, 3, 0.25, 1.3), rel=0.02)


def test_places_without_a_draft_count_as_plain_rounds(lab):
    lookup = predicted_ratio(lab, LookupDrafter(shortest=400, longest=400), 4, [[0, 1], [2, 3]], max_new_tokens=10)
    assert lookup == pytest.approx(1.0)
    draft = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    slowed(draft, lab.now, lambda row: 0.25)
    hybrid = HybridDrafter(ModelDrafter(draft), most=2)
    hybrid.lookup = LookupDrafter(shortest=400, longest=400)  # never copies
    ratio = predicted_ratio(lab, hybrid, 4, [[0, 1], [2, 3]], max_new_tokens=20)
    assert ratio == pytest.approx(3 / 1.7, rel=0.02)
