"""The same prompts through a serving engine: its OpenAI-compatible API, and the metrics it keeps.

Engines report acceptance as *survival*: of all rounds, the share that got past depth i. The course
(and the formula for E) uses the *conditional* rate: of the rounds that reached depth i, the share
that got past it. The one is the running product of the other.
"""

import itertools
import json
import math
import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from statistics import fmean, median
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener, getproxies

from specdec_lab.errors import LabError, Say, silent
from specdec_lab.formats import percentile, printable
from specdec_lab.measure.prompts import Prompt, read_line

# vLLM's counters; llama-server has the same ones under its own prefix (llama.cpp pull request 26389).
DRAFTS, DRAFTED, ACCEPTED, BY_POSITION = (
    f"spec_decode_num_{what}" for what in ("drafts", "draft_tokens", "accepted_tokens", "accepted_tokens_per_pos")
)

MOST_BYTES = 10_000_000  # of what a server sends at once: its metrics, or a line of an answer
PATIENCE = 600.0  # seconds for an answer
MOST_EVENTS = 1_000  # of an answer, beside 20 for each token that was asked for
WRITES = ("content", "reasoning_content", "reasoning", "text", "tool_calls")  # what a part of an answer may hold
KEY = "OPENAI_API_KEY"  # in the environment, for servers that ask for one
MOST_AT_ONCE = 256  # prompts that wait for their answers; each has a thread here

# By a counter's name and the place in the round that it counts, None for all; summed over engines.
Counts = Counter[tuple[str, int | None]]


@dataclass(frozen=True)
class Answer:
    """One prompt's answer: seconds to its first token, seconds after it, and the tokens in all."""

    first: float
    rest: float
    tokens: int


def conditional(survival: Sequence[float]) -> list[float]:
    """Survival by depth to acceptance by depth: each divided by the one before it.

    Where no round got through, what comes after was never tested, and is left out.
    """
    return [share / before for before, share in itertools.pairwise([1.0, *survival]) if before > 0]


def metrics(text: str) -> Counts:
    """The counters in a text in the form of Prometheus, lines `name_total{labels} value`. Values that are no number are
    left out.
    """
    counts = Counter()
    for line in text.splitlines():
        found = re.match(r"(?:vllm|llamacpp):(spec_decode_\w+?)(_total)?(\{.*\})? (\S+)$", line)
        if found and math.isfinite(value := number(found[4])):
            position = re.search(r'position="(\d{1,4})"', found[3] or "")
            counts[found[1], int(position[1]) if position else None] += value
    return counts


def number(text: str) -> float:
    """NaN for what is no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def acceptance(before: Counts, after: Counts) -> dict | None:
    """What the engine's counters say about the rounds between two readings; None when it does not speculate."""
    grown = Counter({key: value - before[key] for key, value in after.items()})
    rounds = grown[DRAFTS, None]
    if rounds <= 0:
        return None
    depths = sorted(place for name, place in grown if name == BY_POSITION and place is not None)
    survival = [grown[BY_POSITION, depth] / rounds for depth in depths]
    return {
        "rounds": int(rounds),
        "drafts_per_round": grown[DRAFTED, None] / rounds,
        "tokens_per_pass": 1 + grown[ACCEPTED, None] / rounds,  # of the passes that had drafts
        "survival_by_position": survival,
        "alpha_by_position": conditional(survival),
    }


def fetch(
    url: str, body: dict | None = None, timeout: float = 60.0, key: str | None = None, option: str = "--endpoint"
):
    """The open response to a GET, or with a body to a POST of JSON.

    Args:
        timeout: seconds without any data.
        key: the API key that the server asks for; by default that in the environment, as OPENAI_API_KEY.
        option: of the command, which named the server.

    Raises:
        LabError: when nobody answers there, or the answer is an error.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    if key := key or os.environ.get(KEY):
        headers["Authorization"] = f"Bearer {key}"
    here = False
    try:
        host = urlsplit(url).hostname if url.startswith(("http://", "https://")) else None
        if not host:  # urlopen takes others, files among them
            raise ValueError("it is no address that begins with http")
        here = host == "localhost" or host.startswith("127.") or host == "::1"
        opener = build_opener(*([ProxyHandler({})] if here else []))  # no proxy knows this machine's servers
        return opener.open(Request(url, data, headers), timeout=timeout)
    except (URLError, OSError, ValueError, HTTPException) as e:
        reason = said_by(e) if isinstance(e, HTTPError) else str(getattr(e, "reason", e))
        proxy = getproxies().get(url.partition(":")[0])
        through, mend = "", f"start it, or mend {option}"
        if proxy and not here and not isinstance(e, ValueError):
            through = f", through the proxy {proxy} of the environment"
        if getattr(e, "code", 0) in (401, 403):
            mend = f"give the key with --api-key, or as {KEY}"
        raise LabError(f"The server at {url} does not answer as it should ({reason}{through}): {mend}.") from e


def said_by(e: HTTPError) -> str:
    """An error of HTTP, with what the server itself says about it."""
    try:
        text = e.read(10_000).decode(errors="replace").strip()
    except (OSError, HTTPException):
        text = ""
    with suppress(ValueError):
        text = message_of(read_line(text)) or text
    return printable(f"{e.code} {e.reason}{f': {text}' if text else ''}", 300)


def message_of(event: object) -> str:
    """The words of an error as OpenAI's API sends one; empty where it is none."""
    error = event.get("error", event.get("detail")) if isinstance(event, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) else ""


def writes(event: dict) -> bool:
    """Whether an event of a stream brings a token. The first one often brings only the role."""
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        delta = choice.get("delta", choice) if isinstance(choice, dict) else None
        if isinstance(delta, dict) and any(delta.get(part) for part in WRITES):
            return True
    return False


