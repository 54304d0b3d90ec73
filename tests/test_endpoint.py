"""A serving engine behind an address: what it is asked, how its counters are read, and engines that answer badly."""

import contextlib
import gzip
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import written

from specdec_lab.cli import main
from specdec_lab.errors import LabError, say_if_slow
from specdec_lab.measure import endpoint
from specdec_lab.measure.prompts import Prompt

DEEP = "[" * 100_000
PIECE = {"choices": [{"delta": {"content": "a"}}]}
ANSWERED = f"data: {json.dumps(PIECE)}\n\n"
OF_PROMPTS = {  # what the engine says to some of them
    "fail here": (500, {}, ""),
    "too long": (400, {}, '{"error": {"message": "the context is 64 tokens", "code": 400}}'),
    "breaks": (200, {}, f'{ANSWERED}data: {{"error": {{"message": "out of memory"}}}}\n\n'),
}


def stream(*events, usage=3) -> str:
    end = {"choices": [], "usage": {"completion_tokens": usage}}
    return "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, end])


def used(usage: str) -> str:
    return f'{ANSWERED}data: {{"usage": {usage}}}\n'


class Engine(BaseHTTPRequestHandler):
    """Streams three tokens an answer; its counters say that each prompt took two rounds of two drafts.

    What it says instead: `models` and `metrics`, a body or a status; `said`, (status, headers, body) of all answers.
    """

    key, models, metrics, said = None, '{"data": [{"id": "some-model"}]}', None, None

    def do_GET(self):
        given = self.headers.get("Authorization")
        if self.key and given != f"Bearer {self.key}":
            return self.reply(401, {}, json.dumps({"error": {"message": f"no key: {given}"}}))
        said = self.models if self.path == "/v1/models" else self.counted() if self.metrics is None else self.metrics
        said = next(said) if isinstance(said, Iterator) else said
        return self.reply(said, {}, "") if isinstance(said, int) else self.reply(200, {}, said)

    def counted(self) -> str:
        n, label = self.rounds, 'engine="0",model_name="m"'
        lines = [
            "# HELP vllm:spec_decode_num_drafts Number of drafts.",
            f"vllm:spec_decode_num_drafts_total{{{label}}} {2.0 * n}",
            f"vllm:spec_decode_num_draft_tokens_total{{{label}}} {5.0 * n}",
            f"vllm:spec_decode_num_accepted_tokens_total{{{label}}} {1.5 * n}",
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{label},position="0"}} {1.0 * n}',
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{label},position="1"}} {0.5 * n}',
            f"vllm:spec_decode_num_drafts_created{{{label}}} 1.7e9",
        ]
        return "\n".join(lines)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        said = self.said or OF_PROMPTS.get(body["messages"][0]["content"])
        if said is None:
            type(self).rounds += 1
            said = (200, {}, stream(*[PIECE] * 3) + "data: [DONE]\n\n")
        self.reply(*said)

    def reply(self, status: int, headers: dict, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            for piece in [body] if isinstance(body, str | bytes) else body:
                self.wfile.write(piece.encode() if isinstance(piece, str) else piece)

    def log_message(self, *args):
        pass


@pytest.fixture
def engine(monkeypatch, tmp_path, capsys):
    """An engine of the test's own, at `address`. Its `ask` is the command: the report, or the error as text."""
    monkeypatch.delenv(endpoint.KEY, raising=False)
    engine = type("Mine", (Engine,), {"asked": [], "rounds": 0})
    server = ThreadingHTTPServer(("127.0.0.1", 0), engine)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    engine.address = f"http://127.0.0.1:{server.server_port}/v1"

    def ask(*options, prompts="hello", address=engine.address):
        code = main(["traffic", written(tmp_path, prompts), "--endpoint", address, "--json", *options])
        out, err = capsys.readouterr()
        assert code in (0, 2) and "Traceback" not in err
        return err if code else json.loads(out)

    engine.ask = ask
    yield engine
    server.shutdown()
    server.server_close()


def test_an_engine_is_measured_through_its_interface(capsys, tmp_path, engine):
    prompts = [{"prompt": "hello"}, {"text": "none"}, {"prompt": "fail here"}, {"prompt": "again"}]
    settings = ["--max-new-tokens", "9", "--temperature", "0.5"]
    result = engine.ask(*settings, prompts="\n".join(map(json.dumps, prompts)))
    assert (result["model"], result["answers"]) == ("some-model", 2)
    assert [body["messages"][0]["content"] for body in engine.asked] == ["hello", "fail here", "again"]
    assert all((body["max_tokens"], body["temperature"]) == (9, 0.5) for body in engine.asked)
    assert result["speculation"] == {
        "rounds": 4, "drafts_per_round": 2.5, "tokens_per_pass": 1.75, "survival_by_position": [0.5, 0.25], "alpha_by_position": [0.5, 0.5],
    }  # fmt: skip
    of_the_file, of_the_server = result["problems"]
    assert of_the_file.startswith("Line 2") and "500" in of_the_server
    assert main(["traffic", written(tmp_path, "hello\nagain"), "--endpoint", engine.address]) == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("4 rounds", "2.50 drafts", "1.75 tokens", "one after the other"))


