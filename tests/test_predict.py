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


def test_a_prediction_from_parts_that_are_given(monkeypatch):
    """Everything that is measured is told: three proposals, of none, one and three drafts, the last by another part that has
    run a layer of the pass already."""
    from types import SimpleNamespace

    from specdec_lab.measure import predict

    asked = []

    def beside_plain(lab, drafter, gamma, text, **settings):
        asked.append((gamma, tuple(text), settings))
        yield predict.Drafted("a", 0, 0.125, 0)
        yield predict.Drafted("a", 1, 0.25, 0)
        yield predict.Drafted("b", 3, 0.5, 2)

    def pass_times(target, widths, first):
        seen.append((widths, first))
        return {k: [0.0, (1.0 if first == 0 else 0.5) * (1 + k / 4), 99.0] for k in widths}

    def round_of(loop, marks=""):
        return SimpleNamespace(seconds=SimpleNamespace(loop=loop), drafted=marks, accepted=marks.count("+"))

    class Given:
        target = None

        def speculative(self, text, drafter, *, gamma, keep, request, temperature):
            assert gamma.choose("a") == 1
            for mark in "+x":
                gamma.observe(round_of(0, mark))
            assert gamma.choose("b") == 1
            for mark in ("+", "+", "", "+", "x"):
                gamma.observe(round_of(0, mark))
            return SimpleNamespace(rounds=[round_of(0.25), round_of(0.75), round_of(0.5)])

        def plain(self, text, *, request, temperature):
            return SimpleNamespace(rounds=[round_of(0.25 if request else 0.0)])

    seen = []
    monkeypatch.setattr(predict, "beside_plain", beside_plain)
    monkeypatch.setattr(predict, "pass_times", pass_times)
    found = predict.predicted_ratio(Given(), LookupDrafter(), 3, [[0, 1], [2]], temperature=0.5)
    assert sorted(seen) == [([1, 2], 0), ([4], 2)] or sorted(seen) == [([1, 2], 0), ([1, 4], 2)]
    assert asked == [(3, (0, 1), {"temperature": 0.5}), (3, (2,), {"temperature": 0.5})]
    # α of a: .5, of b: .75. E: 1, 1.5, 1 + .75 + .5625 + .421875. Passes: 1.25, 1.5, and .5 · 2 from layer 2 on.
    emitted = 1 + 1.5 + theory.expected_tokens(0.75, 3)
    seconds = (0.125 + 1.25) + (0.25 + 1.5) + (0.5 + 1.0) + 3 * 0.5
    assert found == pytest.approx(emitted / seconds * (1.25 + 0.125))


def test_a_part_that_never_drafted_has_no_alpha():
    assert Single().alpha("nobody") == 0.0
