"""The drafters that are trained, on random weights: what they propose with their caches is what they
would propose without, and what comes out is the target's. (Random weights make bad drafts, which is harder.)"""

import math
from dataclasses import replace

import pytest
import torch
from checks import SAMPLED, check_begins_anew, check_enumeration, drawn_from
from remembered import remembered
from small_models import LLAMA
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.drafters import Drafter, HybridDrafter, ModelDrafter, Proposal, trained
from specdec_lab.drafters.eagle import EagleDrafter, EagleNet
from specdec_lab.drafters.early_exit import EarlyExitDrafter, EarlyExitNet
from specdec_lab.drafters.medusa import MedusaDrafter, MedusaNet
from specdec_lab.drafters.model import DraftNet
from specdec_lab.drafters.trained import draft_model
from specdec_lab.engine.decode import Keep, Stops, speculative
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, draw
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.models.cpu import linear
from specdec_lab.models.cpu.linear import EightBits
from specdec_lab.models.reference import ReferenceModel


class RandomTarget(ReferenceModel):
    """A small Llama that also says its probabilities without any cache."""

    def __init__(self, vocab_size: int, dtype: torch.dtype = torch.float64):
        torch.manual_seed(3)
        hf = LlamaForCausalLM(LlamaConfig(**{**LLAMA, "vocab_size": vocab_size})).to(dtype)
        for p in hf.parameters():
            p.data.mul_(4) if p.dim() > 1 else None
        super().__init__(hf.requires_grad_(False), "random")
        self._seen = {}

    def rows(self, text, depths=()) -> torch.Tensor:
        """[len(text), (1 + len(depths)) · H], uncached."""
        key = tuple(text), depths
        if key not in self._seen:
            self._seen[key] = self.cached().extend([list(text)], depths=depths).hidden[0].clone()
        return self._seen[key]

    def probabilities(self, text) -> torch.Tensor:
        return SAMPLED(self.hf.lm_head(self.rows(text)[-1]))


def spread(net, row, width) -> torch.Tensor:
    """q [V] of a guessed row [H]: what the cut head says, zero elsewhere."""
    q = torch.zeros(width, dtype=torch.float64)
    q[net.head.ids] = SAMPLED(net.head(row))
    return q


# For each drafter: the net, and q [V] of the next draft after true text and some drafts, without any cache.


def q_model(target, net, text, drafts):
    logits = draft_model(net).cached().extend([[*text, *drafts]]).hidden[0, -1]
    return spread(net, logits, target.vocab_size)


def q_medusa(target, net, text, drafts):
    guess = net.guess(len(drafts), target.rows(text)[len(text) - 2], torch.tensor(text[-1]))
    return spread(net, guess, target.vocab_size)


def q_early_exit(target, net, text, drafts):
    residual = target.cached().extend([[*text, *drafts]], layers=(0, net.layers)).hidden[0, -1]
    return spread(net, net.guess(residual), target.vocab_size)


def q_eagle(target, net, text, drafts):
    rows, tokens, body = net.joined(target.rows(text, net.depths))[:-1], [*text, *drafts], net.llama.model
    while True:  # the whole layer again for every draft
        x = net.inputs(rows, torch.tensor(tokens[1 : len(rows) + 1]))[None]
        at = torch.arange(x.shape[1])
        y = body.norm(
            body.layers[0](
                x,
                attention_mask=(at[None] <= at[:, None])[None, None],
                position_ids=at[None],
                position_embeddings=body.rotary_emb(x, position_ids=at[None]),
            )
        )
        if len(rows) == len(tokens) - 1:
            return spread(net, y[0, -1], target.vocab_size)
        rows = torch.cat([rows, y[0, -1:]])


def q_hybrid(target, net, text, drafts):
    whole = [*text, *drafts]
    for n in (3, 2):  # the latest place where the text's last tokens stood before
        for end in range(len(text) - 1, n - 1, -1):
            if text[end - n : end] == text[-n:]:
                return torch.eye(target.vocab_size, dtype=torch.float64)[whole[end + len(drafts)]]
    return q_eagle(target, net, text, drafts)