def ask(base: str, model: str, prompt: Prompt, new: int, temperature: float, key: str | None = None) -> Answer:
    """The answer to one prompt, streamed; its tokens are counted by the engine.

    Args:
        base: the API's address, without a slash at its end.
        new: at most so many new tokens.
        key: as of `fetch`.

    Raises:
        LabError: when the server does not answer as it should.
    """
    path, what = "chat/completions", {"messages": prompt.messages}
    if prompt.raw:
        path, what = "completions", {"prompt": prompt.content}
    body = {"model": model, "max_tokens": new, "temperature": temperature, "stream": True, **what}
    begin, first, last, tokens, events = time.perf_counter(), None, None, 0, 0
    try:
        with fetch(f"{base}/{path}", body | {"stream_options": {"include_usage": True}}, PATIENCE, key) as lines:
            while line := lines.readline(MOST_BYTES):
                events += 1
                if events > MOST_EVENTS + 20 * new:
                    raise ValueError(f"it goes on after {events - 1} lines, for {new} tokens that were asked for")
                if time.perf_counter() - begin > PATIENCE:
                    raise ValueError(f"it has not ended after {PATIENCE:.0f} seconds")
                text = line.decode().strip().removeprefix("data:").strip()
                if not text.startswith("{"):
                    continue
                event = read_line(text)
                if said := message_of(event):
                    raise ValueError(f"the server says: {said}")
                if writes(event):
                    last = time.perf_counter()
                    first = first or last
                tokens = tokens_of(event.get("usage")) or tokens
    except (ValueError, OSError, HTTPException) as e:
        said = printable(str(e), 300)
        raise LabError(f"The server's answer to the prompt “{prompt.id}” cannot be read ({said}).") from e
    if first is None:
        raise LabError(f"The server's answer to the prompt “{prompt.id}” has no tokens.")
    if not tokens:
        raise LabError(
            f"The server's answer to the prompt “{prompt.id}” has no tokens counted: it must send “usage” in its stream."
        )
    return Answer(first - begin, last - first, tokens)


def tokens_of(usage: object) -> int:
    """How many tokens an engine says that it wrote; 0 where it says no such thing."""
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 < count < 10**9 else 0


def model_at(endpoint: str, key: str | None = None) -> str:
    """The name of the first model that a server has.

    Raises:
        LabError: when it does not answer, or names none.
    """
    try:
        with fetch(f"{endpoint.rstrip('/')}/models", key=key) as response:
            model = read_line(response.read(MOST_BYTES).decode())["data"][0]["id"]
        if not isinstance(model, str):
            raise TypeError("no text")
    except (ValueError, LookupError, TypeError, OSError, HTTPException) as e:
        raise LabError(
            f"{endpoint} names no model: it should be the address of an OpenAI-compatible API, with /v1."
        ) from e
    return model


def counters(base: str, key: str | None = None) -> Counts:
    """What a server's metrics count now; nothing where it has none."""
    try:
        with fetch(f"{base.removesuffix('/v1')}/metrics", key=key) as response:
            return metrics(response.read(MOST_BYTES).decode(errors="replace"))
    except (LabError, OSError, HTTPException):
        return Counter()


def ask_all(
    endpoint: str,
    prompts: Sequence[Prompt],
    new: int,
    temperature: float,
    say: Say = silent,
    at_once: int = 1,
    key: str | None = None,
) -> dict:
    """The prompts through a server: latency, throughput, and acceptance from its metrics.

    Args:
        endpoint: such as http://localhost:8000/v1.
        new: new tokens of each answer, at most.
        at_once: how many prompts wait for their answers at any time, until the last ones.
        key: as of `fetch`.

    Raises:
        LabError: when the server does not answer at all, or for at_once outside 1 … MOST_AT_ONCE.
    """
    if not 1 <= at_once <= MOST_AT_ONCE:
        raise LabError(f"--at-once is {at_once}, but must be from 1 to {MOST_AT_ONCE}.")
    base, model, problems = endpoint.rstrip("/"), model_at(endpoint, key), []

    def answer(prompt: Prompt) -> Answer | LabError:
        try:
            return ask(base, model, prompt, new, temperature, key)
        except LabError as e:
            return e

    before, begin, answers = counters(base, key), time.perf_counter(), []
    askers = ThreadPoolExecutor(at_once)
    try:
        for number, (prompt, found) in enumerate(zip(prompts, askers.map(answer, prompts)), 1):
            if isinstance(found, Answer):
                answers.append(found)
            else:
                problems.append(f"The prompt “{prompt.id}” was left out. {found}")
            say(f"{number} of {len(prompts)} prompts ({prompt.id})")
    finally:  # after an interrupt only those that are being answered are waited for
        askers.shutdown(wait=False, cancel_futures=True)
    seconds = time.perf_counter() - begin
    if not answers:
        raise LabError(f"The server at {endpoint} answered none of the prompts: {problems[0]}")
    found = acceptance(before, counters(base, key))
    if found is None:
        problems.append(
            "The server's metrics hold no speculation: it is off there, or not counted (llama-server needs --metrics)."
        )
    ms = [1e3 * a.rest / (a.tokens - 1) for a in answers if a.tokens > 1]  # a token, those after the first
    return {
        "endpoint": endpoint,
        "model": model,
        "answers": len(answers),
        "at_once": at_once,
        "tokens_per_second": sum(a.tokens for a in answers) / seconds,  # of all together
        "ms_to_first_token": 1e3 * fmean(a.first for a in answers),
        "ms_per_token": {"mean": fmean(ms), "p50": median(ms), "p95": percentile(ms, 0.95)} if ms else None,
        "speculation": found,
        "problems": problems,
    }