def test_a_servers_client_does_without_torch(tmp_path, engine):
    command = [
        "traffic",
        written(tmp_path, "hello"),
        "--endpoint",
        engine.address,
        "--html",
        str(tmp_path / "page.html"),
    ]
    code = f"import sys; from specdec_lab.cli import main; main({command}); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0 and (tmp_path / "page.html").is_file()


def test_as_many_prompts_wait_as_were_asked_for(engine):
    waiting, most, lock = 0, 0, threading.Lock()
    post = engine.do_POST

    def slow(self):
        nonlocal waiting, most
        with lock:
            waiting += 1
            most = max(most, waiting)
        time.sleep(0.1)
        with lock:
            waiting -= 1
        post(self)

    engine.do_POST = slow
    result = engine.ask("--at-once", "3", prompts="\n\n".join("abcdefgh"))
    assert (most, result["at_once"], result["answers"]) == (3, 3, 8) and result["tokens_per_second"] > 0


def test_what_the_metrics_say_of_speculation_or_why_they_say_nothing(engine):
    """Whatever they are, the engine is measured."""
    rounds, none = "vllm:spec_decode_num_drafts_total", "count no speculation"
    said = {
        "process_cpu_seconds_total 3.0": none,
        f"{rounds}{{}} many": none,
        f'{rounds}{{position="{"9" * 5000}"}} 1': none,
        f"\xff{rounds}{{}} NaN": none,
        404: none,
        iter([f"{rounds} 1", f"{rounds} 2"]): 1,
        iter([f"{rounds} 5", f"{rounds} 2"]): "fell in between",
        iter([f"{rounds} 5", ""]): "fell in between",
        iter([f"{rounds} 5", f"{rounds} 1e309"]): "fell in between",
        iter([f"{rounds} 5", f"{rounds} 9"]): "4 rounds, but wrote only 3 tokens here",
    }
    for engine.metrics, told in said.items():
        found = engine.ask()
        if isinstance(told, int):
            assert found["speculation"]["rounds"] == told and not found["problems"]
        else:
            assert found["speculation"] is None and told in found["problems"][0]


ODD = {
    "no models": ("models", "[]"),
    "a number for a model": ("models", '{"data": [{"id": 5}]}'),
    "deep models": ("models", DEEP),
    "bytes for models": ("models", b"\xff\xfe"),
    "models of another shape": ("models", '{"data": {"id": "x"}}'),
    "nothing at all": ("models", ""),
    "deep answers": ("said", f'data: {{"a": {DEEP}\n\n'),
    "bytes": ("said", b"data: {\xff}\n"),
    "no events": ("said", "hello"),
    "a line of great length": ("said", "data: {" + "x" * 11_000_000),
    "a stream for ever": ("said", itertools.repeat(b"data: {}\n\n")),
    "no usage": ("said", ANSWERED),
    "usage of another shape": ("said", used("[3]")),
    "words for tokens": ("said", used('{"completion_tokens": "three"}')),
    "NaN tokens": ("said", used('{"completion_tokens": NaN}')),
    "fewer than none": ("said", used('{"completion_tokens": -3}')),
}


