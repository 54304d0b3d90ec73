"""One's own prompts in, a decision out: every form of file, and every verdict."""

import json
from dataclasses import replace

import pytest
from models_on_disk import save
from stand_ins import written
from tiny import rounds_of_accepted

from specdec_lab.cli import main
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.measure.reading import read_traffic
from specdec_lab.measure.traffic import endpoint
from specdec_lab.show.report import PACES


def test_logs_of_a_server_are_read_in_their_forms(tmp_path):
    messages = [{"role": "user", "content": "hello"}]
    answered = [*messages, {"role": "assistant", "content": "hi"}]
    parts = [{"role": "user", "content": [{"type": "text", "text": "look"}, "here"]}]
    lines = [
        {"messages": messages},
        {"id": "a", "request": {"messages": answered, "model": "m"}, "response": {}},
        {"custom_id": "c", "body": {"messages": parts}},
        {"id": "p", "kind": "code", "prompt": "write"},
        {"prompt": "raw text", "raw": True},
        {"prompt": "not raw", "raw": "false"},
        {"messages": messages, "raw": True},  # a server takes no list of messages as a raw prompt
    ]
    prompts, problems = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert not problems
    assert [p.content for p in prompts[:2]] == [messages, messages]
    assert prompts[2].content[0]["content"] == "look\nhere"
    assert [p.kind for p in prompts] == ["all"] * 3 + ["code"] + ["all"] * 3
    assert [p.raw for p in prompts] == [False] * 4 + [True] + [False] * 2
    assert len({p.id for p in prompts}) == 7
    prompts, problems = read_traffic("builtin")
    assert len(prompts) >= 72 and not problems


def test_of_a_conversation_only_the_last_answer_is_left_off(tmp_path):
    """And the line itself says what it is, whatever stands in its request."""
    said = [{"role": role, "content": role[0]} for role in ("user", "assistant", "user", "assistant", "assistant")]
    lines = [{"id": "outer", "kind": "code", "request": {"id": "inner", "kind": "chat", "messages": said}}]
    lines += [{"messages": said[1:2]}]  # nobody asked anything
    ((prompt,), (problem,)) = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert prompt.content == said[:3] and problem.startswith("Line 2")
    assert (prompt.id, prompt.kind) == ("1: outer", "code")


USER = {"role": "user", "content": "hello"}
BATCH = {"custom_id": "c-1", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [USER]}}
SHARED = {"id": "x", "conversations": [{"from": "human", "value": "hello"}, {"from": "gpt", "value": "hi"}]}


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        (json.dumps(BATCH), [[USER]]),
        ("\n".join([json.dumps(BATCH)] * 2), [[USER]] * 2),
        (json.dumps([SHARED, SHARED]), [[USER]] * 2),
        (json.dumps([SHARED, SHARED], indent=2), [[USER]] * 2),
        (json.dumps(["hello", "you"]), ["hello", "you"]),
        (json.dumps([USER]), [[USER]]),
        (f"{json.dumps([USER])}\n{json.dumps([USER])}", [[USER]] * 2),
        (json.dumps({"messages": [USER]}, indent=2), [[USER]]),
        (json.dumps({"prompt": "hello"}), ["hello"]),
        (json.dumps({"prompt": [USER]}), [[USER]]),
        ('"hello"\n"you"', ["hello", "you"]),
        ("one\ntwo\n", ["one", "two"]),
        ("hello\n \t \nyou\nthere\n\n\n", ["hello", "you\nthere"]),
        ("{not json} is how this prose begins\n\nand goes on", ["{not json} is how this prose begins", "and goes on"]),
        ("Anna, Bert and Carl went out.\nIt rained, and they ran.\nThen, dry again, they ate.", ["Anna, Bert and Carl went out.", "It rained, and they ran.", "Then, dry again, they ate."]),
    ],
    ids=range(15),
)  # fmt: skip
def test_each_form_of_traffic_is_read_as_what_it_is(tmp_path, text, contents):
    prompts, problems = read_traffic(written(tmp_path, text))
    assert ([p.content for p in prompts], problems) == (contents, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps([SHARED] * 9)[:-100], "JSON that is damaged.*may have been cut"),
        (json.dumps([SHARED, SHARED])[:-1] + ",]", "JSON that is damaged"),
        (json.dumps(BATCH)[:-5], "JSON that is damaged"),
        ("prompt,answer\nhello,hi\nyou,me\n", "a table"),
        ("prompt\tanswer\nhello\thi\nyou\tme\n", "a table"),
        ("id;text\n1;hello\n2;you", "a table"),
        ('{"prompt": [1, 2]}', "token ids"),
        ('{"text": "no"}', "There are no prompts in"),
        ('{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', "no text"),
    ],
)  # fmt: skip
def test_what_is_no_traffic_is_never_prose(tmp_path, text, said):
    with pytest.raises(LabError, match=said):
        read_traffic(written(tmp_path, text))


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


