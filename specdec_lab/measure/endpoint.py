"""The same prompts through a serving engine: its OpenAI-compatible API, and the metrics it keeps.

Engines report acceptance as *survival*: of all rounds, the share that got past depth i. The course
(and the formula for E) uses the *conditional* rate: of the rounds that reached depth i, the share
that got past it. The one is the running product of the other.
"""

import itertools
import json
import math
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from statistics import fmean, median

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError, Say, say_if_slow, silent
from specdec_lab.formats import percentile, printable
from specdec_lab.measure.http_client import all_of, asked_to_wait, fetch, is_cut, lines, message_of, without_key
from specdec_lab.measure.prompts import Prompt, parse

# vLLM's counters; llama-server has the same ones under its own prefix (llama.cpp pull request 26389).
DRAFTS, DRAFTED, ACCEPTED_DRAFTS, BY_POSITION = (
    f"spec_decode_num_{what}" for what in ("drafts", "draft_tokens", "accepted_tokens", "accepted_tokens_per_pos")
)

PATIENCE = 600.0  # seconds for an answer
BROKE_OFF = "broke off in the middle: see the server's own log for why"
MOST_EVENTS = 1_000  # of an answer, beside 20 for each token that was asked for
SAYS_WHO = ("role", "id", "name")  # what a part of an answer may hold beside tokens
AT_ONCE = 1e-4  # seconds a token: no server writes a text so fast, so these tokens were held back and came together
TRIES = 5  # of a prompt, where a server asks to wait, or wants to be asked in another way
MOST_AT_ONCE = 256  # prompts that wait for their answers; each has a thread here

# By a counter's name and the place in the round that it counts, None for all; summed over engines.
Counts = Counter[tuple[str, int | None]]


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
            counts[found[1], int(position[1]) if position else None] += value  # pyright: ignore[reportArgumentType] - a float
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
    if rounds <= 0 or not all(map(math.isfinite, grown.values())):
        return None
    depths = sorted(place for name, place in grown if name == BY_POSITION and place is not None)
    survival = [grown[BY_POSITION, depth] / rounds for depth in depths]
    return {
        "rounds": int(rounds),
        "drafts_per_round": grown[DRAFTED, None] / rounds,
        "tokens_per_pass": 1 + grown[ACCEPTED_DRAFTS, None] / rounds,  # of the passes that had drafts
        "survival_by_position": survival,
        "alpha_by_position": conditional(survival),
    }


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


def written(event: dict) -> int:
    """How much an event of a stream writes, in letters: more than none where it brings a token. The first one often brings
    only the role. Engines name the parts of an answer as they like, so all of them count."""
    choices, letters = event.get("choices"), 0
    for choice in choices if isinstance(choices, list) else []:
        if not isinstance(choice, dict):
            continue
        delta = choice.get("delta", {"text": choice.get("text")})
        for name, part in delta.items() if isinstance(delta, dict) else []:
            if name not in SAYS_WHO and isinstance(part, str | list | dict) and part:
                letters += len(part if isinstance(part, str) else json.dumps(part))
    return letters


