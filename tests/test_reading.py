"""Files of prompts as people have them: prose stays prose, JSON is read as JSON wherever it stands, and nothing is measured
that is something else."""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specdec_grader.guard import limited
from stand_ins import written

from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import read_prompts, read_traffic

USER = {"role": "user", "content": "hello"}
ENTRY = json.dumps({"messages": [USER]})
PRETTY = json.dumps({"messages": [USER]}, indent=2)
PROSE = [
    ["Translate to French, please", "Summarise this, please", "Write a poem, please"],
    ["Translate this\tplease", "Shorten this\tplease", "Say it again\tplease"],
    ["a | b | c", "d | e | f", "g | h | i"],
    ["[INST] What is two and two? [/INST]", "[INST] Name a colour. [/INST]"],
    ["[Context: a shop] Where is my parcel?", "[ ] buy milk", "[[Page]] of a wiki", "[{x}] is a place to fill"],
    ["42", "true", "null", "-1.5"],
    ["<html> what does this tag mean?", "<?xml is how it begins. Why?"],
    ["{not json} is how this prose begins", "and goes on"],
    ['{"a": 1} is JSON. Why?', "{'a': 1} is none. Why?"],
    ['Write as YAML: {"a": 1}', 'Write as YAML: {"a": [2, 3]}'],
    ["{% if x %} is Jinja", "{\n int x;\n} in C"],
    ['Mend this: {"name": "x"}\n\nand tell me how'],
    ["<html>, <p>, <b> and </b>: what are these </tags>?", "<div><p>Centre</p></div>\nin CSS, please"],
    ["<b>x</b>\n<i>y</i>", "<b>z</b>"],
    ["<context>a</context>\n<question>b</question>", "<context>c</context>\n<question>d</question>"],
    ["- buy milk\n- note: call home", "prompts: how do I write them?", "[[Page]]\nof a wiki", "# A title\n- text"],
    ["Hello, moon", "Goodbye, moon", "Question: what, moon?"],
    ['- Mend this JSON:\n{"name": "x"}', '- Mend this JSON:\n{"name": "y"}'],
]


@pytest.mark.parametrize("pieces", PROSE, ids=lambda pieces: pieces[0][:20])
def test_prose_is_prose(tmp_path, pieces):
    prompts, problems = read_traffic(written(tmp_path, "\n\n".join(pieces)))
    expected = [part for piece in pieces for part in piece.split("\n\n")]
    assert ([p.content for p in prompts], problems) == (expected, [])


@pytest.mark.parametrize("pieces", [p for p in PROSE[:4] if len(p) > 1], ids=lambda pieces: pieces[0][:20])
def test_so_is_a_line_a_prompt(tmp_path, pieces):
    assert [p.content for p in read_traffic(written(tmp_path, "\n".join(pieces)))[0]] == pieces


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


BEFORE = [
    *["2026-11-02 10:00:00 INFO ", "[02/Nov/2026:10:00:00 +0000] ", "<14>Nov  2 10:00:00 host app[3]: "],
    *["data: ", "web_1  | ", "1762077600.123 ", "  "],
]


@pytest.mark.parametrize("before", BEFORE)
def test_json_is_json_behind_whatever_stands_before_it(tmp_path, before):
    prompts, problems = read_traffic(written(tmp_path, f"{before}{ENTRY}\n{before}{ENTRY}\n"))
    assert ([p.content for p in prompts], problems) == ([[USER]] * 2, [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters='\0"{[\r\n'), max_size=30), st.integers(1, 4), st.booleans()
)
def test_a_request_is_never_measured_as_prose(tmp_path, before, n, pretty):
    file = written(tmp_path, "\n".join([before + (PRETTY if pretty else ENTRY)] * n))
    if pretty and (before.strip(" \t") or n > 1):
        with pytest.raises(LabError, match="no object of JSON"):
            read_traffic(file)
    else:
        assert [p.content for p in read_traffic(file)[0]] == [[USER]] * n


OTHER = json.dumps({"text": "x"})


@pytest.mark.parametrize(
    ("text", "used", "left_out"),
    [
        (f"// exported\n{ENTRY}\n{ENTRY}", 2, 1),
        (f"<<<<<<< HEAD\n{ENTRY}\n=======\n{ENTRY}\n>>>>>>> theirs", 2, 3),
        (f"event: message\ndata: {ENTRY}\n\nevent: message\ndata: {ENTRY}\ndata: [DONE]", 2, 3),
        (f"{ENTRY[:-5]}\n{ENTRY}", 1, 1),
        (f"{ENTRY[:-5]}\n{OTHER}\n{ENTRY}", 1, 2),
        (f"// exported\n[{ENTRY}, {ENTRY}]\n// the end", 2, 2),
        (f"exported at noon\n[{ENTRY}, {ENTRY}, {ENTRY}]\nthe end", 3, 2),
        (f"[\n{ENTRY},\n{ENTRY},\n{ENTRY[:-3]}", 2, 2),
        ('first\nand second\nand third\n{"prompt": "hello"}', 1, 3),
        ('"hello"\n"you"\nand', 2, 1),
    ],
)
def test_a_line_among_lines_of_json_that_is_none_is_named(tmp_path, text, used, left_out):
    prompts, problems = read_traffic(written(tmp_path, text))
    assert len(prompts) == used
    assert len([line for line in problems if "was left out: it is no object" in line or "missing" in line]) >= left_out
    assert len([line for line in problems if "was left out" in line]) == left_out


