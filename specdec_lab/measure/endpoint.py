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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from statistics import fmean, median
from typing import Any
from urllib.parse import quote

import httpx
from prometheus_client.parser import text_string_to_metric_families

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError, Say, say_if_slow, silent
from specdec_lab.formats import percentile, printable
from specdec_lab.measure.prompts import Prompt, parse

KEY = "OPENAI_API_KEY"  # in the environment, for servers that ask for one
ADDRESS = "--endpoint should be the address of an OpenAI-compatible API up to /v1, such as http://localhost:8000/v1"
START = "start it, mend --endpoint, or see its own log"
MENDS = {  # by HTTP's status, what somebody can do about it; of any other from 300 to 499 that it runs, and refuses
    **dict.fromkeys((401, 403), f"give the key with --api-key, or as {KEY}"),
    **dict.fromkeys((404, 405), ADDRESS),
    **dict.fromkeys((429, 503), "it takes no more just now, so ask again later, or fewer at once"),
}
NO_METRICS = "so nothing is known of its speculation: llama-server needs --metrics, others may want --api-key"
REFUSED = "it runs, and refuses this: mend what it names, or --endpoint"
PATIENCE, BRIEF = 600.0, 60.0  # seconds for an answer, or until a model is loaded; and for what a server knows at once
MOST_AT_ONCE = 256  # prompts that wait for their answers; each has a thread here
CALL = re.compile("name|arguments")  # the text in a tool's call; and where else in an event the model's text may stand
TEXT = re.compile("choices|delta|(reasoning_)?(text|content)|reasoning|thinking|refusal|tool_calls|function(_call)?")
NO_PROXY = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}  # none knows this machine's servers

# The counters of vLLM, and of llama-server under its own prefix (llama.cpp pull request 26389).
NAMES = {
    "drafts": "rounds", "draft_tokens": "drafts", "accepted_tokens": "accepted",
    "accepted_tokens_per_pos": "accepted by place",
}  # fmt: skip
COUNTED = {f"{engine}:spec_decode_num_{name}": what for engine in ("vllm", "llamacpp") for name, what in NAMES.items()}
Counts = Counter[tuple[str, int | None]]  # by what is counted and the place in the round, None for all; of all engines


@dataclass(frozen=True)
class Answer:
    """When a prompt was asked, and its answer began and ended, in seconds of the clock; its tokens, and how many of them the
    first piece brought, by its share of the letters.
    """

    asked: float
    began: float
    ended: float
    tokens: int
    first: int = 1


