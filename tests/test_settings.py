"""What is asked for on the command line is what is measured, in every part of a report; and the result says so."""

import json
from types import SimpleNamespace

import pytest
from stand_ins import FakeLab

from specdec_lab.cli import main
from specdec_lab.engine.processors import RepetitionPenalty
from specdec_lab.engine.sampling import GREEDY
from specdec_lab.errors import LabError
from specdec_lab.measure import bench, traffic

ASKED = {"seed": 7, "temperature": 0.5, "max_new_tokens": 9}
OPTIONS = ["--json", "--seed", "7", "--temperature", "0.5", "--max-new-tokens", "9"]


@pytest.fixture
def mine(tmp_path) -> str:
    """A file of twelve prompts, four of each kind, of which the longest is no text for a chat."""
    lines = [{"id": f"p{i}", "kind": "cab"[i % 3], "prompt": "x" * (i + 5), "raw": i == 11} for i in range(12)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(tmp_path / "mine.jsonl")


@pytest.fixture
def lab(monkeypatch):
    """Decodes nothing; `lab.asked` has every text that was asked for, and with what."""
    lab = FakeLab(context=1000)
    lab.hardware = "no machine"
    vars(lab.target).update(device="cpu", dtype="torch.float32", precision="float32")
    for verb in ("bench", "traffic"):
        monkeypatch.setattr(f"specdec_lab.cli.{verb}.lab_from", lambda args: lab)
    monkeypatch.setattr(bench, "pass_times", lambda target, widths: {k: [1.0] for k in widths})
    monkeypatch.setattr(bench, "best_gamma", lambda pilot, plain, ids, cost: 3)
    monkeypatch.setattr(bench, "rows", lambda prompts, runs, timed: [])
    return lab


def drawn_with(settings: dict) -> dict:
    """Of what a text was asked for with, that which is the same for all texts of a command."""
    return {key: value for key, value in settings.items() if key not in ("request", "gamma")}


def test_pilots_and_measurements_have_the_commands_settings(lab, mine, monkeypatch, capsys):
    """A γ that is best for other texts is not the best; and no prompt of a pilot is measured, or timed."""
    command = ["bench", "--prompts", mine, *OPTIONS, "--drafters", "lookup,model", "--gamma", "best"]
    assert main([*command, "--timed", "1", "--repeats", "2"]) == 0
    meta = json.loads(capsys.readouterr().out)["meta"]
    assert ASKED.items() <= meta.items() and (meta["repeats"], meta["timed"]) == (2, 1)
    assert all(drawn_with(settings) == ASKED for _, _, settings in lab.asked)

    lengths = {f"p{i}": i + 5 + 100 * (i == 11) for i in range(12)}
    pilot = [lengths[i] for i in meta["pilot"]]
    assert len(pilot) == 3
    decoded = [len(ids) for arm, ids, _ in lab.asked if arm == "plain" and len(ids) > 4]
    piloted, measured = decoded[:3], decoded[3:]
    assert piloted == pilot and not set(pilot) & set(measured)
    once = [n for n in lengths.values() if n not in pilot]
    assert measured == once + once[:3]  # and the first of each kind once more: of those that are measured


def test_a_text_that_ends_early_is_another(lab, mine, capsys):
    """All that was written is alike, and one has more of it."""
    command = ["bench", "--prompts", mine, "--json", "--drafters", "lookup", "--gamma", "2"]
    assert main(command) == 0
    meta = json.loads(capsys.readouterr().out)["meta"]
    assert (meta["identical_texts"], meta["texts"]) == (0, 12)
    lab.speculative = lambda ids, **settings: lab.plain(ids)
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["meta"]["identical_texts"] == 12


def test_a_report_on_traffic_has_the_commands_settings(lab, mine, monkeypatch):
    seen = []

    def compare_drafters(lab, prompts, drafters, repeats, say, **settings):
        seen.append((len(prompts), drafters, repeats, settings))
        raise LabError("That is enough.")

    monkeypatch.setattr(traffic, "compare_drafters", compare_drafters)
    lab.target.context = 24  # with an answer of 9 tokens there is room for 15
    assert main(["traffic", mine, *OPTIONS, "--drafters", "lookup,model", "--repeats", "5"]) == 2
    assert seen == [(11, ("lookup", "model"), 5, ASKED)]


def test_every_option_of_demo_reaches_the_decoding(monkeypatch, capsys):
    seen = []

    def speculative(prompt, drafter, **settings):
        seen.append((prompt, drafter, settings))
        raise LabError("That is enough.")

    lab = SimpleNamespace(
        draft=None, encode=lambda prompt: f"<{prompt}>", drafter=lambda name, alpha: (name, alpha), speculative=speculative,
        bias=lambda word, number: (word, number), only=lambda pattern: pattern,
    )  # fmt: skip
    monkeypatch.setattr("specdec_lab.cli.demo.lab_from", lambda args: lab)
    options = (
        "--alpha 0.5 --gamma 3 --top-k 5 --top-p 0.9 --min-p 0.1 --repetition-penalty 1.5 --only x --argmax-drafts"
    )
    command = ["demo", "--prompt", "hello", "--drafter", "dial", *options.split(), *OPTIONS, "--bias", "a=b=-2"]
    assert main([*command, "--stop", "s", "--stop", "t"]) == 2
    ((prompt, drafter, settings),) = seen
    assert settings.pop("processors") == [RepetitionPenalty(1.5), ("a=b", -2.0), "x"]
    assert (prompt, drafter) == ("<hello>", ("dial", 0.5))
    narrowed = {"top_k": 5, "top_p": 0.9, "min_p": 0.1, "stop_strings": ["s", "t"]}
    assert settings == ASKED | narrowed | {"gamma": 3, "draft_sampler": GREEDY}
