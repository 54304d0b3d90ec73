"""One's own prompts in, a decision out: every form of file, every verdict, and an engine that answers badly."""

import contextlib
import json
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from test_bench import timed_trace
from test_load import save
from test_trace import rounds_of_accepted

from specdec_lab.cli import main
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.measure import bench
from specdec_lab.measure.prompts import Prompt
from specdec_lab.measure.traffic import endpoint, engines, report
from specdec_lab.measure.traffic.read import read_traffic
from specdec_lab.show.report import PACES, in_words


def written(tmp_path, text: str) -> str:
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_plain_text_is_cut_at_empty_lines_or_else_at_line_breaks_and_builtin_needs_no_file(tmp_path):
    prompts, problems = read_traffic("builtin")
    assert len(prompts) >= 72 and not problems
    prompts, problems = read_traffic(written(tmp_path, "one\n\ntwo\nlines\n\n\nthree\n"))
    assert [p.content for p in prompts] == ["one", "two\nlines", "three"] and not problems
    prompts, _ = read_traffic(written(tmp_path, "one\ntwo\n"))
    assert [p.content for p in prompts] == ["one", "two"]


def test_logs_of_a_server_are_read_in_their_forms(tmp_path):
    messages = [{"role": "user", "content": "hello"}]
    answered = [*messages, {"role": "assistant", "content": "hi"}]
    parts = [{"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": "x"}]}]
    lines = [
        {"messages": messages},
        {"id": "a", "request": {"messages": answered, "model": "m"}, "response": {}},
        {"custom_id": "c", "body": {"messages": parts}},
        {"id": "p", "kind": "code", "prompt": "write"},
        {"prompt": "raw text", "raw": True},
    ]
    prompts, problems = read_traffic(written(tmp_path, "\n".join(map(json.dumps, lines))))
    assert not problems
    assert [p.content for p in prompts[:2]] == [messages, messages]
    assert prompts[2].content[0]["content"] == "look"
    assert [(p.kind, p.raw) for p in prompts] == [("all", False)] * 3 + [("code", False), ("all", True)]
    assert len({p.id for p in prompts}) == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{bad", "Line 2 was left out"),
        ('{"messages": []}', "must be a list of messages"),
        ('{"messages": [{"role": "assistant", "content": "hi"}]}', "must be a list of messages"),
        ('{"prompt": " "}', "the prompt is empty"),
        ('{"text": "no"}', "“prompt” is missing"),
        ("3", "it is no object"),
    ],
)
def test_a_bad_line_is_told_and_the_rest_is_used(tmp_path, line, said):
    good = '{"prompt": "hello"}'
    prompts, problems = read_traffic(written(tmp_path, f"{good}\n{line}\n{good}\n"))
    assert len(prompts) == 2 and len(problems) == 1
    assert problems[0].startswith("Line 2 was left out") and said in problems[0]


@pytest.mark.parametrize("text", ["", " \n\n", '{"text": "no"}'])
def test_a_file_without_prompts_is_refused_in_one_sentence(tmp_path, text):
    with pytest.raises(LabError, match="There are no prompts in"):
        read_traffic(written(tmp_path, text))
    with pytest.raises(LabError, match="cannot be read"):
        read_traffic(str(tmp_path / "nowhere"))


def row(kind: str, ratio: float, interval=None) -> dict:
    return {
        "arm": "eagle", "gamma": 3, "kind": kind, "ratio_to_plain": ratio, "ratio_interval": interval,
        "prompts": 20, "tokens_per_pass": 2.0, "d": 0.1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [([1.02, 1.4], "deploy"), ([0.7, 0.95], "don't"), ([0.9, 1.2], "unclear"), (None, "unclear")],
)
def test_the_verdict_follows_the_interval(interval, verdict):
    overall = row("overall", 1.2, interval)
    rows = [overall, row("code", 1.5), row("chat", 0.9)]
    made = report.decide(
        rows, row("overall", 1.2, [1.3, 1.5]), {**overall, "ratio_to_plain": 1.1}, [(1, 4, 3), (5, 16, 0)]
    )
    assert made["verdict"] == verdict
    deployed = verdict == "deploy"
    assert made["policy"]["off_for_kinds"] == (["chat"] if deployed else [])
    assert (made["policy"]["drafter"], made["policy"]["gamma"]) == (("eagle", 3) if deployed else (None, 0))