class Server:
    """An OpenAI-compatible API. Whatever goes wrong with it is a LabError of one sentence, without the key.

    Args:
        address: up to /v1.
        key: that the server asks for; by default that in the environment, as OPENAI_API_KEY.
    """

    def __init__(self, address: str, key: str | None = None, say: Say = silent):
        self.address, self.key, self.say = address.rstrip("/"), (key or os.environ.get(KEY) or "").strip(), say
        if not (self.key.isascii() and self.key.isprintable()):
            raise LabError(f"The key has a sign that none can have: give it anew, with --api-key or as {KEY}.")
        try:
            url = httpx.URL(self.address)
            if url.userinfo or url.query:
                raise LabError("A name, a password or a ? stands in --endpoint: leave it out, and give --api-key.")
            headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
            trusted = httpx.create_ssl_context()
            self.new = lambda: httpx.Client(headers=headers, verify=trusted, mounts=NO_PROXY)
            self.new().close()
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
    def open(self, url: str, seconds: float, body: dict | None = None, mend: str = "") -> Iterator[httpx.Response]:
        """The answer to a GET or, with a body, to a POST of JSON, which has so many seconds in all. It is asked for again
        while the model is being loaded, and without options of the stream where these are refused.
        """
        until = time.perf_counter() + PATIENCE
        while True:
            client = self.new()  # its own: one that is late is closed, and the others' connections with it
            how = {"method": "POST" if body else "GET", "url": url, "json": body, "timeout": seconds}
            asked = time.perf_counter()
            try:  # httpx limits the time of each piece alone, and a server may send a letter at a time
                with say_if_slow(lambda _, c=client: c.close(), "", seconds), client, client.stream(**how) as response:
                    response.extensions["asked"] = asked
                    if response.status_code < 300:
                        yield response
                        return
                    refused = self.refusal(response, mend)
            except (httpx.HTTPError, httpx.InvalidURL, RuntimeError, UnicodeError) as e:
                late = time.perf_counter() - asked >= seconds
                said = f"a request has not ended after {seconds:.0f} seconds" if late else f"{type(e).__name__}: {e}"
                raise self.failure(said, mend or START) from e
            if response.status_code == 503 and "loading" in str(refused).partition("(")[2].lower() and asked < until:
                self.say(f"The server is loading the model: waiting for up to {PATIENCE / 60:.0f} minutes …")
                self.say = silent  # said once
                time.sleep(1)
            elif response.status_code not in (400, 422) or not (body or {}).pop("stream_options", None):
                raise refused

    def refusal(self, response: httpx.Response, mend: str) -> LabError:
        """What an error of HTTP says, with the server's own words, and what can be done."""
        status = response.status_code
        words = text_of(response, 5).strip() or response.headers.get("Location", "")
        said = f"{status} {response.reason_phrase}{f': {words}' if words else ''}"
        return self.failure(said, mend or MENDS.get(status, REFUSED if status < 500 else START))

    def model(self, wanted: str | None) -> str:
        """The name of the model to ask: the one that is wanted, or the first that the server has."""
        with self.open(f"{self.address}/models", BRIEF) as response:
            try:
                models = [model["id"] for model in parse(text_of(response))["data"]]
                first, names = models[0], printable(", ".join(models), 300)
            except (ValueError, LookupError, TypeError) as e:
                raise LabError(f"{self.address} names no model: {ADDRESS}.") from e
        if wanted not in (None, *models):
            raise LabError(f"The server has no model “{printable(wanted or '', 80)}”. It has {names}.")
        return wanted or first

    def counters(self, model: str) -> Counts:
        """What its metrics count now of a model; one of several may have to be named."""
        url = f"{self.address.removesuffix('/v1')}/metrics"
        with say_if_slow(self.say, "The server's metrics do not answer yet …", 3):
            with suppress(LabError), self.open(url, 5) as response:
                if found := counters(text_of(response), model):
                    return found
            with self.open(f"{url}?model={quote(model, '', errors='replace')}", 5, mend=NO_METRICS) as response:
                return counters(text_of(response), model)

    def ask(self, model: str, prompt: Prompt, new: int, temperature: float) -> Answer:
        """The answer to one prompt, of at most `new` tokens, streamed; the engine counts them."""
        path, what = ("completions", "prompt") if prompt.raw else ("chat/completions", "messages")
        body = {"model": model, "max_tokens": new, "temperature": temperature, "stream": True}
        body |= {"stream_options": {"include_usage": True}, what: getattr(prompt, "content" if prompt.raw else what)}
        with self.open(f"{self.address}/{path}", PATIENCE, body) as response:
            try:
                return answer_in(events(response), response.extensions["asked"])
            except ValueError as e:
                raise LabError(f"The server's answer cannot be read ({self.without_key(str(e))}).") from e


def text_of(response: httpx.Response, most: int = 5_000) -> str:
    """What a server answers as text, of which so many pieces are read: some do not end."""
    return b"".join(itertools.islice(response.iter_bytes(2_000), most)).decode(errors="replace")


def answer_in(events: Iterator[dict], asked: float) -> Answer:
    """The answer in the events of a stream, each timed as it comes."""
    times, letters, tokens = [], [], 0
    for event in events:
        if written := letters_in(event):
            times.append(time.perf_counter())
            letters.append(written)
        tokens = tokens_in(event) or tokens
    if not letters or not tokens:
        why = "no tokens counted" if letters else "no text"
        raise LabError(f"The server's answer has {why}: it must be a stream that ends with “usage”, as OpenAI's.")
    return Answer(asked, times[0], times[-1], tokens, max(1, round(tokens * letters[0] / sum(letters))))


