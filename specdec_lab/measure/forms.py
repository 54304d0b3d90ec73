"""The forms in which people keep a prompt: those of servers' logs, of data sets and of chats, each made a line of a prompts file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

ASKED = "request", "body", "params", "input", "inputs"  # what a server was asked may stand in one of these
SPOKEN = "messages", "conversations", "conversation", "contents", "turns", "prompt", "input", "inputs"
WRITTEN = "prompt", "instruction", "question", "query", "input", "inputs"
ABOUT = "input", "context"  # what an instruction or a question is about (Alpaca, Dolly, SQuAD)
SYSTEM = "system", "system_prompt", "instructions", "systemInstruction", "system_instruction"
NAMES = {"id": ("custom_id", "question_id"), "kind": ("category",)}
SPEAKER, SAID = ("role", "from", "type"), ("content", "value", "text", "parts")
ROLES = {
    "human": "user", "gpt": "assistant", "chatgpt": "assistant", "ai": "assistant", "model": "assistant", "bot": "assistant",
    "bard": "assistant", "function": "tool", "observation": "tool",
    **{role: role for role in ("system", "developer", "user", "assistant", "tool")},
}  # fmt: skip


def as_line(entry: Any, notes: Counter[str]) -> Any:
    """An entry as a line of a prompts file, with "prompt" or "messages". What is wrong with it `read_prompt` says.

    The prompt is what came before the model's last answer. Of several texts in one place, such as the turns of MT-Bench,
    it is the first: the others follow answers that this file does not hold.

    Args:
        notes: counts what is not part of the prompt.

    Raises:
        ValueError: for a message that is no text.
    """
    if isinstance(entry, str):
        return as_line({"prompt": entry}, notes)
    if is_messages(entry):
        return as_line({"messages": entry}, notes)
    if not isinstance(entry, dict):
        return entry
    inner = next((entry[key] for key in ASKED if isinstance(entry.get(key), dict)), {})
    entry = {key: value for part in (inner, entry) for key, value in part.items() if value is not None}
    for name, others in NAMES.items():
        if (found := next((entry[key] for key in others if key in entry), None)) is not None:
            entry.setdefault(name, found)
    if entry.get("tools") or entry.get("functions"):
        notes["offered tools to the model, whose descriptions are not part of what is measured"] += 1
    if "messages" not in entry:
        if spoken := next((entry[key] for key in SPOKEN if is_messages(entry.get(key))), None):
            entry["messages"] = spoken
        elif (text := written(entry, notes)) is not None:
            entry["prompt"] = text
    if system := next((entry[key] for key in SYSTEM if entry.get(key)), None):
        before = {"role": "system", "content": system.get("parts") if isinstance(system, dict) else system}
        if isinstance(entry.get("messages"), list):
            entry["messages"] = [before, *entry["messages"]]
        elif isinstance(entry.get("prompt"), str):
            entry["messages"] = [before, {"role": "user", "content": entry["prompt"]}]
    if isinstance(entry.get("messages"), list):
        entry["messages"] = list(asked(entry["messages"], notes))
    return entry


def written(entry: dict, notes: Counter[str]) -> object:
    """The text of an entry without messages, with what it is about behind it; None where it has none."""
    if isinstance(entry.get("turns"), list):
        entry = {"prompt": entry["turns"]}
    text = next((entry[key] for key in WRITTEN if entry.get(key)), None)
    if isinstance(text, list):
        if not all(isinstance(part, str) for part in text):
            raise ValueError("its prompt is a list of token ids, or of other things, and text is needed")
        if len(text) > 1:
            notes["held several texts in one place, such as turns, of which the first is measured"] += 1
        text = text[0]
    about = next((entry[key] for key in ABOUT if isinstance(entry.get(key), str) and entry[key].strip()), None)
    asks = entry.get("instruction") or entry.get("question")
    return f"{text}\n\n{about}" if isinstance(text, str) and about and text == asks else text


def is_messages(entry: object) -> bool:
    """Whether it is a list of chat messages, and no list of entries."""
    return isinstance(entry, list) and bool(entry) and all(map(is_message, entry))


def is_message(m: object) -> bool:
    if not isinstance(m, dict):
        return False
    who = "role" in m or "from" in m or str(m.get("type")).lower() in ROLES or inside(m)
    return bool(who) and any(key in m for key in (*SAID, "tool_calls", "data", "kwargs"))


def inside(m: dict) -> dict:
    """The message that LangChain keeps in another one."""
    return next((m[key] for key in ("data", "kwargs") if isinstance(m.get(key), dict) and "content" in m[key]), {})


def asked(messages: Sequence[Any], notes: Counter[str]) -> Iterator[Any]:
    """The messages before the model's last answer, in one form. What is no message stays as it is."""
    while messages and role_of(messages[-1]) == "assistant":
        messages = messages[:-1]
    told = [as_message(m) for m in messages]
    for m in told:
        empty = isinstance(m, dict) and isinstance(m.get("content"), str) and not m["content"].strip()
        if empty and m["role"] in ("system", "developer"):
            notes["had an empty system message, which is left off"] += 1
        else:
            yield m


def role_of(message: object) -> object:
    m = {**message, **inside(message)} if isinstance(message, dict) else {}
    role = next((m[key] for key in SPEAKER if key in m), None)
    return ROLES.get(role.lower(), role) if isinstance(role, str) else role


def as_message(message: Any) -> Any:
    """A message by the names that its maker uses, as {"role", "content"}, and its parts as one text.

    Raises:
        ValueError: for a part that is no text, and for a call of a tool, which is none either.
    """
    if not isinstance(message, dict):
        return message
    m, role = {**message, **inside(message)}, role_of(message)
    said = next((key for key in SAID if key in m), None)
    content = m.get(said)
    if not content and (m.get("tool_calls") or m.get("function_call") or str(role) in ("function_call", "tool_call")):
        raise ValueError("a message calls a tool, which each model's template writes in its own way")
    if not content and role == "tool":
        raise ValueError("the result of a tool is empty")
    if role is None or said is None:
        return message
    return {"role": role, "content": "\n".join(parts_of(content)) if isinstance(content, list) else content}


def parts_of(content: Sequence[object]) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
        else:
            kind = part.get("type", "something") if isinstance(part, dict) else "something"
            raise ValueError(f"a message holds a part that is no text (“{str(kind)[:30]}”)")
