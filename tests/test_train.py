"""Training from end to end on a tiny target: it writes, students learn from it, and they draft better than before."""

import json
import random
import runpy
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from test_models import LLAMA
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specdec_lab import load
from specdec_lab.cli import main
from specdec_lab.drafters import trained as trained_module
from specdec_lab.drafters.model import whole_llama
from specdec_lab.errors import LabError
from specdec_lab.models.load import load_model
from specdec_lab.names import TRAINED
from specdec_lab.record import Keep
from specdec_lab.sampling import Sampler
from specdec_lab.trace import Trace
from specdec_lab.train import recipes, write
from specdec_lab.train.distill import divergence
from specdec_lab.train.loop import Text, Trainer
from specdec_lab.train.shards import read_shards

WORDS = ["<end>", "<turn>", "system", "user", "assistant", "a", "b", "c", "d", "e", "f", "g"]
TEMPLATE = (
    "{% for m in messages %}<turn> {{ m['role'] }} {{ m['content'] }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<turn> assistant {% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """A target of three layers that is far from random: its next token depends mostly on the last one."""
    path = tmp_path_factory.mktemp("target")
    torch.manual_seed(0)
    hf = LlamaForCausalLM(LlamaConfig(**{**LLAMA, "vocab_size": len(WORDS), "max_position_embeddings": 512}))
    for p in hf.parameters():
        p.data.mul_(6) if p.dim() > 1 else None
    hf.save_pretrained(path)
    core = Tokenizer(WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<end>"))
    core.pre_tokenizer = Whitespace()
    core.add_special_tokens(["<end>", "<turn>"])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<end>", unk_token="<end>", additional_special_tokens=["<turn>"]
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    """(target, tokenizer, folder with two shards of text)"""
    target, tokenizer = load_model(folder, "cpu")
    text = tmp_path_factory.mktemp("text")
    recipes.write(target, tokenizer, text, tokens=2 * 64 * 40, rows=64, length=40, say=lambda line: None)
    return target, tokenizer, text


def test_the_text_is_the_targets_own(written):
    """Its hidden rows give back the distribution it was drawn from, and greedy answers are its favourites."""
    target, tokenizer, text = written
    turn = write.turns(tokenizer)
    prefix, (opens, assistant) = turn.prefix, turn.answer
    assert [[WORDS[i] for i in ids] for ids in (prefix, turn.answer, turn.user)] == [
        ["<turn>", "user"],
        ["<turn>", "assistant"],
        ["<end>", "<turn>", "user"],
    ]
    shards = read_shards(text)
    assert len(shards) == 2
    favourites = 0
    for r in range(0, 64, 7):
        shard = shards[0]
        whole = [*prefix[:-1], *shard.tokens[r, :-1].tolist()]
        rows = target.cached().extend([whole])
        expected = rows.hidden[0, len(prefix) - 1 :]
        assert np.allclose(shard.last[r], expected.numpy(), atol=2e-2)
        if shard.temperature[r] == 0:
            answering, last = False, None
            for i, token in enumerate(shard.tokens[r, 1:].tolist()):
                if last == opens:
                    answering = token == assistant
                elif answering:
                    favourites += 1
                    assert token == int(rows.logits[0, len(prefix) - 1 + i].argmax())
                last = token
    assert favourites > 10


def test_a_shard_is_made_again_alike_and_a_torn_one_is_not_there(written, tmp_path):
    target, tokenizer, text = written
    write.write_shard(target, tokenizer, tmp_path, 0, 64, 40, 1)
    again, first = read_shards(tmp_path)[0], read_shards(text)[0]
    assert np.array_equal(again.tokens, first.tokens)
    (tmp_path / "text-0000.npz").unlink()
    assert read_shards(tmp_path) == []


def test_users_ask_about_passages_from_earlier_answers(written, monkeypatch):
    """A stretch of one answer, written at a low temperature; then the user's turn is closed and an answer begins."""
    _, tokenizer, text = written
    monkeypatch.setattr(write, "PASSAGE", (3, 6))
    turn, shards = write.turns(tokenizer), read_shards(text)
    words, lengths = tokenizer("a b").input_ids, set()
    ending = [*turn.close, *turn.answer]
    assert [WORDS[i] for i in ending] == ["<end>", "<turn>", "assistant"]
    cool = [row.tolist() for s in shards for row, t in zip(s.tokens, s.temperature) if t <= write.COOL]
    for seed in range(20):
        ids = write.open_with("a b{text}", shards, tokenizer, turn, random.Random(seed))
        assert ids[:2] == words
        assert ids[-3:] == ending
        quoted = ids[2:-3]
        lengths.add(len(quoted))
        assert WORDS.index("<end>") not in quoted
        after = [*turn.answer, *quoted]
        assert any(row[i : i + len(after)] == after for row in cool for i in range(len(row)))
    assert lengths <= {3, 4, 5, 6} and max(lengths) == 6
    assert write.open_with("a b{text}", [], tokenizer, turn, random.Random(0)) == words
    assert write.open_with("a b", shards, tokenizer, turn, random.Random(0)) == words


@pytest.mark.parametrize("name", recipes.KINDS)
def test_training_helps_and_can_be_continued(written, folder, tmp_path, name):
    target, tokenizer, text = written
    (text / f"{name}.pt").unlink(missing_ok=True)
    said = []
    trainer = recipes.train(name, target, tokenizer, text, tokens=60_000, say=said.append)
    trained = trainer.look()[0]
    fresh = recipes.KINDS[name].net(target.hf, trainer.net.head.ids)
    untrained = Trainer(fresh, trainer.text).look()[0]
    assert trained.kl < 0.8 * untrained.kl
    assert trained.overlap > untrained.overlap
    assert said

    recipes.export(trainer, name, target, tmp_path / f"{name}.safetensors")
    lab = load(folder, device="cpu", weights=tmp_path)
    stored = Trainer(trained_module.load_net(name, lab.target, tmp_path).requires_grad_(), trainer.text)
    assert stored.look()[0].overlap == pytest.approx(trained.overlap, abs=0.02)  # what 8 bits may cost
    trace = lab.speculative([1, 3, 5, 6, 7], lab.drafter(name), temperature=1.0, max_new_tokens=120)
    trace.check()
    assert sum(len(r.drafted) for r in trace.rounds) > 0

    tokens = trainer.tokens
    more = recipes.train(name, target, tokenizer, text, tokens=63_000, say=said.append)
    assert more.tokens > tokens
    assert len(more.history[-1]["steps"]) == {"eagle": 3, "medusa": 4}.get(name, 1)
    assert any("Going on" in line for line in said)
    assert json.loads((text / f"{name}.json").read_text(encoding="utf-8")) == more.history


@pytest.fixture(scope="module")
def sharp(folder, tmp_path_factory):
    """The target again, so sure of its next token that a draft for another position is mostly wrong; with T = 1 text.

    (a Lab, the folder of the text)
    """
    path, text = (tmp_path_factory.mktemp(name) for name in ("sharp", "text"))
    shutil.copytree(folder, path, dirs_exist_ok=True)
    hf = LlamaForCausalLM.from_pretrained(folder)
    hf.lm_head.weight.data.mul_(16)
    hf.save_pretrained(path)
    lab = load(str(path), device="cpu", weights=text)
    lab.eos = frozenset()  # as in the text to learn from, which goes on after an end
    with pytest.MonkeyPatch.context() as m:
        m.setattr(write, "TEMPERATURES", (1.0,))
        recipes.write(lab.target, lab.tokenizer, text, 256 * 40, rows=256, length=40, say=lambda line: None)
    return lab, text


def promise_and_traces(lab, text, name, gamma):
    """The held-out Σ min(p, q) of each drafting step, and what the exported drafter then does at temperature 1."""
    trainer = recipes.train(name, lab.target, lab.tokenizer, text, tokens=60_000, say=lambda line: None)
    recipes.export(trainer, name, lab.target, text / f"{name}.safetensors")
    prefix, begun = write.turns(lab.tokenizer).prefix[:-1], read_shards(text)[0].tokens[:128, :8].tolist()
    settings = {"gamma": gamma, "temperature": 1.0, "max_new_tokens": 32, "keep": Keep(rows=True)}
    traces = [lab.speculative(prefix + b, name, request=i, **settings) for i, b in enumerate(begun)]
    return [fit.overlap for fit in trainer.look()], traces


@pytest.mark.parametrize("name", recipes.KINDS)
def test_drafts_are_accepted_as_often_as_training_promised(sharp, name):
    """So training and drafting mean the same positions."""
    promised, traces = promise_and_traces(*sharp, name, gamma=1)
    together = Trace([], [r for t in traces for r in t.rounds])
    assert together.alpha_by_position == pytest.approx(promised[:1], abs=0.05)


def test_each_medusa_head_drafts_for_the_position_that_it_learned(sharp):
    """Against p along the text that came out: acceptance at a depth would count only rounds that got there."""
    promised, traces = promise_and_traces(*sharp, "medusa", gamma=4)
    overlaps = [[], [], [], []]
    for trace in traces:
        p = Sampler(1.0)(sharp[0].target.cached().extend([trace.prompt + trace.tokens]).logits[0])
        for r in trace.rounds:
            for depth, (p_row, q_row) in enumerate(zip(p[r.start - 1 :], r.q_rows)):
                overlaps[depth].append(float(torch.minimum(p_row, q_row).sum()))
    assert [np.mean(x) for x in overlaps] == pytest.approx(promised, abs=0.06)


def test_a_target_in_half_precision_trains_students_in_full(folder, tmp_path):
    target, tokenizer = load_model(folder, "cpu", dtype="bfloat16")
    recipes.write(target, tokenizer, tmp_path, tokens=32 * 30, rows=32, length=30, say=lambda line: None)
    for name in recipes.KINDS:
        trainer = recipes.train(name, target, tokenizer, tmp_path, tokens=1_000, say=lambda line: None)
        assert {p.dtype for p in trainer.net.parameters()} == {torch.float32}
        assert all(torch.isfinite(p).all() for p in trainer.net.parameters())
        recipes.export(trainer, name, target, tmp_path / f"{name}.safetensors")
        lab = load(folder, device="cpu", dtype="bfloat16", weights=tmp_path)
        lab.speculative([1, 3, 5, 6, 7], lab.drafter(name), max_new_tokens=20).check()


def with_a_cut_head(net, target):
    cut = recipes.KINDS["model"].net(target.hf, torch.tensor([0, 1, 3, 4, 5, 6, 7, 8]))
    cut.load_state_dict(net.state_dict())
    return cut


def test_as_a_plain_llama_the_draft_model_leaves_nearly_nothing_to_tokens_outside_its_head(written):
    target, tokenizer, text = written
    trainer = recipes.train("model", target, tokenizer, text, tokens=20_000, say=lambda line: None)
    net, texts = with_a_cut_head(trainer.net, target), read_shards(text)[0].tokens.astype(int)
    whole = whole_llama(net, target.hf, texts[8:].tolist())
    with torch.no_grad():
        p = whole(torch.tensor(texts[:8])).logits.softmax(-1)
        rows = net.llama.model(torch.tensor(texts[:8])).last_hidden_state
        assert 1 - p[..., net.head.ids].sum(-1).mean() < 1e-2
        assert (p[..., net.head.ids] - net.head(rows).softmax(-1)).abs().sum(-1).mean() < 1e-2


def test_the_draft_model_works_in_transformers_own_assisted_generation(written, folder, tmp_path, capsys):
    """As a plain folder: the same choices as ours, and none outside the head; its output is plain greedy decoding."""
    target, tokenizer, text = written
    trainer = recipes.train("model", target, tokenizer, text, tokens=2_000, say=lambda line: None)
    trainer.net = with_a_cut_head(trainer.net, target)
    recipes.export(trainer, "model", target, tmp_path / "model.safetensors")
    argv = ["export", str(tmp_path / "llama"), "--device", "cpu", "--target", folder, "--weights", str(tmp_path)]
    assert main(argv) == 0
    draft, _ = load_model(str(tmp_path / "llama"), "cpu")
    ours = load(folder, device="cpu", weights=tmp_path).drafter("model").model
    prompt = [1, 3, 5, 6, 7, 0]
    said = draft.cached().extend([prompt]).logits[0].argmax(-1)
    assert said.tolist() == ours.ids[ours.cached().extend([prompt]).logits[0].argmax(-1)].tolist()
    ids = torch.tensor([prompt])
    for sampled in (False, True):
        torch.manual_seed(0)
        out = target.hf.generate(ids, assistant_model=draft.hf, max_new_tokens=20, do_sample=sampled, pad_token_id=0)
        assert out.shape[1] > 6
    plain = target.hf.generate(ids, max_new_tokens=20, do_sample=False, pad_token_id=0)
    assisted = target.hf.generate(ids, assistant_model=draft.hf, max_new_tokens=20, do_sample=False, pad_token_id=0)
    assert torch.equal(plain, assisted)


def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(written, monkeypatch):
    target, tokenizer, text = written
    path = text / "eagle.pt"

    def weights(trainer):
        return torch.cat([p.detach().flatten() for p in trainer.net.parameters()])

    path.unlink(missing_ok=True)
    whole = weights(recipes.train("eagle", target, tokenizer, text, tokens=8_000, say=lambda line: None))
    path.unlink()
    for stop in (5, 19):  # in the first stage, and in the second
        look, steps = Trainer.loss, []

        def interrupted(self, *a, look=look, steps=steps, stop=stop):
            steps.append(a)
            if len(steps) == stop:
                raise KeyboardInterrupt
            return look(self, *a)

        with monkeypatch.context() as m:
            m.setattr(Trainer, "loss", interrupted)
            with pytest.raises(KeyboardInterrupt):
                recipes.train("eagle", target, tokenizer, text, tokens=8_000, say=lambda line: None)
    resumed = recipes.train("eagle", target, tokenizer, text, tokens=8_000, say=lambda line: None)
    assert torch.equal(weights(resumed), whole)
    assert len(resumed.history[-1]["steps"]) == 3


def test_held_out_texts_are_never_trained_on(written):
    target, tokenizer, text = written
    shards = read_shards(text)
    batches = Text(target, write.turns(tokenizer).prefix, shards)
    assert batches.held == 8
    held = {row.tobytes() for row in shards[0].tokens[:8, :-1].astype(np.int64)}
    draw = np.random.default_rng(0)
    for _ in range(40):
        tokens = batches.random(8, draw)[0][:, -40:]
        assert not held & {row.numpy().tobytes() for row in tokens}


def test_exit_rows_are_read_for_early_exit_alone(written, tmp_path, monkeypatch):
    target, tokenizer, text = written
    shards = [replace(shard, exit=None) for shard in read_shards(text)]
    monkeypatch.setattr(recipes, "read_shards", lambda folder: shards)
    for name in set(recipes.KINDS) - {"early-exit"}:
        recipes.train(name, target, tokenizer, tmp_path, tokens=1_000, say=lambda line: None)
    with pytest.raises(TypeError, match="not subscriptable"):
        recipes.train("early-exit", target, tokenizer, tmp_path, tokens=1_000, say=lambda line: None)


def test_torn_and_foreign_files_are_one_sentence(written, folder, tmp_path):
    target, tokenizer, text = written
    (tmp_path / "medusa.safetensors").write_bytes(b"torn")
    lab = load(folder, device="cpu", weights=tmp_path)
    with pytest.raises(LabError, match="cannot be read"):
        lab.drafter("medusa")
    for name in ("untrained", "model"):
        with pytest.raises(LabError, match="no weights for the drafter “model”"):
            lab.drafter(name)
    trainer = recipes.train("medusa", target, tokenizer, text, tokens=1_000, say=lambda line: None)
    recipes.export(trainer, "medusa", target, tmp_path / "medusa.safetensors")
    lab.target.layers = 9
    with pytest.raises(LabError, match="was trained for"):
        lab.drafter("medusa")
    (text / "medusa.pt").write_bytes(b"torn")
    with pytest.raises(LabError, match="delete it to begin anew"):
        recipes.train("medusa", target, tokenizer, text, tokens=2_000)
    (text / "medusa.pt").unlink()
    other = load_model(folder, "cpu")[0]
    other.name = "somebody else"
    with pytest.raises(LabError, match="was written by"):
        recipes.train("medusa", other, tokenizer, text, tokens=2_000)


def test_a_shard_that_was_not_finished_is_not_there(written, tmp_path, monkeypatch):
    target, tokenizer, _ = written
    replaced = Path.replace

    def fails(self, to):
        if Path(to).name.startswith("exit"):
            raise KeyboardInterrupt
        return replaced(self, to)

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        write.write_shard(target, tokenizer, tmp_path, 0, 8, 10, 1)
    assert read_shards(tmp_path) == []
    assert not list(tmp_path.glob("unfinished*"))


def test_a_full_disk_is_one_sentence_before_anything_is_written(written, tmp_path, monkeypatch):
    target, tokenizer, _ = written
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2_000_000))
    with pytest.raises(LabError, match="needs 3 MB of disk, and .* has 2 MB free: make room"):
        recipes.write(target, tokenizer, tmp_path, tokens=20_000, rows=64, length=40, say=lambda line: None)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    recipes.write(target, tokenizer, tmp_path, tokens=2_000, rows=64, length=40, say=lambda line: None)
    assert len(read_shards(tmp_path)) == 1