def test_engines_numbers_follow_their_formulas():
    """Accepted 2, 0, 4 and 1 of four drafts; and a round without drafts, which only SGLang counts."""
    trace = Trace([0]).collect(rounds_of_accepted([2, 0, 4, 1], gamma=4))
    trace.rounds.append(replace(trace.rounds[1], drafted=()))
    said = endpoint.as_reported([trace], gamma=4)
    assert said["vLLM: Mean acceptance length"] == said["TensorRT-LLM: acceptanceLength"] == 1 + 7 / 4
    assert said["vLLM: Avg Draft acceptance rate"] == said["llama.cpp: draft acceptance"] == 7 / 16
    assert (said["SGLang: accept len"], said["SGLang: accept rate"]) == (1 + 7 / 5, 7 / 20)
    assert said["SGLang: accept rate"] == endpoint.as_reported([trace], gamma=8)["SGLang: accept rate"] * 2
    survival = [said[f"vLLM: Per-position acceptance rate, place {i}"] for i in (1, 2, 3, 4)]
    assert survival == [3 / 4, 2 / 4, 1 / 4, 1 / 4]
    assert 1 + sum(survival) == said["llama.cpp: mean len"] == 1 + 7 / 16 * 4
    assert endpoint.conditional(survival) == pytest.approx(trace.alpha_by_position)
    with pytest.raises(ValueError, match="no rounds with drafts"):
        endpoint.as_reported([Trace([0])], 4)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return [save(tmp_path_factory.mktemp(name), seed=i) for i, name in enumerate(("target", "draft"))]


def test_the_report_says_its_verdict(capsys, tmp_path, pair):
    texts = ["the cat sat on the mat", "a cat", "on a mat the cat", "the mat . the cat", "sat on", "the " * 100]
    lines = "\n".join(json.dumps({"kind": "ab"[i % 2], "prompt": t}) for i, t in enumerate(texts))
    argv = ["traffic", written(tmp_path, f"{lines}\n{{bad"), "--device", "cpu", "--target", pair[0], "--draft", pair[1]]
    argv += ["--drafters", "lookup,model", "--max-new-tokens", "10", "--repeats", "3"]
    argv += ["--html", str(tmp_path / "out.html")]
    assert main([*argv, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["meta"]["prompts"], result["meta"]["repeats"]) == (5, 3)
    assert result["verdict"] == "too few prompts" and "5 prompts" in result["reason"]
    assert [(c["first"], c["second"]) for c in result["compared"]] in ([("lookup", "model")], [("model", "lookup")])
    assert {r["arm"] for r in result["rows"]} == {"plain", "lookup", "model"}
    assert len(result["latency"]) == 2 and all(set(x) == set(PACES) for x in result["latency"].values())
    assert len(result["problems"]) == 2
    assert "Line 7 was left out" in result["problems"][0] and "was left out: it has" in result["problems"][1]
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<table>" in html and "http" not in html
    for said in (result["verdict"].upper(), "Line 7", "Policy:", "place in the round"):
        assert said in html
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "Policy:" in out and "Left out" in out and "<" not in out
