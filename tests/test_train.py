"""Students of a tiny target learn from its text, and then draft better than before."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from training_text.conversations import Size, write_conversations
from transformers import LlamaForCausalLM
from writer import SMALL

from specdec_lab import load
from specdec_lab.cli import main
from specdec_lab.drafters import trained as trained_module
from specdec_lab.engine.decode import Keep
from specdec_lab.engine.sampling import Sampler
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import Prompt
from specdec_lab.models import linear
from specdec_lab.models.load import load_model
from specdec_lab.train import loop, own, recipes, write
from specdec_lab.train.distill import Head, divergence, fit, overlaps
from specdec_lab.train.loop import Text, Trainer, evaluate_by_kind
from specdec_lab.train.shards import read_shards


@pytest.mark.parametrize("name", recipes.KINDS)
def test_training_helps_and_can_be_continued(written, writer, tmp_path, name):
    target, tokenizer, text = written
    (text / f"{name}.pt").unlink(missing_ok=True)
    said = []
    trainer = recipes.train(name, target, tokenizer, text, tokens=12_000, say=said.append)
    trained = trainer.evaluate()[0]
    fresh = recipes.KINDS[name].net(target.hf, trainer.net.head.ids)
    untrained = Trainer(fresh, trainer.text).evaluate()[0]
    assert trained.kl < 0.8 * untrained.kl
    assert trained.overlap > untrained.overlap
    assert said

    recipes.export(trainer, name, target, tmp_path / f"{name}.safetensors")
    lab = load(writer, device="cpu", weights=tmp_path)
    stored = Trainer(trained_module.load_net(name, lab.target, tmp_path).requires_grad_(), trainer.text)
    assert stored.evaluate()[0].overlap == pytest.approx(trained.overlap, abs=0.02)  # what 8 bits may cost
    trace = lab.speculative([1, 3, 5, 6, 7], lab.drafter(name), temperature=1.0, max_new_tokens=120)
    trace.check()
    assert sum(len(r.drafted) for r in trace.rounds) > 0

    tokens = trainer.tokens
    more = recipes.train(name, target, tokenizer, text, tokens=12_600, say=said.append)
    assert more.tokens > tokens
    assert len(more.history[-1]["steps"]) == {"eagle": 3, "medusa": 4}.get(name, 1)
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
        size = Size(positions=256 * 41, answer=28, longest=13)
        write_conversations(lab.target, lab.tokenizer, text, 8_000, size=size, say=lambda line: None)
    return lab, text


def trained_and_traces(lab, text, name, gamma):
    """A trainer of the drafter as it is stored, in 8 bits, and what that then does at temperature 1 with held-out prompts."""
    with pytest.MonkeyPatch.context() as m:
        m.setattr(loop, "GIVEN", 0.0)  # what a random target expects of users takes longer to learn
        trainer = recipes.train(name, lab.target, lab.tokenizer, text, tokens=12_000, say=lambda line: None)
    recipes.export(trainer, name, lab.target, text / f"{name}.safetensors")
    held = read_shards(text / recipes.HELD_OUT)[0]
    begun = [row[: 1 + int(own.argmax())].tolist() for row, own in zip(held.tokens[:64], held.own)]  # the prompts
    settings = {"gamma": gamma, "temperature": 1.0, "max_new_tokens": 24, "keep": Keep(rows=True)}
    lab.eos = frozenset()
    stored = Trainer(trained_module.load_net(name, lab.target, text).requires_grad_(), trainer.text)
    return stored, [lab.speculative(b, name, request=i, **settings) for i, b in enumerate(begun)]


@torch.no_grad()
def promised(trainer, lab, trace) -> list[torch.Tensor]:
    """Σ min(p, q) at each row of a trace's whole text, as training sees it; a tensor [n] for each drafting step."""
    tokens = torch.tensor([trace.prompt + trace.tokens])
    exits, last = write.depths(lab.target.cached(), tokens, (1,))
    read = (tokens, last.float(), *([exits.float()] if trainer.net.depths else []))
    found = []
    for guess, true in trainer.net.predict(*read):
        overlap = overlaps(guess[0].float(), true[0].float(), Head(trainer.net.head.weight.float()))
        found.append(torch.cat([torch.full((tokens.shape[1] - len(overlap),), torch.nan), overlap]))
    return found


