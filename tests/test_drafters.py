"""What each drafter proposes."""

import copy
from itertools import pairwise

import pytest
import torch
from checks import check_begins_anew
from tiny import TinyCached, TinyModel

from specdec_lab.drafters import (
    DialDrafter,
    Drafter,
    HybridDrafter,
    LookupDrafter,
    LookupTreeDrafter,
    ModelDrafter,
    Proposal,
    ReplayDrafter,
    SuffixDrafter,
)
from specdec_lab.drafters.suffix import Memory
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Row
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.theory import expected_tokens

SAMPLED = Sampler(1.0)


def copied(text, gamma=4, longest=3):
    drafter = LookupDrafter(longest)
    drafter.start(None, text, None)
    return drafter.propose(text, gamma, SAMPLED, Uniforms()).tokens


def test_lookup_takes_the_longest_match_and_of_those_the_most_recent():
    assert copied([7, 1, 2, 3, 8, 9, 2, 3, 5, 5, 1, 2, 3]) == [8, 9, 2, 3]  # three tokens beat a later two
    assert copied([1, 2, 8, 4, 4, 1, 2, 9, 5, 5, 1, 2]) == [9, 5, 5, 1]  # the later of two matches
    assert copied([1, 2, 3]) == []
    assert copied([5]) == []
    assert copied([6, 4, 6], gamma=2) == [4, 6]


def test_lookup_continues_a_repetition_past_the_end_of_the_text():
    assert copied([1, 2, 1, 2], gamma=5) == [1, 2, 1, 2, 1]
    assert copied([3, 3], gamma=4) == [3, 3, 3, 3]


def test_lookup_grows_with_the_text():
    """Round after round it proposes what a fresh search over the whole text would."""
    generator = torch.Generator().manual_seed(0)
    text = torch.randint(0, 4, (120,), generator=generator).tolist()
    drafter = LookupDrafter()
    drafter.start(None, text[:10], None)
    for n in range(10, 120, 3):
        assert drafter.propose(text[:n], 4, SAMPLED, Uniforms()).tokens == copied(text[:n])


@pytest.mark.parametrize(("asked", "longest", "shortest"), [((), 3, 1), ((4, 2), 4, 2), ((1, 1), 1, 1)])
def test_lookup_remembers_each_run_of_the_lengths_asked_for_once_and_no_other(asked, longest, shortest):
    """The index that grew round by round is the one that a look at the whole text gives."""
    text = torch.randint(0, 3, (40,), generator=torch.Generator().manual_seed(0)).tolist()
    drafter = LookupDrafter(*asked)
    drafter.start(None, text[:1], None)
    for n in range(1, 41):
        found = drafter.all(text[:n])
        runs = {}
        for end in range(1, n):
            for begin in range(max(0, end - longest), end - shortest + 1):
                runs.setdefault(tuple(text[begin:end]), []).append(end)
        assert drafter.follows == runs
        known = [tuple(text[begin:n]) for begin in range(n) if tuple(text[begin:n]) in runs]
        assert found == (runs[known[0]] if known else [])


class Guesses(Drafter):
    """Drafts 9, 9, …, and notes what it was told."""

    name = "guesses"

    def start(self, target, prompt, hidden):
        self.seen = [list(prompt)]

    def drafting(self, text, gamma, sampler, uniforms):
        return Proposal([9] * gamma)

    def observe(self, text, hidden):
        self.seen.append(list(text))


@pytest.mark.parametrize(
    "make",
    [
        LookupDrafter,
        LookupTreeDrafter,
        lambda: DialDrafter(0.7),
        lambda: ModelDrafter(TinyModel(3, seed=2)),
        lambda: HybridDrafter(ModelDrafter(TinyModel(3, seed=2))),
    ],
    ids=["lookup", "lookup-tree", "dial", "model", "hybrid"],
)
def test_a_drafter_begins_each_text_anew(make):
    check_begins_anew(TinyModel(3, seed=1), make(), make)


def test_suffix_decoding_learns_each_text_from_its_beginning():
    """What it has learned of others stays, but where it stands in a text is that text's."""
    for seed in range(4):
        drafter = SuffixDrafter()
        check_begins_anew(TinyModel(3, seed), drafter, lambda d=drafter: SuffixDrafter(copy.deepcopy(d.memory)))


