"""Files of prompts as people have them: prose stays prose, JSON is read as JSON wherever it stands, and nothing is measured
that is something else."""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from specdec_grader.guard import limited
from stand_ins import written

from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import read_prompts, read_traffic

USER = {"role": "user", "content": "hello"}
ENTRY = json.dumps({"messages": [USER]})
PRETTY = json.dumps({"messages": [USER]}, indent=2)
PROSE = [
    ["[INST] What is two and two? [/INST]", "[INST] Name a colour. [/INST]"],
    ["[ ] buy milk", "[[Page]] of a wiki", "[{x}] is a place to fill", "[Context: a shop] Where is my parcel?"],
    ['{"a": 1} is JSON. Why?', "{'a': 1} is none. Why?"],
    ['Write as YAML: {"a": 1}', 'Translate the values: {"question": "Where?", "prompt": "Here"}'],
    ["<b>x</b>", "- buy milk", "prompts: how do I write them?", "# A title"],
    ['- Mend this JSON:\n{"name": "x"}', '- Mend this JSON:\n{"name": "y"}'],
]


@pytest.mark.parametrize("pieces", PROSE, ids=lambda pieces: pieces[0][:20])
def test_prose_is_prose(tmp_path, pieces):
    """Pieces between empty lines and, where none has lines of its own, a line each."""
    for between in ["\n\n"] if "\n" in "".join(pieces) else ["\n\n", "\n"]:
        prompts, problems = read_traffic(written(tmp_path, between.join(pieces)))
        assert ([p.content for p in prompts], problems) == (pieces, [])


WORD = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=6)
SIGNS = st.sampled_from(
    [", ", "; ", "\t", " | ", " [", "] ", " {", "} ", ": ", " <", "> ", ' "', '" ', " '", "'", " - ", ". ", "# ", "// "]
)
SENTENCE = st.lists(st.one_of(WORD, SIGNS, st.just(" ")), min_size=3, max_size=12).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(st.lists(st.tuples(WORD, WORD, SENTENCE).map(lambda x: f"{x[0]} {x[1]} {x[2]}".strip()), min_size=1, max_size=5))
def test_whatever_begins_with_two_words_is_prose(tmp_path, pieces):
    prompts, problems = read_traffic(written(tmp_path, "\n\n".join(pieces)))
    assert ([p.content for p in prompts], problems) == ([piece.strip() for piece in pieces], [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters='\0"{[\r\n'), max_size=30), st.integers(1, 4), st.booleans()
)
def test_a_request_is_never_measured_as_prose(tmp_path, before, n, pretty):
    file = written(tmp_path, "\n".join([before + (PRETTY if pretty else ENTRY)] * n))
    if pretty and (before.strip(" \t") or n > 1):
        with pytest.raises(LabError, match="not a valid JSON object"):
            read_traffic(file)
    else:
        assert [p.content for p in read_traffic(file)[0]] == [[USER]] * n


OTHER = json.dumps({"text": "x"})


@pytest.mark.parametrize(
    ("text", "used", "left_out"),
    [
        (f"// exported\n{ENTRY}\n{ENTRY}", 2, 1),
        (f"event: message\ndata: {ENTRY}\n\nevent: message\ndata: {ENTRY}\ndata: [DONE]", 2, 3),
        (f"{ENTRY[:-5]}\n{ENTRY}", 1, 1),
        (f"{ENTRY[:-5]}\n{OTHER}\n{ENTRY}", 1, 2),
        (f"exported at noon\n[{ENTRY}, {ENTRY}, {ENTRY}]\nthe end", 3, 2),
        (f"[\n{ENTRY},\n{ENTRY},\n{ENTRY[:-3]}", 2, 2),
        ('first\nand second\nand third\n{"prompt": "hello"}', 1, 3),
        ('"hello"\n"you"\nand', 2, 1),
    ],
)
def test_a_line_among_lines_of_json_that_is_none_is_named(tmp_path, text, used, left_out):
    prompts, problems = read_traffic(written(tmp_path, text))
    assert len(prompts) == used
    assert len([line for line in problems if "was left out" in line]) == left_out