def test_a_seed_gives_the_same_weights(written):
    target, tokenizer, text = written
    weights = []
    for _ in range(2):
        (text / "medusa.pt").unlink(missing_ok=True)
        weights.append(recipes.train("medusa", target, tokenizer, text, tokens=5_000, say=lambda line: None).net)
    for a, b in zip(weights[0].parameters(), weights[1].parameters()):
        assert torch.equal(a, b)


@pytest.mark.parametrize("kind", ["kl", "tv"])
def test_the_gradient_of_the_loss_is_that_of_its_formula(kind):
    torch.manual_seed(0)
    student, teacher, head = torch.randn(600, 8), torch.randn(600, 8), torch.randn(20, 8)
    weight = torch.rand(600)
    ours = student.clone().requires_grad_()
    loss, fit = divergence(ours, teacher, head, weight, kind)
    loss.backward()
    theirs = student.clone().requires_grad_()
    p, log_q = (teacher @ head.T).softmax(-1), (theirs @ head.T).log_softmax(-1)
    overlap = torch.minimum(p, log_q.exp()).sum(-1)
    kl = (p * (p.log() - log_q)).sum(-1)
    (weight * (kl if kind == "kl" else 1 - overlap)).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)
    assert fit.overlap == pytest.approx(float((weight * overlap).sum().detach() / weight.sum()), abs=1e-5)