def test_the_hybrid_copies_where_two_tokens_match_and_asks_the_other_elsewhere():
    drafter = HybridDrafter(Guesses())
    text = [1, 2, 3, 4, 1, 2]

    def drafts(text, gamma):
        return drafter.propose(text, gamma, SAMPLED, Uniforms()).tokens

    drafter.start(None, text, None)
    assert drafts(text, 4) == [3, 4, 1, 2]
    assert drafts([*text, 5], 4) == [9, 9]  # what costs time is short
    assert drafts([*text, 5, 3], 1) == [9]  # 3 stood there before, but alone
    drafter.observe([*text, 5, 3], None)
    twin = copy.copy(drafter)
    twin.start(None, [7, 8, 6], None)
    assert twin.propose([7, 8, 6, 1, 2, 9, 9, 9, 9, 9, 9, 1, 2], 2, SAMPLED, Uniforms()).tokens == [9, 9]
    assert drafter.other.seen == [text, [*text, 5, 3]]  # another text of a copy is not this one's
    assert drafts([*text, 5, 3, 1, 2], 2) == [5, 3]
    assert not drafter.oracle and HybridDrafter(DialDrafter(0.5)).oracle  # its time is not counted either


def test_the_parts_of_a_hybrid_have_names_and_costs_of_their_own():
    """The other one's end where its drafts do."""
    for most in (1, 3):
        drafter = HybridDrafter(Guesses(), most)
        costs = drafter.round_costs(lambda part: [len(part.name), 1.0, 2.0, 3.0, 4.0])
        assert costs == {"lookup": [6, 1.0, 2.0, 3.0, 4.0], "guesses": [7, 1.0, 2.0, 3.0][: most + 1]}
        drafter.start(None, [1, 2, 3, 1, 2], None)
        assert drafter.part([1, 2, 3, 1, 2]) == "lookup"
        assert drafter.part([1, 2, 3, 1, 2, 9]) == "guesses"
        assert drafter.propose([1, 2, 3, 1, 2, 9], 8, SAMPLED, Uniforms()).tokens == [9] * most


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_dial_reaches_its_alpha(temperature):
    """Every sampled row is on the mark where it can be; at temperature 0 the mean of hits is."""
    target = TinyModel(30, seed=3, spread=3.0)
    for alpha in (0.3, 0.6, 0.9):
        drafter = DialDrafter(alpha)
        rounds = speculative(
            target, drafter, [0], gamma=1, sampler=Sampler(temperature), stops=Stops(62), uniforms=Uniforms(1)
        )
        trace = Trace([0]).collect(rounds)
        if temperature:
            for d, floor in zip((r.drafted[0] for r in trace.rounds if r.drafted), drafter.lowest_by_row):
                assert d.overlap == pytest.approx(max(alpha, floor), abs=1e-9)
        else:
            assert trace.alpha == pytest.approx(alpha, abs=0.25)  # some 40 coin flips
        assert drafter.oracle_passes == sum(len(r.drafted) for r in trace.rounds)
        assert sum(r.seconds.draft for r in trace.rounds) == 0


def test_the_dial_says_how_low_it_can_go():
    flat = TinyModel(9, seed=3, spread=0.01)  # nine tokens, nearly equal: runners-up hold 8/9 of the mass
    drafter = DialDrafter(0.1)
    trace = Trace([0]).collect(speculative(flat, drafter, [0], sampler=SAMPLED, stops=Stops(20)))
    assert drafter.lowest > 0.85
    assert trace.alpha == pytest.approx(drafter.lowest, abs=0.02)


def test_a_draft_of_another_width_is_fitted():
    """Families pad one vocabulary to different sizes; tokens only one of them has are never drafted."""
    target = TinyModel(6, seed=1)
    for width in (4, 9):
        trace = Trace([0]).collect(
            speculative(target, ModelDrafter(TinyModel(width, seed=2)), [0], sampler=SAMPLED, stops=Stops(30))
        )
        assert all(d.id < min(6, width) for r in trace.rounds for d in r.drafted)
        trace.check()


def test_a_draft_that_sees_less_than_the_target_drafts_as_far_as_it_sees():
    """And nothing where the text is longer already, also from the start."""
    target, draft = TinyModel(4, seed=1), TinyModel(4, seed=2, context=8)
    for n, lengths in ((5, [0, 1, 2, 3, 3]), (6, [0, 1, 2, 2, 2]), (7, [0, 1, 1]), (8, [0, 0]), (12, [0, 0, 0])):
        for gamma, length in enumerate(lengths):
            drafter, text = ModelDrafter(draft), [i % 3 for i in range(n)]
            drafter.start(Row(target.cached()), text, None)
            proposal = drafter.propose(text, gamma, SAMPLED, Uniforms())
            assert len(proposal.tokens) == length
            for i in range(length):
                expected = draft.probabilities(text, proposal.tokens[:i])
                assert torch.equal(proposal.q[i], expected)


