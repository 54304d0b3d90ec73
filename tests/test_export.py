"""What training leaves behind: weights, a plain Llama folder, the model card; and files that cannot be used."""

import json

import numpy as np
import pytest
import torch
from models_on_disk import train_on
from safetensors.torch import save_file

from specdec_lab import load
from specdec_lab.cli import main
from specdec_lab.errors import LabError
from specdec_lab.models.export import whole_llama
from specdec_lab.models.load import load_model
from specdec_lab.train import own
from specdec_lab.train.answers import LEARNED, read_answers


def with_a_cut_head(net, target):
    cut = own.KINDS["model"].net(target.hf, torch.tensor([0, 1, 3, 4, 5, 6, 7, 8]))
    cut.load_state_dict(net.state_dict())
    return cut


def test_a_plain_llama_leaves_nearly_nothing_outside_the_head(written):
    """To tokens that the draft model cannot draft."""
    target, tokenizer, text = written
    trainer = train_on("model", target, tokenizer, text, 4_000)
    net, answers = with_a_cut_head(trainer.net, target), read_answers(text / LEARNED, target)
    texts = np.array([answers.text(i)[:24] for i in range(len(answers)) if answers.length[i] >= 24])
    whole = whole_llama(net, target.hf, texts[8:].tolist())
    with torch.no_grad():
        p = whole(torch.tensor(texts[:8])).logits.softmax(-1)
        rows = net.llama.model(torch.tensor(texts[:8])).last_hidden_state
        q = (rows @ net.head.weight.T).softmax(-1)
        p, q = p[:, 1:, net.head.ids], q[:, 1:]  # before a first token all are as likely
        assert 1 - p.sum(-1).mean() < 1e-2
        assert (p - q).abs().sum(-1).mean() < 1e-2


def test_the_draft_model_works_in_assisted_generation(written, writer, tmp_path, capsys):
    """As a plain folder: the same choices as ours, and none outside the head; its output is plain greedy decoding."""
    target, tokenizer, text = written
    trainer = train_on("model", target, tokenizer, text, 2_000)
    trainer.net = with_a_cut_head(trainer.net, target)
    own.export(trainer, "model", tmp_path / "model.safetensors")
    argv = ["export", str(tmp_path / "llama"), "--device", "cpu", "--target", writer, "--weights", str(tmp_path)]
    assert main(argv) == 0
    draft, _ = load_model(str(tmp_path / "llama"), "cpu")
    ours = load(writer, device="cpu", weights=tmp_path).drafter("model").model
    prompt = [1, 3, 5, 8, 5, 0]  # words of the built-in prompts: only there outsiders are sure to be low
    said = draft.cached().extend([prompt]).logits[0].argmax(-1)
    assert said.tolist() == ours.ids[ours.cached().extend([prompt]).logits[0].argmax(-1)].tolist()
    ids, more = torch.tensor([prompt]), {"max_new_tokens": 20, "pad_token_id": 0}
    plain = target.hf.generate(ids, do_sample=False, **more)
    assert torch.equal(plain, target.hf.generate(ids, do_sample=False, assistant_model=draft.hf, **more))
    torch.manual_seed(0)
    assert target.hf.generate(ids, do_sample=True, assistant_model=draft.hf, **more).shape[1] > 6


def test_torn_and_foreign_files_are_one_sentence(written, writer, tmp_path):
    target, tokenizer, text = written
    (tmp_path / "medusa.safetensors").write_bytes(b"torn")
    lab = load(writer, device="cpu", weights=tmp_path)
    with pytest.raises(LabError, match="cannot be read"):
        lab.drafter("medusa")
    for name in ("untrained", "model"):
        with pytest.raises(LabError, match="no weights for the drafter “model”"):
            lab.drafter(name)
    trainer = train_on("medusa", target, tokenizer, text, 1_000)
    own.export(trainer, "medusa", tmp_path / "medusa.safetensors")
    lab.target.layers = 9
    with pytest.raises(LabError, match="was trained for"):
        lab.drafter("medusa")
    shape = {"hidden_size": 1, "layers": 1, "vocab_size": 1}
    for known, ids in ((shape, torch.zeros(1)), (shape | {"target": "another"}, torch.zeros(0))):
        save_file({"ids": ids}, tmp_path / "medusa.safetensors", {"about": json.dumps(known)})
        with pytest.raises(LabError, match="cannot be read"):
            lab.drafter("medusa")
    (text / "medusa.pt").write_bytes(b"torn")
    with pytest.raises(LabError, match="delete it"):
        train_on("medusa", target, tokenizer, text, 2_000)
    (text / "medusa.pt").unlink()
    other = load_model(writer, "cpu")[0]
    other.name = "somebody else"
    with pytest.raises(LabError, match="was written by"):
        train_on("medusa", other, tokenizer, text, 2_000)