def ask(
    base: str,
    model: str,
    prompt: Prompt,
    new: int,
    temperature: float | None,
    key: str | None = None,
    limit: str = "max_tokens",
) -> Answer:
    """The answer to one prompt, streamed; its tokens are counted by the engine.

    Args:
        base: the API's address, without a slash at its end.
        new: at most so many new tokens.
        temperature: None: that of the server.
        key: as of `fetch`.
        limit: how the server calls `new`.

    Raises:
        LabError: when the server does not answer as it should.
    """
    path, what = "chat/completions", {"messages": prompt.messages}
    if prompt.raw:
        path, what = "completions", {"prompt": prompt.content}
    body = {"model": model, limit: new, "stream": True, **what}
    if temperature is not None:
        body["temperature"] = temperature
    begin, first, last, tokens, failed, ended = time.perf_counter(), None, None, 0, False, False
    pieces: list[int] = []  # letters of each
    try:
        with fetch(f"{base}/{path}", body | {"stream_options": {"include_usage": True}}, PATIENCE, key) as response:
            for number, line in enumerate(lines(response, PATIENCE)):
                if number >= MOST_EVENTS + 20 * new:
                    raise ValueError(f"it goes on after {number} lines, for {new} tokens that were asked for")
                text = line.decode().strip()
                if text.startswith("event:"):
                    failed = "error" in text
                text = text.removeprefix("data:").strip()
                ended = ended or text == "[DONE]" or re.search(r'"finish_reason":\s*"', text)
                if not text.startswith("{"):
                    continue
                event = parse(text)
                if said := message_of(event) or (failed and str(event.get("message", "an error"))):
                    raise ValueError(f"the server says: {said}")
                if letters := written(event):
                    last = time.perf_counter()
                    first = first or last
                    pieces.append(letters)
                tokens = tokens_of(event.get("usage")) or tokens
    except (ValueError, OSError, HTTPException) as e:
        said = f"cannot be read ({printable(without_key(str(e), key), 300)})"
        if isinstance(e, HTTPException | ConnectionError) or is_cut(e):
            said = BROKE_OFF
        raise LabError(f"The server's answer to the prompt “{prompt.id}” {said}.") from e
    if first is None or not tokens:
        said = "ended at once" if tokens else "has no tokens: it must be a stream, as of OpenAI's API"
        if first is not None:
            said = "has no tokens counted: it must send “usage” in its stream" if ended else BROKE_OFF
        raise LabError(f"The server's answer to the prompt “{prompt.id}” {said}.")
    return Answer(first - begin, last - first, tokens, max(1, round(tokens * pieces[0] / sum(pieces))))


def tokens_of(usage: object) -> int:
    """How many tokens an engine says that it wrote; 0 where it says no such thing."""
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    known = count if isinstance(count, int | float) and 0 < count < 10**9 else 0
    return int(known) if known == int(known) else 0


def models_at(endpoint: str, key: str | None = None) -> list[str]:
    """The names of the models that a server has, at least one.

    Raises:
        LabError: when it does not answer, or names none.
    """
    wanted = "--endpoint should be the address of an OpenAI-compatible API up to /v1, such as http://localhost:8000/v1"
    try:
        with fetch(f"{endpoint}/models", key=key) as response:
            models = [model["id"] for model in parse(all_of(response).decode())["data"]]
        if not models or not all(isinstance(model, str) for model in models):
            raise TypeError("no text")
    except LabError as e:
        if getattr(e.__cause__, "code", 0) in (404, 405):
            raise LabError(f"{endpoint} has no list of models: {wanted}.") from e
        raise
    except (ValueError, LookupError, TypeError, OSError, HTTPException) as e:
        raise LabError(f"{endpoint} names no model: {wanted}.") from e
    return models


def chosen_model(models: Sequence[str], wanted: str | None) -> str:
    """The model that is measured.

    Raises:
        LabError: where the server does not have the one that is wanted.
    """
    if wanted is not None and wanted not in models:
        raise LabError(
            f"The server has no model “{printable(wanted, 80)}”. It has {printable(', '.join(models), 300)}."
        )
    return models[0] if wanted is None else wanted


def metrics_of(base: str, key: str | None = None) -> str:
    """What a server's metrics say now; nothing where it has none."""
    try:
        with fetch(f"{base.removesuffix('/v1')}/metrics", key=key) as response:
            return all_of(response).decode(errors="replace")
    except (LabError, ValueError, OSError, HTTPException):
        return ""


