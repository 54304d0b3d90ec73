"""The model in the page, on a tiny target: its graphs, its rule and its drafters do what the engine does."""

import json
import lzma
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from driving import served
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from specdec_lab.drafters import trained
from specdec_lab.drafters.copying import LookupDrafter
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.models import embedded, linear
from specdec_lab.models.reference import ReferenceModel

SITE = Path(__file__).parents[3] / "tools" / "site"
PROMPTS = ("Why is the sky blue?", "Repeat: a cat, a cat, a cat, a dog.")
TOKENS, GAMMA = 24, 3
PAGE = """<!doctype html><script type="module">
  const heard = [];
  window.begun = () => {
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => heard.push(data);
    return worker;
  };
  window.worker = begun();
  window.ask = async (message, until) => {
    heard.length = 0;
    worker.postMessage(message);
    while (!heard.some((said) => said[until] || said.failed)) await new Promise((rest) => setTimeout(rest, 20));
    return heard.slice();
  };
  window.rounds = await import("./rounds.js");
</script>"""


@pytest.fixture(scope="module")
def live():
    pytest.importorskip("onnx")
    sys.path.insert(0, str(SITE))
    from live import model

    yield model
    sys.path.remove(str(SITE))


@pytest.fixture(scope="module")
def pair():
    """A random target whose texts are no loops, and nets of its shape: (target, {name: net})."""
    torch.manual_seed(3)
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 5, "num_attention_heads": 4}
    hf = LlamaForCausalLM(
        LlamaConfig(vocab_size=49152, num_key_value_heads=2, tie_word_embeddings=True, **shape)
    ).eval()
    for weight in hf.parameters():
        weight.data.mul_(4 if weight.dim() > 1 else 1)
    hf.generation_config.eos_token_id = 2
    target = ReferenceModel(hf, "tiny")
    nets = {name: trained.KINDS[name].net(hf, torch.arange(4000)).eval() for name in ("eagle", "model")}
    for net in nets.values():
        for weight in net.parameters():
            weight.data.add_(torch.randn(weight.shape), alpha=0.02 * float(weight.dim() > 1))
    return target, nets


