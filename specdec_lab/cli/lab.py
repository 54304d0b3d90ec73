"""Fetch the target, show one real round, and open the course in JupyterLab."""

import argparse
import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from specdec_lab.cli import say
from specdec_lab.errors import LabError

FIRST = "00_start_here.ipynb"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dir", default="my-course", help="the working copy of the lessons (default: my-course)")
    parser.add_argument("--ip", default="127.0.0.1", help="address to listen on; 0.0.0.0 in a container")
    parser.add_argument("--port", type=int, default=8888, help="first port to try")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.course import working_copy

    if importlib.util.find_spec("jupyterlab") is None:
        raise LabError('JupyterLab is not installed: run  make lab  (or  pip install -e ".[lab]"  in the clone).')
    for line in working_copy(Path(args.dir)):
        say(line)
    show_one_round(args)
    return serve(Path(args.dir), args.ip, free_port(args.port))


def show_one_round(args: argparse.Namespace) -> None:
    """One real round in the terminal: the first that keeps a draft and rejects another."""
    from specdec_lab.cli.demo import PROMPT
    from specdec_lab.lab import load
    from specdec_lab.show import terminal

    lab = load(args.target, args.draft, args.device, say)
    trace = lab.speculative(PROMPT, "lookup", max_new_tokens=24)
    if trace.interrupted:
        raise KeyboardInterrupt
    telling = (r for r in trace.rounds if r.accepted and r.emitted and r.emitted.kind == "corrected")
    shown = next(telling, trace.rounds[0])
    colour = terminal.use_colour()
    print(
        f"\nOne real round. Written so far: “{lab.text(trace.tokens[: shown.start - len(trace.prompt)])}”. Now the draft says:"
    )
    print(f"  {terminal.round_line(shown, lab.text, colour)}")
    print(f"  {terminal.legend(colour)}")
    print(f"  {len(shown.tokens)} tokens from one pass of the target.\n", flush=True)


def free_port(first: int) -> int:
    for port in range(first, first + 50):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise LabError(f"No free port between {first} and {first + 49}: choose another with --port.")


def serve(folder: Path, ip: str, port: int) -> int:
    """Run JupyterLab until it ends; print its address once it answers."""
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(12)
    settings = Path(__file__).parents[1] / "jupyter"  # switches off the news question
    display = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    command = [sys.executable, "-m", "jupyterlab", str(folder), f"--ServerApp.ip={ip}", f"--ServerApp.port={port}"]
    command += [
        "--ServerApp.port_retries=0",
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
    ]
    command += ["--allow-root"] if root else []
    command += [] if display and not root else ["--no-browser"]
    environment = os.environ | {
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, [str(settings), os.environ.get("JUPYTER_CONFIG_PATH")])),
    }
    process = subprocess.Popen(command, env=environment)
    try:
        for _ in range(240):
            if process.poll() is not None:
                raise LabError(
                    "JupyterLab ended at once: its message is above; `specdec-lab doctor` may name the cause."
                )
            if answers(port):
                break
            time.sleep(0.25)
        print(f"JupyterLab is running: http://localhost:{port}/lab/tree/{FIRST}?token={token}")
        print("Stop it with Ctrl-C.", flush=True)
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        return 0
    finally:
        if process.poll() is None:
            process.terminate()


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=1):
            return True
    except OSError:
        return False
