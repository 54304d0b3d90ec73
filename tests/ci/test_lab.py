"""`specdec-lab lab` starts JupyterLab: its address answers, its own settings count, and nothing is left behind."""

import json
import subprocess
import sys
import urllib.request

import pytest

WITHOUT_A_ROUND = (
    "from specdec_lab.cli import lab, main; lab.show_one_round = lambda *a: None; raise SystemExit(main())"
)


def start_lab(folder) -> subprocess.Popen:
    """The command without its round, for which it would load the model: tests/ci/browser has the whole of it."""
    options = ["lab", "--json", "--port", "8960", "--dir", str(folder / "course")]
    command = [sys.executable, "-c", WITHOUT_A_ROUND, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def answers(url: str) -> bool:
    """Whether a server is there that takes this address's token."""
    root, token = url.split("/lab/tree")[0], url.split("token=")[1]
    try:
        with urllib.request.urlopen(f"{root}/api/status?token={token}", timeout=5):
            return True
    except OSError:
        return False


def test_two_have_two_addresses_and_end_when_they_are_told(tmp_path):
    """SIGTERM, as a container sends it."""
    processes, urls = [], []
    for name in "ab":
        processes.append(start_lab(tmp_path / name))
        urls.append(json.loads(processes[-1].stdout.readline())["url"])  # one object and nothing else
        assert answers(urls[-1])
    assert len(set(urls)) == 2
    for process, url in zip(processes, urls):
        process.terminate()
        assert process.wait(timeout=20) == 143
        assert not answers(url)


@pytest.mark.parametrize(
    ("setting", "holds", "ending"),
    [
        ("c.IdentityProvider.token = ''", "", "/lab/tree/lessons/00_start_here.ipynb"),
        ("c.IdentityProvider.token = 'mine'", "", "?token=mine"),
        ("c.ServerApp.base_url = '/jupyter/'", "/jupyter/lab/tree/", ""),
    ],
)
def test_jupyter_settings_of_ones_own_are_in_the_address(tmp_path, monkeypatch, setting, holds, ending):
    (tmp_path / "jupyter_server_config.py").write_text(f"c = get_config()\n{setting}\n")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    process = start_lab(tmp_path)
    try:
        url = json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(timeout=20)
    assert url.endswith(ending) and holds in url