def run_of(name: str, seconds: dict[str, list[float]]) -> bench.Run:
    """An arm whose rounds took these seconds, one token each, for each prompt; the first shared the reading of the prompt."""
    traces = {i: [timed_trace([0] * len(s), 1, [(0.0, x, 0.0) for x in s])] for i, s in seconds.items()}
    return bench.Run(name, 1, traces)


def test_the_winner_is_judged_on_prompts_that_did_not_choose_it():
    prompts = [Prompt(i, "all", i) for i in "abc"]
    steady, lucky = (
        run_of("steady", {i: [0.5] for i in "abc"}),
        run_of("lucky", {"a": [0.0625], "b": [0.5625], "c": [0.5625]}),
    )
    plain = run_of("plain", {i: [1.0] for i in "abc"})
    ids = list("abc")
    assert bench.ratio_to_plain(lucky, plain, ids) > bench.ratio_to_plain(
        steady, plain, ids
    )  # it owes that to one prompt
    blind = report.chosen_blindly([steady, lucky], prompts)
    assert {i: texts is lucky.traces[i] for i, texts in blind.traces.items()} == {"a": False, "b": True, "c": True}
    assert bench.ratio_to_plain(blind, plain, ids) < bench.ratio_to_plain(steady, plain, ids)
    alone = report.chosen_blindly([steady], prompts[:1])
    assert alone.traces == {"a": steady.traces["a"]}


def test_a_user_waits_for_the_prompt_as_well():
    prompts = [Prompt(i, "all", i) for i in "ab"]
    waits = report.latency(run_of("x", {"a": [1.0, 2.0, 3.0], "b": [2.0, 2.0]}), prompts)
    # timed_trace's first round took 100 seconds, most of which the prompt took.
    assert (waits["first"], waits["mean"], waits["answer"]) == (100_000, 2_000, 103_500)


def test_the_policy_follows_the_schedule():
    overall = row("overall", 1.2, [1.1, 1.4])
    policy = report.decide([overall], overall, overall, [(1, 3, 4), (4, 6, 1), (7, 16, 0)])["policy"]
    assert (policy["off_above_texts_at_once"], policy["schedule"]) == (6, [[1, 3, 4], [4, 6, 1], [7, 16, 0]])
    assert '"num_speculative_tokens_per_batch_size": [[1, 3, 4], [4, 6, 1], [7, 16, 0]]' in in_words(policy)
    assert "1 to 3 texts: 4, 4 to 6 texts: 1, 7 to 16 texts: none" in in_words(policy)
    # One text was judged by the clock.
    assert report.decide([overall], overall, overall, [(1, 16, 0)])["policy"]["off_above_texts_at_once"] == 1
    assert report.gammas_up_to(3) == [0, 1, 2, 3] and report.gammas_up_to(8) == [0, 1, 2, 4, 8]


def test_engines_numbers_are_those_of_their_formulas_and_lead_back():
    """Accepted 2, 0, 4 and 1 of four drafts; and a round without drafts, which only SGLang counts."""
    trace = Trace([0]).collect(rounds_of_accepted([2, 0, 4, 1], gamma=4))
    trace.rounds.append(replace(trace.rounds[1], drafted=()))
    said = engines.as_reported([trace], gamma=4)
    assert said["vLLM: Mean acceptance length"] == said["TensorRT-LLM: acceptanceLength"] == 1 + 7 / 4
    assert said["vLLM: Avg Draft acceptance rate"] == said["llama.cpp: draft acceptance"] == 7 / 16
    assert (said["SGLang: accept len"], said["SGLang: accept rate"]) == (1 + 7 / 5, 7 / 20)
    assert said["SGLang: accept rate"] == engines.as_reported([trace], gamma=8)["SGLang: accept rate"] * 2
    survival = [said[f"vLLM: Per-position acceptance rate, place {i}"] for i in (1, 2, 3, 4)]
    assert survival == [3 / 4, 2 / 4, 1 / 4, 1 / 4]
    assert 1 + sum(survival) == said["llama.cpp: mean len"] == engines.tokens_from_share(7 / 16, 4)
    assert endpoint.conditional(survival) == pytest.approx(trace.alpha_by_position)
    with pytest.raises(ValueError, match="no rounds with drafts"):
        engines.as_reported([Trace([0])], 4)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return [save(tmp_path_factory.mktemp(name), seed=i) for i, name in enumerate(("target", "draft"))]