def events(response: httpx.Response) -> Iterator[dict]:
    """The events of a stream, each as soon as it is there.

    Raises:
        ValueError: for what is no JSON, and in the server's words for an error.
    """
    line = b""
    for piece in itertools.chain(response.iter_bytes(), [b"\n"]):
        *lines, line = (line + piece).split(b"\n")  # httpx's own lines also end at signs that JSON may hold
        if len(line) > 10**7:
            raise ValueError("a line of it does not end")
        for data in (text.decode().strip().removeprefix("data:").strip() for text in lines):
            if data.startswith("{"):
                event = parse(data)
                if event.get("error"):
                    raise ValueError(f"the server says: {data}")
                yield event


def letters_in(event: Any, names: re.Pattern = TEXT) -> int:
    """How much an event writes, in letters: more than none where it brings a token. The first often brings only the role."""
    if isinstance(event, dict):
        inner = {name: CALL if "function" in name else TEXT for name in event if names.fullmatch(name)}
        return sum(letters_in(event[name], its) for name, its in inner.items())
    return len(event) if isinstance(event, str) else sum(map(letters_in, event)) if isinstance(event, list) else 0


def tokens_in(event: dict) -> int:
    """How many tokens an engine says that it wrote; 0 where it says no such thing."""
    usage = event.get("usage")
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 < count < 10**9 else 0


def conditional(survival: Sequence[float]) -> list[float]:
    """Survival by depth to acceptance by depth: each divided by the one before it.

    Where no round got through, what comes after was never tested, and is left out.
    """
    return [share / before for before, share in itertools.pairwise([1.0, *survival]) if before > 0]


def counters(text: str, model: str = "") -> Counts:
    """The counters of COUNTED in a text in the form of Prometheus, without those of other models."""
    counts: Counts = Counter()
    for line in (x for x in text.split("\n") if ":spec_decode_num_" in x):
        with suppress(ValueError, OverflowError):
            for sample in (s for family in text_string_to_metric_families(line) for s in family.samples):
                of = {sample.labels.get(name, model) for name in ("model_name", "model")}
                if (what := COUNTED.get(sample.name.removesuffix("_total"))) and of == {model}:
                    key = what, int(sample.labels["position"]) if sample.labels.get("position") else None
                    counts[key] += float(sample.value)  # pyright: ignore[reportArgumentType] - a float
    return counts


def acceptance(before: Counts, after: Counts, tokens: int, answers: int = 1) -> dict:
    """What the engine's counters say about the rounds between two readings, in which it wrote so many tokens in so many answers."""
    grown = {key: after[key] - before[key] for key in {*before, *after}}
    rounds = grown.get(("rounds", None), 0)
    if not all(0 <= value < math.inf for value in grown.values()):
        raise LabError("The server's counters fell in between, as after a restart, or are no numbers.")
    if not rounds:
        raise LabError("The server's metrics count no speculation of this model: it is off, or counted otherwise.")
    each = grown.get(("drafts", None), 0) / rounds  # what each answer's last round may have kept, and not written
    if (written := rounds + grown.get(("accepted", None), 0)) > tokens + each * answers:
        said = f"The server counted rounds that write {written:.0f} tokens, but wrote only {tokens} here"
        raise LabError(f"{said}: others use it, too, or answers broke off. So its counters are left out.")
    places = sorted(place for what, place in grown if what == "accepted by place" and place is not None)
    survival = [grown["accepted by place", place] / rounds for place in places]
    return {
        "rounds": int(rounds),
        "drafts_per_round": grown.get(("drafts", None), 0) / rounds,
        "tokens_per_pass": 1 + grown.get(("accepted", None), 0) / rounds,  # of the passes that had drafts
        "survival_by_position": survival,
        "alpha_by_position": conditional(survival),
    }


