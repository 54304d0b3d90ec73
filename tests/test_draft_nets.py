"""The nets of the trained drafters: what they begin as, what they learn on, and which passes drafting asks for."""

from functools import partial

import pytest
import torch
from random_nets import KINDS, TREES, check_q, make, spread
from tiny import SAMPLED

from specdec_lab.drafters import eagle, medusa
from specdec_lab.drafters import model as model_drafter
from specdec_lab.engine.lockstep import Pass, run_in_lockstep
from specdec_lab.engine.sampling import GREEDY, Uniforms
from specdec_lab.models.base import Row

IDS = [0, 1, 2, 4]
NETS = ["model", "medusa", "eagle", "early-exit"]
TEXTS = torch.tensor([[0, 3, 1, 4, 2, 2, 1, 0, 3], [4, 4, 0, 2, 1, 3, 3, 1, 2]])


def fresh(name):
    """A target and a net as training begins with it, and the target's transformer."""
    target = make(name, 5, IDS)[0]
    net = KINDS[name][0](target.hf, torch.tensor(IDS))
    return target, net, target.hf.base_model


# What they begin as.


@pytest.mark.parametrize("name", NETS)
def test_only_what_is_trained_is_saved_and_it_says_what_it_reads(name):
    """Not the target's embeddings, nor its head; and whoever trains it knows at which depths it reads."""
    target, net, _ = fresh(name)
    assert net.state_dict().keys() == dict(net.named_parameters()).keys()
    assert all(p.requires_grad for p in net.parameters())
    assert net.depths == {"eagle": (1, 1), "early-exit": (2,)}.get(name, ())
    rows = torch.randn(3, 32, dtype=torch.float64)
    assert torch.allclose(net.head(rows), target.hf.lm_head(rows)[:, IDS])
    assert net.head.ids.tolist() == IDS


@torch.no_grad()
def test_they_begin_as_parts_of_the_target_and_leave_those_alone():
    """The draft model as its first two layers, EAGLE as its last one, the exit as the end of that, Medusa as the row itself."""
    for name, numbers in (("model", [0, 1]), ("eagle", [2])):
        _, net, body = fresh(name)
        for mine, number in zip(net.llama.model.layers, numbers, strict=True):
            theirs = body.layers[number].state_dict()
            assert all(torch.equal(value, theirs[key]) for key, value in mine.state_dict().items())
    residual = torch.randn(9, 32, dtype=torch.float64)
    assert torch.equal(fresh("medusa")[1].ahead(residual, TEXTS[0], 3), torch.stack([residual] * 3, 1))
    _, net, body = fresh("early-exit")
    last = body.layers[-1]
    expected = body.norm(residual + last.mlp(last.post_attention_layernorm(residual)))
    assert torch.allclose(net.guess(residual), expected, rtol=1e-6, atol=1e-6)  # theirs works in float32
    for p in net.parameters():
        p.add_(1)
    assert not torch.equal(net.guess(residual), expected), "its own copies, not the target's weights"
    assert torch.equal(body.norm(residual + last.mlp(last.post_attention_layernorm(residual))), expected)


# What they learn on.


@pytest.mark.parametrize("name", NETS)
@torch.no_grad()
def test_they_learn_on_what_they_will_see(name):
    """Each guess in training, of two texts at once, is the one that drafting makes there, of the row that it is compared with."""
    target, net, _, q_of = make(name, 5, IDS)
    rows = torch.stack([target.rows(text.tolist()) for text in TEXTS])
    given = TEXTS, torch.stack([target.rows(text.tolist(), net.depths) for text in TEXTS])
    once, net.unroll = net.predict(*given), 3
    steps = net.predict(*given)
    assert len(once) == (4 if name == "medusa" else 1) and torch.equal(once[0][0], steps[0][0])
    assert len(steps) == {"medusa": 4, "eagle": 3}.get(name, 1)
    for k, (guesses, true) in enumerate(steps):
        assert guesses.shape == true.shape
        reads = {"medusa": 1 + k, "eagle": 1}.get(name, 0)  # how many rows later than the first the guessed ones are
        assert torch.equal(true, rows[:, reads:])
        for text, guess in zip(TEXTS.tolist(), guesses):
            for at in range(k if name == "eagle" else 0, guess.shape[0]):  # EAGLE's step k goes on from k drafts
                known = at + reads + 1 - k
                expected = q_of(target, net, text[:known], text[known : known + k])
                assert torch.allclose(spread(net, guess[at], 5), expected, atol=1e-9), (k, at)


