"""The nets of the trained drafters: what they begin as, what they learn on, and which passes drafting asks for."""

import inspect

import pytest
import torch
from checks import SAMPLED
from test_trained_drafters import KINDS, make, spread
from test_tree_drafters import TREES, make_tree
from torch.nn.functional import silu

from specdec_lab.drafters import eagle, medusa
from specdec_lab.drafters import model as model_drafter
from specdec_lab.drafters.early_exit import EarlyExitNet, exit_of
from specdec_lab.drafters.student import EMBEDDING_SCALE
from specdec_lab.engine.sampling import GREEDY, Uniforms
from specdec_lab.engine.together import Pass, Row, together
from specdec_lab.models.export import whole_llama

IDS = [0, 1, 2, 4]
NETS = ["model", "medusa", "eagle", "early-exit"]
TEXTS = torch.tensor([[0, 3, 1, 4, 2, 2, 1, 0, 3], [4, 4, 0, 2, 1, 3, 3, 1, 2]])


def fresh(name):
    """A target and a net as training begins with it, and the target's transformer."""
    target = make(name, 5, IDS)[0]
    net = KINDS[name][0](target.hf, torch.tensor(IDS))
    return target, net, target.hf.base_model


def same_weights(one, two) -> bool:
    one, two = one.state_dict(), two.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[key], two[key]) for key in one)


def embedded(target, tokens):
    return EMBEDDING_SCALE * target.hf.get_input_embeddings().weight[tokens]


# What they begin as.


@pytest.mark.parametrize("name", NETS)
def test_only_what_is_trained_is_saved_and_it_says_what_it_reads(name):
    """Not the target's embeddings, nor its head; and whoever trains it knows whether it needs rows of the exit layer."""
    target, net, _ = fresh(name)
    assert net.state_dict().keys() == dict(net.named_parameters()).keys()
    assert all(p.requires_grad for p in net.parameters())
    assert bool(net.depths) == ("exits" in inspect.signature(net.predict).parameters)
    rows = torch.randn(3, 32, dtype=torch.float64)
    assert torch.allclose(net.head(rows), target.hf.lm_head(rows)[:, IDS])
    assert net.head.ids.tolist() == IDS


@torch.no_grad()
def test_the_bodies_begin_as_layers_of_the_target():
    """The draft model as its first two, EAGLE as its last one, whose rows it is to guess."""
    for name, numbers in (("model", [0, 1]), ("eagle", [2])):
        _, net, body = fresh(name)
        own = net.llama.model.layers
        assert len(own) == len(numbers)
        assert all(same_weights(mine, body.layers[number]) for mine, number in zip(own, numbers))
        assert same_weights(net.llama.model.norm, body.norm)


@torch.no_grad()
def test_eagle_begins_with_a_sum_to_which_row_and_token_give_as_much():
    target, net, _ = fresh("eagle")
    rows, tokens = torch.randn(2, 9, 32, dtype=torch.float64), TEXTS
    share = net.inputs(rows, tokens) / (rows + embedded(target, tokens))
    assert share.min() > 0 and torch.allclose(share, share[0, 0, 0])


@torch.no_grad()
def test_medusa_begins_with_the_row_itself():
    _, net, _ = fresh("medusa")
    rows = torch.randn(2, 9, 32, dtype=torch.float64)
    assert torch.equal(net.ahead(rows[0], TEXTS[0], 3), torch.stack([rows[0]] * 3, 1))


@torch.no_grad()
def test_the_early_exit_begins_as_the_end_of_the_targets_last_layer():
    _, net, body = fresh("early-exit")
    last, residual = body.layers[-1], torch.randn(2, 9, 32, dtype=torch.float64)
    expected = body.norm(residual + last.mlp(last.post_attention_layernorm(residual)))
    assert torch.allclose(net.guess(residual), expected, rtol=1e-6, atol=1e-6)  # theirs works in float32
    for p in net.parameters():
        p.add_(1)
    assert not torch.equal(net.guess(residual), expected), "its own copies, not the target's weights"
    assert torch.equal(body.norm(residual + last.mlp(last.post_attention_layernorm(residual))), expected)


def test_the_exit_is_behind_a_fifth_of_the_layers_and_never_before_the_first():
    assert [exit_of(n) for n in (1, 4, 5, 9, 10, 30, 32)] == [1, 1, 1, 1, 2, 6, 6]
    hf = fresh("model")[0].hf
    assert EarlyExitNet(hf, torch.tensor(IDS)).layers == 1 and EarlyExitNet(hf, torch.tensor(IDS), 2).layers == 2


# What they learn on.


@torch.no_grad()
def test_a_head_of_medusa_is_two_layers_that_read_row_and_token():
    target, net, _, _ = make("medusa", 5, IDS)
    rows = torch.randn(9, 32, dtype=torch.float64)
    for k, (first, _, second) in enumerate(net.heads):
        x = torch.cat([rows, embedded(target, TEXTS[0])], 1)
        expected = rows + silu(x @ first.weight.T + first.bias) @ second.weight.T + second.bias
        assert torch.allclose(net.guess(k, rows, TEXTS[0]), expected)
    assert first.weight.shape == (64, 64)


