"""llama.cpp on the same prompts: what people would use instead, measured beside us.

`llama-server` is started once for each of its ways to decode, on the GGUF file that the course's target comes in, with as
many threads as torch has. It is asked for tokens by tokens, one text at a time, and says itself how long decoding took.
"""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import httpx
import torch
from export import plain_draft, write_draft
from hf_generate import Generated
from target_gguf import gguf

from specdec_lab.errors import LabError, Say, silent
from specdec_lab.formats import first_line
from specdec_lab.lab import Lab
from specdec_lab.models.embedded import NAME

PROGRAM = "llama-server"
GAMMA = 2  # drafts a round of the draft model: with 4-bit weights more are slower
PATIENCE = 120.0  # seconds for a server to load, and for a text
WAYS = {
    "llama-plain": [],
    "llama-ngram": ["--spec-type", "ngram-simple"],  # with the settings that it has when nobody says anything
    "llama-draft": ["--spec-type", "draft-simple", "--spec-draft-n-max", str(GAMMA)],
}


@contextlib.contextmanager
def llama_arms(lab: Lab, program: str | None, say: Say = silent) -> Iterator[dict[str, Callable[..., Generated]]]:
    """The arms by name, as `hf_arms` makes them; none where there is no llama.cpp. The servers end with the block.

    Args:
        program: the path of a llama-server, or the address of one that runs already, which then is the only arm; None:
            the one on the PATH, if there is one.
    """
    if program and program.startswith(("http://", "https://")):
        yield {"llama-server": partial(ask, program.rstrip("/"))}
        return
    found = shutil.which(program or PROGRAM)
    if program and not found:
        raise LabError(f"There is no program {program}: give the path of a llama-server, or its address (http://…).")
    if not found or lab.target.name != NAME:
        say(
            f"llama.cpp is left out: {'it runs the course’s own target only' if found else f'there is no {PROGRAM} here'}."
        )
        yield {}
        return
    with contextlib.ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="specdec-llama-")))
        target, arms = gguf(say), {}
        try:
            draft = ["-md", str(write_draft(plain_draft(lab), target, work / "draft.gguf"))]
        except LabError as e:
            draft = []
            say(f"llama-draft is left out: {e}")
        for name, options in WAYS.items():
            if name == "llama-draft" and not draft:
                continue
            more = options + (draft if name == "llama-draft" else [])
            try:
                arms[name] = partial(ask, stack.enter_context(served(found, target, more, work / f"{name}.log")))
            except LabError as e:
                say(f"{name} is left out: {e}")
        yield arms


@contextlib.contextmanager
def served(program: str, target: Path, options: Sequence[str], log: Path) -> Iterator[str]:
    """A running llama-server; gives its address.

    Raises:
        LabError: when it does not come up.
    """
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    threads = str(torch.get_num_threads())
    command = [program, "-m", str(target), "--host", "127.0.0.1", "--port", str(port), "-np", "1", "-c", "8192"]
    with log.open("w") as out:
        process = subprocess.Popen([*command, "-t", threads, "-tb", threads, *options], stdout=out, stderr=out)
    try:
        address, since = f"http://127.0.0.1:{port}", time.monotonic()
        while not comes_up(address):
            if process.poll() is not None or time.monotonic() - since > PATIENCE:
                last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()] or ["no message"]
                raise LabError(f"{program} does not come up ({last[-1].strip()[:200]}).")
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def comes_up(address: str) -> bool:
    """Whether the server there has loaded its model: until then it answers with an error."""
    try:
        return httpx.get(f"{address}/health", timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def ask(
    address: str,
    ids: Sequence[int],
    *,
    temperature: float = 0.0,
    max_new_tokens: int = 64,
    seed: int = 0,
    request: int = 0,
) -> Generated:
    """One text. Its time is that of decoding, scaled up from the tokens behind the first one, as in `hf_generate.generate`.

    Raises:
        LabError: when the server does not answer like a llama-server.
    """
    wanted = {
        "prompt": list(ids), "n_predict": max_new_tokens, "temperature": temperature, "seed": seed + request,
        "samplers": ["temperature"], "cache_prompt": False, "return_tokens": True,
    }  # fmt: skip
    if temperature == 0:
        wanted |= {"samplers": ["top_k"], "top_k": 1}
    try:
        answer = httpx.post(f"{address}/completion", json=wanted, timeout=PATIENCE).raise_for_status()
        found = answer.json()
        tokens, timings = found["tokens"], found["timings"]
        passes = timings["predicted_n"] - timings.get("draft_n_accepted", 0)
        seconds = timings["predicted_ms"] / 1000
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError) as e:
        raise LabError(f"{address} does not answer like a llama-server ({type(e).__name__}: {first_line(e)}).") from e
    n = len(tokens)
    return Generated(tokens, seconds * n / (n - 1) if n > 1 else 0.0, passes)