# What drafting asks for.


def begun(name, prompt):
    """(target, a drafter that has been told of a prompt, its row, which holds all of that but the last token, its q)"""
    target, net, drafter, q_of = make(name, 5, IDS)
    row = Row(target.cached())
    drafter = drafter()
    hidden = row.cached.prefill(prompt[:-1], drafter.depths)
    drafter.start(row, prompt, hidden)
    return target, drafter, row, partial(q_of, target, net)


def drafted(drafter, text, gamma, sampler=SAMPLED):
    """Its proposal, and how many tokens each pass had that it asked for."""
    widths, drafting = [], drafter.drafting(text, gamma, sampler, Uniforms(4))

    def noted():
        answer = None
        while True:
            try:
                question = drafting.send(answer)
            except StopIteration as end:
                return end.value
            if isinstance(question, Pass):
                widths.append(len(question.new))
            answer = yield question

    return run_in_lockstep([noted()])[0], widths


TEXT = [0, 3, 1, 4, 2, 2, 1]


@pytest.mark.parametrize("sampler", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", [*NETS, *TREES])
def test_as_many_drafts_as_asked_for(name, sampler):
    """Whatever was asked before; and for none nothing is computed. Medusa has four heads, a chain of which is four long."""
    target, drafter, row, q_of = begun(name, TEXT)
    for gamma in (0, 1, 2, 3, 7):
        before = row.length
        proposal, widths = drafted(drafter, TEXT, 0, sampler)
        assert (proposal.tokens, widths, row.length) == ([], [], before)
        proposal, widths = drafted(drafter, TEXT, gamma, sampler)
        assert len(proposal.tokens) == min(gamma, 4 if name == "medusa" else 7)
        assert bool(widths) == (gamma > 0 and "medusa" not in name)
        if gamma and not sampler.greedy:
            check_q(proposal.q, proposal.tokens, proposal.shape, partial(q_of, TEXT))
        drafter.start(row, TEXT, target.rows(TEXT, drafter.depths)[:-1])  # as if anew
        row.rewind(len(TEXT) - 1)


@pytest.mark.parametrize("name", TREES)
def test_each_place_of_a_wide_tree_goes_on_from_its_own_way(name, monkeypatch):
    """Two drafts everywhere, three deep: what a place sees are not its cousins."""
    for module in (eagle, medusa):
        monkeypatch.setattr(module, "RATES", [[0.5, 0.4]] * 3)
    _, drafter, _, q_of = begun(name, TEXT)
    proposal, _ = drafted(drafter, TEXT, 14)
    assert sorted(proposal.shape.depths) == [0] * 2 + [1] * 4 + [2] * 8
    check_q(proposal.q, proposal.tokens, proposal.shape, partial(q_of, TEXT))


def test_a_tree_of_medusas_is_as_deep_as_there_are_heads_and_no_deeper():
    """Also where the heads are so sure of their favourites that a fifth would be worth asking."""
    _, drafter, _, _ = begun("medusa-tree", TEXT)
    drafter.net.head.whole = 50 * drafter.net.head.whole
    proposal, _ = drafted(drafter, TEXT, 7, GREEDY)
    assert len(proposal.tokens) == 7 and max(proposal.shape.depths) == 3


@pytest.mark.parametrize("chunk", [2, 512])
@pytest.mark.parametrize("name", ["model", "eagle", "eagle-tree"])
def test_the_prompt_and_what_was_missed_is_read_in_bounded_passes(name, chunk, monkeypatch):
    """Nothing is read while nothing is to be drafted; after that a cache holds true rows alone."""
    for module in (eagle, model_drafter):
        monkeypatch.setattr(module, "PREFILL_CHUNK", chunk)
    target, drafter, _, q_of = begun(name, TEXT)
    assert drafter.row.length >= len(TEXT) - 2, "the prompt is read before the first draft"
    text = list(TEXT)
    for later in (2, 5, 1, 8, 0):
        assert drafted(drafter, text, 0)[1] == []
        proposal, widths = drafted(drafter, text, 3)
        assert max(widths) <= chunk
        check_q(proposal.q, proposal.tokens, proposal.shape, partial(q_of, text))
        for i in range(later):  # rounds of one token each, none of which this drafter drafted
            text.append((i + len(text) // 2) % 5)
            drafter.observe(text, target.rows(text, drafter.depths)[-2:-1])