def as_reported(traces: Sequence[Trace], gamma: int) -> dict[str, float]:
    """What engines would report of these rounds, with at most `gamma` drafts each: {engine and its name for a number: the number}.

    Formulas as in the engines' sources in November 2026 (vLLM 0.33.0, SGLang 0.5.23, llama.cpp b11434, TensorRT-LLM
    1.4.0rc1). SGLang counts all rounds, the others only those that had drafts.
    """
    every = [r for trace in traces for r in trace.rounds]
    rounds = [r for r in every if r.drafted]
    if not rounds:
        raise LabError("There are no rounds with drafts: give texts in which the drafter finds something to propose.")
    accepted = sum(r.accepted for r in rounds)
    length = 1 + accepted / len(rounds)
    of_proposed = accepted / sum(len(r.drafted) for r in rounds)
    of_allowed = accepted / (gamma * len(every))  # whether they were proposed or not
    survival = [sum(r.accepted > i for r in rounds) / len(rounds) for i in range(gamma)]
    by_place = ("vLLM: Per-position acceptance rate", "llama.cpp: acc per pos")
    return {
        "vLLM: Mean acceptance length": length,
        "SGLang: accept len": 1 + accepted / len(every),
        "llama.cpp: mean len": length,
        "TensorRT-LLM: acceptanceLength": length,
        "vLLM: Avg Draft acceptance rate": of_proposed,
        "llama.cpp: draft acceptance": of_proposed,
        "SGLang: accept rate": of_allowed,
        **{f"{name}, place {i}": share for name in by_place for i, share in enumerate(survival, 1)},
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
    """
    if not 1 <= at_once <= MOST_AT_ONCE:
        raise LabError(f"--at-once is {at_once}, but must be from 1 to {MOST_AT_ONCE}.")
    server = Server(endpoint, key, say)
    with say_if_slow(say, "The server does not answer yet: waiting for up to a minute …"):
        named = server.model(model)
    say(f"Asking {printable(named, 80)} for {len(prompts)} answers, with up to {PATIENCE / 60:.0f} minutes for each …")
    before, problems = Counts({("rounds", None): math.inf}), []  # pyright: ignore - a float, where none can be read
    with suppress(LabError):
        before = server.counters(named)
    answers = ask_each(lambda prompt: server.ask(named, prompt, new, temperature), prompts, at_once, problems, say)
    if not answers:
        raise LabError(f"The server at {endpoint} answered none of the prompts: {problems[-1]}")
    tokens, speculation = sum(a.tokens for a in answers), None
    try:
        speculation = acceptance(before, server.counters(named), tokens, len(answers))
    except LabError as e:
        problems.append(str(e))
    return {
        "endpoint": endpoint,
        "model": printable(named, 80),
        "answers": len(answers),
        "at_once": at_once,
        "tokens_per_second": tokens / seconds_in_all(answers),  # of all together
        **paces(answers),
        "speculation": speculation,
        "problems": problems,
    }


def ask_each(
    ask: Callable[[Prompt], Answer], prompts: Sequence[Prompt], at_once: int, problems: list[str], say: Say
) -> list[Answer]:
    """The answers, with at most so many asked at once; each one that failed is told in `problems`."""

    def one(prompt: Prompt) -> tuple[list[Answer], list[str]]:
        try:
            return [ask(prompt)], []
        except LabError as e:
            return [], [f"The prompt “{prompt.id}” was left out. {e}"]

    answers: list[Answer] = []
    try:
        with ThreadPool(at_once) as askers:  # who asks there ends with the program, whatever it waits for
            for number, (prompt, (answered, failed)) in enumerate(zip(prompts, askers.imap(one, prompts)), 1):
                answers += answered
                problems += failed
                say(f"{number} of {len(prompts)} prompts ({prompt.id})")
    except KeyboardInterrupt:
        if not answers:
            raise
        problems.append(f"It was stopped: the answers to {len(answers)} of {len(prompts)} prompts are counted.")
    return answers


def seconds_in_all(answers: Sequence[Answer]) -> float:
    """How long at least one of these prompts waited for its answer; prompts that failed take none of this time."""
    seconds, until = 0.0, 0.0
    for answer in sorted(answers, key=lambda a: a.asked):
        seconds += max(0.0, answer.ended - max(answer.asked, until))
        until = max(until, answer.ended)
    return seconds


def paces(answers: Sequence[Answer]) -> dict:
    """The waits of one user, in milliseconds: to the first piece, and for each token after it."""
    ms = [1e3 * (a.ended - a.began) / (a.tokens - a.first) for a in answers if a.tokens > a.first]
    return {
        "ms_to_first_token": 1e3 * fmean(a.began - a.asked for a in answers),
        "ms_per_token": {"mean": fmean(ms), "p50": median(ms), "p95": percentile(ms, 0.95)} if ms else None,
    }
