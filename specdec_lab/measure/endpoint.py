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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from statistics import fmean, median
from typing import TypeVar
from urllib.parse import quote

import httpx
from prometheus_client.parser import text_string_to_metric_families

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError, Say, say_if_slow, silent
from specdec_lab.formats import percentile, printable
from specdec_lab.measure.prompts import Prompt, parse

KEY = "OPENAI_API_KEY"  # in the environment, for servers that ask for one
ADDRESS = "--endpoint should be the address of an OpenAI-compatible API up to /v1, such as http://localhost:8000/v1"
START = "start it, or mend --endpoint"
# By HTTP's status, what somebody can do about it. Behind a gateway's 502 and more the server may not run.
MENDS = [
    ((401, 403), f"give the key with --api-key, or as {KEY}"),
    ((404, 405), ADDRESS),
    ((429,), "it takes no more just now, so ask again later, or fewer at once"),
    (range(300, 400), "give --endpoint the address that it leads to"),
    (range(400, 501), "it runs, and refuses this: mend what it names, or --endpoint"),
]
# A word of a refusal, the part of the body that it refuses, and what the server wants to have in its place.
WANTED_INSTEAD = [
    ("max_completion_tokens", "max_tokens", "max_completion_tokens"),
    ("temperature", "temperature", None),
    ("stream_options", "stream_options", None),
]
BUSY, LONGEST_WAIT = (429, 503), 60  # statuses whose Retry-After is kept, and the seconds that it may ask for
TRIES = 5  # of a request, where a server asks to wait, or wants to be asked in another way
BROKE_OFF = "The server's answer broke off in the middle: see the server's own log for why."
PATIENCE = 600.0  # seconds for an answer
MOST_AT_ONCE = 256  # prompts that wait for their answers; each has a thread here
SAYS_WHO = ("role", "id", "name")  # what a part of an answer may hold beside tokens
AT_ONCE = 1e-4  # seconds a token: no server writes a text so fast, so these tokens were held back and came together
NO_PROXY = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}  # none knows this machine's servers

# The counters of vLLM, and of llama-server under its own prefix (llama.cpp pull request 26389).
NAMES = {
    "drafts": "rounds", "draft_tokens": "drafts", "accepted_tokens": "accepted",
    "accepted_tokens_per_pos": "accepted by place",
}  # fmt: skip
COUNTED = {f"{engine}:spec_decode_num_{name}": what for engine in ("vllm", "llamacpp") for name, what in NAMES.items()}
# What the metrics of other engines say of their speculation: a mean, from which no rounds can be counted.
MEANS = {
    "SGLang": r"(?m)^sglang:spec_accept_length(?:\{.*\})? (\d+\.?\d*)$",
    "TensorRT-LLM": r'"acceptanceLength":\s*(\d+\.?\d*)',
}

# By what is counted and the place in the round, None for all; summed over engines.
Counts = Counter[tuple[str, int | None]]
Found = TypeVar("Found")


class Refused(LabError):
    """A server's error of HTTP. wait: the seconds after which it wants to be asked again, if it says so."""

    def __init__(self, said: str, status: int, wait: float | None):
        super().__init__(said)
        self.status, self.wait = status, wait


@dataclass(frozen=True)
class Answer:
    """One prompt's answer: seconds to its first piece, seconds after it, the tokens in all, and those of the first piece.

    A piece may have several tokens; how many the first one had is told from its share of the letters.
    """

    first: float
    rest: float
    tokens: int
    begun: int = 1

    @property
    def held_back(self) -> bool:
        """Whether more tokens than a round may write came in one piece."""
        return self.tokens > 3 and self.rest < AT_ONCE * (self.tokens - 1)


