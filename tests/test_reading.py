"""Files of prompts as people have them: prose stays prose, JSON is read as JSON wherever it stands, and nothing is measured
that is something else."""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_ins import written

from specdec_lab.clock import limited
from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import read_prompts
from specdec_lab.measure.reading import read_traffic

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
    "2026-11-02 10:00:00 INFO ",
    "[02/Nov/2026:10:00:00 +0000] ",
    "<14>Nov  2 10:00:00 host app[3]: ",
    "data: ",
    "web_1  | ",
    "1762077600.123 ",
    "  ",
]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("entry", [ENTRY, PRETTY])
def test_json_is_json_behind_whatever_stands_before_it(tmp_path, before, entry):
    prompts, problems = read_traffic(written(tmp_path, f"{before}{entry}\n{before}{entry}\n"))
    assert ([p.content for p in prompts], problems) == ([[USER]] * 2, [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters='\0"{[\r\n'), max_size=30), st.integers(1, 4), st.booleans()
)
def test_a_request_is_never_measured_as_prose(tmp_path, before, n, pretty):
    prompts, _ = read_traffic(written(tmp_path, "\n".join([before + (PRETTY if pretty else ENTRY)] * n)))
    assert [p.content for p in prompts] == [[USER]] * n


@pytest.mark.parametrize(
    ("text", "used", "told"),
    [
        (f"// exported\n{ENTRY}\n{ENTRY}", 2, 1),
        (f"<<<<<<< HEAD\n{ENTRY}\n=======\n{ENTRY}\n>>>>>>> theirs", 2, 3),
        (f"event: message\ndata: {ENTRY}\n\nevent: message\ndata: {ENTRY}\ndata: [DONE]", 2, 3),
        (f"exported\n{PRETTY}", 1, 1),
        (f"{PRETTY}\n{PRETTY}", 2, 0),
        (f"{ENTRY} {ENTRY}", 2, 0),
        (f"{ENTRY[:-5]}\n{ENTRY}", 1, 1),
        (f"// exported\n[{ENTRY}, {ENTRY}]\n// the end", 2, 2),
        (f"exported at noon\n[{ENTRY}, {ENTRY}, {ENTRY}]\nthe end", 3, 2),
    ],
)
def test_what_is_no_json_beside_it_is_told(tmp_path, text, used, told):
    prompts, problems = read_traffic(written(tmp_path, text))
    assert [p.content for p in prompts] == [[USER]] * used
    assert len([line for line in problems if "was left out" in line]) == told


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


REFUSED = {
    "ChatGPT's export": (json.dumps([{"title": "t", "mapping": {}}]), "“title”, “mapping”"),
    "a text of a corpus": (json.dumps({"text": "x"}), "and there is “text”"),
    "a log of something else": ('2026-11-02 10:00 INFO {"level": "x"}\n' * 3, "and there is “level”"),
    "texts that Python prints": ("['a', 'b']", "single quotes"),
    "what Python prints": ("{'messages': [{'role': 'user', 'content': 'x'}]}\n{'prompt': 'x'}", "single quotes"),
    "a table with commas in it": ('prompt,answer\n"hello, you",hi\nyou,me\n', "a table"),
    "a cut list": (json.dumps([{"messages": [USER]}] * 9)[:-20], "may have been cut"),
    "a table that is cut in its last line": ("id,prompt,kind\n1,hello there,a\n2,hi,b\n3,c", "a table"),
    "a cut list of many lines": (json.dumps([{"messages": [USER]}] * 9, indent=1)[:-20], "may have been cut"),
    "a long number": ('{"id": ' + "9" * 5000 + "}", "damaged"),
}


OTHER_FORMS = {
    "YAML or TOML": ["- prompt: a\n- prompt: b", "# mine\n---\nprompts:\n  - a\n  - b", "- id: 1\n  prompt: |\n    a", "- messages:\n  - role: user\n    content: a", '[[prompts]]\ntext = "a"'],
    "a page or XML": ["<div><p>a</p>\n<p>b</p></div>", "<p>a <b>c</b></p>\n<p>b</p>\n", "<!-- x --><h1>a</h1><p>b</p>", "<prompts><prompt>a</prompt></prompts>"],
    "a table": ["id, prompt\n1, a\n2, b", '"id" ; "user_prompt"\n1 ; "a"', "prompt,answer\na,b"],
}  # fmt: skip


@pytest.mark.parametrize("what", OTHER_FORMS)
def test_other_forms_of_data_are_named_and_not_measured_as_prose(tmp_path, what):
    for text in OTHER_FORMS[what]:
        with pytest.raises(LabError, match=what):
            read_traffic(written(tmp_path, text))
    (tmp_path / "p.yaml").write_text("mine: [a, b]", encoding="utf-8")
    with pytest.raises(LabError, match="YAML"):
        read_traffic(str(tmp_path / "p.yaml"))


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_what_is_there(tmp_path, name):
    text, said = REFUSED[name]
    with pytest.raises(LabError) as told:
        read_traffic(written(tmp_path, text))
    assert said in str(told.value) and "\n" not in str(told.value)
    assert ("cut" in str(told.value)) == ("cut" in said)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(["messages", "prompt", "turns", "input", "system", "role", "content", "type", "data", "parts", "instruction", "conversations", "request", "id", "kind", "tools", "a\nb"]), x, max_size=4), max_leaves=12), st.sampled_from(["", "INFO ", "data: "]))  # fmt: skip
def test_any_json_is_prompts_or_sentences(tmp_path, value, before):
    for read in (read_traffic, read_prompts):
        try:
            read(written(tmp_path, before + json.dumps(value)))
        except LabError as e:
            assert "\n" not in str(e)


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
