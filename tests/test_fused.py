"""The loops of `fused` compute what PyTorch's operations do, and each row by itself."""

import math

import pytest
import torch
from torch.nn.functional import rms_norm, silu

from specdec_lab.models import fused

pytestmark = pytest.mark.skipif(not fused.HERE, reason="numba is not here")
DTYPES = torch.float32, torch.bfloat16


def rows(*shape: int, dtype=torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def near(dtype) -> dict:
    """A bfloat16 number has eight bits: two ways to round are one of 256 apart."""
    return {"atol": 1e-5, "rtol": 1e-5} if dtype == torch.float32 else {"atol": 1e-6, "rtol": 2**-7}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of_y", [None, *DTYPES])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_norm_of_a_sum(dtype, of_y, weighted):
    x, weight, y = rows(1, 5, 96), rows(96, seed=1) if weighted else None, of_y and rows(1, 5, 96, dtype=of_y, seed=2)
    total = x if y is None else x + y
    wanted = rms_norm(total, (96,), weight, 1e-5).to(dtype)
    before = x.clone()
    assert torch.allclose(fused.add_normed(x, y, weight, 1e-5, dtype), wanted, **near(dtype))
    assert torch.equal(x, total) and (y is None or not torch.equal(x, before))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_gate(dtype):
    given = 4 * rows(2, 3, 128, dtype=dtype)
    given[0, 0, :3] = torch.tensor([-300.0, 300.0, 0.0])  # where exp leaves the numbers that there are
    gate, up = given.float().chunk(2, -1)
    assert torch.allclose(fused.gated(given), (silu(gate) * up).to(dtype), **near(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_halves_are_rounded_to_the_nearest_of_two_the_even_one(dtype):
    x = torch.tensor([[1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-8 + 2**-20, 0.0, math.pi, -1e30, 1e-30]])
    given = torch.cat([torch.full_like(x, 60.0), x / 60], -1)  # silu(60) is 60
    got, wanted = fused.gated(given.to(dtype)), (60 * given.to(dtype).float()[:, 8:]).to(dtype)
    assert torch.equal(got, wanted)


def test_nothing_finite_stays_so():
    """A damaged model's numbers must be seen at the end of a pass."""
    for bad in (math.nan, math.inf):
        x = rows(1, 2, 64)
        x[0, 0, 5] = bad
        normed = fused.add_normed(x, None, None, 1e-5, torch.bfloat16)
        assert not normed[0, 0].isfinite().all() and normed[0, 1].isfinite().all()
        assert not fused.gated(x.bfloat16())[0, 0].isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_row_by_itself(dtype):
    x, y, weight, gates = (
        rows(1, 7, 96),
        rows(1, 7, 96, dtype=dtype, seed=1),
        rows(96, seed=2),
        rows(1, 7, 128, dtype=dtype),
    )
    whole = fused.add_normed(x.clone(), y, weight, 1e-5, dtype), fused.gated(gates)
    for i in range(7):
        part = slice(i, i + 1)
        alone = fused.add_normed(x[:, part].clone(), y[:, part], weight, 1e-5, dtype), fused.gated(gates[:, part])
        assert all(torch.equal(a[0], w[0, part]) for a, w in zip(alone, whole))
