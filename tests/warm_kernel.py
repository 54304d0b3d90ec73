"""Kernels that are forks of one process, which has imported what lessons import, and has loaded the target.

A notebook's first cell takes a blink then, and not ten seconds. `begin` starts that process and writes the kernel “warm”
for Jupyter. What Jupyter starts for a notebook is a small program that asks the process for a fork, hands signals on to
it, and ends with it. Each ends with the one it belongs to, also where that is killed: the fork with the program that
asked, that program and the process with pytest.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path


def begin(folder: Path) -> dict[str, str]:
    """Start the process, which ends with this one. Returns what Jupyter needs in its environment to find the kernel.

    folder: for the socket and the kernel's file.
    """
    path, spec = folder / "socket", folder / "kernels" / "warm" / "kernel.json"
    spec.parent.mkdir(parents=True)
    ask = [sys.executable, "-I", "-S", __file__, "ask", str(path), "{connection_file}"]  # without what site imports
    spec.write_text(json.dumps({"argv": ask, "display_name": "warm", "language": "python"}), encoding="utf-8")
    with socket.socket(socket.AF_UNIX) as listener:  # a notebook that comes early waits for its answer
        listener.bind(str(path))
        listener.listen(16)
        number = listener.fileno()
        subprocess.Popen(
            [sys.executable, __file__, "serve", str(number)],
            stdin=subprocess.PIPE,
            pass_fds=[number],
            start_new_session=True,
        )
    return {"JUPYTER_PATH": str(folder)}


def lend(target, tokenizer, load_model):
    """`load_model`, by which whoever asks for the embedded target, as it is, gets this one; others are loaded as always."""
    from specdec_lab.choices import EMBEDDED
    from specdec_lab.models.load import pick_device

    def lent_or_loaded(name, device, say=lambda line: None, dtype="auto", backend="auto"):
        device = pick_device(device) if isinstance(device, str) else device
        if (name, device.type, dtype, backend) == (EMBEDDED, "cpu", "auto", "auto"):
            return target, tokenizer
        return load_model(name, device, say, dtype, backend)

    return lent_or_loaded


def serve(listener: socket.socket) -> None:
    """Fork for whoever asks, until pytest, at the other end of stdin, has ended."""
    import gc

    from ipykernel.kernelapp import IPKernelApp

    import specdec_lab.show.report  # noqa: F401
    from specdec_lab import lab
    from specdec_lab.choices import EMBEDDED
    from specdec_lab.models import load

    load.load_model = lab.load_model = lend(*load.load_model(EMBEDDED, "cpu"), load.load_model)
    gc.freeze()  # a collection would write to each object, and so copy it into the fork
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a fork has ended
    while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
        client, _ = ready[0].accept()
        asked, descriptors, *_ = socket.recv_fds(client, 1_000_000, 3)
        if os.fork() == 0:
            listener.close()
            become(client, descriptors, **json.loads(asked))
            IPKernelApp.launch_instance()
            return
        client.close()
        for descriptor in descriptors:
            os.close(descriptor)


def become(client: socket.socket, descriptors: list[int], argv: list[str], folder: str, environment: dict) -> None:
    """Turn this fork into the process that Jupyter wanted to start, which ends with `client`."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = argv
    client.sendall(str(os.getpid()).encode())

    def end_with_client() -> None:
        client.recv(1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=end_with_client, daemon=True).start()


def ask(path: str, connection: str) -> None:
    """Be a kernel in Jupyter's eyes: it is this program that is sent signals, and whose end is waited for."""
    parent, server = os.getppid(), socket.socket(socket.AF_UNIX)
    server.connect(path)
    asked = {"argv": ["warm", "-f", connection], "folder": os.getcwd(), "environment": dict(os.environ)}
    socket.send_fds(server, [json.dumps(asked).encode()], [0, 1, 2])
    kernel = int(server.recv(20))

    def hand_on(number: int, frame: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(kernel, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, hand_on)
    server.settimeout(1)
    while os.getppid() == parent:
        with suppress(TimeoutError):
            if not server.recv(1):
                return


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(socket.socket(fileno=int(sys.argv[2])))
    else:
        ask(*sys.argv[2:])
