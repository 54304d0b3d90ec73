"""`specdec-lab lab` starts JupyterLab: its address answers, and nothing is left behind."""

import json
import subprocess
import sys
import urllib.request

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
