"""Exactness on the real target: what tests/test_exact_pair.py has of few drafters, of all; other formats, and the caches."""

import copy

import pytest
import torch
from checks import check_caches
from real_pair import BEGINNING, PROMPTS

from specdec_lab.choices import TRAINED, WITHOUT_WEIGHTS
from specdec_lab.engine.decode import Keep, Stops, speculative
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


@pytest.mark.parametrize("name", ["dial", "relative", *TRAINED, "eagle-tree"])
def test_rounds_with_a_memory_are_those_without(lab, pair, name):
    """Text, drafts, and every number that they were decided with, to the bit on a CPU: also where nothing was new."""
    near = 0 if lab.target.device.type == "cpu" else 1e-3

    def rounds(target, draft, request):
        given = {"gamma": 3, "sampler": pair.sampler, "stops": Stops(6), "uniforms": Uniforms(11, request)}
        return list(speculative(target, pair.drafter(name, draft), text, keep=Keep(rows=True), **given))

    text = lab.encode(**BEGINNING)
    for request in (0, 1):
        without = rounds(lab.target, pair.relative, request)
        for other in (rounds(*pair.with_memory, request) for _ in range(2)):
            assert [r.tokens for r in other] == [r.tokens for r in without]
            for a, b in zip(other, without):
                assert torch.allclose(a.p_rows, b.p_rows, 0, near) and torch.allclose(a.q_rows, b.q_rows, 0, near)
                assert near or a.drafted == b.drafted


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
        kinds |= set(check_caches(lab.target, pair.drafter(name, sibling), draft, ids, sampler=sampler, **settings))
    print(f"\n{name}: {sorted(kinds)}")
    wanted = {f"corrected at {i} of 3" for i in range(3)} | {"bonus at 3 of 3"}
    if name != "lookup":
        assert kinds >= (wanted if full else {"bonus at 3 of 3"}), kinds
        assert any(kind.startswith("corrected") for kind in kinds), kinds
