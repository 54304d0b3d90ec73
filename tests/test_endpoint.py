"""A serving engine behind an address: what it is asked, how its counters are read, and engines that answer badly."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stand_ins import written

from specdec_lab.cli import main
from specdec_lab.errors import LabError
from specdec_lab.measure import endpoint
from specdec_lab.measure.prompts import Prompt

PIECE, HELLO = {"choices": [{"delta": {"content": "a"}}]}, Prompt("a", "all", "hello")
ROUNDS = "vllm:spec_decode_num_drafts_total"


def stream(*events, usage=3) -> str:
    end = {"choices": [], "usage": {"completion_tokens": usage}}
    return "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, end])


class Engine(BaseHTTPRequestHandler):
    """Streams three tokens an answer; its counters say that each prompt took two rounds of two drafts.

    What it says instead: `models` and `metrics`, a body or a status, or several; `said`, (status, headers, body) by prompt;
    `first`, such answers before any other. As a router it has metrics only of a model that is named.
    """

    key, models, metrics, said, first, router = None, '{"data": [{"id": "some-model"}]}', None, {}, [], False

    def do_GET(self):
        given = self.headers.get("Authorization")
        if self.key and given != f"Bearer {self.key}":
            return self.reply(401, {}, f"no key: {given}")
        if self.router and self.path == "/metrics":
            return self.reply(400, {}, "model name is missing from the request")
        said = self.models if self.path == "/v1/models" else self.counted() if self.metrics is None else self.metrics
        said = next(said) if isinstance(said, Iterator) else said
        return self.reply(said, {}, "") if isinstance(said, int) else self.reply(200, {}, said)

    def counted(self) -> str:
        counts = {"drafts_total": 2, "draft_tokens_total": 5, "accepted_tokens_total": 1.5}
        counts |= {f'accepted_tokens_per_pos_total{{position="{i}"}}': n for i, n in enumerate((1, 0.5))}
        return "\n".join(f"vllm:spec_decode_num_{name} {self.rounds * n}" for name, n in counts.items())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        said = self.first.pop(0) if self.first else self.said.get(body["messages"][0]["content"])
        if said is None:
            type(self).rounds += 1
            said = (200, {}, stream(*[PIECE] * 3) + "data: [DONE]\n\n")
        self.reply(*said)

    def reply(self, status: int, headers: dict, body: str | bytes):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body.encode() if isinstance(body, str) else body)

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
    engine.said = {"fail here": (500, {}, "")}
    prompts = [{"prompt": "hello"}, {"text": "none"}, {"prompt": "fail here"}, {"prompt": "again"}]
    options = ["--max-new-tokens", "9", "--temperature", "0.5"]
    result = engine.ask(*options, prompts="\n".join(map(json.dumps, prompts)))
    assert (result["model"], result["answers"]) == ("some-model", 2)
    assert [body["messages"][0]["content"] for body in engine.asked] == ["hello", "fail here", "again"]
    assert all((body["max_tokens"], body["temperature"]) == (9, 0.5) for body in engine.asked)
    assert result["speculation"] == {
        "rounds": 4, "drafts_per_round": 2.5, "tokens_per_pass": 1.75, "survival_by_position": [0.5, 0.25], "alpha_by_position": [0.5, 0.5],
    }  # fmt: skip
    of_the_file, of_the_server = result["problems"]
    mine = written(tmp_path, "hello")
    assert main(["traffic", mine, "--endpoint", engine.address, "--html", mine]) == 2
    assert Path(mine).read_text(encoding="utf-8") == "hello"  # a report takes the place of a page alone
    assert of_the_file.startswith("Line 2") and "500" in of_the_server
    assert main(["traffic", written(tmp_path, "hello\nagain"), "--endpoint", engine.address]) == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("4 rounds", "2.50 drafts", "1.75 tokens", "one after the other"))


def test_as_many_prompts_wait_as_were_asked_for(engine):
    waiting, most, lock, post = 0, 0, threading.Lock(), engine.do_POST

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


METRICS = [
    ("process_cpu_seconds_total 3.0", "count no speculation"),
    (f"\xff{ROUNDS}{{}} NaN", "count no speculation"),
    ((f"{ROUNDS} 5", f"{ROUNDS} 2"), "fell in between"),
    ((f"{ROUNDS} 5", f"{ROUNDS} 1e309"), "fell in between"),
    ((f"{ROUNDS} 5", f"{ROUNDS} 9"), "but wrote only 3 here"),
    ((f"{ROUNDS} NaN", f"{ROUNDS} 5"), "are no numbers"),
    (tuple(f'{ROUNDS}{{model_name="another"}} {n}' for n in (5, 6, 7, 8)), "no speculation of this model"),
    (401, "others may want --api-key"),
]


@pytest.mark.parametrize(("metrics", "told"), METRICS)
def test_metrics_that_say_nothing_of_speculation_are_one_sentence(engine, metrics, told):
    engine.metrics = iter(metrics) if isinstance(metrics, tuple) else metrics
    found = engine.ask()
    assert found["answers"] == 1 and found["speculation"] is None
    assert len(found["problems"]) == 1 and told in found["problems"][0]


@pytest.mark.parametrize("prefix", ["vllm", "llamacpp"])
def test_acceptance_is_what_all_engines_counters_grew_by(prefix):
    def read(lines):
        return endpoint.counters("\n".join(f"{prefix}:spec_decode_num_{line}" for line in lines.split("\n")))

    place = "accepted_tokens_per_pos_total"
    before = read(f'drafts_total 10\ndraft_tokens_total 2\naccepted_tokens_total 100\n{place}{{position="0"}} 10')
    rounds = 'drafts_total{engine="0"} 8\ndrafts_total{engine="1"} 10\ndrafts_created 1.7e9'
    places = f'{place}{{engine="1",position="12"}} 2\n{place}{{position="1"}} 4\n{place}{{position="0"}} 16'
    after = read(f"{rounds}\ndraft_tokens_total 30\naccepted_tokens_total 112\n{places}")
    assert endpoint.acceptance(before, after + endpoint.counters("other:spec_decode_num_drafts_total 100"), 20) == {
        "rounds": 8, "drafts_per_round": 3.5, "tokens_per_pass": 2.5, "survival_by_position": [0.75, 0.5, 0.25],
        "alpha_by_position": [0.75, pytest.approx(2 / 3), 0.5],
    }  # fmt: skip
    with pytest.raises(LabError, match="others use it"):  # 8 rounds that kept 12 drafts write 20
        endpoint.acceptance(before, after, 16)
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
    spans = ((4.0, 7.0), (0.0, 3.0), (5.0, 8.0), (20.0, 23.0), (21.0, 22.0), (22.0, 23.0))
    assert endpoint.seconds_in_all([endpoint.Answer(begin, end, end, 1) for begin, end in spans]) == 10.0
    now = [100.0]

    def ask(server, model, prompt, *how):
        begin, now[0] = now[0], now[0] + 5.0
        if prompt.id == "b":
            raise LabError("no")
        return endpoint.Answer(begin, now[0], now[0], 10)

    monkeypatch.setattr(endpoint.Server, "ask", ask)
    monkeypatch.setattr(endpoint.Server, "model", lambda *_: "m")
    monkeypatch.setattr(endpoint.Server, "counters", lambda *_: endpoint.Counts())
    found = endpoint.ask_all("http://x/v1/", [Prompt(i, "all", i) for i in "abc"], 9, 0.0)
    assert (found["answers"], found["at_once"], found["tokens_per_second"]) == (2, 1, 2.0)


def answer(monkeypatch, prompt, *pieces):
    """The answer to a prompt, in pieces of a stream that come a second apart; and what the server was asked for."""
    now, asked = [100.0], []

    class Body(httpx.SyncByteStream):
        def __iter__(self):
            for piece in pieces:
                now[0] += 1.0
                yield piece

    def reply(request):
        asked.append((str(request.url), json.loads(request.content)))
        return httpx.Response(200, stream=Body())

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    server = endpoint.Server("http://x/v1")
    server.new = lambda: httpx.Client(transport=httpx.MockTransport(reply))
    return server.ask("m", prompt, 9, 0.5), *asked


BESIDE = b'"audio": {"id": "a"}, "provider_specific_fields": {"content": "a"}'  # what a gateway adds is no text
ROLE = b'data: {"choices": [{"delta": {"role": "assistant", "content": "", %s}}]}\n' % BESIDE
END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n', b'data:{"usage": {"completion_tokens": 8}}\n'


EVENTS = [
    '{"delta": {"content": "a"}}', '{"delta": {"reasoning_content": "hm"}}', '{"delta": {"content": [{"type": "text", "text": "a"}]}}',
    '{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}}', '{"text": "a"}',
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS)
def test_an_answer_is_timed_from_its_first_token(monkeypatch, event):
    """A part that only says who speaks comes at once; taken for a token, it hides the wait and makes the others slow."""
    raw = "text" in event[:8]
    lines = [b": a comment\n", ROLE, *[f'data: {{"choices": [{event}]}}\n'.encode()] * 3, *END, b"data: [DONE]\n"]
    found, (url, body) = answer(monkeypatch, Prompt("a", "all", "hello", raw=raw), *lines)
    assert found == endpoint.Answer(asked=100.0, began=103.0, ended=105.0, tokens=8, first=3)
    what = {"prompt": "hello"} if raw else {"messages": [{"role": "user", "content": "hello"}]}
    assert url == ("http://x/v1/completions" if raw else "http://x/v1/chat/completions")
    assert body == {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "stream": True, "stream_options": {"include_usage": True}, **what,
    }  # fmt: skip


def test_nobody_waits_for_the_first_pieces_tokens(monkeypatch):
    """Five of eight tokens come at once, the other three within three seconds."""
    five, one = (b'data: {"choices": [{"delta": {"content": "%s"}}]}\n' % (b"a" * n) for n in (5, 1))
    assert answer(monkeypatch, HELLO, five, one, one, one, *END)[0] == endpoint.Answer(100.0, 101.0, 104.0, 8, first=5)


PARTS = st.sampled_from(
    [*(line.encode() for line in stream(PIECE, {"choices": [{"delta": 5}]}, {"choices": {}}).splitlines()), ROLE, b"data: {"]
    + [b'data: {"usage": %s}' % usage for usage in (b"[3]", b'{"completion_tokens": "three"}', b'{"completion_tokens": NaN}')]
    + [b'data: {"error": "lost it"}', b'data: {"a": "b\xe2\x80\xa8c"}', b"data: [DONE]", b"event: error", b'data: {"a":' + b"[" * 2000]
)  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(st.lists(PARTS | st.binary(max_size=30), max_size=6), st.integers(1, 40))
def test_whatever_a_server_answers_is_a_number_or_one_sentence(lines, size):
    """And the same one, in whatever pieces it arrives."""
    data, found = b"\n".join(lines), []
    for pieces in ([data], [data[i : i + size] for i in range(0, len(data), size)]):
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(endpoint, "PATIENCE", 1e9)
            try:
                found.append(answer(monkeypatch, HELLO, *pieces)[0].tokens)
            except LabError as e:
                found.append(str(e))
                assert str(e).isprintable() and len(str(e)) < 600
    assert found[0] == found[1]
    endpoint.counters(data.decode(errors="replace"))  # raises nothing


@pytest.mark.parametrize("models", ["[]", "", '{"data": []}', '{"data": [{"id": 5}]}', "[" * 99_999, b"\xff", 404])
def test_a_server_without_a_model_is_one_sentence(engine, models):
    engine.models = models
    assert "up to /v1" in engine.ask()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((200, {}, stream({"error": {"message": "lost it"}})), "lost it"),
        ((200, {}, stream(ROLE.decode(), usage=1)), "no text"),
        ((200, {"Content-Length": "9999"}, stream(PIECE)), "see its own log"),
        ((200, {}, f"data: {json.dumps(PIECE)}\ndata: [DONE]"), "no tokens counted"),
        ((307, {"Location": "http://other/v1"}, ""), "http://other/v1"),
        ((400, {}, "use 'max_completion_tokens', not 'max_tokens'"), "use 'max_completion_tokens'"),
        ((429, {"Retry-After": "700"}, ""), "it takes no more just now"),
    ],
)
def test_what_a_server_says_instead_is_told(engine, said, told):
    engine.said = {"hello": said}
    assert told in engine.ask()


DRIPS = [("do_GET", b"200 ", b"a"), ("do_POST", b"200 ", b"a"), ("do_POST", b"200 OK\r\n\r\n", ROLE)]


@pytest.mark.parametrize(("asked", "begin", "then"), DRIPS)
def test_a_server_that_does_not_end_is_given_up(monkeypatch, engine, asked, begin, then):
    """Neither a status line, letter by letter, nor a stream."""

    def drips(self):
        self.wfile.write(b"HTTP/1.1 " + begin)
        with suppress(OSError):
            while not self.wfile.write(then) or not time.sleep(0.02):
                pass

    monkeypatch.setattr(endpoint, "PATIENCE", 0.4)
    monkeypatch.setattr(endpoint, "BRIEF", 0.4)
    setattr(engine, asked, drips)
    assert "a request has not ended after" in engine.ask()


def test_one_that_is_late_takes_no_other_with_it(monkeypatch, engine):
    """The last prompt begins while the first is late, and is answered after that one was given up."""
    seconds, post = iter([9, 1, 2.5]), engine.do_POST
    engine.do_POST = lambda self: time.sleep(next(seconds)) or post(self)
    monkeypatch.setattr(endpoint, "PATIENCE", 3.0)
    assert engine.ask("--at-once", "2", prompts="late\n\nquick\n\nlast")["answers"] == 2


def test_what_can_be_asked_otherwise_is_measured(monkeypatch, engine):
    """Later, while a model is being loaded; without options that are refused; by the model's name at a router."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    engine.first = [(503, {}, '{"error": {"message": "Loading model"}}')] * 2 + [(422, {}, "stream_options: extra")]
    engine.router = True
    assert engine.ask()["speculation"]["rounds"] == 2
    assert ["stream_options" in body for body in engine.asked] == [True, True, True, False]


