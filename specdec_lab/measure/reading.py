"""One's own prompts, in whatever form they were kept. What cannot be read is told, and the rest is used."""

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice

from specdec_lab.errors import LabError
from specdec_lab.files import read_text
from specdec_lab.measure.forms import as_line, is_messages
from specdec_lab.measure.prompts import Prompt, is_cut, read_line, read_prompt, read_prompts

FORMS = (
    "JSON lines (prompts, or a log of requests), a JSON array of these, an OpenAI batch, ShareGPT conversations, or plain "
    "text with empty lines between prompts"
)
ENDINGS = {
    "a table": (".csv", ".tsv", ".xlsx", ".parquet"),
    "YAML or TOML": (".yaml", ".yml", ".toml"),
    "a page or XML": (".html", ".htm", ".xml"),
}
# What a page begins with. Other names in pointed brackets stand in many prompts.
PAGE = "html|head|body|title|meta|div|p|h[1-6]|[uo]l|table|section|article|main|header|nav|span|prompts"
PARTS = "prompts?|messages|conversations|text|content|instruction|question|input|turns|role"
YAML = re.compile(rf"\s*(?:- (?:id|kind|{PARTS}):(?: |$)|(?:{PARTS}):\s*\n\s*-\s|\[\[?\w+\]\]?\s*\n\w+ *=)", re.M)
TOLD = 10  # entries that are told one by one; of the others it is said how many there are
# What only JSON has: an object with a name, or a list of such objects or of texts.
BEGINS = re.compile(r'\{(?=\s*")|\[(?=\s*(?:"|\{\s*"))')
TRIES, FAILED = 3, 100  # places of a line at which JSON may begin; tries over many lines, each of which takes long
REST = re.compile(r"[ \t\r,;]*(?:(?=\n)|\Z|(?=[\[{]))")  # of the line on which it ends
# How a line of a log or of a stream begins.
STAMP = re.compile(
    r"\W{0,9}(?:data:|\d{4}-\d\d|\d\d?[:/.]\d\d|\d{10}|[A-Z][a-z]{2} +\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN|ERROR)\w*\b)"
)


def read_traffic(path: str) -> tuple[list[Prompt], list[str]]:
    """The prompts of a file (or the "builtin" ones), and sentences on what was left out.

    An entry may have any of the `forms`. A file that holds no JSON is plain text: prompts are separated by empty lines or,
    where there are none, by line breaks.

    Raises:
        LabError: when the file cannot be read, holds something else, or no prompt at all.
    """
    if path == "builtin":
        return read_prompts(), []
    text = read_text(path)
    if what := no_traffic(text, path):
        raise LabError(f"{path} holds {what}, which is not read here. Give {FORMS}.")
    entries = entries_of(text, path)
    if entries is None:
        return from_text(text), []
    prompts, problems, why, notes = [], [], Counter(), Counter()
    for number, (name, entry) in enumerate(entries, 1):
        try:
            line = as_line(entry() if callable(entry) else entry, notes)
            if isinstance(line, dict):  # ids of a log may repeat
                line = {"kind": "all", **line, "id": f"{number}: {line.get('id') or number}"}
            prompts.append(read_prompt(line))
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
    for what, ends in ENDINGS.items():
        if path.lower().endswith(ends):
            return what
    begin, some = text.lstrip()[:200], text[:100_000]
    page = re.match(rf"<(?:!--|(?:{PAGE})\b)", begin, re.I) and text.rstrip().endswith(">") and some.count("</") > 1
    if page or (re.match(r"<(?:!doctype|\?xml)", begin, re.I) and len(re.findall(r"<[/!?a-zA-Z]", some)) > 3):
        return "a page or XML"
    lines = [line for line in islice(text.splitlines(), 20) if not re.match(r"\s*(?:#|---|$)", line)]
    if YAML.match("\n".join(lines)):
        return "YAML or TOML"
    return "a table" if is_table(lines) else None


def is_table(lines: list[str]) -> bool:
    """Whether the first line has several names, each of one word, and the next ones have equally many columns.

    Where blanks follow the signs, as in prose, or one line alone comes behind it, it must name a part of a prompt.
    """
    for sign, fewest in (("\t", 2), (",", 2), (";", 2), ("|", 3)):
        known = lines and re.search(rf"(?i)\b(?:{PARTS})\b", lines[0].replace("_", " "))
        apart = f" *{re.escape(sign)} *" if known else re.escape(sign)
        if len(lines) < 3 - bool(known) or not re.fullmatch(rf'(?:"?\w[\w.-]*"?{apart})+"?[\w.-]*"?\s*', lines[0]):
            continue
        try:
            rows = list(csv.reader(lines, delimiter=sign, skipinitialspace=True))
        except csv.Error:
            continue
        # The last one may be cut.
        if len(rows[0]) >= fewest and {len(row) for row in rows[: max(2, len(rows) - 1)]} == {len(rows[0])}:
            return True
    return False


