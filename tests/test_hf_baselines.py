"""What `generate` of transformers is asked for, and which of its time counts: on a stand-in that has a clock."""

from types import SimpleNamespace

import pytest
import torch

from specdec_lab.measure import hf_baselines as module
from specdec_lab.measure.hf_baselines import Generated, generate, hf_arms

PROMPT = [7, 3, 5]


class StandIn:
    """Writes the tokens 10, 11, …: so many a round, each of which takes a second."""

    device = torch.device("cpu")

    def __init__(self, now: list[float], *rounds: int):
        self.now, self.rounds, self.asked, self.hooks, self.drawn = now, rounds, [], [], []

    def register_forward_hook(self, hook):
        self.hooks.append(hook)
        return SimpleNamespace(remove=lambda: self.hooks.remove(hook))

    def generate(self, text, *, attention_mask, generation_config, stopping_criteria, **options):
        assert text.tolist() == [PROMPT] and attention_mask.tolist() == [[1, 1, 1]]
        self.asked.append((generation_config, options))
        self.drawn.append(float(torch.rand(1)))
        for number in self.rounds:
            self.now[0] += 1.0
            for hook in self.hooks:
                hook(self, (), None)
            text = torch.cat([text, 10 + torch.arange(number)[None]], 1)
            assert not stopping_criteria(text, None).any()
        return text


@pytest.fixture
def our_lab(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def synchronize():
        now[0] += 0.5  # the device is done later than the call

    made = SimpleNamespace(eos={9, 4}, target=SimpleNamespace(synchronize=synchronize, hf=None))
    made.writes = lambda *rounds: setattr(made.target, "hf", StandIn(now, *rounds)) or made.target.hf
    return made


def test_each_call_of_the_target_is_a_pass(our_lab):
    hf = our_lab.writes(2, 1, 3)
    text = generate(our_lab, PROMPT, {})
    assert (text.tokens, text.target_passes) == ([10, 11, 10, 10, 11, 12], 3)
    assert hf.hooks == []
    # Four tokens came after the first round, in 2 s and 0.5 s more until the device was done; six take 6/4 of that.
    assert text.seconds == 2.5 * 6 / 4
    our_lab.writes(2)
    assert generate(our_lab, PROMPT, {}).seconds == 0.0  # one round: no time beyond the prefill


def test_a_peer_that_fails_leaves_nothing_at_the_target(our_lab):
    hf = our_lab.writes(1)
    with pytest.raises(TypeError):
        generate(our_lab, PROMPT, {"stopping_criteria": []})
    assert hf.hooks == []


def test_a_peer_decodes_without_the_settings_of_the_model(our_lab):
    """`generate` fills what is not set from the model's own settings, such as a penalty, which ours does not have."""
    hf = our_lab.writes(1)
    hf.generation_config, seen = "the model's own", []
    generate_here = hf.generate
    hf.generate = lambda *a, **k: seen.append(hf.generation_config.repetition_penalty) or generate_here(*a, **k)
    generate(our_lab, PROMPT, {})
    assert seen in ([None], [1.0]) and hf.generation_config == "the model's own"


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_a_peer_draws_as_we_do(our_lab, temperature):
    """From all tokens, and not from the fifty most likely, which is the default of transformers."""
    hf = our_lab.writes(1)
    generate(our_lab, PROMPT, {"beside": "it"}, temperature=temperature, max_new_tokens=20)
    ((config, options),) = hf.asked
    assert (config.max_new_tokens, config.eos_token_id, config.pad_token_id) == (20, [4, 9], 4)
    assert options == {"beside": "it"}
    assert config.do_sample is (temperature > 0)
    if temperature:
        assert (config.temperature, config.top_k) == (temperature, 0)


def test_the_same_seed_and_request_draw_the_same_text(our_lab):
    hf = our_lab.writes(1)
    for seed, request in ((3, 4), (3, 4), (3, 5), (4, 4)):
        generate(our_lab, PROMPT, {}, temperature=1.0, seed=seed, request=request)
    assert hf.drawn[0] == hf.drawn[1] and len(set(hf.drawn)) >= 2
    assert hf.drawn[2] != hf.drawn[0] != hf.drawn[3]


def test_a_peer_that_transformers_cannot_run(our_lab, monkeypatch):
    def generate(lab, ids, options, **settings):
        if "assistant_model" in options:
            raise IndexError("heads of different sizes\nand more")
        return Generated([1], 1.0, 1)

    monkeypatch.setattr(module, "generate", generate)
    our_lab.plain_draft = object
    said = []
    assert list(hf_arms(our_lab, 5, said.append)) == ["hf-plain", "hf-lookup"]
    (line,) = said
    assert line.startswith("hf-assisted is left out") and "IndexError: heads of different sizes)" in line


def test_each_peer_drafts_in_its_own_way(our_lab, monkeypatch):
    monkeypatch.setattr(module, "runs", lambda *given: True)
    draft = object()
    our_lab.plain_draft = lambda: draft
    hf = our_lab.writes(1)
    for arm in hf_arms(our_lab, 5).values():
        arm(PROMPT, max_new_tokens=3)
    assert [options for _, options in hf.asked] == [{}, {"assistant_model": draft}, {"prompt_lookup_num_tokens": 5}]