def test_the_command_writes_trains_and_says_where(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(recipes.write, "__defaults__", (32, 40, print))
    argv = ["train", "medusa", "--json", "--device", "cpu", "--target", folder, "--folder", str(tmp_path)]
    assert main([*argv, "--write", "2k", "--tokens", "4k"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["weights"] == str(tmp_path / "medusa.safetensors")
    assert result["tokens"] >= 4000


def test_the_card_says_what_the_files_say(written, folder, tmp_path, capsys, monkeypatch):
    """Of a tiny run: its checkpoints, its weights and two benchmarks, the first with too few prompts for an interval."""
    target, tokenizer, text = written
    fits = {}
    for name in TRAINED:
        (text / f"{name}.pt").unlink(missing_ok=True)
        trainer = recipes.train(name, target, tokenizer, text, tokens=4_000, say=lambda line: None)
        recipes.export(trainer, name, target, tmp_path / f"{name}.safetensors")
        fits[name] = trainer.history[-1]["steps"]
    prompts = [{"id": i, "kind": "ab"[i % 2], "prompt": "a b c d e f"[: 2 * i + 1]} for i in range(6)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(map(json.dumps, prompts)), encoding="utf-8")
    argv = ["bench", "--json", "--device", "cpu", "--target", folder, "--weights", str(tmp_path)]
    argv += ["--drafters", "lookup,medusa", "--prompts", str(tmp_path / "prompts.jsonl"), "--max-new-tokens", "6"]
    benches = []
    for limit, timed in (("1", []), ("3", ["--timed", "3"])):
        assert main([*argv, "--limit", limit, *timed]) == 0
        (tmp_path / f"{limit}.json").write_text(capsys.readouterr().out, encoding="utf-8")
        rows = json.loads((tmp_path / f"{limit}.json").read_text(encoding="utf-8"))["rows"]
        benches.append({r["arm"]: r for r in rows if r["kind"] == "overall"})

    monkeypatch.setattr("sys.argv", ["card", str(text), str(tmp_path), *(str(tmp_path / f"{n}.json") for n in "13")])
    runpy.run_module("specdec_lab.train.card", run_name="__main__")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert f"Drafters for {target.name}. They" in card
    assert "its 12 most frequent tokens" in card
    assert "The target computed in float32" in card
    lines = card.splitlines()
    for name, steps in fits.items():
        cells = next(line for line in lines if line.startswith(f"| {name} | ") and "tokens" in line).split(" | ")
        shown = [[float(x) for x in cell.strip(" |").split(", ")] for cell in cells[3:]]
        assert shown == [[round(step[x], 3) for step in steps] for x in ("overlap", "kl", "agree")]
    svg = (tmp_path / "training.svg").read_text(encoding="utf-8")
    assert all(f"{name}: {steps[0]['overlap']:.3g} at" in svg for name, steps in fits.items())
    assert ["; times of the first 3 of each kind." in x for x in lines if "On the built-in" in x] == [False, True]
    for arm in ("lookup", "medusa"):
        small, large = (line.split(" | ") for line in lines if line.startswith(f"| {arm} | 4 | "))
        for cells, rows in zip((small, large), benches):
            assert cells[2] == f"{rows[arm]['tokens_per_pass']:.2f}"
            assert cells[-1] == f"{rows[arm]['ratio_predicted']:.2f} |"
        low, high = benches[1][arm]["ratio_interval"]
        assert small[-2] == f"{benches[0][arm]['ratio_to_plain']:.2f}"
        assert large[-2] == f"{benches[1][arm]['ratio_to_plain']:.2f} ({low:.2f}–{high:.2f})"


def test_older_shards_do_not_say_their_precision(written, tmp_path):
    for file in written[2].glob("*-0000*"):
        shutil.copy(file, tmp_path)
    arrays = dict(np.load(tmp_path / "text-0000.npz"))
    assert str(arrays.pop("precision")) == "float32"
    np.savez(tmp_path / "text-0000.npz", **arrays)
    assert read_shards(tmp_path)[0].precision == "an unknown precision"


@pytest.mark.parametrize(("name", "says"), [("magic", "no recipe “magic”"), ("eagle", "no text in")])
def test_bad_requests_are_one_sentence(written, tmp_path, name, says):
    with pytest.raises(LabError, match=says):
        recipes.train(name, *written[:2], tmp_path, 1_000)