@pytest.fixture(scope="module")
def page(browser, live, pair, tmp_path_factory):
    """A page with the worker in it, told to load."""
    target, nets = pair
    folder = tmp_path_factory.mktemp("live")
    about = dict(zip(("hidden_size", "layers", "vocab_size"), trained.shape(target))) | {"target": "tiny"}
    for name, net in nets.items():
        trained.save_net(net, folder / f"{name}.safetensors", about)
    tokenizer = embedded.target_dir()
    plan = live.write_model(folder, target.hf, AutoTokenizer.from_pretrained(tokenizer), None, folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((tokenizer / name).read_bytes())
    live.scripts(folder)
    try:
        live.runtime(folder)
    except LabError as e:
        pytest.skip(str(e))
    live.write_plan(folder, plan)
    with loaded(browser, folder) as tab:
        tab.folder = folder
        yield tab


@contextmanager
def loaded(browser, folder: Path):
    """A page with the worker of this folder in it, which has loaded its model."""
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    with served(folder) as host:
        tab = browser.new_page()
        tab.goto(f"{host}/index.html")
        tab.wait_for_function("window.rounds")
        said = tab.evaluate("ask({ load: true }, 'ready')")
        assert "ready" in said[-1], said[-1]
        yield tab
        tab.close()


WRONG = {  # what comes with status 200 in place of a file, by what the reader is told
    "web page": lambda data: b"<!doctype html><title>Log in</title>",
    "0 of": lambda data: b"",
    "bytes came": lambda data: data[: len(data) // 2],
    "Another file": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
}


ANEW = "() => { worker.terminate(); worker = begun(); return ask({ load: true }, 'ready') }"


@pytest.mark.parametrize("plan", ["<!doctype html>", "{}", "null"])
def test_a_plan_of_another_kind_is_told(page, plan):
    page.route("**/plan.json", lambda route: route.fulfill(body=plan))
    said = page.evaluate(ANEW)[-1]
    page.unroute("**/plan.json")
    assert said["told"] and ("web page" if "<" in plan else "version") in said["failed"], said


@pytest.mark.parametrize("told", WRONG)
def test_a_file_that_is_another_is_told_and_not_kept(page, told):
    """It comes with status 200. Where the browser has kept a wrong one, the right one is fetched in its place."""
    name = "weights-00.bin"
    wrong = WRONG[told]((page.folder / name).read_bytes())
    page.evaluate("async () => { for (const key of await caches.keys()) await caches.delete(key) }")
    page.route(f"**/{name}", lambda route: route.fulfill(body=wrong))
    said = next(said for said in page.evaluate(ANEW) if "failed" in said)  # other files may come after it
    page.unroute(f"**/{name}")
    assert said["told"] and told in said["failed"], said
    assert not page.evaluate("async (name) => Boolean(await caches.match(name))", name)
    keep = "async ([name, body]) => (await caches.open((await caches.keys())[0])).put(name, new Response(body))"
    page.evaluate(keep, [name, wrong.decode("latin1")])
    assert "ready" in page.evaluate(ANEW)[-1]


def written(page, prompt: str, name: str, temperature: int = 0) -> list[dict]:
    asked = {"write": {"prompt": prompt, "names": [name], "gamma": GAMMA, "tokens": TOKENS, "temperature": temperature}}
    said = page.evaluate("([asked]) => ask(asked, 'done')", [asked])
    assert "done" in said[-1], said[-1]
    return said


def asked_with(prompt: str) -> list[int]:
    """The tokens of a prompt, as a chat has them."""
    tokenizer = AutoTokenizer.from_pretrained(embedded.target_dir())
    asked = [{"role": "user", "content": prompt}]
    return list(tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_dict=False))


def engine_rounds(page, pair, prompt: str, name: str) -> Trace:
    """The same by the engine, with the weights that the page has."""
    target, _ = pair
    ids, stops = asked_with(prompt), Stops(TOKENS, eos=frozenset({2}))
    if name == "plain":
        return Trace(ids.copy()).collect(plain(target, ids, stops=stops))
    drafter = LookupDrafter() if name == "lookup" else trained.load_drafter(name, target, page.folder)
    return Trace(ids.copy()).collect(speculative(target, drafter, ids, gamma=GAMMA, stops=stops))


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("name", ["plain", "lookup", "eagle", "model"])
def test_the_page_writes_what_the_engine_writes(page, pair, prompt, name, monkeypatch):
    monkeypatch.setattr(linear, "adds_up_eight_bits", lambda: False)
    said, trace = written(page, prompt, name), engine_rounds(page, pair, prompt, name)
    rounds = [message for message in said if "round" in message]
    assert [token for message in rounds for token in message["tokens"]] == trace.tokens
    for message, r in zip(rounds, trace.rounds, strict=True):
        drafted, emitted = message["round"]["drafted"], message["round"]["emitted"]
        assert [(d["id"], d["status"]) for d in drafted] == [(d.id, d.status) for d in r.drafted]
        assert (emitted and emitted["kind"]) == (r.emitted and r.emitted.kind)


def test_the_shipped_model_writes_the_engines_texts(browser, live, lab, full, tmp_path):
    if not full:
        pytest.skip("a site with the whole model, 130 MB, is made by pytest --full")
    live.write(tmp_path)
    with loaded(browser, tmp_path) as page:
        for prompt in PROMPTS:
            tokens = (
                Trace(asked_with(prompt)).collect(plain(lab.target, asked_with(prompt), stops=Stops(TOKENS))).tokens
            )
            for name in ("plain", "lookup", "eagle", "model"):
                rounds = [message for message in written(page, prompt, name) if "round" in message]
                assert [token for message in rounds for token in message["tokens"]] == tokens, (prompt, name)


def recorded(arm: str, temperature: str = "0"):
    """The rounds of the gallery's texts: (tokens of the prompt, rounds)."""
    found = json.loads(lzma.decompress((SITE / "rounds.json.xz").read_bytes()))
    for of in found["texts"].values():
        yield asked_with(of["prompt"]), of["temperatures"][temperature]["traces"][arm]["rounds"]


def test_rule_and_lookup_are_those_of_recorded_rounds(page):
    seen = 0
    for text, rounds in recorded("lookup-4"):
        for r in rounds:
            drafts = [d["id"] for d in r["drafted"]]
            assert page.evaluate("([text, n]) => rounds.lookup(text, n)", [text, len(drafts)]) == drafts or not drafts
            favourites = [d["p_top"][0]["id"] for d in r["drafted"]] + [r["after_top"][0]["id"]]
            kept = sum(d["status"] == "accepted" for d in r["drafted"])
            if not r["stop"]:
                assert page.evaluate("([drafts, all]) => rounds.accepted(drafts, all)", [drafts, favourites]) == kept
            text += drafts[:kept] + ([r["emitted"]["id"]] if r["emitted"] else [])
            seen += bool(drafts)
    assert seen > 20


@pytest.mark.parametrize("name", ["plain", "lookup", "eagle", "model"])
def test_drawn_text_keeps_what_its_numbers_say(page, name):
    rounds = [message["round"] for message in written(page, PROMPTS[1], name, temperature=1) if "round" in message]
    assert len(rounds) > 3 and (name == "plain") == (not any(r["drafted"] for r in rounds))
    for r in rounds:
        for d in r["drafted"]:
            assert 0 <= d["u"] < 1 and 0 < d["q"] <= 1 and -1e-6 <= d["overlap"] <= 1 + 1e-3
            if d["status"] == "accepted":
                assert d["u"] * d["q"] < d["p"]
            if d["status"] == "rejected":
                assert d["u"] * d["q"] >= d["p"] and r["emitted"]["kind"] == "corrected"
        if r["emitted"]:
            assert r["emitted"]["p"] > 0


@pytest.mark.parametrize("wrong", ["", "from p", "from q"])
def test_what_one_place_writes_follows_p(page, wrong):
    """Every draft and a fine grid of numbers; a replacement that is drawn from p, or from q, does not pass."""
    p, q, fine = [0.5, 0.3, 0.2], [0.7, 0.1, 0.2], 100
    came = page.evaluate(
        """([p, q, fine, wrong]) => {
          const came = [0, 0, 0], other = wrong === "from p" ? p : q;
          for (let x = 0; x < 3; x++)
            for (let i = 0; i < fine; i++)
              for (let j = 0; j < fine; j++) {
                const dice = () => (j + 0.5) / fine, u = (i + 0.5) / fine;
                const { kept, own } = rounds.verify([x], [p, p], [q], [u], dice);
                came[kept ? x : wrong ? rounds.drawn(other, dice()) : own] += q[x] / fine / fine;
              }
          return came;
        }""",
        [p, q, fine, wrong],
    )
    assert (max(abs(a - b) for a, b in zip(came, p)) < 0.01) == (not wrong), came