ADDRESSES = "file:///etc/hostname", "http://[", "nonsense", "http://127.0.0.1:99999", "http://a b/v1"


def test_what_is_asked_wrongly_is_one_sentence(engine):
    """Addresses where no engine is, and settings that no server can take."""
    for address in (*ADDRESSES, "http://127.0.0.1:9/v1"):
        assert "mend --endpoint" in engine.ask(address=address), address
    for option in ("--temperature=nan", "--temperature=-1", "--max-new-tokens=0", "--at-once=0", "--at-once=100000"):
        assert option.partition("=")[0] in engine.ask(option) and not engine.asked, option


def test_no_key_and_no_password_is_printed(monkeypatch, engine):
    """Also where the server repeats it, in an error or within a stream."""
    engine.key = "sk-right"
    told = {engine.ask("--api-key", "sk-secret"): "no key: Bearer …"}
    assert "--api-key" in engine.ask()
    for sign in "\r\n\tü\x7f":
        told[engine.ask("--api-key", f"sec{sign}ret")] = "a sign that none can have"
    told[engine.ask(address=engine.address.replace("//", "//me:secret@"))] = "--api-key"
    engine.key, engine.said = "sk-secret", {"hello": (200, {}, stream({"error": "out of memory for sk-secret"}))}
    monkeypatch.setenv(endpoint.KEY, "sk-secret")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which knows no server of this machine
    monkeypatch.delenv("no_proxy", raising=False)
    told[engine.ask()] = "out of memory for …"
    assert engine.ask(prompts="again")["answers"] == 1
    for said, part in told.items():
        assert "secret" not in said and part in said


def test_one_of_several_models_is_asked_for(engine):
    engine.models = json.dumps({"data": [{"id": "embeds"}, {"id": "chats"}]})
    assert engine.ask()["model"] == engine.asked[-1]["model"] == "embeds"
    assert engine.ask("--model", "chats")["model"] == engine.asked[-1]["model"] == "chats"
    assert "embeds, chats" in engine.ask("--model", "chat")


def test_after_an_interrupt_nothing_is_asked_or_awaited_and_what_came_is_told(monkeypatch, engine):
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
    found = endpoint.ask_all(engine.address, [Prompt(i, "all", i) for i in "abcdefgh"], 3, 0.0, interrupted)
    go_on.set()
    assert found["answers"] == 1 and "1 of 8" in found["problems"][0] and asked == ["a", "b"] and not waited