@pytest.mark.parametrize("name", recipes.KINDS)
def test_drafts_are_accepted_as_often_as_training_promised(sharp, name):
    """So training and drafting mean the same positions; at another one, the promise is another."""
    lab, text = sharp
    trainer, traces = trained_and_traces(lab, text, name, gamma=1)
    together = Trace([], [r for t in traces for r in t.rounds])
    drafts = [(promised(trainer, lab, t)[0], r) for t in traces for r in t.rounds if r.drafted]
    said, shifted = (np.array([float(rows[r.start - 1 - by]) for rows, r in drafts]) for by in (0, 1))
    overlaps = np.array([r.drafted[0].overlap for _, r in drafts])
    assert np.nanmean(abs(said - overlaps)) < 0.03  # 8 bits
    assert np.nanmean(abs(shifted - overlaps)) > 0.06  # else this would prove nothing
    assert together.alpha_by_position == pytest.approx([np.nanmean(said)], abs=0.06)


def test_each_medusa_head_drafts_for_the_position_that_it_learned(sharp, monkeypatch):
    """Against p along the text that came out: acceptance at a depth would count only rounds that got there."""
    lab, text = sharp
    monkeypatch.setattr(linear, "eight_bits_pay", lambda: False)  # as exact as training: only positions are in question
    lab._trained.clear()
    trainer, traces = trained_and_traces(lab, text, "medusa", gamma=4)
    apart, shifted = ([[], [], [], []] for _ in range(2))
    for trace in traces[:60]:
        p = Sampler(1.0)(lab.target.cached().extend([trace.prompt + trace.tokens]).logits[0])
        steps = promised(trainer, lab, trace)
        for r in trace.rounds:
            for depth, (p_row, q_row) in enumerate(zip(p[r.start - 1 :], r.q_rows)):
                overlap, row = float(torch.minimum(p_row, q_row).sum()), r.start - 1 + depth
                apart[depth].append(abs(overlap - float(steps[depth][row])))
                if row + 1 < len(p):
                    shifted[depth].append(abs(overlap - float(steps[depth][row + 1])))
    assert all(np.nanmean(x) < 0.01 for x in apart)
    assert all(np.nanmean(x) > 0.05 for x in shifted)


def test_a_target_in_half_precision_trains_students_in_full(writer, tmp_path):
    target, tokenizer = load_model(writer, "cpu", dtype="bfloat16")
    write_conversations(target, tokenizer, tmp_path, tokens=1_000, size=SMALL, say=lambda line: None)
    for name in recipes.KINDS:
        trainer = recipes.train(name, target, tokenizer, tmp_path, tokens=300, say=lambda line: None)
        assert {p.dtype for p in trainer.net.parameters()} == {torch.float32}
        assert all(torch.isfinite(p).all() for p in trainer.net.parameters())
        recipes.export(trainer, name, target, tmp_path / f"{name}.safetensors")
        lab = load(writer, device="cpu", dtype="bfloat16", weights=tmp_path)
        lab.speculative([1, 3, 5, 6, 7], lab.drafter(name), max_new_tokens=20).check()


def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(written, monkeypatch):
    target, tokenizer, text = written
    path = text / "eagle.pt"

    def weights(trainer):
        return torch.cat([p.detach().flatten() for p in trainer.net.parameters()])

    path.unlink(missing_ok=True)
    whole = weights(recipes.train("eagle", target, tokenizer, text, tokens=1_600, say=lambda line: None))
    path.unlink()
    for stop in (5, 23):  # in the first stage, and in the second
        look, steps = Trainer.guesses, []

        def interrupted(self, *a, look=look, steps=steps, stop=stop):
            steps.append(a)
            if len(steps) == stop:
                raise KeyboardInterrupt
            return look(self, *a)

        with monkeypatch.context() as m:
            m.setattr(Trainer, "guesses", interrupted)
            with pytest.raises(KeyboardInterrupt):
                recipes.train("eagle", target, tokenizer, text, tokens=1_600, say=lambda line: None)
    resumed = recipes.train("eagle", target, tokenizer, text, tokens=1_600, say=lambda line: None)
    assert torch.equal(weights(resumed), whole)
    assert len(resumed.history[-1]["steps"]) == 3