@pytest.mark.parametrize(("what", "answer"), ODD.values(), ids=ODD)
def test_an_engine_that_answers_oddly_is_one_sentence(monkeypatch, engine, what, answer):
    setattr(engine, what, answer if what == "models" else (200, {}, answer))
    monkeypatch.setattr(endpoint, "PATIENCE", 0.5)
    told = engine.ask().strip().splitlines()[-1]
    assert len(told) < 600 and told.endswith((".", "]"))


@pytest.mark.parametrize(
    "address",
    [
        *["file:///etc/hostname", "http://", "http://[", "ftp://x", "nonsense", "http://127.0.0.1:99999"],
        "http://a b/v1",
        "http://127.0.0.1:9/v1",  # where nobody answers
    ],
)
def test_an_address_where_no_engine_is_is_one_sentence(engine, address):
    assert "mend --endpoint" in engine.ask(address=address)


@pytest.mark.parametrize("prefix", ["vllm", "llamacpp"])
def test_acceptance_is_what_all_engines_counters_grew_by(prefix):
    def read(*lines):
        return endpoint.counters("\n".join(f"{prefix}:spec_decode_num_{line}" for line in lines))

    place = "accepted_tokens_per_pos_total"
    before = read("drafts_total 10", "draft_tokens_total 2", "accepted_tokens_total 100", f'{place}{{position="0"}} 10')
    after = read(
        'drafts_total{engine="0"} 8.0',
        'drafts_total{engine="1"} 10.0',
        "drafts_created 1.7e9",
        "draft_tokens_total 30",
        "accepted_tokens_total 112",
        f'{place}{{engine="1",position="12"}} 2',
        f'{place}{{position="1"}} 4',
        f'{place}{{position="0"}} 16',
    )
    assert endpoint.acceptance(before, after + endpoint.counters("other:spec_decode_num_drafts_total 100"), 20) == {
        "rounds": 8, "drafts_per_round": 3.5, "tokens_per_pass": 2.5, "survival_by_position": [0.75, 0.5, 0.25],
        "alpha_by_position": [0.75, pytest.approx(2 / 3), 0.5],
    }  # fmt: skip
    assert endpoint.conditional([0.5, 0.0, 0.0]) == [0.5, 0.0] and endpoint.conditional([]) == []


def test_paces_are_of_the_tokens_after_the_first():
    """Answers of 5, 1, 11 and 2 tokens, after which 2, 9, 5 and 1.5 s passed."""
    waits = [(0.5, 2.0, 5), (0.25, 9.0, 1), (0.75, 5.0, 11), (1.5, 1.5, 2)]
    found = endpoint.paces([endpoint.Answer(7.0, 7.0 + first, 7.0 + first + rest, n) for first, rest, n in waits])
    assert found["ms_to_first_token"] == 750.0
    assert found["ms_per_token"] == {"mean": pytest.approx(2500 / 3), "p50": 500.0, "p95": 1500.0}
    assert endpoint.paces([endpoint.Answer(0.0, 1.0, 1.0, 8, first=8)])["ms_per_token"] is None


def test_tokens_a_second_are_of_the_time_in_which_an_answer_was_awaited(monkeypatch):
    """Each is awaited for three seconds, of which two may be shared; what failed in between takes none of the time."""
    spans = ((4.0, 7.0), (0.0, 3.0), (5.0, 8.0), (20.0, 23.0))
    assert endpoint.seconds_in_all([endpoint.Answer(begin, end, end, 1) for begin, end in spans]) == 10.0
    now = [100.0]

    def ask(server, model, prompt, *how):
        begin, now[0] = now[0], now[0] + 5.0
        if prompt.id == "b":
            raise LabError("no")
        return endpoint.Answer(begin, now[0], now[0], 10)

    monkeypatch.setattr(endpoint.Server, "ask", ask)
    monkeypatch.setattr(endpoint.Server, "model", lambda *_: ("m", None))
    monkeypatch.setattr(endpoint.Server, "counters", lambda _: endpoint.Counts())
    found = endpoint.ask_all("http://x/v1/", [Prompt(i, "all", i) for i in "abc"], 9, 0.0)
    assert (found["answers"], found["at_once"], found["tokens_per_second"]) == (2, 1, 2.0)