KINDS = {
    "model": (DraftNet, lambda net: ModelDrafter(draft_model(net)), q_model),
    "medusa": (MedusaNet, MedusaDrafter, q_medusa),
    "eagle": (EagleNet, EagleDrafter, q_eagle),
    "early-exit": (lambda target, ids: EarlyExitNet(target, ids, layers=2), EarlyExitDrafter, q_early_exit),
    "hybrid": (EagleNet, lambda net: HybridDrafter(EagleDrafter(net)), q_hybrid),
}


def make(name: str, vocab_size: int, ids: list[int], dtype: torch.dtype = torch.float64):
    make_net, drafter, q_of = KINDS[name]
    target = RandomTarget(vocab_size, dtype)
    torch.manual_seed(5)
    net = make_net(target.hf, torch.tensor(ids))
    net.requires_grad_(False)
    with torch.no_grad():
        for p in net.parameters():  # nothing may hide behind a weight that begins as zero
            p += 0.1 * torch.randn_like(p)
    return target, net, lambda: drafter(net), q_of


def drafts(target, net, q_of, stop_below=0.0, dropped=0):
    """For `check_enumeration`. The engine draws from the cut row, whose cells are the same: zeros have no width."""
    return drawn_from(lambda text, drafted: q_of(target, net, text, drafted), stop_below, dropped)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("vocab_size", "ids", "gamma", "rounds"),
    [(2, [0, 1], 2, 2), (4, [0, 2, 3], 2, 1), (2, [0, 1], 1, 3), (3, [0, 2], 1, 3)],
)
def test_what_they_emit_is_the_targets_distribution(name, vocab_size, ids, gamma, rounds, full):
    """By enumeration, also with a head that cannot say every token. Most paths, by far, are those of the last case.

    In small the target computes the rows behind each text once. What is in its cache after each round is tested below.
    """
    if vocab_size == rounds == 3 and not full:
        rounds = 2
    target, net, drafter, q_of = make(name, vocab_size, ids)
    run_on = target if full else remembered(target)
    check_enumeration(target, drafter, drafts(target, net, q_of), gamma, rounds, run_on=run_on, tolerance=1e-9)


class Forgetful(EagleDrafter):
    """A mistake: takes back the draft that made it unsure. Which drafts are checked then depends on their luck."""

    def drafting(self, text, gamma, sampler, uniforms):
        proposal = yield from super().drafting(text, gamma, sampler, uniforms)
        path = math.prod(float(q[x]) for q, x in zip(proposal.q, proposal.tokens))
        keep = len(proposal.tokens) - (path < self.stop_below)
        return replace(proposal, tokens=proposal.tokens[:keep], q=proposal.q[:keep])


@pytest.mark.parametrize("name", ["model", "eagle", "hybrid"])
def test_a_draft_that_stops_when_it_is_unsure_changes_nothing_of_what_is_emitted(name):
    target, net, drafter, q_of = make(name, 3, [0, 1, 2])

    def stopping():
        made = drafter()
        getattr(made, "other", made).stop_below = 0.3
        return made

    lengths = {len(r.drafted) for r in speculative(target, stopping(), [0, 1], sampler=SAMPLED, stops=Stops(40))}
    assert {1, 2} <= lengths, "some drafts stop at once, some later"
    gamma = 2 if name == "hybrid" else 3  # the most that it asks the other for
    check_enumeration(target, stopping, drafts(target, net, q_of, 0.3), gamma, 1, tolerance=1e-9)


def test_the_enumeration_sees_a_draft_that_takes_back_what_it_is_unsure_of():
    target, net, _, q_of = make("eagle", 3, [0, 1, 2])

    def forgetful():
        made = Forgetful(net)
        made.stop_below = 0.34  # the chances of the first draft are on both sides of it
        return made

    with pytest.raises(AssertionError, match="off by"):
        check_enumeration(target, forgetful, drafts(target, net, q_of, 0.34, dropped=1), 2, 1, tolerance=1e-9)


