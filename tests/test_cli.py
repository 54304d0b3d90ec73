"""The commands and their JSON, as another program sees them."""

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest

from specdec_lab.choices import BENCHED, DRAFTERS, TRAINED
from specdec_lab.cli import main

pytestmark = pytest.mark.usefixtures("loaded_once")

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


WRONG = {
    "demo --gamma 0": "γ is 0",
    "demo --gamma 257": "at most 256",
    "demo --no-such-option": "--no-such-option",
    "train magic builtin": "magic",
    "demo --temperature -1": "--temperature: -1.0 is no temperature",
    "demo --prompt ''": "is empty",
    "bench --prompts nowhere.jsonl": "cannot be read",
    f"demo --prompt '{'word ' * 9000}'": "shorten the prompt",
    "demo --drafter magic": "no drafter “magic”",
    "demo --drafter dial --alpha 2": "between 0 and 1",
    "demo --alpha 0.5": "add --drafter dial",
    "demo --device tpu": "no device “tpu”",
    "demo --max-new-tokens 0": "at least 1",
    "demo --seed -3": "seed is -3",
    "bench --gamma 0": "at least 1",
    "bench --gamma ²": "--gamma",
    f"bench --gamma {'9' * 5000}": "--gamma",
    "bench --drafters lookup,magic": "no drafter “magic”",
    "bench --drafters suffix": "no drafter “suffix” to compare",  # it would learn a text from its own repeat
    "fetch --target another": "its --target",
    "traffic builtin --at-once 3": "--at-once is for a server",
    "traffic builtin --endpoint http://localhost:1/v1 --drafters eagle": "leave --drafters out",
}


@pytest.mark.parametrize(("command", "says"), WRONG.items(), ids=[command[:40] for command in WRONG])
def test_a_wrong_value_is_one_sentence(capsys, command, says):
    """And with --json an object that holds it."""
    argv = [*shlex.split(command), *([] if "--device" in command else ["--device", "cpu"])]
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert says in err and len(err) < 300 and len(err.strip().splitlines()) == 1
    if argv[0] != "fetch":  # which has nothing to print as JSON
        code, out, _ = run(capsys, *argv, "--json")
        assert code == 2 and says in json.loads(out)["error"]


def test_doctor_names_what_is_missing_and_what_mends_it(capsys, monkeypatch, tmp_path):
    code, out, _ = run(capsys, "doctor", "--json", "--device", "cpu")
    result = json.loads(out)
    assert set(result) == {"schema", "device", "hardware", "dtype", "memory_gb", "speed", "versions", "pair", "missing"}
    assert (result["device"], code) == ("cpu", bool(result["missing"]))
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    code, out, _ = run(capsys, "doctor", "--device", "cpu")
    assert code == 1 and "specdec-lab fetch" in out


def test_doctor_knows_every_package_and_its_range(capsys, monkeypatch):
    needs = ["torch>=99", "no-such-package"]
    needs += ['another>=1; extra == "lab"', 'nobody-here; extra == "dev"', 'nor-here; extra == "class"']
    monkeypatch.setattr("importlib.metadata.requires", lambda name: needs)
    _, out, _ = run(capsys, "doctor", "--json", "--device", "cpu")
    missing = {m["what"]: m["mend"] for m in json.loads(out)["missing"]}
    for name in ("no-such-package", "another"):
        assert missing[name].startswith('python install.py -c constraints.txt -e ".[lab]"')
    assert next(what for what in missing if what.startswith("torch >=99 (here is "))
    assert not {"nobody-here", "nor-here"} & set(missing)  # learners need neither


@pytest.fixture
def without_torch(tmp_path):
    """A process of the command with a torch that fails to import, ahead of the real one."""
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so is missing')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "300"}

    def run(*argv) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "specdec_lab", *argv]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    return run


def test_doctor_runs_where_torch_does_not(without_torch):
    done = without_torch("doctor", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["device"]) == (1, None)
    assert "libcudart.so is missing" in result["missing"][0]["what"]


@pytest.mark.parametrize(("verb", "names"), [("demo", DRAFTERS), ("bench", BENCHED), ("train", TRAINED)])
def test_help_names_every_drafter_and_needs_no_torch(without_torch, verb, names):
    done = without_torch(verb, "--help")
    assert done.returncode == 0 and ", ".join(names) in done.stdout


def test_a_server_that_never_answers_leaves_no_process(capsys, monkeypatch):
    from specdec_lab.cli import lab

    monkeypatch.setattr(lab, "PATIENCE", 0.5)
    monkeypatch.setattr(lab, "show_one_round", lambda *a: None)
    monkeypatch.setattr("specdec_lab.course.working_copy.working_copy", lambda folder: [])
    started = []
    popen = subprocess.Popen
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(lab.subprocess, "Popen", lambda *a, **k: started.append(popen(sleeper)) or started[0])
    code, _, err = run(capsys, "lab", "--port", "8955")
    assert (code, "does not answer on 127.0.0.1:8955" in err) == (2, True)
    assert started[0].poll() == -signal.SIGTERM