def test_a_batch_is_what_the_target_wrote_and_users_words_count_less(written):
    _, _, text = written
    shards, held = (read_shards(text / side) for side in (recipes.CONVERSATIONS, recipes.HELD_OUT))
    batches = Text(shards, held, torch.device("cpu"), ("exit", "middle"))
    all_of = {t[:-1].astype(int).tobytes(): (s, r) for s in shards for r, t in enumerate(s.tokens)}
    seen, given = set(), []
    for seed in range(30):
        tokens, last, exits, middle, counts = batches.random(8, np.random.default_rng(seed))
        assert len(tokens) == 8
        for b in range(8):
            shard, r = all_of[tokens[b].numpy().tobytes()]
            seen.add(id(shard))
            assert (counts[b].numpy() == 1).tolist() == shard.own[r].tolist()
            given += counts[b].numpy()[~shard.own[r]].tolist()
            for part, rows in (("last", last), ("exit", exits), ("middle", middle)):
                assert np.array_equal(rows[b].numpy(), getattr(shard, part)[r].astype(np.float32))
    assert len(seen) == len(shards)
    assert set(np.float32(given)) == {np.float32(0), np.float32(loop.GIVEN)}
    assert np.mean(np.array(given) > 0) == pytest.approx(loop.GIVEN, abs=0.05)
    looked = [(id(shard), r) for shard, rows, _ in batches.held_out(8) for r in rows]
    assert all(set(counts.unique().tolist()) <= {0.0, 1.0} for *_, (*_, counts) in batches.held_out(8))
    assert {s for s, _ in looked} == {id(s) for s in held}
    assert len(looked) == len(set(looked))


def test_long_texts_come_in_small_batches(written, monkeypatch):
    _, _, text = written
    shards = read_shards(text / recipes.CONVERSATIONS)
    batches = Text(shards, shards, torch.device("cpu"))
    n = shards[0].own.shape[1]
    for positions, texts in ((100 * n, 8), (3 * n, 3), (n - 1, 1)):
        monkeypatch.setattr(loop, "POSITIONS", positions)
        assert len(batches.random(8, np.random.default_rng(0))[0]) == texts


class Positions(torch.nn.Module):
    """A student whose guess at row i is i, so that it shows which rows a loss is taken over."""

    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 4, bias=False)
        self.scale = torch.nn.Parameter(torch.ones(4, 4))

    def predict(self, tokens, rows):
        place = torch.arange(rows.shape[1]).float()[None, :, None].expand_as(rows[..., :4])
        return [(place * self.scale[0], place), (place[:, 2:] * self.scale[0], place[:, 2:])]


def test_the_loss_is_over_the_targets_own_tokens(monkeypatch):
    seen = []
    monkeypatch.setattr(
        loop, "divergence", lambda a, b, head, w, kind: seen.append((a, w)) or divergence(a, b, head, w, kind)
    )
    trainer = Trainer(Positions(), SimpleNamespace(device=torch.device("cpu")))
    counts = torch.tensor([[0, 1, 1, 0, 1.0], [0, 0, 0, 0, 1.0]])
    trainer.loss((torch.zeros(2, 5), torch.zeros(2, 5, 4), counts), "kl")
    places = [a[:, 0].tolist() for a, _ in seen]
    assert places == [[1, 2, 4, 4], [2, 4, 4]]
    assert all(bool((w == 1).all()) for _, w in seen)


