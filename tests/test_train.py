"""What a student learns: the loss and its gradient, and that a draft is then accepted as often as training promised."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from models_on_disk import train_on
from training_text.conversations import write_conversations
from transformers import LlamaForCausalLM

from specdec_lab import load
from specdec_lab.drafters import trained as trained_module
from specdec_lab.engine.decode import Keep
from specdec_lab.engine.sampling import Sampler
from specdec_lab.errors import silent
from specdec_lab.models import linear
from specdec_lab.train import own, write
from specdec_lab.train.answers import HELD_OUT, Answers, read_answers
from specdec_lab.train.distill import Head, compare, divergence, means_of
from specdec_lab.train.loop import Trainer

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.fixture(scope="module")
def sharp(writer, tmp_path_factory):
    """The target again, so sure of its next token that a draft for another position is mostly wrong; with T = 1 text.

    (a Lab, the folder of the text)
    """
    path, text = (tmp_path_factory.mktemp(name) for name in ("sharp", "text"))
    shutil.copytree(writer, path, dirs_exist_ok=True)
    hf = LlamaForCausalLM.from_pretrained(writer)
    hf.lm_head.weight.data.mul_(16)
    hf.save_pretrained(path)
    lab = load(str(path), device="cpu", weights=text)
    with pytest.MonkeyPatch.context() as m:
        m.setattr(write, "TEMPERATURES", (1.0,))
        write_conversations(lab.target, lab.tokenizer, {0}, text, 4_000, longest=(13, 28), say=silent)
    return lab, text


def trained_and_traces(lab, text, name, gamma):
    """A trainer of the drafter as it is stored, in 8 bits, and what that then does at temperature 1 with held-out prompts."""
    trainer = train_on(name, lab.target, lab.tokenizer, text, 4_000)
    own.export(trainer, name, text / f"{name}.safetensors")
    held = read_answers(text / HELD_OUT, lab.target)
    begun = [held.text(i)[: held.prompt[i]] for i in range(64)]
    settings = {"gamma": gamma, "temperature": 1.0, "max_new_tokens": 24, "keep": Keep(rows=True)}
    lab.eos = frozenset()
    stored = Trainer(trained_module.load_net(name, lab.target, text).requires_grad_(), trainer.batches)
    return stored, [lab.speculative(b, name, request=i, **settings) for i, b in enumerate(begun)]


@torch.no_grad()
def promised(trainer, lab, trace) -> list[torch.Tensor]:
    """Σ min(p, q) at each row of a trace's whole text, as training sees it; a tensor [n] for each drafting step."""
    tokens, found = torch.tensor([trace.prompt + trace.tokens]), []
    rows = lab.target.cached().extend(tokens, depths=trainer.net.depths).hidden.float()
    head = Head(trainer.net.head.weight.float())
    for guess, true in trainer.net.predict(tokens, rows):
        overlap = torch.minimum(*(head.probabilities(x[0].float()) for x in (guess, true))).sum(-1)
        found.append(torch.cat([torch.full((tokens.shape[1] - len(overlap),), torch.nan), overlap]))
    return found


@pytest.mark.parametrize("name", ["eagle", "medusa"])
def test_a_draft_is_accepted_as_often_as_promised(sharp, monkeypatch, name):
    """For the position that was learned: against p along the text that came out. Each head of Medusa has a position of its own; at others, q is another."""
    lab, text = sharp
    # As exact as training: only positions are in question.
    monkeypatch.setattr(linear, "adds_up_eight_bits", lambda: False)
    gamma = 4 if name == "medusa" else 1
    trainer, traces = trained_and_traces(lab, text, name, gamma)
    apart, shifted = ([[] for _ in range(gamma)] for _ in range(2))
    for trace in traces:
        p = Sampler(1.0)(lab.target.cached().extend([trace.prompt + trace.tokens]).logits[0])
        steps = promised(trainer, lab, trace)
        for r in trace.rounds:
            for depth, (p_row, q_row) in enumerate(zip(p[r.start - 1 :], r.q_rows)):
                overlap, row = float(torch.minimum(p_row, q_row).sum()), r.start - 1 + depth
                apart[depth].append(abs(overlap - float(steps[depth][row])))
                if row + 1 < len(p):
                    shifted[depth].append(abs(overlap - float(steps[depth][row + 1])))
    assert all(np.nanmean(x) < 0.01 for x in apart)
    assert all(np.nanmean(x) > 0.05 for x in shifted)  # else this would prove nothing


class Positions(torch.nn.Module):
    """A student whose guess at row i is i, so that it shows which rows a loss is taken over."""

    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 4, bias=False)
        self.scale = torch.nn.Parameter(torch.ones(4, 4))

    def predict(self, tokens, rows):
        place = torch.arange(rows.shape[1]).float()[None, :, None].expand_as(rows[..., :4])
        return [(place * self.scale[0], place), (place[:, 2:] * self.scale[0], place[:, 2:])]


def test_the_loss_is_over_the_targets_own_tokens():
    trainer = Trainer(Positions(), SimpleNamespace(device=torch.device("cpu")))
    counts = torch.tensor([[0, 1, 1, 0, 1.0], [0, 0, 0, 0, 1.0]])
    guesses, true, matter = trainer.guesses((torch.zeros(2, 5), torch.zeros(2, 5, 4), counts))
    assert guesses[..., 0].tolist() == [[2, 4, 4]] * 2 and true[:, 0].tolist() == [2, 4, 4]
    assert matter.tolist() == [[False, False, True, False, True], [False] * 4 + [True]]  # each step guesses these


def test_a_head_has_frequent_and_special_tokens(monkeypatch):
    """Users' words do not count; and without the end of a text among them, no draft could ever be that."""
    monkeypatch.setattr(own, "FREQUENT", 4)
    two = (np.array(x) for x in ([8, 8, 8, 7, 7, 8, 8, 5], [5, 3], [3, 2]))
    answers, tokenizer = Answers(*two, *[None] * 4), SimpleNamespace(all_special_ids=[2, 99])
    assert own.frequent_ids(answers, tokenizer, 10, [9]).tolist() == [2, 5, 7, 9]


@pytest.mark.parametrize("kind", ["kl", "tv"])
def test_the_gradient_of_the_loss_is_that_of_its_formula(kind):
    torch.manual_seed(0)
    student, teacher, head = torch.randn(3, 600, 8), torch.randn(600, 8), torch.randn(20, 8)
    weight = torch.rand(3)
    ours = student.clone().requires_grad_()
    loss = divergence(ours, teacher, Head(head), weight, kind)
    loss.backward()
    theirs = student.clone().requires_grad_()
    p, log_q = (teacher @ head.T).softmax(-1), (theirs @ head.T).log_softmax(-1)
    overlap = torch.minimum(p, log_q.exp()).sum(-1)
    kl = (p * (p.log() - log_q)).sum(-1)
    expected = (weight[:, None] * (kl if kind == "kl" else 1 - overlap)).sum()
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)
    two = [compare(student[1][part], teacher[part], Head(head)) for part in (slice(100), slice(100, None))]
    found = means_of(sum(two))  # over rows, and not over batches, which are of unequal size
    agree = p.argmax(-1) == log_q[1].argmax(-1)
    expected = {
        "n": 600,
        "kl": float(kl[1].detach().mean()),
        "overlap": float(overlap[1].detach().mean()),
        "agree": float(agree.float().mean()),
    }
    assert found == pytest.approx(expected, rel=1e-4)
