"""The commands and their JSON, as another program sees them."""

import json
import subprocess
import sys

import pytest

from specdec_lab.cli import main

DEMO = {
    "schema", "device", "hardware", "target", "drafter", "gamma", "temperature", "seed", "prompt_tokens", "text",
    "plain_text", "identical", "stop", "target_passes", "new_tokens", "tokens_per_pass", "alpha", "alpha_by_position",
    "rounds",
}  # fmt: skip


def run(capsys, *argv) -> tuple[int, str, str]:
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


def test_demo_json_in_a_process_of_its_own():
    command = [sys.executable, "-m", "specdec_lab", "demo", "--json", "--device", "cpu", "--max-new-tokens", "24"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)  # one object and nothing else
    assert set(result) == DEMO
    assert result["identical"] is True
    assert result["text"] == result["plain_text"]
    assert result["new_tokens"] == sum(
        sum(d["status"] == "accepted" for d in r["drafted"]) + (r["emitted"] is not None) for r in result["rounds"]
    )
    assert result["tokens_per_pass"] == result["new_tokens"] / result["target_passes"] > 1
    assert all(d["u"] is None and d["p"] in (0, 1) and d["q"] == 1 for r in result["rounds"] for d in r["drafted"])


def test_demo_sampled_with_the_dial(capsys):
    argv = ["demo", "--json", "--device", "cpu", "--drafter", "dial", "--temperature", "1", "--max-new-tokens", "16"]
    code, out, _ = run(capsys, *argv)
    result = json.loads(out)
    assert (code, result["identical"], result["drafter"]) == (0, None, "dial")
    draft = result["rounds"][0]["drafted"][0]
    assert 0 <= draft["u"] < 1
    assert 0 < draft["q"] < 1
    assert (draft["u"] * draft["q"] < draft["p"]) == (draft["status"] == "accepted")


def test_demo_text_has_marks_by_symbol_without_colour(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    code, out, _ = run(capsys, "demo", "--device", "cpu", "--max-new-tokens", "20")
    assert code == 0
    assert "\x1b" not in out
    for mark in "✓✗↻+–":
        assert mark in out
    assert "Identical to plain decoding, token for token." in out


def test_demo_text_in_colour(capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, out, _ = run(capsys, "demo", "--device", "cpu", "--max-new-tokens", "8")
    assert "\x1b[38;2;0;158;115m✓" in out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--gamma", "0"], "γ is 0"),
        (["--temperature", "-1"], "temperature is -1.0"),
        (["--prompt", ""], "prompt is empty"),
        (["--prompt", "word " * 9000], "shorten the prompt"),
        (["--drafter", "magic"], "no drafter “magic”"),
        (["--drafter", "dial", "--alpha", "2"], "between 0 and 1"),
        (["--device", "tpu"], "no device “tpu”"),
        (["--max-new-tokens", "0"], "at least 1"),
        (["--seed", "-3"], "seed is -3"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, argv, says):
    code, out, err = run(capsys, "demo", *(["--device", "cpu"] if "--device" not in argv else []), *argv)
    assert code == 2
    assert out == ""
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_an_error_is_json_too_when_asked(capsys):
    code, out, _ = run(capsys, "demo", "--device", "tpu", "--json")
    assert code == 2
    assert "tpu" in json.loads(out)["error"]


def test_doctor_json(capsys):
    code, out, _ = run(capsys, "doctor", "--json", "--device", "cpu")
    result = json.loads(out)
    assert set(result) == {"schema", "device", "hardware", "dtype", "memory_gb", "versions", "pair", "missing"}
    assert result["device"] == "cpu"
    assert code == bool(result["missing"])


def test_doctor_names_what_is_missing_and_what_mends_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    code, out, _ = run(capsys, "doctor", "--device", "cpu")
    assert code == 1
    assert "specdec-lab fetch" in out
    monkeypatch.setattr("specdec_lab.cli.doctor.PACKAGES", {"no-such-package": "[lab]"})
    _, out, _ = run(capsys, "doctor", "--json", "--device", "cpu")
    assert {"what": "no-such-package", "mend": 'pip install "specdec-lab[lab]"'} in json.loads(out)["missing"]
