"""The prediction from parts: on a clock that knows the answer, and where the parts are known."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tiny import TinyModel, slowed

from specdec_lab.drafters import Drafter, HybridDrafter, LookupDrafter, ModelDrafter
from specdec_lab.engine.drafter import Proposal
from specdec_lab.lab import Lab
from specdec_lab.measure import predict
from specdec_lab.measure.predict import STEPS, Drafted, beside_plain, predicted

ALPHABET = 6


@pytest.fixture
def our_lab(monkeypatch) -> Lab:
    """A tiny target whose passes take 1.0, and 0.1 more for each further row."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    target = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    slowed(target, now, lambda row: 1.0 + 0.1 * (len(row) - 1))
    lab = Lab(target, None, frozenset())
    lab.now = now
    return lab


def predicted_ratio(*texts, **settings) -> float:
    ratio, (low, high) = predicted(*texts, **settings)
    assert low <= ratio <= high
    return ratio


def test_later_drafts_that_are_worse_than_the_first(our_lab):
    """Every second guess is wrong, so no round keeps two drafts, whatever single drafts would promise."""
    draft = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    right = draft.logits
    draft.logits = lambda text: right(text) if len(text) % 2 else -right(text)
    texts, how = [[0, 1], [2, 3, 1], [5, 0]], {"max_new_tokens": 30}
    traces = [our_lab.speculative(text, ModelDrafter(draft), gamma=3, request=i, **how) for i, text in enumerate(texts)]
    emitted = sum(len(t.tokens) for t in traces) / sum(len(t.rounds) for t in traces)
    assert 1.4 < emitted < 2.2
    slowed(draft, our_lab.now, lambda row: 0.25)
    ratio = predicted_ratio(our_lab, ModelDrafter(draft), 3, texts, **how)
    assert ratio == pytest.approx(emitted / (3 * 0.25 + 1.3), rel=0.05)  # the last rounds of a text may be shorter
    by_text = [len(t.tokens) / len(t.rounds) * ratio / emitted for t in traces]
    _, interval = predicted(our_lab, ModelDrafter(draft), 3, texts, **how)
    assert interval == pytest.approx((min(by_text), max(by_text)))  # of three texts all may be the same one


def test_places_without_a_draft_count_as_plain_rounds(our_lab):
    lookup = predicted_ratio(our_lab, LookupDrafter(shortest=400, longest=400), 4, [[0, 1], [2, 3]], max_new_tokens=10)
    assert lookup == pytest.approx(1.0)
    draft = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    slowed(draft, our_lab.now, lambda row: 0.25)
    hybrid = HybridDrafter(ModelDrafter(draft), most=2)
    hybrid.lookup = LookupDrafter(shortest=400, longest=400)  # never copies
    ratio = predicted_ratio(our_lab, hybrid, 4, [[0, 1], [2, 3]], max_new_tokens=21)
    assert ratio == pytest.approx(3 / 1.7, rel=1e-6)


def test_a_prediction_from_parts_that_are_given(our_lab, monkeypatch):
    """Everything that is measured is told: proposals of none, one and three drafts, the last by a drafter that runs two
    layers of the pass; and five rounds, one with a number of drafts that never came up beside plain decoding."""
    drafted = [Drafted(0, 0.125, 0), Drafted(1, 0.25, 0), Drafted(1, 0.75, 0), Drafted(3, 1.5, 2)]

    def pass_times(target, widths, first):
        return {k: [0.0, (1.0 if first == 0 else 0.5) * (1 + k / 4), 99.0] for k in widths}

    def written(tokens, *rounds):
        rounds = [SimpleNamespace(drafted="x" * n, seconds=SimpleNamespace(loop=loop)) for n, loop in rounds]
        return SimpleNamespace(tokens=range(tokens), rounds=rounds, interrupted=False)

    monkeypatch.setattr(predict, "beside_plain", lambda *asked: drafted)
    monkeypatch.setattr(predict, "pass_times", pass_times)
    rounds = [written(5, (0, 0.25), (1, 0.25)), written(7, (1, 0.25), (3, 1.0), (4, 0.75))]
    monkeypatch.setattr(our_lab, "speculative", lambda text, drafter, *, request, **more: rounds[request])
    monkeypatch.setattr(our_lab, "plain", lambda text, *, request: written(1, (0, 0.25 * request)))
    found = predicted_ratio(our_lab, LookupDrafter(), 4, [[0, 1], [2]])
    # A plain pass 1.25, one over two rows 1.5, over four from layer 2 on 1.0; the round of four drafts is like those of three.
    seconds = (0.125 + 1.25) + 2 * (0.5 + 1.5) + 2 * (1.5 + 1.0) + 2.5
    assert found == pytest.approx(12 / seconds * (1.25 + 0.125))


def test_an_interrupt_ends_it(our_lab, monkeypatch):
    """A text that was broken off is no sample of anything."""
    whole = our_lab.speculative
    monkeypatch.setattr(our_lab, "speculative", lambda *a, **more: replace(whole(*a, **more), interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        predicted_ratio(our_lab, LookupDrafter(), 2, [[0, 1]], max_new_tokens=4)


class Ahead(Drafter):
    """Drafts one token or two; like an early exit it may go ahead in the target's cache."""

    name = "ahead"

    def __init__(self, now, exits):
        self.now, self.exits, self.texts = now, exits, []

    def start(self, target, prompt, hidden):
        self.target = target

    def drafting(self, text, gamma, sampler, uniforms):
        self.texts.append(list(text))
        self.now[0] += 0.25
        drafts = [0] * (1 + len(text) % 2)
        if not self.exits:
            return Proposal(drafts)
        return Proposal(drafts, started=(1, self.target.cached.extend([[text[-1], *drafts]]).hidden[0]))


@pytest.mark.parametrize("exits", [False, True])
def test_beside_plain_decoding_every_place_is_drafted_at_and_no_draft_is_kept(our_lab, exits):
    drafter, now = Ahead(our_lab.now, exits), our_lab.now
    if exits:  # what it computes ahead costs nothing here
        our_lab.target = TinyModel(ALPHABET, seed=0, spread=0.5, context=400)
    our_lab.target.synchronize = lambda: now.__setitem__(0, now[0] + 0.5)
    found = list(beside_plain(our_lab, drafter, 3, [0, 1], max_new_tokens=5))
    plain = our_lab.plain([0, 1], max_new_tokens=STEPS).tokens
    assert drafter.texts == [[0, 1, *plain[:i]] for i in range(STEPS)]  # whatever max_new_tokens was
    assert [d.drafts for d in found] == [1 + len(text) % 2 for text in drafter.texts]
    assert {d.seconds for d in found} == {0.75}  # drafting, and until the device was done with it
    assert {d.done for d in found} == {int(exits)}
