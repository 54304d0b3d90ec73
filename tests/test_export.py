"""What training leaves behind: weights and the model card; and files that cannot be used."""

import json

import pytest
import torch
from models_on_disk import train_on
from safetensors.torch import save_file

from specdec_lab import load
from specdec_lab.errors import LabError
from specdec_lab.models.load import load_model
from specdec_lab.train import own


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
