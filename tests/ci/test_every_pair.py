"""Exactness on the real target: what tests/test_exact_pair.py has of few drafters, of all; other formats, and the caches."""

import pytest

from specdec_lab.choices import TRAINED, WITHOUT_WEIGHTS
from specdec_lab.engine.verify import verify
from specdec_lab.lab import load


@pytest.mark.parametrize(("dtype", "first"), [("bfloat16", 13), ("int4", 52)])
def test_greedy_output_in_fewer_bits_is_plain_output(lab, pair, dtype, first):
    """Which is often not that of float32."""
    if lab.target.device.type != "cpu":
        pytest.skip("a GPU has its near-ties")
    pair.check_greedy(load(dtype=dtype, say=lambda line: None), [*WITHOUT_WEIGHTS, *TRAINED], first)


@pytest.mark.parametrize("name", ["relative", *(name for name in TRAINED if name != "model")])
def test_sampled_pairs_of_the_others_follow_the_target(pair, name):
    assert pair.p_value(name, verify) > 1e-4
