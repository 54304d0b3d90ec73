"""Stops, records and the numbers that follow from them."""

import math
from dataclasses import replace

import pytest
from tiny import SAMPLED, TinyModel, rounds_of_accepted, trace_of

from specdec_lab.drafters import LookupDrafter, ModelDrafter
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler
from specdec_lab.engine.trace import Draft, Emitted, Round, Seconds, Trace
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab, collect


def test_a_drafter_that_draws_though_the_target_is_greedy_is_recorded_with_its_own_q():
    class Draws(ModelDrafter):
        def drafting(self, text, gamma, sampler, uniforms):
            return super().drafting(text, gamma, SAMPLED, uniforms)

    draft = TinyModel(4, seed=9, spread=0.5)
    trace = trace_of(drafter=Draws(draft), sampler=Sampler(0))
    first = trace.rounds[0].drafted[0]
    assert first.q == pytest.approx(float(draft.probabilities([0, 1])[first.id]))
    assert trace.tokens == trace_of(sampler=Sampler(0)).tokens


def test_an_interrupt_leaves_model_and_trace_usable():
    target, draft = TinyModel(4, seed=8), TinyModel(4, seed=9)
    whole = trace_of(target=target, drafter=ModelDrafter(draft))

    def interrupted():
        for i, r in enumerate(speculative(target, drafter, [0, 1], gamma=3, sampler=SAMPLED, stops=Stops(24))):
            if i == 3:
                raise KeyboardInterrupt
            yield r

    drafter = ModelDrafter(draft)
    trace = collect([0, 1], interrupted())
    assert trace.interrupted
    assert trace.tokens == whole.tokens[: len(trace.tokens)] != []
    trace.check()
    again = trace_of(target=target, drafter=drafter)  # the same objects, from the start
    assert again.tokens == whole.tokens


@pytest.mark.parametrize(
    ("prompt", "says"),
    [([], "prompt is empty"), ([0] * 64, "shorten the prompt"), ([4, 0], "outside 0…3"), ([0, -1, 1], "outside 0…3")],
)
def test_bad_prompts_are_one_sentence(prompt, says):
    target = TinyModel(4, seed=8)
    for run in (lambda: plain(target, prompt), lambda: speculative(target, LookupDrafter(), prompt)):
        with pytest.raises(LabError, match=says):
            next(run())


def test_too_few_drafts_and_too_few_tokens_are_one_sentence():
    for gamma in (0, -1):
        with pytest.raises(LabError, match="must be at least 1"):
            trace_of(gamma=gamma)
    with pytest.raises(LabError, match="max_new_tokens is 0"):
        Stops(0)


def test_perplexity_is_what_the_target_thinks_of_the_new_tokens():
    target = TinyModel(5, seed=3)
    lab = Lab(target, None, frozenset())
    trace = trace_of(target=target, drafter=ModelDrafter(TinyModel(5, seed=4)))
    chances = [
        target.probabilities([*trace.prompt, *trace.tokens[:i]])[token].item() for i, token in enumerate(trace.tokens)
    ]
    assert lab.perplexity(trace) == pytest.approx(math.exp(-sum(map(math.log, chances)) / len(chances)), rel=1e-5)
    even = TinyModel(5, seed=3, spread=0.0)
    assert Lab(even, None, frozenset()).perplexity(trace_of(target=even)) == pytest.approx(5)
    with pytest.raises(LabError, match="no new token"):
        lab.perplexity(Trace(trace.prompt))


