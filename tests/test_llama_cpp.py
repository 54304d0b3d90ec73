"""What llama-server is asked for, what counts of its answers, and that it ends: on a stand-in that is a program."""

import io
import sys
from types import SimpleNamespace

import psutil
import pytest

from specdec_lab.errors import LabError
from specdec_lab.measure import llama_cpp
from specdec_lab.measure.bench import Run, identical
from specdec_lab.measure.hf_baselines import Generated
from specdec_lab.measure.llama_cpp import ask, llama_arms
from specdec_lab.models.embedded import GGUF, NAME, cache_dir

SERVER = """#!{python}
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
if "{fails}" and "{fails}" in sys.argv:
    sys.exit("error: unknown argument: {fails}")
class Answers(BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self): self.reply({{}})
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        n, drafts = asked["n_predict"], "--spec-type" in sys.argv
        timings = {{"predicted_n": n, "predicted_ms": 1000.0 * (n - 1)}} | ({{"draft_n_accepted": n // 2}} if drafts else {{}})
        self.reply({{"tokens": [asked["top_k"] if asked["temperature"] == 0 else 9] * n, "timings": timings, "asked": asked}})
    def reply(self, what):
        self.send_response(200); self.end_headers(); self.wfile.write(json.dumps(what).encode())
HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Answers).serve_forever()
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A function that makes a llama-server, which refuses an argument if one is given."""
    monkeypatch.setattr(llama_cpp, "gguf", lambda say: tmp_path / "target.gguf")
    monkeypatch.setattr(llama_cpp, "write_draft", lambda draft, target, path: path)

    def make(fails: str = "") -> str:
        path = tmp_path / "llama-server"
        path.write_text(SERVER.format(python=sys.executable, fails=fails))
        path.chmod(0o755)
        return str(path)

    return make


LAB = SimpleNamespace(target=SimpleNamespace(name=NAME), plain_draft=object)


def test_each_way_has_a_server_that_ends(program):
    before = len(psutil.Process().children())
    with llama_arms(LAB, program()) as arms:
        assert list(arms) == ["llama-plain", "llama-ngram", "llama-draft"]
        plain, drafts = arms["llama-plain"]([5, 6], max_new_tokens=4), arms["llama-draft"]([5, 6], max_new_tokens=4)
        assert plain == Generated([1] * 4, 4.0, 4)  # 3 seconds for the tokens behind the first one
        assert drafts == Generated([1] * 4, 4.0, 2)
        assert arms["llama-ngram"]([5], max_new_tokens=1, temperature=1.0) == Generated([9], 0.0, 1)
    assert len(psutil.Process().children()) == before


def test_a_way_that_a_server_does_not_know(program):
    said = []
    with llama_arms(LAB, program("--spec-draft-n-max"), said.append) as arms:
        assert list(arms) == ["llama-plain", "llama-ngram"]
    assert len(said) == 1 and "llama-draft is left out" in said[0] and "unknown argument" in said[0]


def test_without_llama_cpp_nothing_is_measured(program, monkeypatch):
    monkeypatch.setenv("PATH", "")
    said = []
    with llama_arms(LAB, None, said.append) as arms:
        assert arms == {}
    assert "there is no llama-server here" in said[0]
    with pytest.raises(LabError, match="There is no program /nowhere"), llama_arms(LAB, "/nowhere"):
        pass
    other = SimpleNamespace(target=SimpleNamespace(name="another"))
    with llama_arms(other, program(), said.append) as arms:
        assert arms == {} and "own target only" in said[-1]


@pytest.mark.parametrize(
    "answer", ["no JSON", "[]", "{}", '{"tokens": [1], "timings": 5}', '{"tokens": 1, "timings": {}}']
)
def test_an_answer_of_another_kind_of_server_is_said(monkeypatch, answer):
    monkeypatch.setattr(llama_cpp, "fetch", lambda *_, **__: io.BytesIO(answer.encode()))
    with pytest.raises(LabError, match="http://here .* like a llama-server"):
        ask("http://here", [1])
    monkeypatch.undo()
    with pytest.raises(LabError, match="mend --llama-server"):
        ask("http://127.0.0.1:9", [1])


def test_texts_are_compared_with_their_own_plain_ones():
    def run(arm, *tokens, made=lambda tokens: Generated(tokens, 1.0, 1)):
        return Run(arm, None, {str(i): [made([token])] for i, token in enumerate(tokens)})

    def ours(arm, *tokens):
        return run(arm, *tokens, made=lambda tokens: SimpleNamespace(tokens=tokens))

    peers = run("llama-plain", 7, 8), run("llama-draft", 7, 8), run("llama-server", 1, 2)
    found = identical([ours("plain", 1, 2), ours("eagle", 1, 3), *peers])
    assert found == {"eagle": 1, "llama-draft": 2, "llama-server": 0}


@pytest.mark.skipif(not (cache_dir() / GGUF).is_file(), reason="the GGUF file is fetched by  specdec-lab bench --peers")
def test_the_draft_model_in_a_file_is_the_draft_model(lab, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

    from specdec_lab.models.export import write_draft

    path = write_draft(lab.plain_draft(), cache_dir() / GGUF, tmp_path / "draft.gguf")
    read = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name, dtype=torch.float32).eval()
    ids = torch.tensor([lab.encode("Tell me about the sea.")])
    with torch.no_grad():
        p, q = (model(ids).logits[0].softmax(-1) for model in (lab.plain_draft(), read))
    assert (p - q).abs().sum(-1).mean() / 2 < 0.03  # eight bits