@pytest.fixture
def streamed(monkeypatch):
    """(a prompt, pieces of a stream that come a second apart) → the answer, and what the server was asked for."""

    def answer(prompt, *pieces):
        now, asked = [100.0], []

        class Body(httpx.SyncByteStream):
            def __iter__(self):
                for piece in pieces:
                    now[0] += 1.0
                    yield piece.encode()

        def reply(request):
            asked.append((str(request.url), json.loads(request.content)))
            return httpx.Response(200, stream=Body())

        monkeypatch.setattr("time.perf_counter", lambda: now[0])
        server = endpoint.Server("http://x/v1")
        server.client = httpx.Client(transport=httpx.MockTransport(reply))
        return server.ask("m", prompt, 9, 0.5), *asked

    return answer


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
def test_an_answer_is_timed_from_its_first_token(streamed, event, raw):
    """A part that only says who speaks comes at once; taken for a token, it hides the wait and makes the others slow."""
    tokens = [f'data: {{"choices": [{event}]}}\n'] * 3
    lines = [": a comment\n", ROLE, *tokens, END, USAGE, "data: [DONE]\n"]
    found, (url, body) = streamed(Prompt("a", "all", "hello", raw=raw), *lines)
    assert found == endpoint.Answer(asked=100.0, began=103.0, ended=105.0, tokens=4)
    what = {"prompt": "hello"} if raw else {"messages": [{"role": "user", "content": "hello"}]}
    assert url == ("http://x/v1/completions" if raw else "http://x/v1/chat/completions")
    assert body == {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "stream": True, "stream_options": {"include_usage": True}, **what,
    }  # fmt: skip


def test_nobody_waits_for_the_first_pieces_tokens(streamed):
    """Five of eight tokens come at once, the other three within three seconds."""
    five, one = ('data: {"choices": [{"delta": {"content": "%s"}}]}\n' % ("a" * n) for n in (5, 1))
    usage = 'data: {"usage": {"completion_tokens": 8}}\n'
    found, _ = streamed(Prompt("a", "all", "hello"), five, one, one, one, usage)
    assert found == endpoint.Answer(100.0, 101.0, 104.0, 8, first=5)


def test_a_key_is_given_and_errors_are_told(monkeypatch, engine):
    engine.key = "secret"
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which knows no server of this machine
    monkeypatch.delenv("no_proxy", raising=False)
    said = engine.ask()
    assert "401" in said and "no key" in said and "--api-key" in said
    problems = engine.ask("--api-key", "secret", prompts="hello\ntoo long\nbreaks")["problems"]
    assert any("400" in line and "the context is 64 tokens" in line for line in problems)
    assert any("out of memory" in line for line in problems)
    monkeypatch.setenv(endpoint.KEY, "secret")
    said = engine.ask()
    assert said["answers"] == 1 and "secret" not in str(said)


def test_no_key_and_no_password_is_printed(monkeypatch, engine):
    """Also where the server repeats it, in an error or within a stream."""
    engine.key = "sk-right"
    told = {engine.ask("--api-key", "sk-secret"): "no key: Bearer …"}
    for sign in "\r\n\tü\x7f":
        told[engine.ask("--api-key", f"sec{sign}ret")] = "a sign that none can have"
    told[engine.ask(address=engine.address.replace("//", "//me:secret@"))] = "--api-key"
    engine.key, engine.said = None, (200, {}, stream({"error": {"message": "out of memory for sk-secret"}}))
    monkeypatch.setenv(endpoint.KEY, "sk-secret")
    told[engine.ask()] = "out of memory for …"
    for said, part in told.items():
        assert "secret" not in said and part in said


def test_nor_is_it_in_what_httpx_itself_says():
    def fails(request):
        raise httpx.LocalProtocolError(f"Illegal header value {request.headers['Authorization'].encode()!r}")

    server = endpoint.Server("http://x/v1", "sk-'secret\\")
    server.client = httpx.Client(headers=server.client.headers, transport=httpx.MockTransport(fails))
    with pytest.raises(LabError) as raised:
        server.model(None)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((200, {}, stream({"error": "lost it"})), "lost it"),
        ((200, {}, stream({"choices": [{"delta": {"role": "assistant"}, "finish_reason": "stop"}]}, usage=1)), "no text"),
        ((200, {"Transfer-Encoding": "chunked"}, "5\r\ndata:\r\n50\r\nx"), "see its own log"),
        ((200, {"Content-Length": "9999"}, ANSWERED), "see its own log"),
        ((200, {}, ANSWERED), "no tokens counted"),
        ((200, {}, ANSWERED + 'data: {"choices": [{"del'), "cannot be read"),
        ((307, {"Location": "http://other/v1"}, ""), "http://other/v1"),
        ((400, {}, "use 'max_completion_tokens', not 'max_tokens'"), "use 'max_completion_tokens'"),
        ((429, {"Retry-After": "700"}, ""), "it takes no more just now"),
    ],
)  # fmt: skip
def test_what_a_server_says_instead_is_told(engine, said, told):
    engine.said = said
    assert told in engine.ask()