def test_a_drafter_catches_up_on_rounds_it_did_not_draft():
    draft = TinyModel(4, seed=2)
    drafter = ModelDrafter(draft)
    target = TinyModel(4, seed=1).cached()
    drafter.start(target, [0, 1], None)
    drafter.propose([0, 1], 3, SAMPLED, Uniforms())
    drafter.observe([0, 1, 2], torch.zeros(1, 4))
    text = [0, 1, 2, 3, 3, 2, 1]  # four plain rounds later
    proposal = drafter.propose(text, 2, SAMPLED, Uniforms())
    assert torch.equal(proposal.q[0], draft.probabilities(text))


def test_a_target_may_say_an_id_that_the_draft_has_no_row_for():
    """Padding of a wider head: no text, but possible. The draft reads it as its own last id."""
    drafter = ModelDrafter(TinyModel(4, seed=2))
    drafter.start(TinyModel(6, seed=1).cached(), [0, 5, 1], None)
    proposal = drafter.propose([0, 5, 1], 1, SAMPLED, Uniforms())
    assert torch.equal(proposal.q[0, :4], TinyModel(4, seed=2).probabilities([0, 3, 1]))
    assert proposal.q[0, 4:].sum() == 0


def test_the_dial_spares_the_targets_choice_also_when_logits_tie():
    """Half precision gives several tokens the largest logit; the noise must not fall on the chosen one."""
    logits = torch.zeros(20)
    logits[[3, 7, 11]] = 5.0
    p = Sampler(0)(logits)
    assert float(torch.minimum(p, DialDrafter(0.0).mixed(logits, Sampler(0))).sum()) == 0


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize("vocab", [2, 5, 9, 30])
def test_the_dial_mixes_p_with_its_second_to_ninth_choice(vocab, temperature):
    """As far as alpha asks for, or all the way; and the target's logits stay what they are."""
    target, sampler = TinyModel(vocab, seed=4), Sampler(temperature)
    for alpha in (0.0, 0.4, 0.95, 1.0):
        drafter, floors = DialDrafter(alpha), []
        assert drafter.lowest is None
        for n in range(3):
            logits = target.logits([n])
            before, p = logits.clone(), sampler(logits)
            order = sorted(range(vocab), key=lambda token: -float(logits[token]))
            noise = torch.zeros_like(p)
            for token in order[1:9]:
                noise[token] = 1 / min(8, vocab - 1)
            floors.append(float(torch.minimum(p, noise).sum()))
            weight = min(1.0, (1 - alpha) / (1 - floors[-1]))
            q = drafter.mixed(logits, sampler)
            assert torch.allclose(q, (1 - weight) * p + weight * noise, atol=1e-12)
            assert float(torch.minimum(p, q).sum()) == pytest.approx(max(alpha, floors[-1]), abs=1e-12)
            assert torch.equal(logits, before)
        assert drafter.lowest == pytest.approx(sum(floors) / 3) and drafter.oracle_passes == 3


class Watches(LookupDrafter):
    """Notes what the loop tells a drafter."""

    def start(self, target, prompt, hidden):
        super().start(target, prompt, hidden)
        self.told = [(list(prompt[:-1]), hidden)]

    def observe(self, text, hidden):
        self.told.append((list(text), hidden))


def test_a_drafter_is_told_every_hidden_row_once_and_the_text_that_stands():
    """TinyModel's hidden rows are its logits, so each can be checked against the text it was computed for."""
    target, drafter = TinyModel(3, seed=6, spread=0.3), Watches()
    prompt = [0, 1, 2, 0, 1]
    trace = Trace(prompt).collect(speculative(target, drafter, prompt, sampler=SAMPLED, stops=Stops(40)))
    assert drafter.told[-1][0] == prompt + trace.tokens
    rows = torch.cat([hidden for _, hidden in drafter.told])
    text = prompt + trace.tokens
    assert len(rows) == len(text) - 1
    for i, row in enumerate(rows):
        assert torch.equal(row, target.logits(text[: i + 1]))