SYSTEM = {"role": "system", "content": "be brief"}
READ = {
    "Anthropic": ({"system": "be brief", "messages": [USER]}, [SYSTEM, USER]),
    "a batch of theirs": ({"custom_id": "a", "params": {"system": "be brief", "messages": [USER]}}, [SYSTEM, USER]),
    "ShareGPT": ({"system": "be brief", "conversations": [{"from": "human", "value": "hello"}]}, [SYSTEM, USER]),
    "Ollama": ({"system": "be brief", "prompt": "hello"}, [SYSTEM, USER]),
    "Gemini": (
        {"systemInstruction": {"parts": [{"text": "be brief"}]}, "contents": [{"role": "user", "parts": [{"text": "hello"}]}, {"role": "model", "parts": [{"text": "hi"}]}]},
        [SYSTEM, USER],
    ),
    "Responses": ({"instructions": "be brief", "input": "hello"}, [SYSTEM, USER]),
    "LangChain": ({"messages": [{"type": "system", "content": "be brief"}, {"type": "human", "content": "hello"}]}, [SYSTEM, USER]),
    "LangChain's data": ({"messages": [{"type": "human", "data": {"content": "hello"}}, {"type": "ai", "data": {"content": "hi"}}]}, [USER]),
    "Langfuse": ({"input": {"messages": [USER]}, "output": {"role": "assistant"}}, [USER]),
    "LMSYS": ({"conversation": [USER, {"role": "assistant", "content": "hi"}]}, [USER]),
    "Spec-Bench": ({"question_id": 1, "category": "writing", "turns": ["hello", "again"]}, "hello"),
    "Alpaca": ({"instruction": "hello", "input": "", "output": "hi"}, "hello"),
    "Alpaca with an input": ({"instruction": "Add.", "input": "1 2", "output": "3"}, "Add.\n\n1 2"),
    "GSM8K": ({"question": "hello", "answer": "4"}, "hello"),
    "Anthropic's parts": ({"system": [{"type": "text", "text": "be brief"}], "messages": [USER]}, [SYSTEM, USER]),
    "Dolly": ({"instruction": "Who?", "context": "A text.", "response": "hi"}, "Who?\n\nA text."),
    "an empty system message": ({"messages": [{"role": "system", "content": ""}, USER]}, [USER]),
    "nothing outside": ({"system": None, "prompt": None, "body": {"system": "be brief", "prompt": "hello"}}, [SYSTEM, USER]),
    "names of others": ({"messages": [{"role": "Human", "content": "hello"}, {"role": "bard", "content": "hi"}]}, [USER]),
    "a call that ends it": ({"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [{}]}]}, [USER]),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_the_fields_own_files_are_read(tmp_path, name):
    entry, content = READ[name]
    for text in (
        json.dumps(entry),
        json.dumps([entry]),
        json.dumps({"train": [entry]}, indent=1),
        f"data: {json.dumps(entry)}",
    ):
        (prompt,), _ = read_traffic(written(tmp_path, text))
        assert prompt.content == content
    (prompt,) = read_prompts(written(tmp_path, json.dumps({"id": 1, "kind": "x", **entry})))
    assert prompt.content == content


def test_logs_of_a_server_are_read_in_their_forms(tmp_path):
    said = [{"role": role, "content": role[0]} for role in ("user", "assistant", "user", "assistant", "assistant")]
    parts = [{"role": "user", "content": [{"type": "text", "text": "look"}, "here"]}]
    read = [  # an entry; its prompt, kind, and whether it goes to the model as it is
        ({"messages": [USER]}, [USER], "all", False),
        ({"request": {"id": "inner", "kind": "chat", "messages": said[:2]}, "response": {}}, said[:1], "chat", False),
        ({"custom_id": "c", "body": {"messages": parts}}, [{"role": "user", "content": "look\nhere"}], "all", False),
        ({"prompt": "write", "category": "code"}, "write", "code", False),
        ({"prompt": "raw text", "raw": True}, "raw text", "all", True),
        ({"prompt": "not raw", "raw": "false"}, "not raw", "all", False),
        ({"messages": [USER], "raw": True}, [USER], "all", False),  # a server takes no list of messages as a raw prompt
        ({"messages": said}, said[:3], "all", False),
        ({"messages": said[1:2]}, None, "", False),  # nobody asked anything
    ]
    prompts, problems = read_traffic(written(tmp_path, "\n".join(json.dumps(entry) for entry, *_ in read)))
    assert [(p.content, p.kind, p.raw) for p in prompts] == [tuple(wanted) for _, *wanted in read[:-1]]
    assert [p.id for p in prompts[:3]] == ["1: 1", "2: inner", "3: c"]
    assert len(problems) == 1 and problems[0].startswith("Line 9")
    prompts, problems = read_traffic("builtin")
    assert len(prompts) >= 72 and not problems


SHARED = {"id": "x", "conversations": [{"from": "human", "value": "hello"}, {"from": "gpt", "value": "hi"}]}


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        (json.dumps([USER]), [[USER]]),
        (f"{json.dumps([USER])}\n{json.dumps([USER])}", [[USER]] * 2),
        (f"\ufeff\ufeff{PRETTY}", [[USER]]),
        ('"hello"\n"you"', ["hello", "you"]),
        ("hello\n \t \nyou\nthere\n\n\n", ["hello", "you\nthere"]),
    ],
)
def test_a_chat_alone_texts_in_quotes_and_blanks_between_pieces(tmp_path, text, contents):
    prompts, problems = read_traffic(written(tmp_path, text))
    assert ([p.content for p in prompts], problems) == (contents, [])


def test_what_share_of_a_log_is_measured(tmp_path):
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    image = {"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}
    lines = [{"messages": [USER]}] * 3
    lines += [{"messages": [USER, call, {"role": "tool", "content": "4"}]}] * 12 + [{"messages": [image]}] * 5
    prompts, problems = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert len(prompts) == 3 and problems[0].startswith("3 of 20 entries (15%)")
    assert len([line for line in problems if "was left out: a message calls a tool" in line]) == 10 == len(problems) - 1


NOT_READ = [
    (json.dumps([{"title": "t", "mapping": {}}]), "and there is title, mapping"),  # ChatGPT's export
    (OTHER, "and there is text"),
    ('2026-11-02 10:00 INFO {"level": "x"}\n' * 3, "and there is level"),
    ('{"prompt": [1, 2]}', "token ids"),
    ('{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', "no text"),
    (json.dumps([SHARED] * 9, indent=1)[:-100], "not a valid JSON object"),
    (json.dumps([SHARED, SHARED])[:-1] + ",]", "not a valid JSON object"),
    (f"exported\n{PRETTY}", "not a valid JSON object"),
    ("{'messages': [{'role': 'user', 'content': 'x'}]}", "not a valid JSON object"),  # what Python prints
    ('{"id": ' + "9" * 5000 + "}", "not a valid JSON object"),
    (" \n", "it is empty"),
]


@pytest.mark.parametrize(("text", "said"), NOT_READ)
def test_what_cannot_be_read_is_refused_with_what_is_there(tmp_path, text, said):
    with pytest.raises(LabError) as raised:
        read_traffic(written(tmp_path, text))
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["p.csv", "p.yaml", "p.HTML", "UTF-16"])
def test_a_table_a_page_or_another_encoding_is_refused_by_its_name(tmp_path, name):
    (tmp_path / name).write_bytes("mine: [a, b]".encode(name if name == "UTF-16" else "utf-8"))
    with pytest.raises(LabError, match="UTF-16" if name == "UTF-16" else "a table, a page"):
        read_traffic(str(tmp_path / name))


PARTS = "messages prompt turns input system role content type data parts instruction conversations request id kind a\nb"
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", " ", "\ud800", "user"])
    | st.text(max_size=5),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(PARTS.split(" ")), x, max_size=4),
    max_leaves=12,
)
GOOD = {"id": "0", "kind": "x", "prompt": "hello"}
ODD = st.sampled_from(["\ud800", " ", "", 5, True, [], ["x"], {"a": 1}]) | VALUE
ALMOST = st.builds(
    lambda part, odd: GOOD | {part: odd}, st.sampled_from(["id", "kind", "prompt", "raw", "messages"]), ODD
)
CHAT = st.builds(
    lambda part, odd: {"id": "0", "kind": "x", "messages": [USER | {part: odd}]},
    st.sampled_from(["role", "content"]),
    ODD,
)
SPOILED = st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3)), max_size=2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@example([{"system": " ", "prompt": "0"}], b"", [])
@example([{"system": {"parts": [" "]}, "prompt": "0"}], b"", [])
@given(st.lists(VALUE | ALMOST | CHAT, max_size=3), st.sampled_from([b"", b"INFO ", b"data: "]), SPOILED)
def test_any_bytes_are_prompts_or_one_sentence(tmp_path, values, before, spoiled):
    """Lines of JSON, with some bytes put into them that do not belong there."""
    data = b"\n".join(before + json.dumps(value).encode() for value in values)
    for place, odd in spoiled:
        place %= len(data) + 1
        data = data[:place] + odd + data[place:]
    (tmp_path / "mine").write_bytes(data)
    for read in (lambda path: read_traffic(path)[0], read_prompts):
        try:
            prompts = read(str(tmp_path / "mine"))
            texts = [text for p in prompts for text in (p.id, p.kind, *(m["content"] for m in p.messages))]
            assert all(isinstance(text, str) and text.strip() and text.encode() for text in texts)
        except LabError as e:
            assert "\n" not in str(e) and len(str(e)) < 1000


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [" " * 200_000 + "x\ny\nz", '[{"a": ' * 50_000, '[{"a":\n' * 20_000, '{"a ' * 50_000, '{"a \n' * 200_000, '{} {"a": [\n' * 200_000, ("[" + " " * 3000) * 100, json.dumps([json.loads(ENTRY)] * 10_000)[:-9], ("a," * 50_000 + "\n") * 4],
    ids=range(9),
)  # fmt: skip
def test_no_text_takes_long(tmp_path, text):
    def read():
        with suppress(LabError):
            read_traffic(written(tmp_path, text))

    limited(read, seconds=20)