def test_the_report_says_its_verdict_and_what_it_rests_on(capsys, tmp_path, pair):
    texts = ["the cat sat on the mat", "a cat", "on a mat the cat", "the mat . the cat", "sat on", "the " * 100]
    lines = "\n".join(json.dumps({"kind": "ab"[i % 2], "prompt": t}) for i, t in enumerate(texts))
    argv = ["traffic", written(tmp_path, f"{lines}\n{{bad"), "--device", "cpu", "--target", pair[0], "--draft", pair[1]]
    argv += ["--drafters", "lookup,model", "--max-new-tokens", "10", "--html", str(tmp_path / "out.html")]
    assert main([*argv, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["verdict"] in ("deploy", "don't", "unclear")
    assert {r["arm"] for r in result["rows"]} == {"plain", "lookup", "model"}
    assert len(result["latency"]) == 2 and all(set(x) == set(PACES) for x in result["latency"].values())
    assert len(result["problems"]) == 2
    assert "Line 7 was left out" in result["problems"][0] and "was left out: it has" in result["problems"][1]
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "http://www.w3.org/2000/svg" in html and html.count("http") == html.count("http://www.w3.org/2000/svg")
    for said in (result["verdict"].upper().replace("'", "&#x27;"), "Line 7", "Policy:", "α by position"):
        assert said in html
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "Policy:" in out and "Left out" in out and "<" not in out


DEEP = "[" * 100_000
ODD_MODELS = {
    "no models": "[]", "a number for a name": '{"data": [{"id": 5}]}', "deep models": DEEP, "bytes for models": b"\xff\xfe",
    "models of another shape": '{"data": {"id": "x"}}', "nothing at all": "",
}  # fmt: skip
ODD_METRICS = {
    "words for metrics": "vllm:spec_decode_num_drafts_total{} many",
    "NaN metrics": "vllm:spec_decode_num_drafts_total{} NaN\nvllm:spec_decode_num_drafts_total{} +Inf",
    "bytes for metrics": b"\xff\xfe\x00vllm:spec_decode_num_drafts_total{} 1",
    "a place of great length": 'vllm:spec_decode_num_drafts_total{position="' + "9" * 5000 + '"} 1',
}
ANSWERED = 'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
ODD_ANSWERS = {
    "deep answers": f'data: {{"a": {DEEP}\n\n', "bytes": b"data: {\xff}\n", "usage of another shape": f'{ANSWERED}data: {{"usage": [3]}}\n',
    "words for tokens": f'{ANSWERED}data: {{"usage": {{"completion_tokens": "three"}}}}\n', "no usage": ANSWERED,
    "NaN tokens": f'{ANSWERED}data: {{"usage": {{"completion_tokens": NaN}}}}\n', "fewer than none": f'{ANSWERED}data: {{"usage": {{"completion_tokens": -3}}}}\n',
    "a line of great length": "data: {" + "x" * 11_000_000, "no events": "hello",
}  # fmt: skip


class Engine(BaseHTTPRequestHandler):
    """Streams three tokens an answer; its counters say that each prompt took two rounds of two drafts."""

    rounds, mode = 0, "speculates"

    def do_GET(self):
        if self.path == "/v1/models":
            return self.reply(ODD_MODELS.get(self.mode, json.dumps({"data": [{"id": "some-model"}]})))
        if self.mode in ODD_METRICS:
            return self.reply(ODD_METRICS[self.mode])
        if self.mode == "no metrics":
            return self.send_error(404)
        n = Engine.rounds if self.mode == "speculates" else 0
        label = 'engine="0",model_name="m"'
        lines = [
            "# HELP vllm:spec_decode_num_drafts Number of drafts.",
            f"vllm:spec_decode_num_drafts_total{{{label}}} {2.0 * n}",
            f"vllm:spec_decode_num_draft_tokens_total{{{label}}} {5.0 * n}",
            f"vllm:spec_decode_num_accepted_tokens_total{{{label}}} {1.5 * n}",
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{label},position="0"}} {1.0 * n}',
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{label},position="1"}} {0.5 * n}',
            f"vllm:spec_decode_num_drafts_created{{{label}}} 1.7e9",
        ]
        return self.reply("\n".join(lines) if self.mode != "plain" else "process_cpu_seconds_total 3.0")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "fail" in body["messages"][0]["content"]:
            return self.send_error(500)
        Engine.rounds += 1
        if self.mode == "streams for ever":
            self.reply("")
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b"data: {}\n\n")
        if self.mode in ODD_ANSWERS:
            return self.reply(ODD_ANSWERS[self.mode])
        events = [{"choices": [{"delta": {"content": t}}]} for t in "abc"]
        events.append({"choices": [], "usage": {"completion_tokens": 3}})
        return self.reply("".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n")

    def reply(self, text: str | bytes):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text if isinstance(text, bytes) else text.encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(Engine, "rounds", 0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_survival_is_turned_into_acceptance():
    assert endpoint.conditional([0.8, 0.4, 0.3]) == pytest.approx([0.8, 0.5, 0.75])
    assert endpoint.conditional([0.5, 0.0, 0.0]) == [0.5, 0.0]
    assert endpoint.conditional([]) == []


def test_an_engine_is_measured_through_its_interface(capsys, tmp_path, engine):
    path = written(tmp_path, "hello\nfail here\nagain\n")
    assert main(["traffic", path, "--endpoint", engine, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["model"], result["answers"]) == ("some-model", 2)
    assert result["speculation"] == {
        "rounds": 4, "drafts_per_round": 2.5, "tokens_per_pass": 1.75, "survival_by_position": [0.5, 0.25], "alpha_by_position": [0.5, 0.5],
    }  # fmt: skip
    assert len(result["problems"]) == 1 and "500" in result["problems"][0]
    assert main(["traffic", path, "--endpoint", engine]) == 0
    shown = capsys.readouterr().out
    assert "4 rounds with drafts: 2.50 drafts and 1.75 tokens each" in shown and "one after the other" in shown


def test_as_many_prompts_wait_at_once_as_were_asked_for(monkeypatch, capsys, tmp_path, engine):
    waiting, most, lock = 0, 0, threading.Lock()
    post = Engine.do_POST

    def slow(self):
        nonlocal waiting, most
        with lock:
            waiting += 1
            most = max(most, waiting)
        time.sleep(0.1)
        with lock:
            waiting -= 1
        post(self)

    monkeypatch.setattr(Engine, "do_POST", slow)
    command = ["traffic", written(tmp_path, "\n\n".join("abcdefgh")), "--endpoint", engine, "--json", "--at-once"]
    assert main([*command, "3"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (most, result["at_once"], result["answers"]) == (3, 3, 8) and result["tokens_per_second"] > 0
    for wrong in ("0", "100000"):
        assert main([*command, wrong]) == 2
        assert "--at-once" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["plain", "no metrics"])
def test_an_engine_without_speculation_is_measured_and_told(monkeypatch, tmp_path, engine, mode, capsys):
    monkeypatch.setattr(Engine, "mode", mode)
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", engine, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["speculation"] is None and "hold no speculation" in result["problems"][0]


@pytest.mark.parametrize("mode", [*ODD_MODELS, *ODD_METRICS, *ODD_ANSWERS, "streams for ever"])
def test_an_engine_that_answers_oddly_is_one_sentence(monkeypatch, tmp_path, engine, mode, capsys):
    monkeypatch.setattr(Engine, "mode", mode)
    monkeypatch.setattr(endpoint, "PATIENCE", 0.5)
    works = mode in ODD_METRICS
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", engine, "--json"]) == (0 if works else 2)
    shown = capsys.readouterr()
    if works:
        assert json.loads(shown.out)["speculation"] is None
    else:
        told = shown.err.strip().splitlines()[-1]
        assert len(told) < 600 and "Traceback" not in told and told.endswith((".", "]"))


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "http://", "http://[", "ftp://x", "http://a b/v1", "http://127.0.0.1:99999"]
)
def test_an_address_that_is_none_is_one_sentence(capsys, tmp_path, address):
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", address]) == 2
    assert "mend --endpoint" in capsys.readouterr().err


def test_an_engine_that_is_not_there_is_one_sentence(capsys, tmp_path):
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", "http://127.0.0.1:9/v1"]) == 2
    err = capsys.readouterr().err
    assert "does not answer as it should" in err and "Traceback" not in err
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", "nonsense"]) == 2
    assert "mend --endpoint" in capsys.readouterr().err


def test_counters_are_read_summed_and_told_apart():
    text = "\n".join(
        [
            'vllm:spec_decode_num_drafts_total{engine="0"} 3.0',
            'vllm:spec_decode_num_drafts_total{engine="1"} 4.0',
            "vllm:spec_decode_num_accepted_tokens_total 9",
            'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 6',
            'vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",position="12"} 2',
            "vllm:spec_decode_num_drafts_total nan",
            "vllm:spec_decode_num_drafts_total many",
            "other:spec_decode_num_drafts_total 100",
        ]
    )
    found = endpoint.metrics(text)
    assert found[endpoint.DRAFTS, None] == 7 and found[endpoint.ACCEPTED, None] == 9
    assert (found[endpoint.BY_POSITION, 0], found[endpoint.BY_POSITION, 12]) == (6, 2)


def test_acceptance_is_of_what_grew_between_two_readings():
    name = endpoint.BY_POSITION
    before = endpoint.Counts(
        {(endpoint.DRAFTS, None): 10, (endpoint.DRAFTED, None): 2, (endpoint.ACCEPTED, None): 100, (name, 0): 10}
    )
    after = endpoint.Counts(
        {
            (endpoint.DRAFTS, None): 18,
            (endpoint.DRAFTED, None): 30,
            (endpoint.ACCEPTED, None): 112,
            (name, 1): 4,
            (name, 0): 16,
            (name, 2): 2,
        }
    )
    found = endpoint.acceptance(before, after)
    assert found == {
        "rounds": 8, "drafts_per_round": 3.5, "tokens_per_pass": 2.5, "survival_by_position": [0.75, 0.5, 0.25],
        "alpha_by_position": [0.75, pytest.approx(2 / 3), 0.5],
    }  # fmt: skip
    assert (
        endpoint.acceptance(after, after) is None and endpoint.acceptance(endpoint.Counts(), endpoint.Counts()) is None
    )


def test_paces_are_of_the_tokens_after_the_first(monkeypatch):
    """Answers of 5, 1, 11 and 2 tokens, after which 2, 9, 5 and 1.5 s passed."""
    answers = iter([(0.5, 2.0, 5), (0.25, 9.0, 1), (0.75, 5.0, 11), (1.0, 1.5, 2)])
    monkeypatch.setattr(endpoint, "ask", lambda *a: endpoint.Answer(*next(answers)))

    class Models:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def read(self, most):
            return b'{"data": [{"id": "m"}]}'

    monkeypatch.setattr(endpoint, "fetch", lambda url: Models())
    monkeypatch.setattr(endpoint, "metrics", lambda text: endpoint.Counts())
    said = []
    found = endpoint.ask_all("http://x/v1/", [Prompt(i, "all", i) for i in "abcd"], 9, 0.0, said.append)
    assert found["ms_to_first_token"] == 625.0 and found["answers"] == 4
    assert found["ms_per_token"] == {"mean": pytest.approx(2500 / 3), "p50": 500.0, "p95": 1500.0}
    assert said == [f"{i + 1} of 4 prompts ({p})" for i, p in enumerate("abcd")]


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [({"completion_tokens": 1}, 1), ({"completion_tokens": 0}, 0), ({"completion_tokens": 10**9 - 1}, 10**9 - 1),
     ({"completion_tokens": 10**9}, 0), ({"completion_tokens": 2.0}, 0), ({}, 0), (None, 0), ([], 0)],
)  # fmt: skip
def test_the_tokens_that_an_engine_says_it_wrote(usage, tokens):
    assert endpoint.tokens_of(usage) == tokens
