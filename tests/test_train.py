"""Students of a tiny target learn from its text, and then draft better than before."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from models_on_disk import train_on
from training_text.conversations import write_conversations
from transformers import LlamaForCausalLM

from specdec_lab import load
from specdec_lab.cli import main
from specdec_lab.drafters import trained as trained_module
from specdec_lab.engine.decode import Keep
from specdec_lab.engine.sampling import Sampler
from specdec_lab.errors import LabError, silent
from specdec_lab.models import linear
from specdec_lab.train import answers as answers_module
from specdec_lab.train import loop, own, write
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, Batches, read_answers
from specdec_lab.train.distill import Head, compare, divergence, means_of
from specdec_lab.train.loop import Trainer

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.fixture
def train(written):
    """A short training on the tiny target's text; where it is not to go on, it begins anew."""
    target, tokenizer, text = written

    def some(name, tokens, *, on=False, folder=text, **more) -> Trainer:
        if not on:
            (folder / f"{name}.pt").unlink(missing_ok=True)
        return train_on(name, target, tokenizer, folder, tokens, **more)

    return some


@pytest.mark.parametrize("name", own.KINDS)
def test_training_helps_and_can_be_continued(train, written, writer, tmp_path, name):
    target, _, text = written
    trainer, said = train(name, 4_000), []
    trained = trainer.evaluate()[0]
    fresh = own.KINDS[name].net(target.hf, trainer.net.head.ids)
    untrained = Trainer(fresh, trainer.batches).evaluate()[0]
    assert trained["kl"] < 0.8 * untrained["kl"]
    assert trained["overlap"] > untrained["overlap"]

    own.export(trainer, name, tmp_path / f"{name}.safetensors")
    lab = load(writer, device="cpu", weights=tmp_path)
    stored = Trainer(trained_module.load_net(name, lab.target, tmp_path).requires_grad_(), trainer.batches)
    assert stored.evaluate()[0]["overlap"] == pytest.approx(trained["overlap"], abs=0.02)  # what 8 bits may cost
    lab.speculative([1, 3, 5, 6, 7], lab.drafter(name), temperature=1.0, max_new_tokens=120).check()

    tokens = trainer.tokens
    more = train(name, 4_600, on=True, say=said.append)
    assert more.tokens > tokens
    assert len(more.history[-1]["steps"]) == {"eagle": 4, "medusa": 4}.get(name, 1)
    assert any("Going on" in line for line in said)
    assert json.loads((text / f"{name}.json").read_text(encoding="utf-8")) == more.history


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
    monkeypatch.setattr(linear, "eight_bits_pay", lambda: False)  # as exact as training: only positions are in question
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


def test_an_interrupted_training_goes_on(train, written, monkeypatch):
    """As if nothing had happened."""

    def weights(trainer):
        return torch.cat([p.detach().flatten() for p in trainer.net.parameters()])

    whole = weights(train("eagle", 1_600))
    for on in (False, True):
        loss, steps = Trainer.loss, []

        def interrupted(self, *a, loss=loss, steps=steps):
            steps.append(a)
            if len(steps) == 3:
                raise KeyboardInterrupt
            return loss(self, *a)

        with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
            m.setattr(Trainer, "loss", interrupted)
            train("eagle", 1_600, on=on)
        tokens = loop.read_checkpoint(written[2] / "eagle.pt")["tokens"]
        assert 0 < tokens < 1_600
    resumed = train("eagle", 1_600, on=True)
    assert torch.equal(weights(resumed), whole)
    assert len(resumed.history[-1]["steps"]) == 4


def check_batches(batches: Batches, target, answers: Answers) -> float:
    """A batch is texts that the target wrote, with the rows that it has at the same tokens: the share of texts seen."""
    known, seen = {tuple(answers.text(i)[:-1]): i for i in range(len(answers))}, set()
    for seed in range(20):
        tokens, rows, counts = batches.random(np.random.default_rng(seed))
        assert tokens.numel() <= batches.positions
        for b, of_text in enumerate(counts):
            text = tokens[b, : int(of_text.nonzero().max()) + 1].tolist()
            i = known[tuple(text)]
            seen.add(i)
            assert of_text.nonzero()[:, 0].tolist() == list(range(answers.prompt[i] - 1, answers.length[i] - 1))
            alone = target.cached().extend([text], depths=batches.depths).hidden[0]
            assert torch.allclose(rows[b, : len(text)], alone.float(), atol=2e-3, rtol=2e-3)
    return len(seen) / len(known)


def test_a_batch_is_what_the_target_wrote_and_its_rows(written, monkeypatch):
    """Computed, or kept from an earlier visit."""
    target, _, text = written
    answers, held = (read_answers(text / side, target) for side in (LEARNED, HELD_OUT))
    monkeypatch.setitem(answers_module.POSITIONS, "cpu", 500)
    monkeypatch.setattr(answers_module, "PREFILL_CHUNK", 7)  # in several passes
    batches = Batches(target, answers, held, (1, 2))
    for _ in range(2):
        assert check_batches(batches, target, answers) > 0.5
        monkeypatch.setattr(batches, "computed", lambda texts: pytest.fail("computed again") if texts else {})
    whole = [i for numbers, _ in Batches(target, answers, held).held_out() for i in numbers]
    assert sorted(whole) == sorted(set(whole)) and len(whole) == len(held)


