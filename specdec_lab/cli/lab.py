"""Fetch the target, show one real round, and open the course in JupyterLab, which is given all options of its own."""

import argparse
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from specdec_lab.cli import lab_from, say
from specdec_lab.errors import LabError, Say
from specdec_lab.formats import in_digits

FIRST = "lessons/00_start_here.ipynb"
PATIENCE = 60  # seconds for JupyterLab to answer


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dir", default="my-course", help="the working copy of the course (default: my-course)")
    parser.add_argument("--ip", default="127.0.0.1", help="address to listen on; 0.0.0.0 in a container")
    parser.add_argument("--port", type=int, default=8888, help="first port to try")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.course.working_copy import working_copy

    if not 0 <= args.port < 2**16:
        raise LabError(f"--port is {in_digits(args.port)}, but must be from 0 to 65535.")
    if importlib.util.find_spec("jupyterlab") is None:
        raise LabError('JupyterLab is not installed: run  make lab  (or  pip install -e ".[lab]"  in the clone).')
    for line in working_copy(Path(args.dir)):
        say(line)
    tell = say if args.json else print
    show_one_round(args, tell)
    return serve(args, tell)


def show_one_round(args: argparse.Namespace, tell: Say) -> None:
    """One real round in the terminal: the first that keeps a draft and rejects another."""
    from specdec_lab.cli.demo import PROMPT
    from specdec_lab.show import terminal

    lab = lab_from(args)
    trace = lab.speculative(PROMPT, "model" if lab.draft else "lookup", max_new_tokens=24)
    if trace.interrupted:
        raise KeyboardInterrupt
    telling = (r for r in trace.rounds if r.accepted and r.emitted and r.emitted.kind == "corrected")
    shown = next(telling, trace.rounds[0])
    written, colour = lab.text(trace.tokens[: shown.start - len(trace.prompt)]), terminal.use_colour()
    tell(f"\nOne real round. Written so far: “{written}”. Now the draft says:")
    tell(f"  {terminal.round_line(shown, lab.text, colour)}")
    tell(f"  {terminal.legend(colour)}")
    tell(f"  {len(shown.tokens)} tokens from one pass of the target.\n")


def serve(args: argparse.Namespace, tell: Say) -> int:
    """Run JupyterLab until it ends; print its address once it answers."""
    # Whoever ends this command (a container that stops, a closed terminal) ends the server too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    process = subprocess.Popen(command(args), env=environment(), stdout=sys.stderr)
    try:
        server = wait_for_server(process, args)
        # A container's own name means nothing outside of it.
        everywhere = args.ip in ("0.0.0.0", "::")
        address = f"http://localhost:{server['port']}{server['base_url']}" if everywhere else server["url"]
        # Its own settings count more than ours: they may want another token, or none.
        url = f"{address}lab/tree/{FIRST}" + (f"?token={server['token']}" if server["token"] else "")
        tell(f"JupyterLab is running: {url}")
        tell("Stop it with Ctrl-C.")
        if args.json:
            print(json.dumps({"schema": 1, "url": url}))
        sys.stdout.flush()
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        process.terminate()
        process.wait()


def command(args: argparse.Namespace) -> list[str]:
    display = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [
        *(sys.executable, "-m", "jupyterlab", args.dir),
        *(f"--ServerApp.ip={args.ip}", f"--ServerApp.port={args.port}", "--ServerApp.port_retries=50"),
        *("--log-level=ERROR", "--LabApp.log_level=ERROR", f"--LabApp.default_url=/lab/tree/{FIRST}"),
        *(["--allow-root"] if root else []),
        *([] if display and not root else ["--no-browser"]),
        *args.more,
    ]


def environment() -> dict[str, str]:
    settings = Path(__file__).parents[1] / "jupyter"  # switches off the news question
    paths = [str(settings), os.environ.get("JUPYTER_CONFIG_PATH")]
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(12)
    return os.environ | {"JUPYTER_TOKEN": token, "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}


def wait_for_server(process: subprocess.Popen, args: argparse.Namespace) -> dict:
    """What the server of this process says of itself: Jupyter takes another port where the first is in use."""
    from jupyter_server.serverapp import list_running_servers

    until = time.monotonic() + PATIENCE
    while True:
        for server in list_running_servers():
            if server["pid"] == process.pid:
                return server
        if process.poll() is not None:
            raise LabError("JupyterLab ended at once: its message is above; `specdec-lab doctor` may name the cause.")
        if time.monotonic() > until:
            raise LabError(f"JupyterLab does not answer on {args.ip}:{args.port} for {PATIENCE} s: check both.")
        time.sleep(0.25)