def test_a_round_is_one_target_pass_and_nothing_else(monkeypatch):
    """The count that every ratio of the course rests on, taken from outside the trace."""
    target, draft, passes = TinyModel(4, seed=1), TinyModel(4, seed=2), []
    extend = TinyCached.extend

    def counted(self, new, **more):
        passes.append((self.model.name, more.get("logits", True)))
        return extend(self, new, **more)

    monkeypatch.setattr(TinyCached, "extend", counted)
    trace = Trace([0]).collect(
        speculative(target, ModelDrafter(draft), [0, 1, 2], sampler=SAMPLED, stops=Stops(30), gamma=3)
    )
    assert passes.count((target.name, True)) == trace.target_passes
    assert passes.count((target.name, False)) == 1  # the prefill


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.75, 1.0])
def test_a_replay_is_right_as_often_as_asked_for(alpha):
    """And independently, so the formula holds."""
    target, traces = TinyModel(5, seed=0, context=4000), []
    known = Trace([0]).collect(plain(target, [0], stops=Stops(1500))).tokens
    for request in range(2):
        drafter = ReplayDrafter(known, alpha)
        rounds = speculative(target, drafter, [0], gamma=3, stops=Stops(1500), uniforms=Uniforms(0, request))
        traces.append(Trace([0]).collect(rounds))
        traces[-1].check()
        assert traces[-1].tokens == known
    rounds = [r for t in traces for r in t.rounds if len(r.drafted) == 3 and not r.cut]
    together = Trace([0], rounds)
    assert together.alpha == pytest.approx(alpha, abs=0.04)
    assert together.tokens_per_pass == pytest.approx(expected_tokens(alpha, 3), rel=0.05)


def test_a_replay_of_alpha_0_is_never_right_and_of_alpha_1_always():
    """Also where there are two tokens, and for the ends of what a random number can be."""
    target, known = TinyModel(2, seed=0).cached(), [0, 1, 1, 0]
    for u in (0.0, 1 - 2**-53):
        for alpha, expected in ((0.0, [1, 0, 0, 1]), (1.0, known)):
            drafter = ReplayDrafter(known, alpha)
            drafter.start(Row(target), [1], None)
            assert drafter.propose([1], 9, Sampler(0.0), lambda position, purpose, u=u: u).tokens == expected
            assert drafter.propose([1, 0], 2, Sampler(0.0), lambda position, purpose, u=u: u).tokens == expected[1:3]


def test_what_dial_and_replay_cannot_do_is_refused():
    for make in (
        lambda: DialDrafter(1.5),
        lambda: DialDrafter(-0.1),
        lambda: ReplayDrafter([1], 1.2),
        lambda: ReplayDrafter([1], -0.1),
    ):
        with pytest.raises(LabError, match="between 0 and 1"):
            make()
    with pytest.raises(LabError, match="temperature 0"):
        list(speculative(TinyModel(4, 0), ReplayDrafter([1], 0.5), [0], sampler=Sampler(1.0)))


def drafted(text, gamma=8, memory=None, **settings):
    drafter = SuffixDrafter(memory, **settings)
    drafter.start(None, text, None)
    return drafter.propose(text, gamma, SAMPLED, Uniforms()).tokens


def test_suffix_decoding_takes_what_followed_most_often_and_of_equals_the_latest():
    assert drafted([1, 2, 1, 3, 1, 2, 9, 1], gamma=1) == [2]  # twice, where lookup would take the latest, 9's neighbour
    assert drafted([1, 2, 9, 1, 3, 9, 1], gamma=1) == [3]
    assert drafted([7, 1, 2, 8, 1, 3, 8, 1, 3, 7, 1], gamma=1) == [
        2
    ]  # the longer run decides, not the more frequent token
    assert drafted([1, 2, 3]) == drafted([5]) == []


def test_suffix_decoding_stops_where_it_is_unsure_and_after_a_short_match():
    text = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]
    assert drafted(text, each=4) == [2, 3, 4, 5]
    assert drafted([*text, 2], each=4) == [3, 4, 5, 6, 7, 8, 9, 1]
    assert drafted(text, gamma=3) == [2, 3, 4]
    unsure = [1, 2, 5, 1, 3, 5, 1, 4, 5, 1]  # behind 1 came 2, 3 and 4
    assert drafted(unsure, memory=Memory(longest=1), stop_below=0.4) == []
    assert drafted(unsure, memory=Memory(longest=1), stop_below=0.3, gamma=1) == [4]


def test_suffix_decoding_remembers_earlier_texts_and_only_what_it_is_given():
    memory = Memory()
    assert drafted([1, 2, 3, 4, 5], memory=memory) == []
    assert drafted([8, 1, 2], memory=memory) == [3, 4, 5]
    assert drafted([8, 1, 2]) == []


def test_suffix_decoding_learns_each_token_once():
    generator = torch.Generator().manual_seed(0)
    text = torch.randint(0, 4, (60,), generator=generator).tolist()
    drafter = SuffixDrafter()
    drafter.start(None, text[:10], None)
    for n in range(10, 60, 3):
        assert drafter.propose(text[:n], 4, SAMPLED, Uniforms()).tokens == drafted(text[:n], gamma=4)
    assert drafter.memory.follows[(text[0],)] == followers(text[:58])[text[0]]


def followers(text):
    """What followed each token, counted from the beginning."""
    counts = {}
    for a, b in pairwise(text):
        after = counts.setdefault(a, {})
        after[b] = after.get(b, 0) + 1
    return counts