class Sometimes(Drafter):
    """Another drafter that does not draft in some rounds: speculation is off for a while."""

    def __init__(self, inner: Drafter, pause: int):
        self.inner, self.pause, self.name, self.depths = inner, pause, inner.name, inner.depths

    def start(self, *a):
        self.round = 0
        self.inner.start(*a)

    def drafting(self, text, gamma, sampler, uniforms):
        self.round += 1
        if self.round % (self.pause + 1):
            return Proposal([])
        return self.inner.drafting(text, gamma, sampler, uniforms)

    def observe(self, text, hidden):
        self.inner.observe(text, hidden)


@pytest.mark.parametrize("pause", [0, 1, 3])
@pytest.mark.parametrize("name", KINDS)
def test_their_rows_are_those_of_an_uncached_pass_after_every_kind_of_round(name, pause, full):
    """q and p, row by row; also when rounds without drafts lie between."""
    target, net, drafter, q_of = make(name, 5, [0, 1, 2, 4])
    kinds, drafter = set(), Sometimes(drafter(), pause)  # one for all texts: nothing may stay from the text before
    for request in range((5 if full else 3) * (pause + 1)):
        text = [0, 1, 3, 2][: 2 + request % 3]
        for r in speculative(
            target,
            drafter,
            text,
            gamma=3,
            sampler=SAMPLED,
            stops=Stops(20),
            uniforms=Uniforms(1, request),
            keep=Keep(rows=True),
        ):
            tokens = [d.id for d in r.drafted]
            for i in range(len(tokens)):
                expected = q_of(target, net, text, tokens[:i])
                assert torch.allclose(r.q_rows[i], expected, atol=1e-9), f"draft {i + 1} after {len(text)} tokens"
            for i in range(len(tokens) + 1):
                assert torch.allclose(r.p_rows[i], target.probabilities([*text, *tokens[:i]]), atol=1e-9)
            kinds.add("cut" if r.cut else f"{r.emitted.kind} {r.accepted}")
            text = text + r.tokens
    assert kinds >= {"corrected 0", "corrected 1"}, kinds
    assert ("plain 0" in kinds) == (pause > 0)


@pytest.mark.parametrize("name", KINDS)
def test_they_begin_each_text_anew(name):
    target, _, drafter, _ = make(name, 4, [0, 1, 3])
    check_begins_anew(target, drafter(), drafter)


@pytest.mark.parametrize("name", KINDS)
def test_the_context_is_filled_and_more_drafts_than_heads_can_be_asked_for(name):
    target, _, drafter, _ = make(name, 5, [0, 1, 2, 4])
    trace = Trace([0, 1]).collect(speculative(target, drafter(), [0, 1], gamma=7, sampler=SAMPLED, stops=Stops(1000)))
    trace.check()
    assert (trace.stop, len(trace.tokens)) == ("context", target.context - 2)
    assert max(len(r.drafted) for r in trace.rounds) == (4 if name == "medusa" else 7)


@pytest.mark.parametrize("name", KINDS)
def test_greedy_output_is_plain_output(name):
    target, _, drafter, _ = make(name, 5, [0, 1, 2, 4])
    for prompt in ([0], [1, 2], [3, 3, 3]):  # a single token leaves nothing to have seen before
        trace = Trace(prompt).collect(speculative(target, drafter(), prompt, stops=Stops(25)))
        trace.check()
        text = list(prompt)
        for token in trace.tokens:
            assert token == int(target.probabilities(text).argmax())
            text.append(token)


def test_weights_of_different_sizes_side_by_side_are_all_kept(tmp_path, monkeypatch):
    """In 8 bits with a scale for each block: one for a whole row would round the small ones away."""
    monkeypatch.setattr(trained, "BLOCK", 32)
    target, net, _, _ = make("eagle", 5, [0, 1, 2, 4])
    net.fuse.weight[:, :32] *= 1000
    about = {"target": "random"} | dict(zip(("hidden_size", "layers", "vocab_size"), trained.shape(target)))
    trained.save_net(net, tmp_path / "eagle.safetensors", about)
    stored = trained.load_net("eagle", target, tmp_path).fuse.weight
    for ours, theirs in zip(stored.split(32, 1), net.fuse.weight.split(32, 1), strict=True):
        assert (ours - theirs).norm() < 0.05 * theirs.norm()


