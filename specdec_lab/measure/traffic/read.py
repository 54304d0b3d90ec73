"""One's own prompts, in whatever form they were kept. What cannot be read is told, and the rest is used."""

from specdec_lab.errors import LabError
from specdec_lab.files import read_text
from specdec_lab.measure.prompts import Prompt, read_line, read_prompt, read_prompts


def read_traffic(path: str) -> tuple[list[Prompt], list[str]]:
    """The prompts of a file (or the "builtin" ones), and a sentence for each line that was left out.

    A file of JSON lines may hold prompts as `bench` takes them, or a log of an OpenAI-style
    server: {"messages": […]}, also inside "request" or "body". Answers at the end of such
    messages are left off: the prompt is what came before them. Any other file is plain text: prompts
    are separated by empty lines or, where there are none, by line breaks.

    Raises:
        LabError: when the file cannot be read, or holds no prompt at all.
    """
    if path == "builtin":
        return read_prompts(), []
    text = read_text(path)
    if text.lstrip()[:1] != "{" and (kind := no_prose(text)):
        raise LabError(
            f"{path} holds {kind}, and no prompts: give JSON lines, each an object, or plain text with empty lines between prompts."
        )
    prompts, problems = (from_lines if text.lstrip().startswith("{") else from_text)(text)
    if not prompts:
        why = f" ({problems[0]})" if problems else ": it is empty"
        raise LabError(f"There are no prompts in {path}{why}. It may hold JSON lines, or plain text with empty lines.")
    return prompts, problems


def no_prose(text: str) -> str | None:
    """What a file holds that is neither JSON lines nor plain text, such as "a page or XML"; None for plain text."""
    begin = text.lstrip()[:200].lower()
    if begin.startswith(("<!doctype", "<html", "<?xml")):
        return "a page or XML"
    try:
        read_line(text)
    except ValueError as e:
        return "JSON that is nested too deeply" if "nested" in str(e) else None
    return "JSON that is no object"


def from_text(text: str) -> tuple[list[Prompt], list[str]]:
    """The prompts of plain text; no line of it is left out."""
    text = text.replace("\r\n", "\n").strip()
    pieces = text.split("\n\n") if "\n\n" in text else text.split("\n")
    return [Prompt(str(i), "all", piece.strip()) for i, piece in enumerate(pieces, 1) if piece.strip()], []


def from_lines(text: str) -> tuple[list[Prompt], list[str]]:
    """The prompts of JSON lines, and a sentence for each line that was left out."""
    prompts, problems = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                prompts.append(read_prompt(logged(read_line(line), number)))
            except ValueError as e:
                problems.append(f"Line {number} was left out: {e}.")
    return prompts, problems


def logged(entry: object, number: int) -> object:
    """A line of a log as a line of a prompts file. Whatever is wrong with it, `read_prompt` says."""
    if not isinstance(entry, dict):
        return entry
    inner = next((entry[key] for key in ("request", "body") if isinstance(entry.get(key), dict)), {})
    entry = {"id": str(number), "kind": "all", **inner, **entry}
    messages = entry.get("messages")
    if isinstance(messages, list):
        messages = [plain(m) for m in messages]
        while messages and isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
            messages.pop()
        entry["messages"] = messages
    return {**entry, "id": f"{number}: {entry['id']}"}  # ids of a log may repeat


def plain(message: object) -> object:
    """A message whose content came in parts, as one text."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    parts = (part.get("text") for part in message["content"] if isinstance(part, dict))
    return {**message, "content": "\n".join(part for part in parts if isinstance(part, str))}
