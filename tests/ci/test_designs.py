"""The designs that deeper_11_designs compares: what each place may know."""

import pytest
import torch
from designs import PLACES, LastRow

from specdec_lab import load
from specdec_lab.drafters.eagle import EagleNet


@pytest.mark.parametrize("kind", [EagleNet, LastRow])
@torch.no_grad()
def test_a_place_knows_what_it_may_know_and_no_more(kind, writer):
    """Draft k behind position i: rows up to i, and tokens up to i + 1 + k."""
    hf = load(writer, device="cpu", backend="reference").target.hf.requires_grad_(False)
    torch.manual_seed(0)
    net, size = kind(hf, torch.arange(hf.config.vocab_size)), hf.config.hidden_size
    net.unroll = PLACES
    for p in net.parameters():  # away from where it begins, where some parts are still zero
        p.data += 0.05 * torch.randn(p.shape)
    tokens = torch.randint(0, hf.config.vocab_size, (2, 9))
    rows = torch.randn(2, 9, (1 + len(net.depths)) * size)
    before = net.eval().predict(tokens, rows)
    for guess, true in before:
        assert len(before) == PLACES and guess.shape == true.shape
        assert torch.equal(true, rows[:, 1:, :size])

    def changed(*given):
        """For each step, at which positions its guess has become another one."""
        steps = enumerate(zip(net.predict(*given), before))
        return [((new - old).abs().amax((0, 2)) > 1e-5)[k:] for k, ((new, _), (old, _)) in steps]

    for at in range(1, 9):
        others = tokens.clone()
        others[:, at] = (others[:, at] + 1) % hf.config.vocab_size
        for k, moved in enumerate(changed(others, rows)):
            first = max(0, at - 1 - k)  # the first position that knows this token
            assert not moved[:first].any(), "a token of the future"
            assert first >= len(moved) or moved[first]
        for part in range(0, rows.shape[-1], size):
            others = rows.clone()
            others[:, at, part : part + size] += torch.arange(size) % 3
            for moved in changed(tokens, others):
                assert not moved[:at].any(), "a row of the future"
                assert at >= len(moved) or moved[at]