@pytest.mark.parametrize("other", ["a part less", "a part more"])
def test_weights_of_another_design_are_refused_and_it_says_how_to_train_again(tmp_path, other):
    """Such as those of the EAGLE before, which read the last row alone."""
    target, net, _, _ = make("eagle", 5, [0, 1, 2, 4])
    if other == "a part less":
        net.join = None
    else:
        net.further = torch.nn.Linear(2, 2)
    about = {"target": "random"} | dict(zip(("hidden_size", "layers", "vocab_size"), trained.shape(target)))
    trained.save_net(net, tmp_path / "eagle.safetensors", about)
    with pytest.raises(
        LabError, match="of another design than today's .*: train it again with `specdec-lab train eagle`"
    ):
        trained.load_net("eagle", target, tmp_path)


def test_eagle_learns_on_what_it_will_see():
    """The unrolled training steps give the rows that drafting gives: step k on true rows but for its own k guesses."""
    target, net, _, _ = make("eagle", 5, [0, 1, 2, 4])
    text = [0, 3, 1, 4, 2, 2, 1, 0, 3]
    rows, tokens = target.rows(text, net.depths)[None], torch.tensor([text])
    net.unroll = 3
    with torch.no_grad():
        steps = net.predict(tokens, rows)
    for k, (guess, true) in enumerate(steps):
        assert torch.equal(true, target.rows(text)[None, 1:])
        for at in range(k + 1, len(text)):  # drafting began k tokens before
            expected = q_eagle(target, net, text[: at + 1 - k], text[at + 1 - k : at + 1])
            assert torch.allclose(spread(net, guess[0, at - 1], 5), expected, atol=1e-9), (k, at)


@pytest.mark.parametrize("name", ["model", "medusa", "eagle", "early-exit"])
def test_q_in_8_bits_is_what_was_drawn_from(name, monkeypatch):
    """The q that a draft is compared with comes from the coarse logits, not from what float32 would have said."""
    said, product, ids = [], EightBits.__call__, [0, 1, 2, 4, 5, 6, 7]
    monkeypatch.setattr(linear, "eight_bits_pay", lambda: True)
    target, net, drafter, q_of = make(name, 9, ids, torch.float32)

    def heard(self, x):
        out = product(self, x)
        if out.shape[-1] == len(ids):  # a head's
            said.extend(out if name == "medusa" else out.reshape(-1, len(ids))[-1:])  # behind the newest token
        return out

    monkeypatch.setattr(EightBits, "__call__", heard)
    drafter, text, uniforms, apart = drafter(), [0, 1, 3, 2], Uniforms(7), 0
    settings = {"gamma": 3, "sampler": SAMPLED, "stops": Stops(40), "uniforms": uniforms, "keep": Keep(rows=True)}
    for r in speculative(target, drafter, text, **settings):
        for i, draft in enumerate(r.drafted):
            q = r.q_rows[i]
            assert torch.equal(q[ids], SAMPLED(said[i]))
            assert draft.id == draw(q, uniforms(len(text) + i, DRAFT))
            apart += not torch.equal(q, q_of(target, net, text, [d.id for d in r.drafted[:i]]))
        text = text + r.tokens
        said.clear()
    assert apart > 10  # in float32 it would be another q


def test_sampling_options_shape_q_as_well():
    target, _, drafter, _ = make("eagle", 5, [0, 1, 2, 4])
    rounds = speculative(
        target, drafter(), [0, 1], sampler=Sampler(0.7, top_k=2), stops=Stops(12), keep=Keep(rows=True)
    )
    assert all((row > 0).sum() == 2 for r in rounds if r.drafted for row in r.q_rows)