class Server:
    """An OpenAI-compatible API. Whatever goes wrong with it is a LabError of one sentence, without the key.

    Args:
        address: up to /v1.
        key: that the server asks for; by default that in the environment, as OPENAI_API_KEY.
    """

    def __init__(self, address: str, key: str | None = None):
        self.address, self.key = address.rstrip("/"), (key or os.environ.get(KEY) or "").strip()
        self.instead: dict[str, str | None] = {}  # parts of a body that it wants by another name, or not at all
        self.waits: list[float] = []
        if not (self.key.isascii() and self.key.isprintable()):
            raise LabError(f"The key has a sign that none can have: give it anew, with --api-key or as {KEY}.")
        try:
            url = httpx.URL(self.address)
            if url.userinfo:
                raise self.failure("a name or a password stands in it: leave it out, and give --api-key", START)
            if url.scheme not in ("http", "https") or not url.host:
                raise self.failure("it is no address that begins with http", START)
            headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
            limits = httpx.Limits(max_connections=MOST_AT_ONCE)
            self.client = httpx.Client(headers=headers, timeout=60.0, limits=limits, mounts=NO_PROXY)
        except (httpx.InvalidURL, ValueError, ImportError) as e:
            raise self.failure("its address is none, or that of the environment's proxy", START) from e

    def without_key(self, said: str) -> str:
        """Somebody's words, in one line: some servers repeat the key that they refuse."""
        for form in {self.key, json.dumps(self.key)[1:-1], quote(self.key, safe="")} - {""}:
            said = said.replace(form, "…")
        return printable(said, 300)

    def failure(self, reason: str, mend: str) -> LabError:
        shown = self.without_key(re.sub(r"//[^/]*@", "//", self.address))  # a name and a password are printed nowhere
        return LabError(f"The server at {shown} does not answer as it should ({self.without_key(reason)}): {mend}.")

    @contextmanager
    def open(self, url: str, body: dict | None = None, seconds: float = 60.0) -> Iterator[httpx.Response]:
        """The answer to a GET or, with a body, to a POST of JSON; it may be silent for so many seconds."""
        try:
            with self.client.stream("GET" if body is None else "POST", url, json=body, timeout=seconds) as response:
                if response.status_code >= 300:
                    raise self.refusal(response)
                yield response
        except (httpx.ReadError, httpx.RemoteProtocolError, httpx.DecodingError) as e:
            raise LabError(BROKE_OFF) from e
        except httpx.ConnectError as e:
            raise self.failure(str(e), START) from e
        except (httpx.HTTPError, httpx.InvalidURL) as e:  # httpx's own words may hold what was sent, the key too
            raise self.failure(type(e).__name__, START) from e

    def refusal(self, response: httpx.Response) -> Refused:
        """What an error of HTTP says, with what the server itself says about it, and what can be done."""
        status, headers = response.status_code, response.headers
        text = b"".join(itertools.islice(response.iter_bytes(2_000), 5)).decode(errors="replace").strip()
        with suppress(ValueError):
            text = error_in(parse(text)) or text
        to = f" to {headers['Location']}" if "Location" in headers else ""
        mend = next((mend for statuses, mend in MENDS if status in statuses), START)
        said = str(self.failure(f"{status} {response.reason_phrase}{to}{f': {text}' if text else ''}", mend))
        wait = re.fullmatch(r"\d{1,2}", headers.get("Retry-After", "")) if status in BUSY else None
        return Refused(said, status, min(int(wait[0]), LONGEST_WAIT) if wait else None)

    def patiently(self, call: Callable[[], Found]) -> Found:
        """The result of a call, which is made again where the server asks to wait, or to be asked in another way."""
        for _ in range(TRIES - 1):
            try:
                return call()
            except Refused as e:
                wanted = {part: instead for word, part, instead in WANTED_INSTEAD if word in str(e)}
                if wanted and e.status in (400, 422):
                    self.instead |= wanted
                elif e.wait is not None:
                    self.waits.append(e.wait)
                    time.sleep(e.wait)
                else:
                    raise
        return call()

    def models(self) -> list[str]:
        """The names of the models that it has, at least one."""
        with self.open(f"{self.address}/models") as response:
            try:
                models = [model["id"] for model in parse(response.read().decode())["data"]]
                if not models or not all(isinstance(model, str) for model in models):
                    raise TypeError("no text")
            except (ValueError, LookupError, TypeError) as e:
                raise LabError(f"{self.address} names no model: {ADDRESS}.") from e
        return models

    def metrics(self) -> str:
        """What its metrics say now; nothing where it has none."""
        with suppress(LabError), self.open(f"{self.address.removesuffix('/v1')}/metrics") as response:
            return response.read().decode(errors="replace")
        return ""

    def ask(self, model: str, prompt: Prompt, new: int, temperature: float) -> Answer:
        """The answer to one prompt, of at most `new` tokens, streamed; the engine counts them."""
        path, what = ("completions", "prompt") if prompt.raw else ("chat/completions", "messages")
        body = {"model": model, "max_tokens": new, "temperature": temperature, "stream": True}
        body |= {"stream_options": {"include_usage": True}, what: getattr(prompt, "content" if prompt.raw else what)}
        body = {self.instead.get(part, part): value for part, value in body.items()}
        body.pop(None, None)
        times, letters, tokens, ended = [time.perf_counter()], [], 0, False
        with self.open(f"{self.address}/{path}", body, PATIENCE) as response:
            try:
                for event in events(response):
                    if written := letters_in(event):
                        times.append(time.perf_counter())
                        letters.append(written)
                    tokens = tokens_of(event.get("usage")) or tokens
                    ended = ended or any(choice.get("finish_reason") for choice in choices_of(event))
            except ValueError as e:
                raise LabError(f"The server's answer cannot be read ({self.without_key(str(e))}).") from e
        if letters and tokens:
            begin, first, *_ = times
            return Answer(first - begin, times[-1] - first, tokens, max(1, round(tokens * letters[0] / sum(letters))))
        if letters and not ended:
            raise LabError(BROKE_OFF)
        why = "no text" if not letters else "no tokens counted"
        raise LabError(f"The server's answer has {why}: it must be a stream with “usage” in it, as of OpenAI's API.")

    def answer(self, model: str, prompt: Prompt, new: int, temperature: float) -> Answer | LabError:
        """The same, asked as the server wants it, or what went wrong."""
        try:
            return self.patiently(lambda: self.ask(model, prompt, new, temperature))
        except LabError as e:
            return e