SYSTEM = {"role": "system", "content": "be brief"}
READ = {
    "Anthropic": ({"system": "be brief", "messages": [USER]}, [SYSTEM, USER]),
    "Anthropic's parts": ({"system": [{"type": "text", "text": "be brief"}], "messages": [USER]}, [SYSTEM, USER]),
    "a batch of theirs": ({"custom_id": "a", "params": {"system": "be brief", "messages": [USER]}}, [SYSTEM, USER]),
    "ShareGPT": ({"system": "be brief", "conversations": [{"from": "human", "value": "hello"}]}, [SYSTEM, USER]),
    "Ollama": ({"system": "be brief", "prompt": "hello"}, [SYSTEM, USER]),
    "Gemini": (
        {"systemInstruction": {"parts": [{"text": "be brief"}]}, "contents": [{"role": "user", "parts": [{"text": "hello"}]}, {"role": "model", "parts": [{"text": "hi"}]}]},
        [SYSTEM, USER],
    ),
    "Responses": ({"instructions": "be brief", "input": "hello"}, [SYSTEM, USER]),
    "Responses' parts": ({"input": [{"role": "user", "content": [{"type": "input_text", "text": "hello"}]}]}, [USER]),
    "LangChain": ({"messages": [{"type": "system", "content": "be brief"}, {"type": "human", "content": "hello"}]}, [SYSTEM, USER]),
    "LangChain's data": ({"messages": [{"type": "human", "data": {"content": "hello"}}, {"type": "ai", "data": {"content": "hi"}}]}, [USER]),
    "Langfuse": ({"input": {"messages": [USER]}, "output": {"role": "assistant"}}, [USER]),
    "LMSYS": ({"conversation": [USER, {"role": "assistant", "content": "hi"}]}, [USER]),
    "Spec-Bench": ({"question_id": 1, "category": "writing", "turns": ["hello", "again"]}, "hello"),
    "Alpaca": ({"instruction": "hello", "input": "", "output": "hi"}, "hello"),
    "Alpaca with an input": ({"instruction": "Add.", "input": "1 2", "output": "3"}, "Add.\n\n1 2"),
    "Dolly": ({"instruction": "Who?", "context": "A text.", "response": "hi"}, "Who?\n\nA text."),
    "GSM8K": ({"question": "hello", "answer": "4"}, "hello"),
    "nothing outside": ({"system": None, "prompt": None, "body": {"system": "be brief", "prompt": "hello"}}, [SYSTEM, USER]),
    "nothing in between": ({"prompt": "hello", "messages": None, "kind": None}, "hello"),
    "an empty system message": ({"messages": [{"role": "system", "content": ""}, USER]}, [USER]),
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
    if name != "nothing in between":
        (prompt,) = read_prompts(written(tmp_path, json.dumps({"id": 1, "kind": "x", **entry})))
        assert prompt.content == content


def test_turns_and_empty_system_messages_are_told_and_a_category_is_a_kind(tmp_path):
    lines = [READ["Spec-Bench"][0]] * 2 + [READ["an empty system message"][0]]
    prompts, problems = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert [p.kind for p in prompts] == ["writing", "writing", "all"]
    assert any("2 entries held several texts" in line for line in problems)
    assert any("1 entry had an empty system message" in line for line in problems)
    (prompt,) = read_prompts(written(tmp_path, json.dumps(lines[0])))
    assert (prompt.id, prompt.kind) == ("1", "writing")


def test_logs_of_a_server_are_read_in_their_forms(tmp_path):
    answered = [USER, {"role": "assistant", "content": "hi"}]
    parts = [{"role": "user", "content": [{"type": "text", "text": "look"}, "here"]}]
    said = [{"role": role, "content": role[0]} for role in ("user", "assistant", "user", "assistant", "assistant")]
    lines = [
        {"messages": [USER]},
        {"id": "a", "request": {"id": "inner", "kind": "chat", "messages": answered, "model": "m"}, "response": {}},
        {"custom_id": "c", "body": {"messages": parts}},
        {"id": "p", "kind": "code", "prompt": "write"},
        {"prompt": "raw text", "raw": True},
        {"prompt": "not raw", "raw": "false"},
        {"messages": [USER], "raw": True},  # a server takes no list of messages as a raw prompt
        {"messages": said},
        {"messages": said[1:2]},  # nobody asked anything
    ]
    prompts, problems = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert [p.content for p in prompts[:2]] == [[USER], [USER]] and prompts[-1].content == said[:3]
    assert prompts[2].content[0]["content"] == "look\nhere"
    assert [p.kind for p in prompts] == ["all", "chat", "all", "code"] + ["all"] * 4
    assert [p.raw for p in prompts] == [False] * 4 + [True] + [False] * 3
    assert [p.id for p in prompts[:4]] == ["1: 1", "2: a", "3: c", "4: p"]
    assert len(problems) == 1 and problems[0].startswith("Line 9")
    prompts, problems = read_traffic("builtin")
    assert len(prompts) >= 72 and not problems


SHARED = {"id": "x", "conversations": [{"from": "human", "value": "hello"}, {"from": "gpt", "value": "hi"}]}


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        (json.dumps([SHARED, SHARED]), [[USER]] * 2),
        (json.dumps([SHARED, SHARED], indent=2), [[USER]] * 2),
        (json.dumps(["hello", "you"]), ["hello", "you"]),
        (json.dumps([USER]), [[USER]]),
        (f"{json.dumps([USER])}\n{json.dumps([USER])}", [[USER]] * 2),
        (PRETTY, [[USER]]),
        (json.dumps({"prompt": [USER]}), [[USER]]),
        ('"hello"\n"you"', ["hello", "you"]),
        ("one\ntwo\n", ["one", "two"]),
        ("hello\n \t \nyou\nthere\n\n\n", ["hello", "you\nthere"]),
    ],
)
def test_each_form_is_read_as_what_it_is(tmp_path, text, contents):
    prompts, problems = read_traffic(written(tmp_path, text))
    assert ([p.content for p in prompts], problems) == (contents, [])


