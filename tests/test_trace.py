"""Stops, records and the numbers that follow from them."""

import math

import pytest
from tiny import TinyModel

from specdec_lab.drafters import DialDrafter, LookupDrafter, ModelDrafter
from specdec_lab.engine.decode import Keep, Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Draft, Emitted, Round, Trace, to_json
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab, collect

SAMPLED = Sampler(1.0)


def trace_of(**more) -> Trace:
    target = more.pop("target", TinyModel(4, seed=8, spread=0.5))
    drafter = more.pop("drafter", ModelDrafter(TinyModel(4, seed=9, spread=0.5)))
    settings = {"gamma": 3, "sampler": SAMPLED, "stops": Stops(24)} | more
    return Trace([0, 1]).collect(speculative(target, drafter, [0, 1], **settings))


def rounds_of_accepted(lengths, gamma):
    """Hand-made rounds that accepted so many drafts each."""
    position = 1
    for n in lengths:
        marks = ["accepted"] * n + ["rejected"] + ["discarded"] * gamma
        drafts = tuple(
            Draft(0, 1, 1, 1, 1, float(i < n), None, mark, parent=i - 1) for i, mark in enumerate(marks[:gamma])
        )
        yield Round(position, drafts, Emitted(0, "bonus" if n == gamma else "corrected", 1, 1))
        position += n + 1


def test_the_checkpoint_numbers():
    """Accepted lengths 0…4 in 2, 1, 1, 0, 6 rounds, γ = 4: 27 of 31 tested, 3.7 tokens a pass."""
    trace = Trace([0]).collect(rounds_of_accepted([0, 0, 1, 2, *[4] * 6], gamma=4))
    trace.check()
    assert trace.histogram == [2, 1, 1, 0, 6]
    assert trace.alpha == pytest.approx(27 / 31)
    assert trace.tokens_per_pass == pytest.approx(3.7)
    assert trace.alpha_by_position == pytest.approx([8 / 10, 7 / 8, 6 / 7, 6 / 6])


def test_an_always_wrong_draft_still_emits_one_token_a_round():
    trace = trace_of(drafter=DialDrafter(0.0), sampler=Sampler(0))
    assert trace.alpha == 0
    assert trace.tokens_per_pass == 1


@pytest.mark.parametrize("seed", range(12))
def test_a_greedy_round_is_the_same_decided_over_its_own_tokens_and_over_all(seed):
    """`Keep(rows=True)` has whole rows decide."""
    few, whole = (
        trace_of(
            target=TinyModel(9, seed, spread=0.3),
            drafter=ModelDrafter(TinyModel(9, seed + seed % 3, spread=0.3)),  # every third drafts as the target
            sampler=Sampler(0),
            gamma=1 + seed % 4,
            keep=keep,
        )
        for keep in (Keep(), Keep(rows=True))
    )
    assert [(r.drafted, r.emitted) for r in few.rounds] == [(r.drafted, r.emitted) for r in whole.rounds]


def test_a_drafter_that_draws_though_the_target_is_greedy_is_recorded_with_its_own_q():
    class Draws(ModelDrafter):
        def drafting(self, text, gamma, sampler, uniforms):
            return super().drafting(text, gamma, SAMPLED, uniforms)

    draft = TinyModel(4, seed=9, spread=0.5)
    trace = trace_of(drafter=Draws(draft), sampler=Sampler(0))
    first = trace.rounds[0].drafted[0]
    assert first.q == pytest.approx(float(draft.probabilities([0, 1])[first.id]))
    assert trace.tokens == trace_of(sampler=Sampler(0)).tokens


def test_what_the_models_gave_before_the_sampler_is_there_when_asked_for():
    for sampler in (Sampler(0), Sampler(0.7, top_k=2)):
        asked, not_asked = (trace_of(sampler=sampler, keep=Keep(top=top)) for top in (2, 0))
        raw = Sampler(1.0)(TinyModel(4, seed=8, spread=0.5).logits([0, 1]))
        first = asked.rounds[0].drafted[0]
        assert first.p_raw == pytest.approx(float(raw[first.id]), abs=1e-6)
        assert not_asked.rounds[0].drafted[0].p_raw is not_asked.rounds[0].drafted[0].q_raw is None
        assert asked.tokens == not_asked.tokens