def events(response: httpx.Response) -> Iterator[dict]:
    """The events of a stream, each as soon as it is there.

    Raises:
        ValueError: for what is no JSON, for a stream that does not end, and in the server's words for an error.
    """
    ends, line = time.perf_counter() + PATIENCE, b""
    for piece in itertools.chain(response.iter_bytes(), [b"\n"]):
        if time.perf_counter() > ends:
            raise ValueError(f"it has not ended after {PATIENCE:.0f} seconds")
        *lines, line = (line + piece).split(b"\n")  # httpx's own lines also end at signs that JSON may hold
        for data in (text.decode().strip().removeprefix("data:").strip() for text in lines):
            if data == "[DONE]":
                yield {"choices": [{"finish_reason": "stop"}]}
            if data.startswith("{"):
                event = parse(data)
                if error := error_in(event):
                    raise ValueError(f"the server says: {error}")
                yield event


def choices_of(event: dict) -> list[dict]:
    choices = event.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def error_in(event: object) -> str:
    """What an error says, as servers send one, in a stream or in place of it; empty where it is none."""
    if not isinstance(event, dict):
        return ""
    failed = [choice for choice in choices_of(event) if choice.get("finish_reason") == "error"]
    error = event.get("error") or event.get("detail") or event.get("message")
    error = error or (failed[0].get("error", "it ended") if failed else "")
    return str(error.get("message", error) if isinstance(error, dict) else error)


def letters_in(event: dict) -> int:
    """How much an event of a stream writes, in letters: more than none where it brings a token. The first one often brings
    only the role. Engines name the parts of an answer as they like, so all of them count.
    """
    deltas = [choice.get("delta", {"text": choice.get("text")}) for choice in choices_of(event)]
    parts = (item for delta in deltas if isinstance(delta, dict) for item in delta.items())
    texts = (part for name, part in parts if name not in SAYS_WHO and isinstance(part, str | list | dict) and part)
    return sum(len(text if isinstance(text, str) else json.dumps(text)) for text in texts)


