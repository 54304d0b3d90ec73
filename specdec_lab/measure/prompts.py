"""Prompts by kind: the built-in suite, or a file of one's own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from specdec_lab.errors import LabError

FEW = 5  # fewer give no interval, and no decision


@dataclass(frozen=True)
class Prompt:
    id: str
    kind: str
    content: str | list[dict]
    raw: bool = False

    @property
    def messages(self) -> list[dict]:
        return [{"role": "user", "content": self.content}] if isinstance(self.content, str) else self.content


def read_prompts(source: str = "builtin") -> list[Prompt]:
    """The built-in prompts, or those of a JSON-lines file (its form is described in the README).

    Raises:
        LabError: naming the line that cannot be used.
    """
    if source == "builtin":
        text = resources.files("specdec_lab").joinpath("data/prompts.jsonl").read_text(encoding="utf-8")
    else:
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise LabError(f"The prompts in {source} cannot be read ({e}).") from e
    prompts: list[Prompt] = []
    for number, line in enumerate(text.split("\n"), start=1):  # JSON may hold the other line breaks
        if not line.strip():
            continue
        try:
            prompts.append(read_prompt(json.loads(line)))
            if prompts[-1].id in {p.id for p in prompts[:-1]}:
                raise ValueError(f"the id “{prompts[-1].id}” stands twice")
        except ValueError as e:
            raise LabError(
                f'Line {number} of {source} is no prompt ({e}): it must be {{"id", "kind", "prompt"}} or '
                '{"id", "kind", "messages"}.'
            ) from e
    if not prompts:
        raise LabError(f"There are no prompts in {source}.")
    return prompts


def read_prompt(entry: dict) -> Prompt:
    """One line's prompt; ValueError says what is wrong with it."""
    if not isinstance(entry, dict):
        raise ValueError("it is no object")
    if missing := {"id", "kind", "messages" if "messages" in entry else "prompt"} - set(entry):
        raise ValueError(f"“{min(missing)}” is missing")
    if "messages" in entry:
        content = entry["messages"]
        if not isinstance(content, list) or not content:
            raise ValueError("“messages” must be a list of messages")
        if not all(isinstance(m, dict) and {"role", "content"} <= set(m) for m in content):
            raise ValueError("each message needs “role” and “content”")
    else:
        content = entry["prompt"]
        if not isinstance(content, str) or not content.strip():
            raise ValueError("the prompt is empty")
    return Prompt(str(entry["id"]), str(entry["kind"]), content, bool(entry.get("raw", False)))


def first_of_each_kind(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """At most `most` prompts of each kind, in their order."""
    first = {kind: [p for p in prompts if p.kind == kind][:most] for kind in {p.kind for p in prompts}}
    return [p for p in prompts if p in first[p.kind]]
