"""One's own prompts, in whatever form they were kept. What cannot be read is told, and the rest is used."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from specdec_lab.errors import LabError
from specdec_lab.files import read_text
from specdec_lab.measure.prompts import Prompt, read_line, read_prompt, read_prompts

FORMS = (
    "JSON lines (prompts, or a log of requests), a JSON array of these, an OpenAI batch, ShareGPT conversations, or plain "
    "text with empty lines between prompts"
)
TOLD = 10  # entries that are told one by one; of the others it is said how many there are
SPEAKERS = {"human": "user", "gpt": "assistant"}  # ShareGPT's names for them; it has the other ones, too


def read_traffic(path: str) -> tuple[list[Prompt], list[str]]:
    """The prompts of a file (or the "builtin" ones), and sentences on what was left out.

    An entry may hold a prompt as `bench` takes them, or what an OpenAI-style server was asked: {"messages": […]}, also
    inside "request" or "body"; or {"conversations": [{"from", "value"}]}; or be a list of messages, or a text. Answers
    at the end of such messages are left off: the prompt is what came before them. A file that is no JSON is plain text:
    prompts are separated by empty lines or, where there are none, by line breaks.

    Raises:
        LabError: when the file cannot be read, holds something else, or no prompt at all.
    """
    if path == "builtin":
        return read_prompts(), []
    text = read_text(path)
    if what := no_traffic(text, path):
        raise LabError(f"{path} holds {what}, and no prompts. Give {FORMS}.")
    entries = entries_of(text, path)
    if entries is None:
        return from_text(text), []
    prompts, problems, why, notes = [], [], Counter(), Counter()
    for name, entry in entries:
        try:
            prompts.append(read_prompt(logged(entry() if callable(entry) else entry, name, notes)))
        except ValueError as e:
            problems.append(f"{name} was left out: {e}.")
            why[str(e)] += 1
    if not prompts:
        first = f" ({problems[0]})" if problems else ": it is empty"
        raise LabError(f"There are no prompts in {path}{first}. Give {FORMS}.")
    return prompts, [*share(len(prompts), why), *problems[:TOLD], *more_than(len(problems)), *said_of(notes)]


def share(used: int, why: Counter[str]) -> list[str]:
    """What part of the file was measured, where more than one entry was not."""
    if why.total() < 2:
        return []
    reasons = "; ".join(f"{n} times {reason}" for reason, n in why.most_common(5))
    total = used + why.total()
    return [f"{used} of {total} entries ({used / total:.0%}) are measured. Of the others: {reasons}."]


def more_than(problems: int) -> list[str]:
    return [f"And {problems - TOLD} more."] if problems > TOLD else []


def said_of(notes: Counter[str]) -> list[str]:
    return [f"{n} {'entry' if n == 1 else 'entries'} {what}." for what, n in notes.items()]


def no_traffic(text: str, path: str) -> str | None:
    """What a file holds that is no traffic, such as "a page or XML"."""
    begin = text.lstrip()[:200].lower()
    if begin.startswith(("<!doctype", "<html", "<?xml")):
        return "a page or XML"
    if path.lower().endswith((".csv", ".tsv", ".xlsx", ".parquet")) or is_table(text):
        return "a table"
    return None


def is_table(text: str) -> bool:
    """Whether all of the first lines have equally many columns, and the first one only short names."""
    lines = [line for line in islice(text.splitlines(), 20) if line.strip()]
    for sign, fewest in (("\t", 1), (",", 1), (";", 1), ("|", 2)):
        columns = {line.count(sign) for line in lines}
        names = lines[0].split(sign) if lines else []
        short = all(re.fullmatch(r'\s*"?[\w .-]{1,30}"?\s*', name) or not name.strip() for name in names)
        if len(lines) >= 3 and len(columns) == 1 and columns.pop() >= fewest and short and not begins_as_json(text):
            return True
    return False


def begins_as_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def entries_of(text: str, path: str) -> Iterator[tuple[str, object]] | None:
    """The entries of a file of JSON, each with its name: of one array, one object or one a line. None for plain text.

    An entry that is a line is given as a function, which may raise ValueError.

    Raises:
        LabError: for JSON that is cut or damaged, and for JSON without entries.
    """
    if not begins_as_json(text) and not is_json(text):
        lines = [line for line in text.split("\n") if line.strip()]
        in_quotes = bool(lines) and all(line.lstrip().startswith('"') and is_json(line) for line in lines)
        return of_lines(text) if in_quotes else None
    try:
        whole = json.loads(text)
    except RecursionError as e:
        raise LabError(f"{path} holds JSON that is nested too deeply. Give {FORMS}.") from e
    except ValueError as e:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) > 1 and sum(map(is_json, lines)) >= len(lines) / 2:
            return of_lines(text)
        if len(lines) == 1 or not any(map(is_json, lines)):
            cut = "" if text.lstrip()[:1] == "{" and "\n{" in text else " It may have been cut: give the whole file."
            raise LabError(f"{path} holds JSON that is damaged ({str(e)[:100]}).{cut} Or give {FORMS}.") from e
        return of_lines(text)
    if isinstance(whole, list) and not is_messages(whole):
        return ((f"Entry {i}", entry) for i, entry in enumerate(whole, 1))
    if isinstance(whole, dict | list):
        return of_lines(text) if "\n" not in text.strip() else iter([("The entry", whole)])
    raise LabError(f"{path} holds JSON that is no object and no list, and no prompts. Give {FORMS}.")


def of_lines(text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"Line {number}", lambda line=line: read_line(line)


def is_json(text: str) -> bool:
    try:
        read_line(text)
    except ValueError:
        return False
    return True


def is_messages(entry: object) -> bool:
    """Whether it is a list of chat messages, and no list of entries."""
    return (
        isinstance(entry, list)
        and bool(entry)
        and all(isinstance(m, dict) and {"role", "content"} <= set(m) for m in entry)
    )


def from_text(text: str) -> list[Prompt]:
    """The prompts of plain text; no line of it is left out.

    Raises:
        LabError: when there are none.
    """
    text = text.replace("\r\n", "\n").strip()
    pieces = re.split(r"\n[^\S\n]*\n", text) if re.search(r"\n[^\S\n]*\n", text) else text.split("\n")
    pieces = [piece.strip() for piece in pieces if piece.strip()]
    if not pieces:
        raise LabError(f"There are no prompts in this file: it is empty. Give {FORMS}.")
    return [Prompt(str(i), "all", piece) for i, piece in enumerate(pieces, 1)]


def logged(entry: object, name: str, notes: Counter[str]) -> object:
    """An entry of a log as a line of a prompts file. Whatever is wrong with it, `read_prompt` says, or a ValueError.

    Args:
        notes: counts what is not part of the prompt.
    """
    number = name.rpartition(" ")[2]
    if isinstance(entry, str):
        entry = {"prompt": entry}
    if is_messages(entry):
        entry = {"messages": entry}
    if not isinstance(entry, dict):
        return entry
    inner = next((entry[key] for key in ("request", "body") if isinstance(entry.get(key), dict)), {})
    entry = {"id": entry.get("custom_id") or number, "kind": "all", **inner, **entry}
    if isinstance(entry.get("conversations"), list) and "messages" not in entry:
        entry["messages"] = [turn(m) for m in entry["conversations"]]
    if is_messages(entry.get("prompt")) and "messages" not in entry:
        entry["messages"] = entry["prompt"]
    elif isinstance(entry.get("prompt"), list):
        raise ValueError("its prompt is a list of token ids, and text is needed")
    if entry.get("tools") or entry.get("functions"):
        notes["offered tools to the model, whose descriptions are not part of what is measured"] += 1
    messages = entry.get("messages")
    if isinstance(messages, list):
        while messages and isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
            messages = messages[:-1]
        entry["messages"] = [as_text(m) for m in messages]
    return {**entry, "id": f"{number}: {entry['id']}"}  # ids of a log may repeat


def turn(message: object) -> object:
    """A turn of ShareGPT as a message."""
    if not isinstance(message, dict) or not isinstance(message.get("from"), str):
        return message
    return {"role": SPEAKERS.get(message["from"], message["from"]), "content": message.get("value")}


def as_text(message: object) -> object:
    """A message whose content came in parts, as one text.

    Raises:
        ValueError: for a part that is no text, and for a call of a tool, which is none either.
    """
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if not content and (message.get("tool_calls") or message.get("function_call")):
        raise ValueError("a message calls a tool, which each model's template writes in its own way")
    if not content and message.get("role") in ("tool", "function"):
        raise ValueError("the result of a tool is empty")
    if not isinstance(content, list):
        return message
    return {**message, "content": "\n".join(parts_of(content))}


def parts_of(content: Sequence[object]) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
        else:
            kind = part.get("type", "something") if isinstance(part, dict) else "something"
            raise ValueError(f"a message holds a part that is no text (“{str(kind)[:30]}”)")