def tokens_of(usage: object) -> int:
    """How many tokens an engine says that it wrote; 0 where it says no such thing."""
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return int(count) if isinstance(count, int | float) and 0 < count < 10**9 and count == int(count) else 0


def conditional(survival: Sequence[float]) -> list[float]:
    """Survival by depth to acceptance by depth: each divided by the one before it.

    Where no round got through, what comes after was never tested, and is left out.
    """
    return [share / before for before, share in itertools.pairwise([1.0, *survival]) if before > 0]


def counters(text: str) -> Counts:
    """The counters of COUNTED in a text in the form of Prometheus. Lines that are none are left out."""
    counts: Counts = Counter()
    for line in text.splitlines():
        with suppress(ValueError):
            for sample in (s for family in text_string_to_metric_families(line) for s in family.samples):
                what = COUNTED.get(sample.name.removesuffix("_total"))
                if what and math.isfinite(sample.value):
                    place = sample.labels.get("position", "")[:5]
                    counts[what, int(place) if place else None] += sample.value  # pyright: ignore[reportArgumentType] - a float
    return counts


def acceptance(before: Counts, after: Counts) -> dict | None:
    """What the engine's counters say about the rounds between two readings; None when it does not speculate."""
    grown = Counter({key: value - before[key] for key, value in after.items()})
    rounds = grown["rounds", None]
    if rounds <= 0 or not all(map(math.isfinite, grown.values())):
        return None
    places = sorted(place for what, place in grown if what == "accepted by place" and place is not None)
    survival = [grown["accepted by place", place] / rounds for place in places]
    return {
        "rounds": int(rounds),
        "drafts_per_round": grown["drafts", None] / rounds,
        "tokens_per_pass": 1 + grown["accepted", None] / rounds,  # of the passes that had drafts
        "survival_by_position": survival,
        "alpha_by_position": conditional(survival),
    }


def what_else_they_say(text: str) -> str:
    """Of metrics that hold none of COUNTED, a sentence."""
    for engine, pattern in MEANS.items():
        if known := re.findall(pattern, text):
            return f"{engine} says that its latest rounds wrote {float(known[-1]):.2f} tokens each. Rounds it does not count."
    return "The server's metrics hold no speculation: it is off there, or not counted (llama-server needs --metrics)."


def as_reported(traces: Sequence[Trace], gamma: int) -> dict[str, float]:
    """What engines would report of these rounds, with at most `gamma` drafts each: {engine and its name for a number: the number}.

    Formulas as in the engines' sources in November 2026 (vLLM 0.33.0, SGLang 0.5.23, llama.cpp b11434, TensorRT-LLM
    1.4.0rc1). SGLang counts all rounds, the others only those that had drafts.

    Raises:
        ValueError: without a round that has drafts.
    """
    every = [r for trace in traces for r in trace.rounds]
    rounds = [r for r in every if r.drafted]
    if not rounds:
        raise ValueError("there are no rounds with drafts")
    accepted = sum(r.accepted for r in rounds)
    length = 1 + accepted / len(rounds)
    of_proposed = accepted / sum(len(r.drafted) for r in rounds)
    of_allowed = accepted / (gamma * len(every))  # whether they were proposed or not
    survival = {f"place {i + 1}": sum(r.accepted > i for r in rounds) / len(rounds) for i in range(gamma)}
    return {
        "vLLM: Mean acceptance length": length,
        "SGLang: accept len": 1 + accepted / len(every),
        "llama.cpp: mean len": length,
        "TensorRT-LLM: acceptanceLength": length,
        "vLLM: Avg Draft acceptance rate": of_proposed,
        "llama.cpp: draft acceptance": of_proposed,
        "SGLang: accept rate": of_allowed,
        **{f"vLLM: Per-position acceptance rate, {place}": share for place, share in survival.items()},
        **{f"llama.cpp: acc per pos, {place}": share for place, share in survival.items()},
    }