def test_overlap_is_told_evaluate_by_kind(written):
    target, tokenizer, text = written
    trainer = recipes.train("eagle", target, tokenizer, text, tokens=300, say=lambda line: None)
    told, whole = evaluate_by_kind(trainer), trainer.evaluate()[0]
    for part in told.values():
        assert sum(n for n, _ in part.values()) == whole.n
        assert sum(n * x for n, x in part.values()) / whole.n == pytest.approx(whole.overlap, abs=1e-3)
    assert {"free", "ask"} <= set(told["kind"])
    assert set(told["place"]) == {"under 64"}


def test_exit_rows_are_read_for_early_exit_alone(written, tmp_path, monkeypatch):
    target, tokenizer, text = written
    shards = [replace(shard, exit=None, middle=None) for shard in read_shards(text / recipes.CONVERSATIONS)]
    monkeypatch.setattr(recipes, "read_shards", lambda folder: shards)
    for name in set(recipes.KINDS) - {"early-exit"}:
        recipes.train(name, target, tokenizer, tmp_path, tokens=300, say=lambda line: None)
    with pytest.raises(TypeError, match="not subscriptable"):
        recipes.train("early-exit", target, tokenizer, tmp_path, tokens=300, say=lambda line: None)


def test_training_can_begin_with_weights_and_not_only_with_parts_of_the_target(written, tmp_path):
    target, tokenizer, text = written
    (text / "eagle.pt").unlink(missing_ok=True)
    first = recipes.train("eagle", target, tokenizer, text, tokens=1_600, say=lambda line: None)
    recipes.export(first, "eagle", target, tmp_path / "eagle.safetensors")
    began = []
    for start in (None, tmp_path):
        (text / "eagle.pt").unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as m:
            m.setattr(Trainer, "run", lambda self, plan, **kwargs: began.append(self.evaluate()[0].kl))
            trainer = recipes.train("eagle", target, tokenizer, text, tokens=1_600, start=start, say=lambda line: None)
    assert (first.before, trainer.before) == (0, first.tokens)
    assert began[1] == pytest.approx(first.history[-1]["steps"][0]["kl"], rel=0.1)  # stored in 8 bits
    assert began[0] > 1.2 * began[1]
    with pytest.raises(LabError, match="no weights for the drafter “medusa”"):
        recipes.train("medusa", target, tokenizer, text, tokens=1_600, start=tmp_path, say=lambda line: None)


def test_a_training_that_goes_on_keeps_the_tokens_of_its_head(written, monkeypatch):
    """Though others may be the most frequent ones by now: its rows have learned to speak of these."""
    target, tokenizer, text = written
    (text / "medusa.pt").unlink(missing_ok=True)
    some = torch.arange(4, 9)
    for tokens in (300, 600):
        monkeypatch.setattr(recipes, "frequent_ids", lambda *a, now=some - tokens // 600: now)
        trainer = recipes.train("medusa", target, tokenizer, text, tokens=tokens, say=lambda line: None)
        assert torch.equal(trainer.net.head.ids, some)
    (text / "medusa.pt").unlink()


def test_a_seed_gives_the_same_weights(written):
    target, tokenizer, text = written
    weights = []
    for _ in range(2):
        (text / "medusa.pt").unlink(missing_ok=True)
        weights.append(recipes.train("medusa", target, tokenizer, text, tokens=300, say=lambda line: None).net)
    for a, b in zip(weights[0].parameters(), weights[1].parameters()):
        assert torch.equal(a, b)


@pytest.mark.parametrize("kind", ["kl", "tv"])
def test_the_gradient_of_the_loss_is_that_of_its_formula(kind):
    torch.manual_seed(0)
    student, teacher, head = torch.randn(600, 8), torch.randn(600, 8), torch.randn(20, 8)
    weight = torch.rand(600)
    ours = student.clone().requires_grad_()
    loss = divergence(ours, teacher, Head(head), weight, kind)
    loss.backward()
    theirs = student.clone().requires_grad_()
    p, log_q = (teacher @ head.T).softmax(-1), (theirs @ head.T).log_softmax(-1)
    overlap = torch.minimum(p, log_q.exp()).sum(-1)
    kl = (p * (p.log() - log_q)).sum(-1)
    expected = (weight * (kl if kind == "kl" else 1 - overlap)).sum()
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)
    found = fit(student, teacher, Head(head))
    assert (found.overlap, found.kl) == pytest.approx((float(overlap.mean()), float(kl.mean())), rel=1e-4)
    assert found.agree == pytest.approx(float((p.argmax(-1) == log_q.argmax(-1)).float().mean()))
    assert torch.allclose(overlaps(student, teacher, Head(head)), overlap, atol=1e-5)


