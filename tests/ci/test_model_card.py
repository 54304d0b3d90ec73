"""The model card of the shipped weights says what their files say."""

import json
import runpy
from pathlib import Path

import pytest
from models_on_disk import train_on
from train_drafter import evaluate_by_kind

from specdec_lab import load
from specdec_lab.choices import TRAINED
from specdec_lab.cli import main
from specdec_lab.train import own

pytestmark = pytest.mark.usefixtures("small_batches")


def test_the_card_says_what_the_files_say(written, writer, tmp_path, capsys, monkeypatch):
    """Of a tiny run: its checkpoints, its weights and a benchmark."""
    target, tokenizer, text = written
    fits = {}
    for name in TRAINED:
        (text / f"{name}.pt").unlink(missing_ok=True)
        trainer = train_on(name, target, tokenizer, text, 4_000)
        own.export(trainer, name, tmp_path / f"{name}.safetensors", held_out_by=evaluate_by_kind(trainer))
        fits[name] = trainer.history[-1]["steps"]
    prompts = [{"id": i, "kind": "ab"[i % 2], "prompt": "a b c d e f"[: 2 * i + 1]} for i in range(6)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(map(json.dumps, prompts)), encoding="utf-8")
    argv = ["bench", "--json", "--device", "cpu", "--target", writer, "--weights", str(tmp_path)]
    argv += ["--drafters", "lookup,medusa", "--prompts", str(tmp_path / "prompts.jsonl"), "--max-new-tokens", "6"]
    argv += ["--limit", "3", "--timed", "3"]
    assert main(argv) == 0
    bench = tmp_path / "bench.json"
    bench.write_text(capsys.readouterr().out, encoding="utf-8")
    rows = {r["arm"]: r for r in json.loads(bench.read_text(encoding="utf-8"))["rows"] if r["kind"] == "overall"}

    monkeypatch.setattr("sys.argv", ["card", str(text), str(tmp_path), str(bench)])
    runpy.run_path(str(Path(__file__).parents[2] / "tools" / "model_card.py"), run_name="__main__")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert target.name in card and "its 12 most frequent tokens" in card
    lines = card.splitlines()
    for name, steps in fits.items():
        cells = next(line for line in lines if line.startswith(f"| {name} | ") and "tokens" in line).split(" | ")
        shown = [[float(x) for x in cell.strip(" |").split(", ")] for cell in cells[3:]]
        assert shown == [[round(step[x], 3) for step in steps] for x in ("overlap", "kl", "agree")]
    (of,) = (x for x in lines if "`prompts.jsonl`**, temperature 0, 6 tokens" in x)
    assert "first 3 of each kind" in of and f"{load(writer, device='cpu').hardware}, float32" in of
    for arm in ("lookup", "medusa"):
        (cells,) = (line.split(" | ") for line in lines if line.startswith(f"| {arm} | 4 | "))
        low, high = rows[arm]["ratio_interval"]
        assert cells[2] == f"{rows[arm]['tokens_per_pass']:.2f}"
        assert cells[-2] == f"{rows[arm]['ratio_to_plain']:.2f} ({low:.2f}–{high:.2f})"
        assert cells[-1] == f"{rows[arm]['ratio_from_parts']:.2f} |"