def ask_all(
    endpoint: str,
    prompts: Sequence[Prompt],
    new: int,
    temperature: float,
    say: Say = silent,
    at_once: int = 1,
    key: str | None = None,
    model: str | None = None,
) -> dict:
    """The prompts through a server: latency, throughput, and acceptance from its metrics.

    Args:
        endpoint, key: as of `Server`.
        new: new tokens of each answer, at most.
        at_once: how many prompts wait for their answers at any time, until the last ones.
        model: by the name that the server has for it; None: the first one.

    Raises:
        LabError: when the server does not answer at all, or for at_once outside 1 … MOST_AT_ONCE.
    """
    if not 1 <= at_once <= MOST_AT_ONCE:
        raise LabError(f"--at-once is {at_once}, but must be from 1 to {MOST_AT_ONCE}.")
    server, problems = Server(endpoint, key), []
    with say_if_slow(say, "The server does not answer yet: waiting for up to a minute …"):
        first, *others = models = server.patiently(server.models)
    if model is None and others:
        problems.append(
            f"The server has {len(models)} models, and the first one was measured. Name another with --model: "
            f"{printable(', '.join(others), 200)}."
        )
    elif model not in (None, *models):
        has = printable(", ".join(models), 300)
        raise LabError(f"The server has no model “{printable(model, 80)}”. It has {has}.")
    named = model or first
    say(f"Asking {printable(named, 80)} for {len(prompts)} answers, with up to {PATIENCE / 60:.0f} minutes for each …")
    before, begin, answers = counters(server.metrics()), time.perf_counter(), []
    askers = ThreadPoolExecutor(at_once)
    try:
        found = askers.map(lambda prompt: server.answer(named, prompt, new, temperature), prompts)
        for number, (prompt, answer) in enumerate(zip(prompts, found), 1):
            if isinstance(answer, Answer):
                answers.append(answer)
            else:
                problems.append(f"The prompt “{prompt.id}” was left out. {answer}")
            say(f"{number} of {len(prompts)} prompts ({prompt.id})")
    finally:  # after an interrupt only those that are being answered are waited for
        askers.shutdown(wait=False, cancel_futures=True)
    seconds = time.perf_counter() - begin
    if not answers:
        raise LabError(f"The server at {endpoint} answered none of the prompts: {problems[-1]}")
    metrics = server.metrics()
    speculation = acceptance(before, counters(metrics))
    if speculation is None:
        problems.append(what_else_they_say(metrics))
    if server.waits:
        problems.append(
            f"The server asked {len(server.waits)} times to wait, {sum(server.waits):.0f} s: tokens a second hold this time."
        )
    if "temperature" in server.instead:
        problems.append("The server takes no temperature: it decoded with its own.")
    return {
        "endpoint": endpoint,
        "model": named,
        "answers": len(answers),
        "at_once": at_once,
        "tokens_per_second": sum(a.tokens for a in answers) / seconds,  # of all together
        **paces(answers, problems),
        "speculation": speculation,
        "problems": problems,
    }


def paces(answers: Sequence[Answer], problems: list[str]) -> dict:
    """The waits of one user, in milliseconds; what was held back is left out, and told."""
    timed = [a for a in answers if not a.held_back]
    if len(timed) < len(answers):
        problems.append(
            f"{len(answers) - len(timed)} answers came in one piece: the server, or what stands between, holds the stream "
            "back. So their times to the first token and by token are left out."
        )
    ms = [1e3 * a.rest / (a.tokens - a.begun) for a in timed if a.tokens > a.begun]  # a token, after the first piece
    return {
        "ms_to_first_token": 1e3 * fmean(a.first for a in timed) if timed else None,
        "ms_per_token": {"mean": fmean(ms), "p50": median(ms), "p95": percentile(ms, 0.95)} if ms else None,
    }