def own_words(text: str) -> str:
    """What the metrics of other engines say of their speculation: a mean, from which no rounds can be counted."""
    found = re.findall(r"(?m)^sglang:spec_accept_length(?:\{.*\})? (\S+)$", text)
    lengths, who = [number(x) for x in found], "SGLang"
    if text.lstrip().startswith("["):
        who = "TensorRT-LLM"
        with suppress(ValueError, TypeError, AttributeError):
            stats = [entry.get("specDecodingStats") for entry in json.loads(text)]
            lengths = [float(of["acceptanceLength"]) for of in stats if of and "acceptanceLength" in of]
    known = [x for x in lengths if math.isfinite(x) and x > 0]
    return (
        f"{who} says that its latest rounds wrote {known[-1]:.2f} tokens each. Rounds it does not count."
        if known
        else ""
    )


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
        endpoint: such as http://localhost:8000/v1.
        new: new tokens of each answer, at most.
        at_once: how many prompts wait for their answers at any time, until the last ones.
        key: as of `fetch`.
        model: by the name that the server has for it; None: the first one.

    Raises:
        LabError: when the server does not answer at all, or for at_once outside 1 … MOST_AT_ONCE.
    """
    if not 1 <= at_once <= MOST_AT_ONCE:
        raise LabError(f"--at-once is {at_once}, but must be from 1 to {MOST_AT_ONCE}.")
    base, problems, waits = endpoint.rstrip("/"), [], []
    with say_if_slow(say, "The server does not answer yet: waiting for up to a minute …"):
        models = models_at(base, key)
    named = chosen_model(models, model)
    if model is None and len(models) > 1:
        problems.append(
            f"The server has {len(models)} models, and the first one was measured. Name another with --model: "
            f"{printable(', '.join(models[1:]), 200)}."
        )
    manner = {"temperature": temperature, "limit": "max_tokens"}  # in which this server wants to be asked

    def answer(prompt: Prompt) -> Answer | LabError:
        for _ in range(TRIES):
            asked = dict(manner)  # another prompt, asked at the same time, may find out meanwhile what the server wants
            try:
                return ask(base, named, prompt, new, asked["temperature"], key, asked["limit"])
            except LabError as e:
                failed, refused = e, getattr(e.__cause__, "code", 0) == 400
            if refused and "max_completion_tokens" in str(failed) and asked["limit"] == "max_tokens":
                manner["limit"] = "max_completion_tokens"
            elif refused and "temperature" in str(failed) and asked["temperature"] is not None:
                manner["temperature"] = None
            elif (wait := asked_to_wait(failed)) is not None:
                waits.append(wait)
                time.sleep(wait)
            else:
                break
        return failed

    say(f"Asking {printable(named, 80)} for {len(prompts)} answers, with up to {PATIENCE / 60:.0f} minutes for each …")
    before, begin, answers = metrics(metrics_of(base, key)), time.perf_counter(), []
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
        raise LabError(f"The server at {endpoint} answered none of the prompts: {problems[-1]}")
    after = metrics_of(base, key)
    found = acceptance(before, metrics(after))
    if found is None:
        problems.append(
            own_words(after)
            or "The server's metrics hold no speculation: it is off there, or not counted (llama-server needs --metrics)."
        )
    if waits:
        problems.append(
            f"The server asked {len(waits)} times to wait, {sum(waits):.0f} s: tokens a second hold this time."
        )
    if manner["temperature"] is None:
        problems.append("The server takes no temperature: it decoded with its own.")
    timed = [a for a in answers if not a.held_back]
    if len(timed) < len(answers):
        problems.append(
            f"{len(answers) - len(timed)} answers came in one piece: the server, or what stands between, holds the stream "
            "back. So their times to the first token and by token are left out."
        )
    ms = [1e3 * a.rest / (a.tokens - a.begun) for a in timed if a.tokens > a.begun]  # a token, after the first piece
    return {
        "endpoint": endpoint,
        "model": named,
        "answers": len(answers),
        "at_once": at_once,
        "tokens_per_second": sum(a.tokens for a in answers) / seconds,  # of all together
        "ms_to_first_token": 1e3 * fmean(a.first for a in timed) if timed else None,
        "ms_per_token": {"mean": fmean(ms), "p50": median(ms), "p95": percentile(ms, 0.95)} if ms else None,
        "speculation": found,
        "problems": problems,
    }