@pytest.mark.parametrize("name", NETS)
@torch.no_grad()
def test_they_learn_on_what_they_will_see(name):
    """Each guess in training, of two texts at once, is the one that drafting makes there, of the row that it is compared with."""
    target, net, _, q_of = make(name, 5, IDS)
    rows = torch.stack([target.rows(text.tolist()) for text in TEXTS])
    exits = [target.cached().extend([text.tolist()], layers=(0, 2)).hidden[0] for text in TEXTS]
    given = TEXTS, rows, *([torch.stack(exits)] if net.depths else ())
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


@torch.no_grad()
def test_as_a_plain_llama_the_draft_model_says_the_same_and_leaves_nothing_to_other_tokens():
    """Exactly where the texts are shorter than a row is wide: then one weight row gives them all the same low logit."""
    target, net, _, _ = make("model", 5, IDS)
    whole = whole_llama(net, target.hf, TEXTS.tolist())
    logits, rows = whole(TEXTS).logits, net.llama.model(TEXTS).last_hidden_state
    assert torch.allclose(logits[..., IDS], net.head(rows), atol=1e-9)
    outside = logits[..., 3]
    assert torch.allclose(outside, outside[0, 0], atol=1e-6) and outside.max() < logits[..., IDS].min() - 5
    assert not whole.training and len(whole.model.layers) == 2


# What drafting asks for.


def begun(name, prompt):
    """A drafter that has been told of a prompt, which the target holds but for the last token."""
    target, net, drafter, q_of = (make_tree if name in TREES else make)(name, 5, IDS)
    row = Row(target.cached())
    hidden, drafter = row.cached.prefill(prompt[:-1]), drafter()
    drafter.start(row, prompt, hidden)
    return target, net, drafter, q_of, row


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

    return together([noted()])[0], widths


def check_q(proposal, target, net, q_of, text):
    """What each draft was drawn from is what the net gives behind its own way, without any cache, less its older siblings."""
    shape = proposal.shape
    for i, parent in enumerate(shape.parents):
        q = q_of(target, net, text, [proposal.tokens[j] for j in shape.path(parent)]).clone()
        q[[proposal.tokens[j] for j in shape.children[parent] if j < i]] = 0
        assert torch.allclose(proposal.q[i], q / q.sum(), atol=1e-9), i


TEXT = [0, 3, 1, 4, 2, 2, 1]


