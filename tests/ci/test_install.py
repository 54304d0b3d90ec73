"""install.py, with stand-ins for uv and pip: which of them installs, what is said, and with what status it ends."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV_FAILS = "error: Request failed after 3 retries\n  cause: Failed to fetch: the/index/of/torch\n  cause: no such host"
NO_UV = "ERROR: No matching distribution found for uv"
STAND_IN = """
import json, os, sys
from pathlib import Path

tool = Path(__file__).stem
step = "get uv" if sys.argv[-1] == "uv" else "settings" if "config" in sys.argv else tool
told = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "PIP_"))}
with open(os.environ["LOG"], "a") as log:
    print(json.dumps([step, sys.argv[1:], told]), file=log)
out, err, status = json.loads(os.environ["DO"]).get(step, ["", "", 0])
print(out)
print(err, file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture
def install(tmp_path):
    """Run install.py where uv and pip print and return what a test says. Returns (status, stderr, calls by step)."""
    for tool in ("uv", "pip"):
        (tmp_path / f"{tool}.py").write_text(STAND_IN)

    def run(*packages, do=None, **environment):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_"))}
        told = {"PYTHONPATH": str(tmp_path), "LOG": str(log), "DO": json.dumps(do or {})}
        command = [sys.executable, ROOT / "install.py", *packages]
        done = subprocess.run(command, env=clean | told | environment, capture_output=True, text=True)
        calls = [json.loads(line) for line in log.read_text().splitlines()]
        return done.returncode, done.stderr.strip(), {step: (args, env) for step, args, env in calls}

    return run


def test_uv_installs_the_build_that_fits_or_is_chosen(install):
    status, said, calls = install("-c", "constraints.txt", "something")
    assert (status, said) == (0, "")
    assert list(calls) == ["settings", "get uv", "uv"]
    args, _ = calls["uv"]
    assert args[-5:] == ["--torch-backend", "auto", "-c", "constraints.txt", "something"]
    assert args[args.index("--python") + 1] == sys.executable
    args, _ = calls["get uv"]
    assert args[-3:] == ["-c", str(ROOT / "constraints.txt"), "uv"]
    _, _, calls = install()  # the course itself
    assert calls["uv"][0][-4:] == ["-c", str(ROOT / "constraints.txt"), "-e", ".[lab]"]
    _, _, calls = install("torch", UV_TORCH_BACKEND="cpu")
    assert calls["uv"][0][-3:] == ["--torch-backend", "cpu", "torch"]


@pytest.mark.parametrize(
    ("step", "result", "tried", "why"),
    [
        ("uv", ["", UV_FAILS, 2], ["get uv", "uv"], "after 3 retries; Failed to fetch: the/index/of/torch"),
        ("get uv", ["", f"WARNING: a retry\n{NO_UV}", 1], ["get uv"], "pip could not fetch uv"),
    ],
)
def test_pip_installs_where_uv_could_not(install, step, result, tried, why):
    status, said, calls = install("--find-links", "here", "something", do={step: result})
    assert status == 0
    assert list(calls) == ["settings", *tried, "pip"]
    assert calls["pip"][0][-4:] == ["--quiet", "--find-links", "here", "something"]
    assert len(said.splitlines()) == 1
    assert f"{why})" in said


def test_when_both_fail_neither_is_hidden(install):
    do = {"uv": ["", UV_FAILS, 2], "pip": ["", "ERROR: there is no network", 7]}
    status, said, _ = install("something", do=do)
    assert status == 7
    assert "ERROR: there is no network" in said
    assert said.endswith(UV_FAILS)


def test_uv_is_told_where_pip_looks_for_packages(install):
    settings = [":env:.find-links='/a /b'", "global.extra-index-url='x\\ny'", "global.index-url='from the file'"]
    settings += ["install.index-url='for install'", "global.timeout='60'", "global.target='/elsewhere'"]
    _, _, calls = install("something", do={"settings": ["\n".join(settings), "", 0]})
    told = {"UV_FIND_LINKS": "/a,/b", "UV_INDEX": "x y", "UV_DEFAULT_INDEX": "for install"}
    told |= {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    told |= {"PIP_FIND_LINKS": "/a /b", "PIP_EXTRA_INDEX_URL": "x y", "PIP_INDEX_URL": "for install"}
    assert calls["uv"][1] == calls["get uv"][1] == told | {"PIP_CONFIG_FILE": os.devnull}
    given = {"UV_INDEX": "z", "PIP_TARGET": "/elsewhere", "PIP_DRY_RUN": "1"}
    _, _, calls = install("something", do={"settings": ["\n".join(settings), "", 0]}, **given)
    assert calls["get uv"][1] == told | {"PIP_CONFIG_FILE": os.devnull, "UV_INDEX": "z"}


def test_what_is_not_there_after_all_is_said(install, monkeypatch):
    monkeypatch.setattr(sys, "executable", sys._base_executable)
    status, said, _ = install()
    assert status == 1 and "sends packages elsewhere" in said


UNFIT = [("sys.version_info", (3, 15)), ("sysconfig.get_platform", lambda: "win-arm64")]
UNFIT += [("platform.libc_ver", lambda libc=libc: libc) for libc in (("glibc", "2.17"), ("", ""))]  # "": musl


@pytest.mark.parametrize(("asked", "found"), UNFIT)
def test_where_pytorch_has_no_packages_nothing_is_tried(monkeypatch, capsys, asked, found):
    monkeypatch.setattr(asked, found)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it was tried"))
    assert runpy.run_path(str(ROOT / "install.py"))["main"]([]) == 1
    assert "Python 3.11 to 3.14" in capsys.readouterr().err
