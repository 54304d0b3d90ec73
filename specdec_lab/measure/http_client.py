"""Asking a server by HTTP: one sentence for whatever goes wrong, no key in any of them, and an end to every wait."""

import gzip
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener, getproxies

from specdec_lab.errors import LabError
from specdec_lab.formats import printable
from specdec_lab.measure.prompts import parse

KEY = "OPENAI_API_KEY"  # in the environment, for servers that ask for one
MOST_BYTES = 10_000_000  # of what a server sends at once: its metrics, or a line of an answer
LONGEST_WAIT = 60.0  # seconds that a server may ask to wait before it is asked again


def fetch(
    url: str, body: dict | None = None, timeout: float = 60.0, key: str | None = None, option: str = "--endpoint"
):
    """The open response to a GET, or with a body to a POST of JSON.

    Args:
        timeout: seconds without any data.
        key: the API key that the server asks for; by default that in the environment, as OPENAI_API_KEY.
        option: of the command, which named the server.

    Raises:
        LabError: when nobody answers there, or the answer is an error; its cause has the number of HTTP.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    if key := key_of(key):
        if not (key.isascii() and key.isprintable()):
            raise LabError(f"The key has a sign that none can have: give it anew, with --api-key or as {KEY}.")
        headers["Authorization"] = f"Bearer {key}"
    here, shown = False, re.sub(r"//[^/]*@", "//", url)  # a name and a password are printed nowhere
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:  # urlopen takes others, files among them
            raise ValueError("it is no address that begins with http")
        if shown != url:
            raise ValueError("a name or a password stands in it: leave it out, and give a key with --api-key")
        here = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
        opener = build_opener(*([ProxyHandler({})] if here else []))  # no proxy knows this machine's servers
        response = opener.open(Request(url, data, headers), timeout=timeout)
        # Some send it packed, though nobody asked for that.
        return gzip.open(response) if response.headers.get("Content-Encoding") == "gzip" else response
    except (URLError, OSError, ValueError, HTTPException) as e:
        reason = said_by(e, key) if isinstance(e, HTTPError) else str(getattr(e, "reason", e))
        proxy = getproxies().get(url.partition(":")[0])
        through = ""
        if proxy and not here and not isinstance(e, ValueError):
            through = f", through the proxy {re.sub(r'//[^/]*@', '//', proxy)} of the environment"
        raise LabError(
            f"The server at {shown} does not answer as it should ({reason}{through}): {mend(e, option)}."
        ) from e


def key_of(given: str | None) -> str:
    """The key that a server gets: the one that is given, or that in the environment; empty where there is none."""
    return (given or os.environ.get(KEY) or "").strip()


def without_key(said: str, key: str | None) -> str:
    """A server's words: some repeat the key that they refuse."""
    return said.replace(key_of(key), "…") if key_of(key) else said


def mend(e: Exception, option: str) -> str:
    """What somebody can do about it."""
    code = getattr(e, "code", 0)
    if code in (401, 403):
        return f"give the key with --api-key, or as {KEY}"
    if code == 429:
        return "it takes no more just now, so ask again later, or fewer at once"
    if 300 <= code < 400:
        return f"give {option} the address that it leads to"
    if 400 <= code <= 500 and code != 404:  # behind a gateway's 502 and more it may not run
        return f"it runs, and refuses this: mend what it names, or {option}"
    return f"start it, or mend {option}"


def said_by(e: HTTPError, key: str | None) -> str:
    """An error of HTTP, with what the server itself says about it."""
    try:
        text = e.read(10_000).decode(errors="replace").strip()
    except (OSError, HTTPException):
        text = ""
    with suppress(ValueError):
        text = message_of(parse(text)) or text
    to = f" to {e.headers['Location']}" if e.headers and e.headers.get("Location") else ""
    return printable(without_key(f"{e.code} {e.reason}{to}{f': {text}' if text else ''}", key), 300)


def message_of(event: object) -> str:
    """The words of an error as OpenAI's API sends one; empty where it is none."""
    if not isinstance(event, dict):
        return ""
    error = event.get("error", event.get("detail"))
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("finish_reason") == "error":
            error = error or choice.get("error") or event.get("message") or "the answer ended with an error"
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) else ""


def asked_to_wait(e: Exception) -> float | None:
    """The seconds after which a busy server wants to be asked again; None where it says no such thing."""
    cause = e.__cause__
    if not isinstance(cause, HTTPError) or cause.code not in (429, 503):
        return None
    with suppress(ValueError, TypeError):
        wait = float(cause.headers.get("Retry-After", ""))
        return wait if 0 <= wait <= LONGEST_WAIT else None
    return None


def is_cut(e: Exception | None) -> bool:
    """Whether JSON could not be read because its end is missing."""
    return isinstance(e, json.JSONDecodeError) and (e.pos >= len(e.doc) - 1 or "Unterminated" in e.msg)


def lines(response, seconds: float) -> Iterator[bytes]:
    """The lines of a response, each as soon as it is there.

    Raises:
        ValueError: for a line that is longer than MOST_BYTES, or when the response has not ended after so many seconds,
            however little of it comes at a time.
    """
    ends, line = time.perf_counter() + seconds, b""
    while piece := response.read1(65_536):
        if time.perf_counter() > ends:
            raise ValueError(f"it has not ended after {seconds:.0f} seconds")
        *whole, line = (line + piece).split(b"\n")
        if len(line) > MOST_BYTES:
            raise ValueError(f"a line of it is longer than {MOST_BYTES // 10**6} MB")
        yield from whole
    if line:
        yield line


def all_of(response, seconds: float = 60.0) -> bytes:
    """All that a response holds.

    Raises:
        ValueError: where it is longer than MOST_BYTES, or does not end within so many seconds.
    """
    found = b""
    for line in lines(response, seconds):
        found += line + b"\n"
        if len(found) > MOST_BYTES:
            raise ValueError(f"it is longer than {MOST_BYTES // 10**6} MB")
    return found