@pytest.mark.parametrize("sampler", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", [*NETS, *TREES])
def test_as_many_drafts_as_asked_for(name, sampler):
    """Whatever was asked before; and for none nothing is computed. Medusa has four heads, a chain of which is four long."""
    target, net, drafter, q_of, row = begun(name, TEXT)
    for gamma in (0, 1, 2, 3, 7):
        before = row.length
        proposal, widths = drafted(drafter, TEXT, 0, sampler)
        assert (proposal.tokens, widths, row.length) == ([], [], before)
        proposal, widths = drafted(drafter, TEXT, gamma, sampler)
        assert len(proposal.tokens) == min(gamma, 4 if name == "medusa" else 7)
        assert bool(widths) == (gamma > 0 and "medusa" not in name)
        if gamma and not sampler.greedy:
            check_q(proposal, target, net, q_of, TEXT)
        drafter.start(row, TEXT, target.rows(TEXT)[:-1])  # as if anew
        row.rewind(len(TEXT) - 1)


def test_the_early_exit_hands_over_what_it_has_done_of_the_verify_pass():
    """The first layers' rows of the newest token and of all drafts, and the target's cache holds them."""
    target, net, drafter, _, row = begun("early-exit", TEXT)
    for gamma in (1, 3):
        proposal = drafted(drafter, TEXT, gamma)[0]
        layers, rows = proposal.started
        whole = target.cached().extend([[*TEXT, *proposal.tokens]], layers=(0, net.layers)).hidden[0]
        assert layers == net.layers == 2 and torch.allclose(rows, whole[len(TEXT) - 1 :], atol=1e-9)
        assert rows.shape[0] == gamma + 1 and row.length == len(TEXT) + gamma
        row.rewind(len(TEXT) - 1)


@pytest.mark.parametrize("name", NETS)
def test_without_a_limit_drafts_are_not_read_one_by_one(name, monkeypatch):
    """A GPU would have to finish each time. They are read as a whole, at the end."""

    def read(tensor):
        raise AssertionError("a number is read")

    _, _, drafter, _, _ = begun(name, TEXT)
    monkeypatch.setattr(torch.Tensor, "__float__", read)
    monkeypatch.setattr(torch.Tensor, "__int__", read)
    assert len(drafted(drafter, TEXT, 3)[0].tokens) == 3


@pytest.mark.parametrize("name", TREES)
def test_where_the_text_is_drawn_the_drafts_of_a_tree_are_too(name):
    drafter = begun(name, TEXT)[2]
    assert drafted(drafter, TEXT, 3, SAMPLED)[0].q is not None
    drafter = begun(name, TEXT)[2]
    assert drafted(drafter, TEXT, 3, GREEDY)[0].q is None


@pytest.mark.parametrize("name", TREES)
def test_each_place_of_a_wide_tree_goes_on_from_its_own_way(name, monkeypatch):
    """Two drafts everywhere, three deep: what a place sees are not its cousins."""
    for module in (eagle, medusa):
        monkeypatch.setattr(module, "RATES", [[0.5, 0.4]] * 3)
    target, net, drafter, q_of, _ = begun(name, TEXT)
    proposal, _ = drafted(drafter, TEXT, 14)
    assert sorted(proposal.shape.depths) == [0] * 2 + [1] * 4 + [2] * 8
    check_q(proposal, target, net, q_of, TEXT)


def test_a_tree_of_medusas_is_as_deep_as_there_are_heads_and_no_deeper():
    """Also where the heads are so sure of their favourites that a fifth would be worth asking."""
    _, net, drafter, _, _ = begun("medusa-tree", TEXT)
    net.head.whole = 50 * net.head.whole
    proposal, _ = drafted(drafter, TEXT, 7, GREEDY)
    assert len(proposal.tokens) == 7 and max(proposal.shape.depths) == 3


@pytest.mark.parametrize("name", ["medusa", "medusa-tree"])
def test_medusa_goes_on_from_the_newest_row_whatever_a_round_has_brought(name):
    target, net, drafter, q_of, _ = begun(name, TEXT)
    text = list(TEXT)
    for new in ([3], [0, 4, 2], [1, 1, 3, 0]):
        text += new
        drafter.observe(text, target.rows(text)[-len(new) - 1 : -1])
        check_q(drafted(drafter, text, 3)[0], target, net, q_of, text)


@pytest.mark.parametrize("module", [eagle, medusa], ids=["eagle-tree", "medusa-tree"])
def test_the_rates_are_chances_of_drafts_of_which_one_at_most_is_accepted(module):
    """And siblings come in the order of their rates, which `shape_of` relies on."""
    for rates in module.RATES:
        assert min(rates) > 0 and sum(rates) < 1
        assert list(rates) == sorted(rates, reverse=True)


def goes_on(drafter, target, text, rounds):
    """So many rounds of one token each, none of which this drafter drafted."""
    for i in range(rounds):
        text.append((i + len(text) // 2) % 5)
        drafter.observe(text, target.rows(text)[-2:-1])


@pytest.mark.parametrize("chunk", [2, 3, 512])
@pytest.mark.parametrize("name", ["eagle", "eagle-tree"])
def test_eagle_reads_the_prompt_before_and_later_what_it_has_missed(name, chunk, monkeypatch):
    """In bounded passes, each row once; and its cache holds true rows alone when a draft is complete."""
    monkeypatch.setattr(eagle, "PREFILL_CHUNK", chunk)
    target, net, drafter, q_of, _ = begun(name, TEXT)
    assert drafter.row.length == len(TEXT) - 2, "of the prompt only the newest row is left for the first draft"
    text, missed = list(TEXT), 1
    for later in (2, 5, 1, 8, 0):
        assert drafted(drafter, text, 0)[1] == []
        proposal, widths = drafted(drafter, text, 3)
        fed = [min(chunk, missed - i) for i in range(0, missed, chunk)]
        assert widths[: len(fed)] == fed
        assert widths[len(fed) :] == [1, 1] or (name == "eagle-tree" and sum(widths[len(fed) :]) <= 2)
        assert drafter.row.length == len(text) - 1
        check_q(proposal, target, net, q_of, text)
        goes_on(drafter, target, text, later)
        missed = later


@pytest.mark.parametrize("chunk", [2, 3, 512])
def test_the_draft_model_reads_what_it_has_missed_in_bounded_passes(chunk, monkeypatch):
    """The last two tokens come with the first draft: after a fully accepted round there are no more."""
    monkeypatch.setattr(model_drafter, "PREFILL_CHUNK", chunk)
    target, net, drafter, q_of, _ = begun("model", TEXT)
    assert drafter.row.length == len(TEXT) - 1
    text, missed = list(TEXT), 1
    for later in (2, 1, 5, 9, 0):
        assert drafted(drafter, text, 0)[1] == []
        proposal, widths = drafted(drafter, text, 3)
        assert widths == [*(min(chunk, missed - 2 - i) for i in range(0, missed - 2, chunk)), min(missed, 2), 1, 1]
        check_q(proposal, target, net, q_of, text)
        goes_on(drafter, target, text, later)
        missed = later