@pytest.fixture
def small_shards(monkeypatch):
    """The command with shards for a tiny target."""
    kept = own.write_answers.__defaults__
    small = write.Size(SMALL.positions, SMALL.answer)
    monkeypatch.setattr(own.write_answers, "__defaults__", tuple(small if d == write.Size() else d for d in kept))


def test_the_command_writes_trains_and_says_where(capsys, writer, tmp_path, small_shards, monkeypatch):
    """Without texts or prompts of one's own it takes the installed Python's sources, which take long to read."""
    few = [[Prompt(f"{i}", "code", f"a b c {x}")] for i, x in enumerate("abcdefgabc")]
    monkeypatch.setattr("specdec_lab.train.texts.installed_python", lambda: few)
    argv = ["train", "medusa", "--json", "--device", "cpu", "--target", writer, "--folder", str(tmp_path)]
    assert main([*argv, "--write", "1k", "--tokens", "4k"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["weights"] == str(tmp_path / "medusa.safetensors")
    assert "--passages FOLDER gives" in err
    assert result["tokens"] >= 4000


def test_the_command_trains_on_text_that_is_there(capsys, writer, written, tmp_path, monkeypatch):
    """As on what tools/write_training_text.py wrote: nothing is added, and no prompts are read."""
    monkeypatch.setattr(own, "write_answers", lambda *a, **k: pytest.fail("written again"))
    text = written[2]
    (text / "medusa.pt").unlink(missing_ok=True)
    argv = ["train", "medusa", "--json", "--device", "cpu", "--target", writer, "--folder", str(text)]
    for enough in ("0", "4k"):
        assert main([*argv, "--write", enough, "--tokens", "400", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "medusa.safetensors").exists()
    (text / "medusa.pt").unlink()


def test_the_command_writes_text_alone_about_ones_own_prompts(capsys, writer, tmp_path, small_shards):
    mine, folder = tmp_path / "own", tmp_path / "text"
    mine.mkdir()
    prompts = [json.dumps({"id": str(i), "kind": "mine", "prompt": f"a b c {x}"}) for i, x in enumerate("abcdefg")]
    (mine / "a.jsonl").write_text("\n".join(prompts), encoding="utf-8")
    argv = ["train", "text", "--json", "--device", "cpu", "--target", writer, "--folder", str(folder)]
    assert main([*argv, "--write", "1k", "--passages", str(mine)]) == 0
    assert json.loads(capsys.readouterr().out)["written"] >= 1_000
    shards = [read_shards(folder / side) for side in (recipes.CONVERSATIONS, recipes.HELD_OUT)]
    assert {kind for side in shards for s in side for kind in s.kind} == {"mine"}
    learned, aside = ({tuple(t[:8]) for s in side for t in s.tokens.tolist()} for side in shards)
    assert learned and aside and not learned & aside
    assert main([*argv, "--write", "1k", "--passages", str(tmp_path / "none")]) == 2
    assert "There is no folder" in capsys.readouterr().err
    (mine / "a.jsonl").write_text(prompts[0], encoding="utf-8")
    assert main([*argv, "--write", "5k", "--passages", str(mine)]) == 2
    assert "too few prompts" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "says"), [("magic", "no recipe “magic”"), ("eagle", "no text in")])
def test_bad_requests_are_one_sentence(written, tmp_path, name, says):
    with pytest.raises(LabError, match=says):
        recipes.train(name, *written[:2], tmp_path, 1_000)
