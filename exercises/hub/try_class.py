"""Let a whole class log in and decode at once, and measure: seconds to the first round, and memory.

    python try_class.py http://127.0.0.1:8000 accounts.txt

accounts.txt has a line for each learner, name:password, as `chpasswd` reads it. Each logs in with the form, starts a
server, runs the cells of lesson 00 up to the first real round in the working copy there, waits for the others, and
decodes 100 tokens. Memory is PSS: a page that several processes share counts for each as its part of it.
Leaves the servers running; prints a line for each learner.
"""

import json
import re
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import requests
from websocket import WebSocket, create_connection

LESSON = "my-course/lessons/00_start_here.ipynb"
UNTIL = "lab.speculative("  # the first cell with it is the last one that is run
PATIENCE = 300  # seconds for anything
MEMORY = """if True:
    import os
    def pss(pid):
        lines = open(f"/proc/{pid}/smaps_rollup").read().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) // 1024
    print("memory", pss("self"), pss(os.getppid()))
"""
DECODE = """if True:
    import time
    began, prompt = time.time(), "Tell me a long story about a fox that repairs boats."
    texts = [lab.speculative(prompt, drafter=name, gamma=4, max_new_tokens=100) for name in ("lookup", "model")]
    print("decoded", began, time.time(), sum(len(t.tokens) for t in texts), texts[0].tokens == texts[1].tokens)
"""


class Learner:
    """A browser without a window: cookies, and a kernel's socket."""

    def __init__(self, hub: str, name: str, password: str):
        self.hub, self.name, self.http = hub.rstrip("/"), name, requests.Session()
        self.home = f"{self.hub}/user/{name}"
        self.http.get(f"{self.hub}/hub/login", timeout=PATIENCE)
        form = {"username": name, "password": password, "_xsrf": self.http.cookies.get("_xsrf", path="/hub/")}
        answer = self.http.post(f"{self.hub}/hub/login", data=form, timeout=PATIENCE)
        if "/hub/login" in answer.url or answer.status_code >= 400:
            raise SystemExit(f"{name} cannot log in: {answer.status_code} at {answer.url}")

    def start(self) -> None:
        """Ask for the server's page until it is the server that answers."""
        until = time.monotonic() + PATIENCE
        self.http.get(f"{self.hub}/hub/spawn/{self.name}", timeout=PATIENCE)
        while time.monotonic() < until:
            if self.http.get(f"{self.home}/api/status", timeout=PATIENCE).ok:
                self.http.get(f"{self.home}/lab", timeout=PATIENCE)  # sets the cookie against forged requests
                return
            self.http.get(f"{self.home}/tree", timeout=PATIENCE)
            time.sleep(0.5)
        raise SystemExit(f"The server of {self.name} does not answer.")

    def kernel(self) -> None:
        xsrf = {"X-XSRFToken": self.http.cookies.get("_xsrf", path=f"/user/{self.name}/")}
        answer = self.http.post(f"{self.home}/api/kernels", json={}, headers=xsrf, timeout=PATIENCE)
        answer.raise_for_status()
        cookies = "; ".join(f"{c.name}={c.value}" for c in self.http.cookies if self.home.endswith(c.path.rstrip("/")))
        self.socket: WebSocket = create_connection(
            f"{self.home.replace('http', 'ws', 1)}/api/kernels/{answer.json()['id']}/channels",
            cookie=cookies,
            timeout=PATIENCE,
        )

    def run(self, code: str) -> str:
        """What the code prints."""
        number, printed = uuid.uuid4().hex, ""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "user_expressions": {}}
        header = {"msg_id": number, "msg_type": "execute_request", "session": number, "username": "", "version": "5.3"}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        while True:
            got = json.loads(self.socket.recv())
            kind, content = got["header"]["msg_type"], got["content"]
            if got["parent_header"].get("msg_id") != number:
                continue
            if kind == "stream":
                printed += content["text"]
            elif kind == "error":
                raise SystemExit(f"{self.name}: {content['ename']}: {content['evalue']}")
            elif kind == "status" and content["execution_state"] == "idle":
                return printed

    def cells(self) -> list[str]:
        lesson = self.http.get(f"{self.home}/api/contents/{LESSON}", timeout=PATIENCE).json()["content"]
        code = ["".join(c["source"]) for c in lesson["cells"] if c["cell_type"] == "code"]
        last = next(i for i, source in enumerate(code) if UNTIL in source)
        return code[: last + 1]


def one(hub: str, account: str, together: Barrier) -> dict:
    name, _, password = account.partition(":")
    began = time.monotonic()
    learner = Learner(hub, name, password)
    learner.start()
    served = time.monotonic()
    learner.kernel()
    for cell in learner.cells():
        learner.run(cell)
    first = time.monotonic()
    together.wait(PATIENCE)
    alone = learner.run(MEMORY)
    start, end, tokens, same = re.search(r"decoded (\S+) (\S+) (\d+) (\w+)", learner.run(DECODE)).groups()
    together.wait(PATIENCE)
    kernel, server = map(int, re.search(r"memory (\d+) (\d+)", learner.run(MEMORY)).groups())
    return {
        "name": name, "server_s": served - began, "first_round_s": first - served, "decoding": (float(start), float(end)),
        "tokens": int(tokens), "same_text": same == "True", "kernel_mb": kernel, "server_mb": server,
        "kernel_after_first_round_mb": int(alone.split()[1]),
    }  # fmt: skip


def main(hub: str, accounts: str) -> int:
    lines = Path(accounts).read_text(encoding="utf-8").split()
    together = Barrier(len(lines))
    with ThreadPoolExecutor(len(lines)) as pool:
        rows = list(pool.map(lambda line: one(hub, line, together), lines))
    for row in rows:
        print(
            f"{row['name']:12} server after {row['server_s']:5.1f} s, first round {row['first_round_s']:5.1f} s later; "
            f"kernel {row['kernel_after_first_round_mb']} MB, with a draft model {row['kernel_mb']} MB; "
            f"server {row['server_mb']} MB; {row['tokens']} tokens, same text {row['same_text']}"
        )
    begins, ends = zip(*(row["decoding"] for row in rows))
    print(f"All {len(rows)} decoded at once for {min(ends) - max(begins):.1f} s.")
    print(f"Memory of all: {sum(row['kernel_mb'] + row['server_mb'] for row in rows)} MB.")
    return 0 if min(ends) > max(begins) and all(row["same_text"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