def test_somebody_who_waits_for_a_silent_server_is_told(monkeypatch, engine):
    monkeypatch.setattr(endpoint, "say_if_slow", partial(say_if_slow, seconds=0.05))
    monkeypatch.setattr(endpoint.Server, "model", lambda *_: time.sleep(0.5) or ("a", None))
    err = engine.ask(prompts="fail here")
    assert err.index("does not answer yet") < err.index("Asking a for 1 answers") < err.index("1 of 1 prompts")


def test_a_compressed_stream_is_read(engine):
    engine.said = (200, {"Content-Encoding": "gzip"}, gzip.compress(stream(PIECE, usage=2).encode()))
    assert engine.ask()["answers"] == 1


def test_one_of_several_models_is_asked_for(engine):
    engine.models = json.dumps({"data": [{"id": "embeds"}, {"id": "chats"}]})
    first = engine.ask()
    assert first["model"] == "embeds" and "embeds, chats" in first["problems"][0]
    assert engine.ask("--model", "chats")["model"] == engine.asked[-1]["model"] == "chats"
    assert "embeds, chats" in engine.ask("--model", "chat")


def test_an_address_ends_with_v1(engine):
    for address in (engine.address.removesuffix("/v1"), f"{engine.address}/chat/completions"):
        assert "up to /v1" in engine.ask(address=address)
    assert engine.ask(address=engine.address.replace("http", "HTTP"))["answers"] == 1


@given(st.lists(st.sampled_from(['data: {"a": "b\u2028c"}', "", "data: [DONE]", ": a comment"])), st.integers(1, 9))
def test_events_are_the_same_however_they_arrive(lines, size):
    data = "\n".join(lines).encode()
    response = SimpleNamespace(iter_bytes=lambda: (data[i : i + size] for i in range(0, len(data), size)))
    assert list(endpoint.events(response)) == [{"a": "b\u2028c"} for line in lines if "{" in line]


@given(st.one_of(st.binary(max_size=60), st.text(max_size=20).map(lambda text: f"data: {{{text}".encode())))
def test_any_bytes_are_events_or_one_error(data):
    with contextlib.suppress(ValueError):
        assert all(isinstance(event, dict) for event in endpoint.events(SimpleNamespace(iter_bytes=lambda: [data])))
    endpoint.counters(data.decode(errors="replace"))


def test_after_an_interrupt_nothing_is_asked_or_awaited(monkeypatch, engine):
    second, go_on, asked, waited = threading.Event(), threading.Event(), [], []

    def ask(server, model, prompt, *more):
        asked.append(prompt.id)
        if prompt.id != "a":
            second.set()
            if not go_on.wait(5):
                waited.append(prompt.id)
        return endpoint.Answer(1.0, 2.0, 3.0, 2)

    def interrupted(line):
        if not line.startswith("Asking"):
            assert second.wait(5)
            raise KeyboardInterrupt

    monkeypatch.setattr(endpoint.Server, "ask", ask)
    with pytest.raises(KeyboardInterrupt):
        endpoint.ask_all(engine.address, [Prompt(i, "all", i) for i in "abcdefgh"], 3, 0.0, interrupted)
    go_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join()
    assert asked == ["a", "b"] and not waited


@pytest.mark.parametrize(
    "wrong", ["--temperature nan", "--temperature -1", "--max-new-tokens 0", "--at-once 0", "--at-once 100000"]
)
def test_settings_that_no_server_can_take_are_refused_here(engine, wrong):
    option, value = wrong.split()
    assert option in engine.ask(option, value) and not engine.asked
