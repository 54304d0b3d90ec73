"""Exactness on the real target: what tests/test_exact_pair.py has of few drafters, of all; other formats, and the caches."""

import copy

import pytest
import torch
from checks import check_caches
from real_pair import PROMPTS

from specdec_lab.choices import TRAINED, WITHOUT_WEIGHTS
from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.decode import Stops
from specdec_lab.engine.sampling import GREEDY, Sampler, Uniforms
from specdec_lab.engine.verify import verify
from specdec_lab.lab import load
from specdec_lab.models.reference import ReferenceModel


@pytest.fixture(scope="session")
def sibling(lab) -> ReferenceModel:
    """A draft model that is often right: the target with some noise on its weights."""
    hf, generator = copy.deepcopy(lab.target.hf), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for w in hf.model.layers.parameters():
            if w.dim() > 1:
                w += 0.1 * w.std() * torch.randn(w.shape, generator=generator).to(w.device)
    return ReferenceModel(hf, "a noisy sibling of the target")


@pytest.mark.parametrize(("dtype", "first"), [("bfloat16", 13), ("int4", 52)])
def test_greedy_output_in_fewer_bits_is_plain_output(lab, pair, dtype, first):
    """Which is often not that of float32."""
    if lab.target.device.type != "cpu":
        pytest.skip("a GPU has its near-ties")
    pair.check_greedy(load(dtype=dtype, say=lambda line: None), [*WITHOUT_WEIGHTS, *TRAINED], first)


@pytest.mark.parametrize("name", ["relative", *(name for name in TRAINED if name != "model")])
def test_sampled_pairs_of_the_others_follow_the_target(pair, name):
    assert pair.p_value(name, verify) > 1e-4


@pytest.mark.parametrize("name", ["lookup", "dial", "relative"])
def test_cached_rows_equal_uncached_rows(lab, pair, sibling, full, name):
    """After every round of a real text, greedy and sampled, for the target's cache and the draft's."""
    kinds, draft = set(), sibling if name == "relative" else None
    settings = {"gamma": 3, "uniforms": Uniforms(3), "stops": Stops(30 if full else 10, lab.eos), "tolerance": 1e-3}
    for prompt, sampler in [(PROMPTS[13 if full else 52], GREEDY), (PROMPTS[23], Sampler(1.0))]:
        ids = lab.encode(prompt, raw=not full)
        drafter = ModelDrafter(sibling) if draft else pair.drafter(name)
        kinds |= set(check_caches(lab.target, drafter, draft, ids, sampler=sampler, **settings))
    print(f"\n{name}: {sorted(kinds)}")
    wanted = {f"corrected at {i} of 3" for i in range(3)} | {"bonus at 3 of 3"}
    if name != "lookup":
        assert kinds >= (wanted if full else {"bonus at 3 of 3"}), kinds
        assert any(kind.startswith("corrected") for kind in kinds), kinds
