"""Trainings of each kind of student: they help, go on where they were interrupted, and learn from what the target wrote."""

import json
import shutil

import numpy as np
import pytest
import torch
from models_on_disk import train_on

from specdec_lab import load
from specdec_lab.cli import main
from specdec_lab.drafters import trained as trained_module
from specdec_lab.errors import LabError
from specdec_lab.train import answers as answers_module
from specdec_lab.train import loop, own, write
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, Batches, read_answers
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


def test_training_can_begin_with_weights(train, tmp_path):
    """And not only with parts of the target."""
    first = train("eagle", 1_600)
    own.export(first, "eagle", tmp_path / "eagle.safetensors")
    began = [train("eagle", 0, start=start) for start in (None, tmp_path)]
    assert (first.before, began[1].before) == (0, first.tokens)
    cold, warm = (trainer.history[0]["steps"][0]["kl"] for trainer in began)
    assert warm == pytest.approx(first.history[-1]["steps"][0]["kl"], rel=0.1)  # stored in 8 bits
    assert cold > 1.2 * warm


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


def test_torn_and_missing_weights_are_one_sentence(writer, tmp_path):
    (tmp_path / "medusa.safetensors").write_bytes(b"torn")
    lab = load(writer, device="cpu", weights=tmp_path)
    for name, said in (("medusa", "cannot be read"), ("model", "no weights for the drafter “model”")):
        with pytest.raises(LabError, match=said):
            lab.drafter(name)
