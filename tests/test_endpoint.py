"""A serving engine behind an address: what it is asked, how its counters are read, and engines that answer badly."""

import contextlib
import gzip
import json
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import written

from specdec_lab.cli import main
from specdec_lab.errors import LabError, told_if_slow
from specdec_lab.measure.prompts import Prompt
from specdec_lab.measure.traffic import endpoint, http_client

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

    rounds, mode, key, asked = 0, "speculates", None, []

    said = None  # (status, headers, body) of the next answers, in the place of tokens

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
        self.asked.append(body)
        if self.said:
            status, headers, text = self.said.pop(0) if isinstance(self.said, list) else self.said
            return self.reply(text, status, headers)
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

    def reply(self, text: str | bytes, status: int = 200, headers: dict | None = None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text if isinstance(text, bytes) else text.encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(Engine, "rounds", 0)
    monkeypatch.setattr(Engine, "asked", [])
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
    monkeypatch.setattr(endpoint, "models_at", lambda *asked: ["m"])
    monkeypatch.setattr(endpoint, "metrics_of", lambda *asked: takes(50.0, ""))
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

    def read1(self, most):
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
        ('{"delta": {"a_name_of_its_own": [{"text": "hm"}]}}', False),
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
    monkeypatch.delenv(http_client.KEY, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which knows no server of this machine
    monkeypatch.delenv("no_proxy", raising=False)
    command = ["traffic", written(tmp_path, "hello\ntoo long\nbreaks"), "--endpoint", engine, "--json"]
    assert main(command) == 2
    assert "401 Unauthorized: no key): give the key with --api-key" in capsys.readouterr().err
    assert main([*command, "--api-key", "secret"]) == 0
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert any("400 Bad Request: the context is 64 tokens" in line for line in problems)
    assert any("the server says: out of memory" in line for line in problems)
    monkeypatch.setenv(http_client.KEY, "secret")
    assert main(command) == 0 and "secret" not in capsys.readouterr().out


def stream(*events, usage=3) -> str:
    end = {"choices": [], "usage": {"completion_tokens": usage}}
    return "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, end])


PIECE = {"choices": [{"delta": {"content": "a"}}]}
WAIT = (429, {"Retry-After": "0"}, '{"error": {"message": "too many"}}')


@pytest.fixture
def traffic(monkeypatch, tmp_path, engine, capsys):
    """(what the server says, further options) → the report, or the error as text."""

    def traffic(said, *options, address=engine):
        monkeypatch.setattr(Engine, "said", said)
        code = main(["traffic", written(tmp_path, "hello"), "--endpoint", address, "--json", *options])
        out, err = capsys.readouterr()
        return json.loads(out) if code == 0 else err

    traffic.address = engine
    return traffic


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((200, {}, stream({"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "lost it"}}]})), "lost it"),
        ((200, {}, 'event: error\ndata: {"message": "lost it"}\n\n'), "the server says: lost it"),
        ((200, {}, stream({"choices": [{"delta": {"role": "assistant"}, "finish_reason": "stop"}]}, usage=1)), "ended at once"),
        ((200, {"Transfer-Encoding": "chunked"}, "5\r\ndata:\r\n50\r\nx"), "broke off"),
        ((200, {"Content-Length": "9999"}, ANSWERED), "broke off"),
        ((200, {}, ANSWERED + 'data: {"choices": [{"del'), "broke off"),
        ((200, {}, ANSWERED + "data: [DONE]"), "it must send “usage”"),
        ((307, {"Location": "http://other/v1"}, ""), "307 Temporary Redirect to http://other/v1): give --endpoint the address"),
        ((429, {}, ""), "429 Too Many Requests): it takes no more just now"),
        ([WAIT] * 5, "too many"),
    ],
)  # fmt: skip
def test_what_a_server_says_instead_of_an_answer_is_told(traffic, said, told):
    assert told in traffic(said)


def test_somebody_who_waits_for_a_silent_server_is_told(monkeypatch, traffic):
    monkeypatch.setattr(endpoint, "told_if_slow", partial(told_if_slow, seconds=0.1))
    monkeypatch.setattr(endpoint, "models_at", lambda *_: time.sleep(1) or ["a"])
    err = traffic((500, {}, ""))
    assert err.index("does not answer yet") < err.index("Asking a for 1 answers") < err.index("1 of 1 prompts")


def test_a_server_is_asked_in_the_way_that_it_wants(traffic):
    refused = [
        (400, {}, json.dumps({"error": {"message": f"use '{word}'"}}))
        for word in ("max_completion_tokens", "temperature 1")
    ]
    found = traffic([*refused, WAIT, (200, {}, stream(PIECE, usage=2.0))], "--max-new-tokens", "9")
    assert [sorted({"max_tokens", "max_completion_tokens", "temperature"} & set(body)) for body in Engine.asked] == [
        ["max_tokens", "temperature"], ["max_completion_tokens", "temperature"], ["max_completion_tokens"], ["max_completion_tokens"],
    ]  # fmt: skip
    assert found["answers"] == 1 and any("takes no temperature" in line for line in found["problems"])
    assert any("asked 1 times to wait" in line for line in found["problems"])


def test_what_a_server_wants_is_found_out_by_prompts_that_wait_at_once(monkeypatch):
    """Both are refused before either has told the other why."""
    both = threading.Barrier(2, timeout=10)

    def ask(base, model, prompt, new, temperature, key, limit):
        if limit == "max_tokens":
            both.wait()
            refused = HTTPError("x", 400, "Bad Request", {}, None)
            raise LabError("use 'max_completion_tokens'") from refused
        return endpoint.Answer(1.0, 1.0, 2)

    monkeypatch.setattr(endpoint, "ask", ask)
    monkeypatch.setattr(endpoint, "models_at", lambda *asked: ["m"])
    monkeypatch.setattr(endpoint, "metrics_of", lambda *asked: "")
    assert endpoint.ask_all("http://x/v1", [Prompt(i, "all", i) for i in "ab"], 9, 0.0, at_once=2)["answers"] == 2


def test_a_byte_that_is_no_text_spoils_no_counter(monkeypatch, traffic):
    lines = b"\xff\nvllm:spec_decode_num_drafts_total{} %d"
    monkeypatch.setitem(ODD_METRICS, "a byte", lines % 1)
    monkeypatch.setattr(Engine, "mode", "a byte")
    assert endpoint.metrics(endpoint.metrics_of(traffic.address)) == {("spec_decode_num_drafts", None): 1.0}


def test_a_stream_in_one_piece_is_told_and_not_timed(traffic):
    held = traffic((200, {}, stream(*[PIECE] * 8, usage=8)))
    assert held["ms_to_first_token"] is held["ms_per_token"] is None and "came in one piece" in held["problems"][-1]
    packed = gzip.compress(stream(PIECE, usage=2).encode())
    assert traffic((200, {"Content-Encoding": "gzip"}, packed))["answers"] == 1


def test_the_tokens_of_the_first_piece_do_not_count_as_waited_for(monkeypatch):
    """Five of eight tokens come at once, the other three within three seconds."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    five, one = ('data: {"choices": [{"delta": {"content": "%s"}}]}\n' % ("a" * n) for n in (5, 1))
    usage = 'data: {"usage": {"completion_tokens": 8}}\n'
    monkeypatch.setattr(endpoint, "fetch", lambda *asked: Streamed(now, [five, one, one, one, usage]))
    assert endpoint.ask("http://x/v1", "m", Prompt("a", "all", "hello"), 9, 0.5) == endpoint.Answer(
        1.0, 3.0, 8, begun=5
    )


def test_a_server_with_several_models_is_asked_for_one_by_its_name(monkeypatch, traffic):
    monkeypatch.setitem(ODD_MODELS, "several", json.dumps({"data": [{"id": "embeds"}, {"id": "chats"}]}))
    monkeypatch.setattr(Engine, "mode", "several")
    first = traffic(None)
    assert first["model"] == "embeds" and "Name another with --model: chats." in first["problems"][0]
    assert traffic(None, "--model", "chats")["model"] == Engine.asked[-1]["model"] == "chats"
    assert "has no model “chat”. It has embeds, chats." in traffic(None, "--model", "chat")


def test_an_address_without_v1_or_with_more_than_it_is_named(traffic, engine):
    for address in (engine.removesuffix("/v1"), f"{engine}/chat/completions"):
        assert "up to /v1" in traffic(None, address=address)
    assert traffic(None, address=engine.replace("http", "HTTP"))["answers"] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('sglang:spec_accept_length{model="m"} 2.4', "SGLang says that its latest rounds wrote 2.40 tokens each"),
        (
            '[{"iter": 1}, {"specDecodingStats": {"acceptanceLength": 1.5}}]',
            "TensorRT-LLM says that its latest rounds wrote 1.50",
        ),
    ],
)
def test_what_other_engines_count_is_told_in_their_words(monkeypatch, traffic, text, told):
    monkeypatch.setitem(ODD_METRICS, "theirs", text)
    monkeypatch.setattr(Engine, "mode", "theirs")
    found = traffic(None)
    assert found["speculation"] is None and found["problems"][0].startswith(told)


def test_counters_beyond_all_numbers_are_no_speculation():
    huge = endpoint.metrics("\n".join(['vllm:spec_decode_num_drafts_total{engine="0"} 1e308'] * 3))
    assert endpoint.acceptance(endpoint.Counts(), huge) is None


def test_no_key_and_no_password_is_printed(traffic, engine):
    assert "secret" not in (said := traffic(None, "--api-key", "sec\rret")) and "a sign that none can have" in said
    said = traffic(None, address=engine.replace("//", "//me:secret@"))
    assert "secret" not in said and "give a key with --api-key" in said


@given(st.lists(st.binary(min_size=1, max_size=9)))
def test_lines_are_the_same_however_they_arrive(pieces):
    class Response:
        def __init__(self):
            self.left = [*pieces, b""]

        def read1(self, most):
            return self.left.pop(0)

    assert b"\n".join(http_client.lines(Response(), 9.0)) == b"".join(pieces).removesuffix(b"\n")


def test_a_line_that_comes_a_byte_at_a_time_has_an_end(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    with pytest.raises(ValueError, match="not ended after 5 seconds"):
        list(http_client.lines(Streamed(now, ["a"] * 99), 5.0))


def test_a_proxy_is_named_where_one_stands_between(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with pytest.raises(LabError, match="through the proxy http://127.0.0.1:9"):
        http_client.fetch("http://a.server.example/v1/models")


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
        if not line.startswith("Asking"):
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


def test_a_key_that_the_server_repeats_is_not_printed(monkeypatch, capsys, tmp_path, engine):
    monkeypatch.setattr(Engine, "key", "sk-right")
    refuse = Engine.reply
    monkeypatch.setattr(
        Engine, "reply", lambda self, text, code=200: refuse(self, text.replace("no key", "not sk-secret"), code)
    )
    (tmp_path / "p.txt").write_text("Why?")
    assert main(["traffic", str(tmp_path / "p.txt"), "--endpoint", engine, "--api-key", "sk-secret"]) == 2
    said = capsys.readouterr().err
    assert "sk-secret" not in said and "not …" in said


def test_nor_is_one_of_the_environment_that_stands_in_a_stream(monkeypatch, capsys, tmp_path, engine):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    answers = Engine.reply
    said = "out of memory for sk-secret"
    monkeypatch.setattr(
        Engine, "reply", lambda self, text, *more: answers(self, text.replace("out of memory", said), *more)
    )
    (tmp_path / "p.txt").write_text("breaks")
    assert main(["traffic", str(tmp_path / "p.txt"), "--endpoint", engine]) == 2
    told = capsys.readouterr().err
    assert "out of memory for …" in told and "sk-secret" not in told


@pytest.mark.parametrize("wrong", [["--temperature", "nan"], ["--temperature", "-1"], ["--max-new-tokens", "0"]])
def test_settings_that_no_server_can_take_are_refused_here(capsys, tmp_path, engine, wrong):
    (tmp_path / "p.txt").write_text("Why?")
    assert main(["traffic", str(tmp_path / "p.txt"), "--endpoint", engine, *wrong]) == 2
    assert wrong[0] in capsys.readouterr().err and not Engine.asked
