"""Prompts by kind: the built-in suite, or a file of one's own in the forms in which people keep prompts; and how much a
number depends on which prompts they are.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from typing import Any

from specdec_lab.errors import LabError
from specdec_lab.files import read_text
from specdec_lab.formats import printable

FEW = 5  # fewer prompts give no interval
ENOUGH = 20  # Fewer prompts give an estimate and no decision: an interval from six misses too often.
LONG = 32  # Answers that were cut off with fewer tokens decide nothing: drafts may fare better or worse further on.
TIED = 0.02  # ratios that differ by less than this share are not put in an order
DEPLOY, DONT, UNCLEAR, TOO_FEW = "deploy", "don't", "unclear", "too few prompts"  # what is decided
MOST_NAMED = 10  # entries that are named one by one when they are left out

FORMS = (
    "JSON lines (prompts, or a log of requests), a JSON array of these, an OpenAI batch, ShareGPT conversations, or plain "
    "text with empty lines between prompts"
)
# Files of these are no prompts, whatever text they hold.
OTHER_FILES = (".csv", ".tsv", ".xlsx", ".parquet", ".yaml", ".yml", ".toml", ".html", ".htm", ".xml")

# The names that people give to the parts of an entry. Of each row the first that is there counts.
REQUEST = "request", "body", "params", "input", "inputs"  # what a server was asked may stand in one of these
MESSAGES = "messages", "conversations", "conversation", "contents", "turns", "prompt", "input", "inputs"
TEXT = "turns", "prompt", "instruction", "question", "query", "input", "inputs"
CONTEXT = "input", "context"  # what an instruction or a question is about (Alpaca, Dolly, SQuAD)
SYSTEM = "system", "system_prompt", "instructions", "systemInstruction", "system_instruction"
ID, KIND = ("id", "custom_id", "question_id"), ("kind", "category")
SPEAKER, CONTENT = ("role", "from", "type"), ("content", "value", "text", "parts")
WRAPPER = "data", "kwargs"  # in which LangChain keeps a message
NAMES_OF_ROLES = {
    "system": "system", "developer": "developer", "user": "user human", "assistant": "assistant gpt chatgpt ai model bot bard",
    "tool": "tool function observation",
}  # fmt: skip
ROLES = {name: role for role, names in NAMES_OF_ROLES.items() for name in names.split()}

# Only JSON begins with an object that has a name, or with a list of such objects or of texts.
JSON_BEGINS = re.compile(r'\{(?=\s*")|\[(?=\s*(?:"|\{\s*"))')
# How a line of a log or of a stream begins.
STAMP = re.compile(
    r"\W{0,9}(?:data:|\d{4}-\d\d|\d\d?[:/.]\d\d|\d{10}|[A-Z][a-z]{2} +\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN|ERROR)\w*\b)"
)
# A list of messages within JSON, or within what Python prints.
CHAT = re.compile(r"""["'](?:messages|conversations|contents)["']\s*:\s*\[""")


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
    """The built-in prompts, or those of a JSON-lines file, each with an id and a kind (docs/reference.md has its form)."""
    builtin = resources.files("specdec_lab") / "data" / "prompts.jsonl"
    text = builtin.read_text(encoding="utf-8") if source == "builtin" else read_text(source)
    prompts: dict[str, Prompt] = {}
    for number, line in enumerate(text.split("\n"), start=1):  # JSON may hold the other line breaks
        if not line.strip():
            continue
        try:
            prompt = prompt_in(parse(line))
            if prompt.id in prompts:
                raise ValueError(f"the id “{prompt.id}” stands twice")
            prompts[prompt.id] = prompt
        except ValueError as e:
            form = '{"id", "kind", "prompt"} or {"id", "kind", "messages"}'
            raise LabError(f"Line {number} of {source} is no prompt ({e}): it must be {form}.") from e
    if not prompts:
        raise LabError(f"There are no prompts in {source}.")
    return list(prompts.values())


def read_traffic(path: str) -> tuple[list[Prompt], list[str]]:
    """The prompts of a file (or the "builtin" ones), and sentences on what was left out.

    An entry may have any form that the tables above describe. A file that holds no JSON is plain text: prompts are
    separated by empty lines or, where there are none, by line breaks.
    """
    if path == "builtin":
        return read_prompts(), []
    if path.lower().endswith(OTHER_FILES):
        raise LabError(f"{path} is a table, a page or the like, which is not read here. Give {FORMS}.")
    prompts, left_out = [], []
    for number, (name, entry) in enumerate(entries_of(read_text(path)), 1):
        try:
            prompts.append(prompt_in(entry, number))
        except ValueError as e:
            left_out.append(f"{name} was left out: {e}.")
    if not prompts:
        first = f" ({left_out[0]})" if left_out else ": it is empty"
        raise LabError(f"There are no prompts in {path}{first}. Give {FORMS}.")
    total = len(prompts) + len(left_out)
    share = f"{len(prompts)} of {total} entries ({len(prompts) / total:.0%}) are measured."
    return prompts, [share, *left_out[:MOST_NAMED]] if len(left_out) > 1 else left_out


def entries_of(text: str) -> list[tuple[str, Any]]:
    """The entries of a file, each with its name: of one value of JSON, of lines of JSON, or pieces of plain text.

    A line without JSON among such lines is an entry None. Where JSON is expected nothing is taken for plain text.
    """
    with suppress(ValueError):
        if isinstance(whole := parse(text), dict | list):
            return [(f"Entry {i}", entry) for i, entry in enumerate(unfold(whole), 1)]
    lines = [(f"Line {n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    values = [(name, json_on(line)) for name, line in lines]
    found = [value for _, value in values if value is not None]
    if 2 * len(found) > len(lines) or any(map(has_prompt, found)) or is_damaged(text.lstrip()):
        return [(name, entry) for name, value in values for entry in unfold(value)]
    text = text.replace("\r\n", "\n").strip()
    pieces = re.split(r"\n[^\S\n]*\n", text) if re.search(r"\n[^\S\n]*\n", text) else text.split("\n")
    return [(f"Piece {i}", piece) for i, piece in enumerate((p.strip() for p in pieces if p.strip()), 1)]


def json_on(line: str) -> dict | list | str | None:
    """What a line holds, alone or behind a time or the like; None where that is no object, list or text.

    Behind other words it must be a chat, since prose may quote any JSON.
    """
    for begin in [0, *(m.start() for m in islice(JSON_BEGINS.finditer(line), 3))]:
        before = line[:begin].strip()
        if not before or STAMP.match(before) or CHAT.search(line):
            with suppress(ValueError):
                value = parse(line[begin:].strip().removesuffix(","))
                return value if isinstance(value, dict | list | str) else None
    return None


def is_damaged(text: str) -> bool:
    """Whether a text was meant to be JSON, but cannot be read: it begins so and breaks off, or holds a chat."""
    try:
        json.JSONDecoder().raw_decode(text)
    except RecursionError:
        return True
    except ValueError:
        return bool(JSON_BEGINS.match(text) or CHAT.search(text))
    return bool(CHAT.search(text))


def unfold(value: Any) -> list:
    """The entries of one object or list: itself, or what it has a list of, such as {"train": [entry, …]}."""
    if isinstance(value, dict) and not has_prompt(value):
        lists = [part for part in value.values() if isinstance(part, list) and part and isinstance(part[0], dict)]
        value = [entry for entries in lists for entry in entries] or value
    return value if isinstance(value, list) and value and not is_chat(value) else [value]


def parse(text: str) -> Any:
    """What JSON holds. Raises ValueError, which says what is wrong with it."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def has_prompt(entry: Any) -> bool:
    """Whether an object has a part that is a prompt, even if one that cannot be used."""
    try:
        prompt_in(entry, 1)
    except ValueError as e:
        return isinstance(entry, dict) and "“prompt” is missing" not in str(e)
    return not isinstance(entry, str)


def prompt_in(entry: Any, number: int | None = None) -> Prompt:
    """The prompt in an entry: what came before the model's last answer, and of several turns the first.

    Args:
        number: of an entry that need not have an id and a kind.

    Raises:
        ValueError: in a few words of one line.
    """
    entry = {"prompt": entry} if isinstance(entry, str) else {"messages": entry} if is_chat(entry) else entry
    if not isinstance(entry, dict):
        raise ValueError("it is not a valid JSON object")
    inner = next((entry[name] for name in REQUEST if isinstance(entry.get(name), dict)), {})
    entry = {name: part for parts in (inner, entry) for name, part in parts.items() if part is not None}
    chat = entry.get("messages", next((entry[name] for name in MESSAGES if is_chat(entry.get(name))), None))
    content = text_of_entry(entry) if chat is None else messages_in(chat)
    system = first(entry, SYSTEM)
    if system and (system := text_in(system.get("parts") if isinstance(system, dict) else system)).strip():
        asked = [{"role": "user", "content": content}] if isinstance(content, str) else content
        content = [{"role": "system", "content": system}, *asked]
    id, kind = (next((entry[name] for name in names if name in entry), None) for names in (ID, KIND))
    if number:  # ids of a log may repeat
        id, kind = f"{number}: {id or number}", "all" if kind is None else kind
    for part, value in {"id": id, "kind": kind}.items():
        if value is None:
            raise ValueError(f"“{part}” is missing")
        if not isinstance(value, str | int) or not str(value).strip():
            raise ValueError(f"“{part}” must be text, and not empty")
    raw = entry.get("raw") is True and isinstance(content, str)  # messages always go through the template
    return Prompt(reject_surrogates(str(id)), reject_surrogates(str(kind)), content, raw)


def first(parts: dict, names: Sequence[str]) -> Any:
    """The first part with one of these names that is not empty."""
    return next((parts[name] for name in names if parts.get(name)), None)


def text_of_entry(entry: dict) -> str:
    """The text of an entry without messages, with what it is about behind it."""
    text = first(entry, TEXT) or entry.get("prompt")
    if text is None:
        raise ValueError(f"“prompt” is missing, and there is {printable(', '.join(entry), 200) or 'nothing'}")
    text = text[0] if isinstance(text, list) and text else text
    if not isinstance(text, str) or not text.strip():
        raise ValueError("the prompt must be text (no token ids), and not empty")
    about = first(entry, CONTEXT) if text in (entry.get("instruction"), entry.get("question")) else None
    return reject_surrogates(f"{text}\n\n{about}" if isinstance(about, str) and about.strip() else text)


def is_chat(value: object) -> bool:
    """Whether it is a list of messages: each names a speaker and has a content."""
    chat = [normalise(m) for m in value] if isinstance(value, list) else []
    return bool(chat) and all(m["role"] and ("content" in m or "tool_calls" in m) for m in chat)


def normalise(message: Any) -> dict:
    """A message with its "role" and "content" under these names, whatever its maker calls them."""
    m = message if isinstance(message, dict) else {}
    m = {**m, **next((m[name] for name in WRAPPER if isinstance(m.get(name), dict)), {})}
    named, contents = first(m, SPEAKER), [m[name] for name in CONTENT if name in m]
    role = ROLES.get(str(named).lower(), str(named)) if named else None
    return {**m, "role": role, **({"content": contents[0]} if contents else {})}


def messages_in(chat: Any) -> list[dict[str, str]]:
    """The messages before the model's last answer, each with its role and text, which is all that a template is given."""
    chat, found = [normalise(m) for m in chat] if isinstance(chat, list) else [], []
    while chat and chat[-1]["role"] == "assistant":
        chat.pop()
    if not chat:
        raise ValueError("“messages” must be a list of messages, of which one asks")
    for m in chat:
        role = m["role"]
        if m.get("tool_calls") or m.get("function_call"):
            raise ValueError("a message calls a tool, which each model's template writes in its own way")
        if role not in NAMES_OF_ROLES or "content" not in m:
            raise ValueError(f"each message needs “content”, and as its “role” one of {', '.join(NAMES_OF_ROLES)}")
        text = text_in(m["content"])
        if text.strip():
            found.append({"role": role, "content": text})
        elif role not in ("system", "developer"):
            raise ValueError("a message's content must be text, and not empty")
    return found


def text_in(content: Any) -> str:
    """A content that is a text, or a list of parts that are texts."""
    parts = content if isinstance(content, list) else [content]
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    texts = [text for text in found if isinstance(text, str)]
    if len(texts) < len(found):
        raise ValueError("a message holds a part that is no text")
    return reject_surrogates("\n".join(texts))


def reject_surrogates(text: str) -> str:
    """The text, without half a character, which JSON can hold and nothing can encode."""
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
    """The ends of the 95 % interval of a value, by bootstrap over prompts: tokens of one text are not independent.

    Args:
        value: computes it from some of the prompts, of which one may be there more than once. They are drawn alike at
            every call.

    Returns:
        None where some draws have no value.
    """
    dice = random.Random(0)
    values = [value(dice.choices(prompts, k=len(prompts))) for _ in range(400)]
    drawn = sorted(x for x in values if x is not None)
    if len(drawn) < len(values):
        return None
    return drawn[10], drawn[389]  # 2.5 % of the draws lie below, and 2.5 % above
