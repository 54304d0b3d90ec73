"""The loops compute what PyTorch's operations do. That each row is computed by itself: ci/test_same_bits."""

import math

import pytest
import torch
from torch.nn.functional import rms_norm, silu

from specdec_lab.models import loops
from specdec_lab.models.attention import Fused, Looped
from specdec_lab.models.tree import Tree, mask_of, positions

pytestmark = pytest.mark.skipif(not loops.HERE, reason="numba is not here")
DTYPES = torch.float32, torch.bfloat16
TREE = Tree((-1, -1, 0, 1))


def rows(*shape: int, dtype=torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def near(dtype) -> dict:
    """A bfloat16 number has eight bits: two ways to round are one of 256 apart."""
    return {"atol": 1e-5, "rtol": 1e-5} if dtype == torch.float32 else {"atol": 1e-6, "rtol": 2**-7}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_norm_of_a_sum(dtype, adds, weighted):
    x, weight, y = rows(1, 5, 96), rows(96, seed=1) if weighted else None, rows(1, 5, 96, dtype=dtype, seed=2)
    total = x + y if adds else x.clone()
    wanted = rms_norm(total, (96,), weight, 1e-5).to(dtype)
    assert torch.allclose(loops.add_normed(x, y if adds else None, weight, 1e-5, dtype), wanted, **near(dtype))
    assert torch.equal(x, total)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_gate(dtype):
    given = 4 * rows(2, 3, 128, dtype=dtype)
    given[0, 0, :3] = torch.tensor([-300.0, 300.0, 0.0])  # where exp leaves the numbers that there are
    gate, up = given.float().chunk(2, -1)
    assert torch.allclose(loops.gated(given), (silu(gate) * up).to(dtype), **near(dtype))


def test_halves_are_rounded_to_the_nearest_of_two_the_even_one():
    numbers = torch.tensor([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-8 + 2**-20, 0.0, math.pi, -1e30, 1e-30])
    # Ones stay ones when they are normed, but for the last bit on some processors; one of the neighbours is a half then.
    numbers = torch.cat([numbers, *(numbers.nextafter(torch.tensor(end)) for end in (-math.inf, math.inf))])
    exact, short = (
        loops.add_normed(torch.ones(1, 1, len(numbers)), None, numbers, 0.0, dtype)[0, 0]
        for dtype in (torch.float32, torch.bfloat16)
    )
    assert (exact[:, None] == numbers[:4]).any(0).all() and torch.equal(short, exact.bfloat16())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trees", [(), [(13, TREE), None]])
def test_attention(dtype, trees):
    """Two texts of which one may hold a tree, three heads on each key, two layers: by loops and by products."""
    layers, texts, shared, size, dim, k = 2, 2, 2, 64, 16, 4
    angles = rows(size, 1, dim // 2)
    turns, lengths, found = torch.polar(torch.ones_like(angles), angles), [13, 20], []
    slots = torch.tensor(lengths)[:, None] + torch.arange(k)
    for looped in (True, False):
        kv = rows(layers, 2, 3, shared, size, dim)  # room for a third text
        if looped:
            attend = Looped(kv, turns, 3 * shared, slots, trees, lengths, None)
        else:
            mask, places = mask_of(slots, 24, trees, lengths, kv.dtype), positions(slots, trees, lengths)
            attend = Fused(kv[:, :, :texts], turns[places], 3 * shared, slots, None, mask)
        seen = [attend(i, rows(texts, k, 5 * shared * dim, dtype=dtype, seed=i)) for i in range(layers)]
        found.append((torch.stack(seen), kv))
    for one, other in zip(*found):
        assert torch.allclose(one, other, **(near(dtype) | {"atol": 1e-5 if dtype == torch.float32 else 1e-2}))


def test_nothing_finite_stays_so():
    """A damaged model's numbers must be seen at the end of a pass."""
    for bad in (math.nan, math.inf):
        x = rows(1, 2, 64)
        x[0, 0, 5] = bad
        normed = loops.add_normed(x, None, None, 1e-5, torch.bfloat16)
        assert not normed[0, 0].isfinite().all() and normed[0, 1].isfinite().all()
        assert not loops.gated(x.bfloat16())[0, 0].isfinite().all()
