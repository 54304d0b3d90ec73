"""Prompts by kind: the built-in suite, or a file of one's own; and how much a number depends on which they are."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from specdec_lab.errors import LabError
from specdec_lab.files import read_text
from specdec_lab.measure.forms import as_line

ROLES = ("system", "developer", "user", "assistant", "tool")
FEW = 5  # fewer prompts give no interval
ENOUGH = 20  # Fewer prompts give an estimate and no decision: an interval from six misses too often.
TIED = 0.02  # ratios that differ by less than this share are not put in an order


@dataclass(frozen=True)
class Prompt:
    """content: one user message, or chat messages. raw: the text as it is, without the chat template."""

    id: str
    kind: str
    content: str | list[dict]
    raw: bool = False

    @property
    def messages(self) -> list[dict]:
        return [{"role": "user", "content": self.content}] if isinstance(self.content, str) else self.content


def read_prompts(source: str = "builtin") -> list[Prompt]:
    """The built-in prompts, or those of a JSON-lines file (its form is described in docs/reference.md; for the others
    that an entry may have, see `forms`).

    Raises:
        LabError: naming the line that cannot be used.
    """
    if source == "builtin":
        text = resources.files("specdec_lab").joinpath("data/prompts.jsonl").read_text(encoding="utf-8")
    else:
        text = read_text(source)
    prompts: list[Prompt] = []
    known = set()
    for number, line in enumerate(text.split("\n"), start=1):  # JSON may hold the other line breaks
        if not line.strip():
            continue
        try:
            prompts.append(read_prompt(as_line(read_line(line), Counter())))
            if prompts[-1].id in known:
                raise ValueError(f"the id “{prompts[-1].id}” stands twice")
            known.add(prompts[-1].id)
        except ValueError as e:
            raise LabError(
                f'Line {number} of {source} is no prompt ({e}): it must be {{"id", "kind", "prompt"}} or '
                '{"id", "kind", "messages"}.'
            ) from e
    if not prompts:
        raise LabError(f"There are no prompts in {source}.")
    return prompts


def read_line(line: str) -> Any:
    """What a line of JSON holds. Raises ValueError, which says what is wrong with it."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def is_cut(e: Exception | None) -> bool:
    """Whether JSON could not be read because its end is missing."""
    return isinstance(e, json.JSONDecodeError) and (e.pos >= len(e.doc) - 1 or "Unterminated" in e.msg)


def read_prompt(entry: object) -> Prompt:
    """One line's prompt. Raises ValueError, which says what is wrong with it."""
    if not isinstance(entry, dict):
        raise ValueError("it is no object")
    if missing := {"id", "kind", "messages" if "messages" in entry else "prompt"} - set(entry):
        there = ", ".join(shown(key) for key in entry if key not in ("id", "kind"))
        raise ValueError(f"“{min(missing)}” is missing" + (f", and there is {there[:200]}" if there else ""))
    for part in ("id", "kind"):
        if not isinstance(entry[part], str | int) or not str(entry[part]).strip():
            raise ValueError(f"“{part}” must be text, and not empty")
    if "messages" in entry:
        content = entry["messages"]
        if not isinstance(content, list) or not content:
            raise ValueError("“messages” must be a list of messages")
        content = [read_message(m) for m in content]
    else:
        content = entry["prompt"]
        if not isinstance(content, str):
            raise ValueError("the prompt must be text")
        if not content.strip():
            raise ValueError("the prompt is empty")
        whole(content)
    raw = entry.get("raw", False) is True and isinstance(content, str)  # messages always go through the template
    return Prompt(whole(str(entry["id"])), whole(str(entry["kind"])), content, raw)


def shown(key: str) -> str:
    """A name of somebody's file in a sentence of one line."""
    return f"“{key[:30] if key.isprintable() else ascii(key[:30])}”"


def read_message(message: object) -> dict[str, str]:
    """A message's role and text, which is all that a chat template is given. Raises ValueError as `read_prompt`."""
    if not isinstance(message, dict) or not {"role", "content"} <= set(message):
        raise ValueError("each message needs “role” and “content”")
    if message["role"] not in ROLES:
        raise ValueError(f"a message's role must be one of {', '.join(ROLES)}")
    if not isinstance(message["content"], str) or not message["content"].strip():
        raise ValueError("a message's content must be text, and not empty")
    return {"role": message["role"], "content": whole(message["content"])}


def whole(text: str) -> str:
    """The text, if it can be encoded. Raises ValueError for half a character (a lone surrogate): JSON can hold one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character (a lone surrogate)") from None
    return text


def first_of_each_kind(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """At most `most` prompts of each kind, in their order."""
    first = {kind: [p for p in prompts if p.kind == kind][:most] for kind in {p.kind for p in prompts}}
    return [p for p in prompts if p in first[p.kind]]


def bootstrap_interval(value: Callable[[list], float | None], prompts: Sequence) -> tuple[float, float] | None:
    """The 95 % interval of a value, by bootstrap over prompts: tokens of one text are not independent.

    Args:
        value: computes it from some of the prompts, of which one may be there more than once.

    Returns:
        Its ends; None where some draws have no value. They are the same at every call.
    """
    dice = random.Random(0)
    every = [value(dice.choices(prompts, k=len(prompts))) for _ in range(400)]
    drawn = sorted(found for found in every if found is not None)
    if len(drawn) < len(every):
        return None
    return drawn[10], drawn[389]  # 2.5 % of the draws lie below, and 2.5 % above