def entries_of(text: str, path: str) -> list[tuple[str, object]] | None:
    """The entries of a file of JSON, each with its name: of one list, of one object, or of many. None for plain text.

    A line in which no JSON was found is given as a function, which may raise ValueError.

    Raises:
        LabError: for JSON that is cut or damaged.
    """
    begin, why = text.strip(), None
    if begin[:1] in ("[", "{"):
        try:
            return unfolded(json.loads(begin))
        except RecursionError as e:
            raise LabError(f"{path} holds JSON that is nested too deeply. Give {FORMS}.") from e
        except ValueError as e:
            why = e
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if lines and all(line.lstrip().startswith('"') and is_json(line) for _, line in lines):
        return [(f"Line {n}", json.loads(line)) for n, line in lines]
    starts, found = BEGINS.match(begin), list(scanned(text))
    if starts:  # what stands farther to the right than the first line is a part of something
        indent = len(lines[0][1]) - len(lines[0][1].lstrip())
        found = [one for one in found if not one[2].strip() and len(one[2]) <= indent]
    inside = {number for first, last, *_ in found for number in range(first, last + 1)}
    others = [(n, line) for n, line in lines if n not in inside]
    prose = sum(bool(re.match(r"\s*\w|.*[^\W\d] [^\W\d]", line)) for _, line in others)
    each = [one for *_, value in found for one in (value if isinstance(value, list) else [value])]
    known = sum(holds(one, "messages", "prompt") for one in each)  # these count twice
    if found and (starts or len(found) + known > prose):
        values = [*((n, value) for n, _, _, value in found), *((n, partial(unread, line)) for n, line in others)]
        if len(found) == 1 and isinstance(found[0][3], list):
            return [*unfolded(found[0][3]), *((f"Line {n}", entry) for n, entry in values[1:])]
        return [(f"Line {n}", entry) for n, entry in sorted(values, key=lambda one: one[0])]
    if starts and not is_followed(begin):
        cut = " It may have been cut: give the whole file." if is_cut(why) else ""
        raise LabError(f"{path} holds JSON that is damaged ({str(why)[:100]}).{cut} Or give {FORMS}.") from why
    # A line with a list of words may begin prose; one with an object does not.
    if is_pythons(begin) or (lines and "{" in lines[0][1] and is_pythons(lines[0][1])):
        raise LabError(
            f"{path} holds what Python prints, with single quotes, which is no JSON: write it with json.dumps."
        )
    return None


def scanned(text: str) -> Iterator[tuple[int, int, str, object]]:
    """The JSON of a text: its first and its last line, what stands before it on the first, and the object or list.

    It begins a line, or stands behind a time or the like, or is a request; and nothing follows it on its last line.
    """
    decode, end, begin, number, tries, failed = json.JSONDecoder().raw_decode, 0, 0, 1, 0, 0
    for m in re.finditer(rf"{BEGINS.pattern}|\n", text):
        if m[0] == "\n":
            begin, number, tries = m.end(), number + 1, 0
            continue
        tries += 1
        if m.start() < end or tries > TRIES or failed > FAILED:
            continue
        before, values, stop, rest = text[begin : m.start()], [], m.start(), m
        try:
            if goes_on(text, stop):
                while rest and text[stop : stop + 1] in ("[", "{"):  # several may share a line
                    value, at = decode(text, stop)
                    values.append(value)
                    rest = REST.match(text, at)
                    stop = rest.end() if rest else at
        except (ValueError, RecursionError):
            failed += 1
            continue
        if values and rest and (not before.strip() or STAMP.match(before) or holds(values[0], "messages")):
            last = number + text.count("\n", m.start(), at)
            yield from ((number, last, before, value) for value in values)
            end = at


def goes_on(text: str, begin: int) -> bool:
    """Whether the JSON that begins there is whole on its line, or can go on behind it. What fails in a line fails fast."""
    line = text[begin : (text.find("\n", begin) + 1 or len(text) + 1) - 1].rstrip()
    try:
        json.JSONDecoder().raw_decode(line)
    except json.JSONDecodeError as e:
        return e.pos >= len(line)
    return True


def unfolded(whole: object) -> list[tuple[str, object]]:
    """The entries of one object or list: itself, or what it has a list of."""
    if isinstance(whole, dict) and not holds(whole, "messages", "prompt"):
        lists = [value for value in whole.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        whole = [entry for entries in lists for entry in entries] or whole
    if isinstance(whole, list) and not is_messages(whole):
        return [(f"Entry {i}", entry) for i, entry in enumerate(whole, 1)]
    return [("Line 1", whole)]


def holds(value: object, *names: str) -> bool:
    """Whether it is an entry that has a part of one of these names, in any of the `forms`."""
    try:
        line = as_line(value, Counter())
    except ValueError:
        return True
    return isinstance(line, dict) and any(name in line for name in names)


def unread(line: str) -> object:
    """What a line holds in which no JSON was found. Raises ValueError, which says what is wrong with it."""
    if not line.lstrip().startswith(("{", "[")) and not is_json(line):
        raise ValueError("it holds no JSON")
    return read_line(line)


def is_json(text: str) -> bool:
    try:
        read_line(text)
    except ValueError:
        return False
    return True


def is_followed(text: str) -> bool:
    """Whether words follow the JSON that a text begins with."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return text[end : end + 100].lstrip(" \t,.;:)")[:1].isalnum()


def is_pythons(text: str) -> bool:
    if not re.match(r"(?:\[\s*)?\{\s*'[^'\n]*'\s*:|\[\s*'[^\n]*'\s*[],]", text):
        return False
    try:
        return isinstance(ast.literal_eval(text), dict | list)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


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