def test_what_share_of_a_log_is_measured(tmp_path):
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    image = {"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}
    lines = [{"messages": [USER], "tools": [{"type": "function"}]}] * 3
    lines += [{"messages": [USER, call, {"role": "tool", "content": "4"}]}] * 12 + [{"messages": [image]}] * 5
    prompts, problems = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert len(prompts) == 3
    assert all(part in problems[0] for part in ("3 of 20", "15%", "12 times", "tool", "5 times", "“image_url”"))
    assert len([line for line in problems if "was left out" in line]) == 10 and "And 7 more." in problems
    assert "3 entries" in problems[-1] and "tools" in problems[-1]


NOT_READ = [
    (json.dumps([{"title": "t", "mapping": {}}]), "and there is “title”, “mapping”"),  # ChatGPT's export
    (OTHER, "and there is “text”"),
    (f"{OTHER}\n" * 2, "and there is “text”"),
    ('2026-11-02 10:00 INFO {"level": "x"}\n' * 3, "and there is “level”"),
    ('{"prompt": [1, 2]}', "token ids"),
    ('{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', "no text"),
    (json.dumps([{"messages": [USER]}] * 9)[:-20], "no object of JSON"),
    (json.dumps([SHARED] * 9, indent=1)[:-100], "no object of JSON"),
    (json.dumps(["hello", "you"])[:-3], "no object of JSON"),
    (json.dumps([SHARED, SHARED])[:-1] + ",]", "no object of JSON"),
    (f"exported\n{PRETTY}", "no object of JSON"),
    ("{'messages': [{'role': 'user', 'content': 'x'}]}", "no object of JSON"),  # what Python prints
    ('{"id": ' + "9" * 5000 + "}", "no object of JSON"),
    ("[]", "no object of JSON"),
    (" \n", "it is empty"),
]


@pytest.mark.parametrize(("text", "said"), NOT_READ)
def test_what_cannot_be_read_is_refused_with_what_is_there(tmp_path, text, said):
    with pytest.raises(LabError) as raised:
        read_traffic(written(tmp_path, text))
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_a_table_or_a_page_is_refused_by_its_name(tmp_path):
    for name in ("p.csv", "p.yaml", "p.HTML"):
        (tmp_path / name).write_text("mine: [a, b]", encoding="utf-8")
        with pytest.raises(LabError, match="a table, a page"):
            read_traffic(str(tmp_path / name))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(["messages", "prompt", "turns", "input", "system", "role", "content", "type", "data", "parts", "instruction", "conversations", "request", "id", "kind", "tools", "a\nb"]), x, max_size=4), max_leaves=12), st.sampled_from(["", "INFO ", "data: "]))  # fmt: skip
def test_any_json_is_prompts_or_sentences(tmp_path, value, before):
    for read in (read_traffic, read_prompts):
        try:
            read(written(tmp_path, before + json.dumps(value)))
        except LabError as e:
            assert "\n" not in str(e)


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