def test_each_text_is_as_likely_as_any_other(written):
    """Long ones come alone, and short ones together."""
    target, count, length = written[0], np.zeros(800), np.array([10, 30] * 400, dtype=np.int32)
    answers = Answers(np.ones(length.sum(), dtype=np.uint16), length, length // 2, *[count] * 2, "t", "p")
    batches, draw = Batches(target, answers, answers), np.random.default_rng(0)
    batches.positions, batches.of = 60, lambda source, numbers: np.add.at(count, numbers, 1)
    for _ in range(20_000):
        batches.random(draw)
    assert count[::2].mean() == pytest.approx(count[1::2].mean(), rel=0.05)


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


def test_training_can_begin_with_weights(train, tmp_path):
    """And not only with parts of the target."""
    first = train("eagle", 1_600)
    own.export(first, "eagle", tmp_path / "eagle.safetensors")
    began = [train("eagle", 0, start=start) for start in (None, tmp_path)]
    assert (first.before, began[1].before) == (0, first.tokens)
    cold, warm = (trainer.history[0]["steps"][0]["kl"] for trainer in began)
    assert warm == pytest.approx(first.history[-1]["steps"][0]["kl"], rel=0.1)  # stored in 8 bits
    assert cold > 1.2 * warm


def test_a_head_has_frequent_and_special_tokens(monkeypatch):
    """Users' words do not count; and without the end of a text among them, no draft could ever be that."""
    monkeypatch.setattr(own, "FREQUENT", 4)
    two = (np.array(x) for x in ([8, 8, 8, 7, 7, 8, 8, 5], [5, 3], [3, 2]))
    answers, tokenizer = Answers(*two, *[None] * 4), SimpleNamespace(all_special_ids=[2, 99])
    assert own.frequent_ids(answers, tokenizer, 10, [9]).tolist() == [2, 5, 7, 9]


def test_a_training_that_goes_on_keeps_its_head(train, monkeypatch):
    """Though others may be the most frequent tokens by now: its rows have learned to speak of these."""
    some = torch.arange(4, 9)
    for tokens, frequent in ((300, some), (600, some - 1)):
        monkeypatch.setattr(own, "frequent_ids", lambda *a, now=frequent: now)
        assert torch.equal(train("medusa", tokens, on=tokens > 300).net.head.ids, some)


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
        "kl": float(kl[1].mean()),
        "overlap": float(overlap[1].mean()),
        "agree": float(agree.float().mean()),
    }
    assert found == pytest.approx(expected, rel=1e-4)


def test_probabilities_of_a_head_in_half_precision_are_whole():
    """Only the product is coarse: a softmax in 8 bits would take a hundredth of all that is to be learned."""
    weight = torch.randn(3000, 16, generator=torch.Generator().manual_seed(0))
    rows = torch.randn(50, 16, generator=torch.Generator().manual_seed(1))
    p = Head(weight.bfloat16()).probabilities(rows)
    assert p.dtype == torch.float32 and (p.sum(-1) - 1).abs().max() < 1e-5


def test_what_cannot_be_gone_on_with_is_one_sentence(train, written, tmp_path):
    with pytest.raises(LabError, match="no text in"):
        train("eagle", 300, folder=tmp_path / "none")
    train("eagle", 300)
    folder = shutil.copytree(written[2], tmp_path / "text")
    state = torch.load(folder / "eagle.pt", weights_only=True)
    del state["net"]["join.weight"]
    torch.save(state, folder / "eagle.pt")
    with pytest.raises(LabError, match="of another design"):
        train("eagle", 9_000, on=True, folder=folder)


def test_the_command_writes_trains_and_says_where(capsys, writer, tmp_path, monkeypatch):
    prompts = [json.dumps({"id": str(i), "kind": "mine", "prompt": f"a b c {x}"}) for i, x in enumerate("abcdefgabc")]
    file, folder = tmp_path / "prompts.jsonl", tmp_path / "mine"
    file.write_text("\n".join(prompts), encoding="utf-8")
    argv = ["train", "medusa", str(file), "--json", "--device", "cpu", "--target", writer, "--folder", str(folder)]
    argv += ["--dtype", "bfloat16", "--write", "1k"]
    assert main([*argv, "--tokens", "4k"]) == 0
    learned = loop.read_checkpoint(folder / "medusa.pt")["net"].values()
    assert {x.dtype for x in learned} == {torch.float32}  # in half precision small steps are lost
    result = json.loads(capsys.readouterr().out)
    assert result["weights"] == str(folder / "medusa.safetensors") and result["tokens"] >= 4000
    target = load(writer, device="cpu").target
    assert {kind for side in (LEARNED, HELD_OUT) for kind in read_answers(folder / side, target).kind} == {"mine"}
    monkeypatch.setattr(write, "answers", lambda *a: pytest.fail("written again"))
    assert main([*argv, "--tokens", "5k"]) == 0
    file.write_text(prompts[0], encoding="utf-8")
    assert main([*argv, "--tokens", "6k"]) == 2
    assert "too few" in capsys.readouterr().err
