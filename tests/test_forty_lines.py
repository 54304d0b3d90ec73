"""The loop in forty lines writes what the engine writes."""

import pytest
import torch
from tiny import TinyModel

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.forty_lines import speculate
from specdec_lab.engine.sampling import Sampler, Uniforms

TARGET, DRAFT, PROMPT, NEW = TinyModel(6, seed=1), TinyModel(6, seed=2), [0, 3], 24


def rows(model):
    return lambda text: torch.stack([model.logits(text[: i + 1]) for i in range(len(text))])


@pytest.mark.parametrize("gamma", [1, 3, 5])
@pytest.mark.parametrize("sampler", [Sampler(), Sampler(1.0), Sampler(0.7, top_k=4)], ids=["greedy", "drawn", "shaped"])
def test_it_writes_what_the_engine_writes_with_the_same_random_numbers(gamma, sampler):
    for seed in range(5):
        how = {"sampler": sampler, "uniforms": Uniforms(seed)}
        found = speculate(rows(TARGET), rows(DRAFT), PROMPT, gamma, NEW, **how)
        rounds = speculative(TARGET, ModelDrafter(DRAFT), PROMPT, gamma=gamma, stops=Stops(NEW), **how)
        assert found == PROMPT + [t for r in rounds for t in r.tokens]
    if sampler.greedy:
        assert found == PROMPT + [t for r in plain(TARGET, PROMPT, stops=Stops(NEW)) for t in r.tokens]
