"""`generate` of transformers on our prompts: what it is asked for, and which of its time counts; mostly on stand-ins."""

import json
from types import SimpleNamespace

import compare
import torch
from hf_generate import generate
from models_on_disk import save
from stand_ins import written as file_with

PROMPT = [7, 3, 5]


class StandIn:
    """Writes the tokens 10, 11, …: so many a round, each of which takes a second."""

    device = torch.device("cpu")

    def __init__(self, now: list[float], *rounds: int):
        self.now, self.rounds, self.asked, self.hooks = now, rounds, [], []
        self.generation_config = SimpleNamespace(repetition_penalty=1.3)

    def register_forward_hook(self, hook):
        self.hooks.append(hook)
        return SimpleNamespace(remove=lambda: self.hooks.remove(hook))

    def generate(self, text, *, attention_mask, generation_config, stopping_criteria, **options):
        assert text.tolist() == [PROMPT] and attention_mask.tolist() == [[1, 1, 1]]
        self.asked.append((generation_config, options))
        assert self.generation_config.repetition_penalty in (None, 1.0)  # else it would be filled from the model's own
        for number in self.rounds:
            self.now[0] += 1.0
            for hook in self.hooks:
                hook(self, (), None)
            text = torch.cat([text, 10 + torch.arange(number)[None]], 1)
            assert not stopping_criteria(text, None).any()
        return text


def test_each_call_of_the_target_is_a_pass_and_a_peer_draws_as_we_do(monkeypatch):
    """From all tokens, and not from the fifty most likely, which is the default of transformers."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def synchronize():
        now[0] += 0.5  # the device is done later than the call

    hf = StandIn(now, 2, 1, 3)
    lab = SimpleNamespace(eos={9, 4}, target=SimpleNamespace(synchronize=synchronize, hf=hf))
    text = generate(lab, PROMPT, {"beside": "it"}, temperature=0.5, max_new_tokens=20)
    assert (text.tokens, text.target_passes) == ([10, 11, 10, 10, 11, 12], 3)
    # Four tokens came after the first round, in 2 s and 0.5 s more until the device was done; six take 6/4 of that.
    assert text.seconds == 2.5 * 6 / 4 and hf.hooks == []
    ((config, options),) = hf.asked
    assert (config.max_new_tokens, config.eos_token_id, config.pad_token_id) == (20, [4, 9], 4)
    assert (config.do_sample, config.temperature, config.top_k) == (True, 0.5, 0) and options == {"beside": "it"}


def test_peers_decode_the_same_prompts(tmp_path, capsys, monkeypatch):
    """Greedy, transformers' texts are ours."""
    monkeypatch.setenv("PATH", "")  # and no llama.cpp
    target, draft = (save(tmp_path / name, seed=i) for i, name in enumerate(("target", "draft")))
    texts = ["the cat sat on the mat", "a cat", "on a mat the cat", "the mat . the cat", "sat on", "the the the"]
    lines = [json.dumps({"id": i, "kind": "x", "prompt": text}) for i, text in enumerate(texts)]
    prompts = file_with(tmp_path, "\n".join(lines))
    argv = ["--target", target, "--draft", draft, "--device", "cpu", "--drafters", "lookup", "--prompts", prompts]
    argv += ["--limit", "9", "--max-new-tokens", "12"]
    compare.main([*argv, "--json"])
    arms = {r["arm"]: r for r in json.loads(capsys.readouterr().out)["rows"]}
    assert list(arms) == ["plain", "lookup", "hf-plain", "hf-assisted", "hf-lookup"]
    passes = {name: r["tokens_per_pass"] for name, r in arms.items()}
    assert arms["plain"]["ratio_to_plain"] == passes["hf-plain"] == 1 < min(passes["hf-assisted"], passes["hf-lookup"])
    assert all(r["tokens_per_second"] > 0 for r in arms.values())
    assert all(r["as_own_plain"] == 6 for r in arms.values())