def test_the_clock_of_a_text_goes_round_by_round_and_the_prefill_does_not_count(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def rounds():
        for seconds, r in zip((5.0, 2.0, 3.0), rounds_of_accepted([1, 0, 2], gamma=2)):
            now[0] += seconds
            yield replace(r, seconds=Seconds(0.25, 0.5, seconds / 40))

    trace = Trace([0]).collect(rounds())
    assert trace.clock == [5.0, 2.0, 3.0]
    assert trace.seconds == 0.875 + 2.0 + 3.0
    assert (trace.stop, trace.interrupted, trace.target_passes) == (None, False, 3)


def test_a_text_without_rounds_has_no_numbers():
    empty = Trace([0])
    assert (empty.tokens_per_pass, empty.alpha, empty.stop) == (None, None, None)
    assert (empty.alpha_by_position, empty.tokens, empty.target_passes) == ([], [], 0)
    none_drafted = Trace([0]).collect(rounds_of_accepted([0, 0], gamma=0))
    assert (none_drafted.alpha, none_drafted.alpha_by_position, none_drafted.tokens_per_pass) == (None, [], 1)
    assert none_drafted.histogram == [2]


def drafts_of(*marks_and_parents):
    return tuple(Draft(10 + i, 1, 1, 1, 1, 0.5, None, m, parent=p) for i, (m, p) in enumerate(marks_and_parents))


def test_a_tree_by_hand():
    """Two at the text, of which the second is kept; two behind it, both refused; one behind the first, never looked at."""
    marks = [("rejected", -1), ("accepted", -1), ("discarded", 0), ("rejected", 1), ("rejected", 1)]
    r = Round(1, drafts_of(*marks), Emitted(3, "corrected", 1, 1))
    assert (r.accepted, r.last, r.is_tree, r.missed, r.cut, r.tokens) == (1, 1, True, True, False, [11, 3])
    assert [d.id for d in r.tested] == [10, 11, 13, 14]
    trace = Trace([0], [r])
    trace.check()
    assert trace.alpha_by_position == [1.0, 0.0] and trace.alpha == 0.5
    chain = Round(1, drafts_of(("accepted", -1), ("rejected", 0), ("discarded", 1)), Emitted(3, "corrected", 1, 1))
    assert (chain.is_tree, chain.last, chain.missed, chain.tokens) == (False, 0, True, [10, 3])
    twig = Round(1, drafts_of(("accepted", -1), ("accepted", 0), ("discarded", 0)), Emitted(3, "bonus", 1, 1))
    assert (twig.is_tree, twig.last, twig.missed) == (True, 1, False)
    cut = Round(1, drafts_of(("accepted", -1), ("discarded", 0)), None, stop="eos")
    assert (cut.missed, cut.cut, cut.tokens, cut.last) == (False, True, [10], 0)
    assert Round(1, (), Emitted(3, "plain", 1, 1)).last == -1
    assert Draft(0, 1, 1, 1, 1, 1, None, "accepted").parent == -1  # if nothing is said, it follows the text


BREAKS = {
    "a gap": lambda r: replace(r, start=2),
    "a cut without a stop": lambda r: replace(r, emitted=None, drafted=r.drafted[:1]),
    "a bonus behind a miss": lambda r: replace(r, emitted=replace(r.emitted, kind="bonus")),
    "a refused draft, and an accepted one behind it": lambda r: replace(
        r, drafted=drafts_of(("rejected", -1), ("accepted", 0))
    ),
    "a discarded one before the miss": lambda r: replace(r, drafted=drafts_of(("discarded", -1), ("rejected", -1))),
    "two accepted in one place": lambda r: replace(r, drafted=drafts_of(("accepted", -1), ("accepted", -1))),
    "tested behind what is not kept": lambda r: replace(
        r, drafted=drafts_of(("rejected", -1), ("accepted", -1), ("rejected", 0), ("rejected", 1))
    ),
    "corrected without a miss": lambda r: replace(r, drafted=drafts_of(("accepted", -1), ("accepted", 0))),
}


@pytest.mark.parametrize("name", BREAKS)
def test_each_identity_notices_what_breaks_it(name):
    good = Round(1, drafts_of(("accepted", -1), ("rejected", 0), ("discarded", 1)), Emitted(3, "corrected", 1, 1))
    Trace([0], [good]).check()
    with pytest.raises(AssertionError):
        Trace([0], [BREAKS[name](good)]).check()
