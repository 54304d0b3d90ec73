"""A kernel that is a fork: it does what a kernel does, can be interrupted, and ends with the program that asked for it."""

import signal
import sys
import time
from pathlib import Path

import pytest
import warm_kernel
from jupyter_client import KernelManager

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks of torch are used on Linux alone"),
    pytest.mark.slow,
]


def result_of(client, code: str) -> dict:
    return client.execute_interactive(code, user_expressions={"value": "value"}, output_hook=str, timeout=60)["content"]


def has_ended(pid: int) -> bool:
    for _ in range(300):  # it may still be importing
        if not (stat := Path(f"/proc/{pid}/stat")).exists() or stat.read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_a_fork_is_a_kernel_that_ends_with_who_asked(tmp_path, monkeypatch):
    for name, value in warm_kernel.begin(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MINE", "yes")
    manager = KernelManager(kernel_name="warm")
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        code = "import os, sys; value = os.getpid(), os.getcwd(), os.environ['MINE'], 'specdec_lab.lab' in sys.modules"
        told = result_of(client, code)["user_expressions"]["value"]["data"]["text/plain"]
        pid, *others = eval(told)
        assert others == [str(tmp_path), "yes", True]
        asked = client.execute("import time; time.sleep(60)")
        time.sleep(0.5)
        manager.interrupt_kernel()
        assert client.get_shell_msg(timeout=10)["content"]["ename"] == "KeyboardInterrupt", asked
        manager.provisioner.process.send_signal(signal.SIGKILL)  # as nbval ends each kernel
        assert has_ended(pid)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