def test_identities_hold_on_every_kind_of_ending():
    endings = set()
    for request in range(60):
        trace = trace_of(uniforms=Uniforms(2, request), stops=Stops(9 + request % 7, frozenset({3})))
        trace.check()
        endings.add((trace.stop, trace.rounds[-1].cut))
    assert endings == {("eos", True), ("eos", False), ("limit", True), ("limit", False)}


def test_an_identity_that_fails_is_noticed():
    trace = Trace([0]).collect(rounds_of_accepted([1, 2], gamma=3))
    trace.rounds[0] = Round(1, trace.rounds[0].drafted, None)  # a cut in the middle
    with pytest.raises(AssertionError):
        trace.check()


@pytest.mark.parametrize("limit", range(1, 12))
def test_the_limit_is_met_exactly_also_inside_a_draft(limit):
    trace = trace_of(drafter=ModelDrafter(TinyModel(4, seed=8, spread=0.5)), stops=Stops(limit))  # always accepted
    assert len(trace.tokens) == limit
    assert trace.stop == "limit"
    assert trace.rounds[-1].cut == (limit % 4 != 0)
    if limit % 4 in (1, 2):  # at 3 all drafts stand and only the bonus is cut
        assert trace.rounds[-1].drafted[-1].status == "discarded"


@pytest.mark.parametrize("context", range(4, 14))
def test_the_context_is_filled_and_never_exceeded(context):
    for run in (speculative, plain):
        target = TinyModel(4, seed=8, context=context)
        more = {"drafter": ModelDrafter(target), "gamma": 5} if run is speculative else {}
        trace = Trace([0, 1]).collect(run(target, prompt=[0, 1], stops=Stops(100), **more))
        assert (trace.stop, len(trace.tokens)) == ("context", context - 2)


def test_a_draft_with_a_shorter_context_stops_drafting():
    trace = trace_of(drafter=ModelDrafter(TinyModel(4, seed=9, context=10)), stops=Stops(30))
    assert [len(r.drafted) for r in trace.rounds if r.start >= 10] == [0] * sum(r.start >= 10 for r in trace.rounds)
    assert all(r.emitted.kind == "plain" for r in trace.rounds if r.start >= 10 and r.emitted)
    trace.check()


def test_stop_strings_cut_where_they_complete():
    stops = Stops(50, string=lambda new: list(new[-2:]) == [2, 2])
    for request in range(20):
        trace = trace_of(stops=stops, uniforms=Uniforms(5, request))
        if trace.stop == "stop_string":
            assert trace.tokens[-2:] == [2, 2]
            assert not any(trace.tokens[i : i + 2] == [2, 2] for i in range(len(trace.tokens) - 2))
        trace.check()


def test_plain_and_speculative_end_alike():
    """Greedy: the target's own choices token for token, and the same reason, for every ending."""
    for seed in range(30):
        target = TinyModel(5, seed, context=20)
        stops = Stops(8 + seed % 9, frozenset({4}), lambda new: list(new[-2:]) == [1, 1])
        a = Trace([0]).collect(plain(target, [0], stops=stops))
        assert a.tokens == [int(target.logits([0, *a.tokens[:i]]).argmax()) for i in range(len(a.tokens))]
        for drafter in (LookupDrafter(), ModelDrafter(TinyModel(5, seed + 50)), DialDrafter(0.7)):
            b = Trace([0]).collect(speculative(target, drafter, [0], gamma=3, stops=stops))
            assert (a.tokens, a.stop) == (b.tokens, b.stop)


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
    ("prompt", "says"), [([], "prompt is empty"), ([0] * 64, "shorten the prompt"), ([9], "outside 0…3")]
)
def test_bad_prompts_and_too_few_drafts_are_one_sentence(prompt, says):
    target = TinyModel(4, seed=8)
    for gamma in (0, -1):
        with pytest.raises(LabError, match="must be at least 1"):
            trace_of(gamma=gamma)
    for run in (lambda: plain(target, prompt), lambda: speculative(target, LookupDrafter(), prompt)):
        with pytest.raises(LabError, match=says):
            next(run())


def test_json_has_the_promised_keys():
    rounds = to_json(trace_of(), lambda ids: f"<{ids}>")
    assert set(rounds[0]) == {"drafted", "emitted"}
    assert set(rounds[0]["drafted"][0]) == {"id", "text", "p", "q", "p_raw", "q_raw", "u", "status"}
    assert set(rounds[0]["emitted"]) == {"id", "text", "kind"}
    assert to_json(trace_of(sampler=Sampler(0)), str)[0]["drafted"][0]["u"] is None


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
