"""A serving engine behind an address: what it is asked, how its counters are read, and engines that answer badly."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from stand_ins import written

from specdec_lab.cli import main
from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import Prompt
from specdec_lab.measure.traffic import endpoint

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

    rounds, mode, key = 0, "speculates", None

    def do_GET(self):
        if self.key and self.headers.get("Authorization") != f"Bearer {self.key}":
            return self.reply('{"error": {"message": "no key"}}', 401)
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
        said = body["messages"][0]["content"]
        if "fail" in said:
            return self.send_error(500)
        if said == "too long":
            return self.reply('{"error": {"message": "the context is 64 tokens", "code": 400}}', 400)
        if said == "breaks":
            return self.reply(f'{ANSWERED}data: {{"error": {{"message": "out of memory"}}}}\n\n')
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

    def reply(self, text: str | bytes, status: int = 200):
        self.send_response(status)
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


@pytest.mark.parametrize("mode", ["plain", "no metrics", *ODD_METRICS])
def test_an_engine_that_counts_no_speculation_is_measured_and_told(monkeypatch, tmp_path, engine, mode, capsys):
    monkeypatch.setattr(Engine, "mode", mode)
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", engine, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["speculation"] is None and "hold no speculation" in result["problems"][0]


@pytest.mark.parametrize("mode", [*ODD_MODELS, *ODD_ANSWERS, "streams for ever"])
def test_an_engine_that_answers_oddly_is_one_sentence(monkeypatch, tmp_path, engine, mode, capsys):
    monkeypatch.setattr(Engine, "mode", mode)
    monkeypatch.setattr(endpoint, "PATIENCE", 0.5)
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", engine, "--json"]) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert len(told) < 600 and "Traceback" not in told and told.endswith((".", "]"))


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/hostname",
        "http://",
        "http://[",
        "ftp://x",
        "nonsense",
        "http://a b/v1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:9/v1",  # where nobody answers
    ],
)
def test_an_address_where_no_engine_is_is_one_sentence(capsys, tmp_path, address):
    assert main(["traffic", written(tmp_path, "hello"), "--endpoint", address]) == 2
    err = capsys.readouterr().err
    assert "does not answer as it should" in err and "mend --endpoint" in err and "Traceback" not in err


@pytest.mark.parametrize("prefix", ["vllm", "llamacpp"])
def test_acceptance_is_of_what_the_counters_of_all_engines_grew_by_between_two_readings(prefix):
    def read(*lines):
        return endpoint.metrics("\n".join(f"{prefix}:spec_decode_num_{line}" for line in lines))

    place = "accepted_tokens_per_pos_total"
    before = read("drafts_total 10", "draft_tokens_total 2", "accepted_tokens_total 100", f'{place}{{position="0"}} 10')
    after = read(
        'drafts_total{engine="0"} 8.0',
        'drafts_total{engine="1"} 10.0',
        "drafts_total nan",
        "drafts_total many",
        "drafts_created 1.7e9",
        "draft_tokens_total 30",
        "accepted_tokens_total 112",
        f'{place}{{engine="1",position="12"}} 2',
        f'{place}{{position="1"}} 4',
        f'{place}{{position="0"}} 16',
    )
    assert endpoint.acceptance(before, after + endpoint.metrics("other:spec_decode_num_drafts_total 100")) == {
        "rounds": 8, "drafts_per_round": 3.5, "tokens_per_pass": 2.5, "survival_by_position": [0.75, 0.5, 0.25],
        "alpha_by_position": [0.75, pytest.approx(2 / 3), 0.5],
    }  # fmt: skip
    assert endpoint.acceptance(after, after) is None
    assert endpoint.conditional([0.5, 0.0, 0.0]) == [0.5, 0.0] and endpoint.conditional([]) == []


def test_paces_are_of_the_tokens_after_the_first(monkeypatch):
    """Answers of 5, 1, 11 and 2 tokens, after which 2, 9, 5 and 1.5 s passed. Tokens a second are those of all answers in
    the time of all together: each ends a second after the one before, and to read the metrics takes none of it."""
    answers = iter([(0.5, 2.0, 5), (0.25, 9.0, 1), (0.75, 5.0, 11), (1.5, 1.5, 2)])
    now = [100.0]

    def takes(seconds, found):
        now[0] += seconds
        return found

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(endpoint, "ask", lambda *asked: takes(1.0, endpoint.Answer(*next(answers))))
    monkeypatch.setattr(endpoint, "model_at", lambda *asked: "m")
    monkeypatch.setattr(endpoint, "counters", lambda *asked: takes(50.0, endpoint.Counts()))
    found = endpoint.ask_all("http://x/v1/", [Prompt(i, "all", i) for i in "abcd"], 9, 0.0)
    assert found["ms_to_first_token"] == 750.0 and found["answers"] == 4
    assert (found["at_once"], found["tokens_per_second"]) == (1, 19 / 4)
    assert found["ms_per_token"] == {"mean": pytest.approx(2500 / 3), "p50": 500.0, "p95": 1500.0}


class Streamed:
    """A response whose lines come a second apart."""

    def __init__(self, now: list[float], lines: list[str]):
        self.now, self.lines = now, [*lines, ""]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def readline(self, most):
        self.now[0] += 1.0
        return self.lines.pop(0).encode()


ROLE = 'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n'
END = 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n'
USAGE = 'data:{"choices": [], "usage": {"completion_tokens": 4}}\n'


@pytest.mark.parametrize(
    ("event", "raw"),
    [
        ('{"delta": {"content": "a"}}', False),
        ('{"delta": {"reasoning_content": "hm"}}', False),
        ('{"delta": {"reasoning": "hm"}}', False),
        ('{"delta": {"tool_calls": [{"index": 0}]}}', False),
        ('{"text": "a"}', True),
    ],
)
def test_an_answer_is_streamed_and_timed_from_the_first_token_that_is_written(monkeypatch, event, raw):
    """A part that only says who speaks comes at once; taken for a token, it hides the wait and makes the others slow."""
    now, asked, line = [100.0], [], f'data: {{"choices": [{event}]}}\n'

    def fetch(url, body, timeout, key):
        asked.append((url, body))
        return Streamed(now, [": a comment\n", ROLE, line, line, line, END, USAGE, "data: [DONE]\n"])

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(endpoint, "fetch", fetch)
    found = endpoint.ask("http://x/v1", "m", Prompt("a", "all", "hello", raw=raw), 9, 0.5)
    assert found == endpoint.Answer(first=3.0, rest=2.0, tokens=4)
    ((url, body),) = asked
    what = {"prompt": "hello"} if raw else {"messages": [{"role": "user", "content": "hello"}]}
    assert url == ("http://x/v1/completions" if raw else "http://x/v1/chat/completions")
    assert body == {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "stream": True, "stream_options": {"include_usage": True}, **what,
    }  # fmt: skip


def test_a_key_is_given_and_the_servers_own_words_are_told(tmp_path, monkeypatch, capsys, engine):
    monkeypatch.setattr(Engine, "key", "secret")
    monkeypatch.delenv(endpoint.KEY, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which knows no server of this machine
    monkeypatch.delenv("no_proxy", raising=False)
    command = ["traffic", written(tmp_path, "hello\ntoo long\nbreaks"), "--endpoint", engine, "--json"]
    assert main(command) == 2
    assert "401 Unauthorized: no key): give the key with --api-key" in capsys.readouterr().err
    assert main([*command, "--api-key", "secret"]) == 0
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert any("400 Bad Request: the context is 64 tokens" in line for line in problems)
    assert any("the server says: out of memory" in line for line in problems)
    monkeypatch.setenv(endpoint.KEY, "secret")
    assert main(command) == 0 and "secret" not in capsys.readouterr().out


def test_a_proxy_is_named_where_one_stands_between(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with pytest.raises(LabError, match="through the proxy http://127.0.0.1:9"):
        endpoint.fetch("http://a.server.example/v1/models")


def test_after_an_interrupt_no_further_prompt_is_asked_and_none_is_waited_for(monkeypatch, engine):
    second, go_on, asked, waited = threading.Event(), threading.Event(), [], []

    def ask(base, model, prompt, *more):
        asked.append(prompt.id)
        if prompt.id != "a":
            second.set()
            if not go_on.wait(5):
                waited.append(prompt.id)
        return endpoint.Answer(1.0, 1.0, 2)

    def interrupted(line):
        assert second.wait(5)
        raise KeyboardInterrupt

    monkeypatch.setattr(endpoint, "ask", ask)
    with pytest.raises(KeyboardInterrupt):
        endpoint.ask_all(engine, [Prompt(i, "all", i) for i in "abcdefgh"], 3, 0.0, interrupted)
    go_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join()
    assert asked == ["a", "b"] and not waited
