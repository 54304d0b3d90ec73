"""The designs that deeper_11_designs compares: what each place may know, and what they begin as."""

import pytest
import torch
from designs import PLACES, BlockOfMasks, LastRow, LayerForEach

from specdec_lab import load
from specdec_lab.drafters.eagle import EagleNet

KNOWN = {
    EagleNet: lambda k: 1 + k,
    LastRow: lambda k: 1 + k,
    LayerForEach: lambda k: 1 + k,
    BlockOfMasks: lambda k: 1,
}


@pytest.fixture(scope="module")
def hf(writer):
    hf = load(writer, device="cpu", backend="reference").target.hf
    return hf.requires_grad_(False)


def net_of(kind, hf):
    torch.manual_seed(0)
    net = kind(hf, torch.arange(hf.config.vocab_size))
    net.unroll = PLACES
    for p in net.parameters():  # away from where it begins, where some parts are still zero
        p.data += 0.05 * torch.randn(p.shape)
    return net.eval()


def inputs(net, hf, n=9):
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(0, hf.config.vocab_size, (2, n), generator=generator)
    return tokens, torch.randn(2, n, (1 + len(net.depths)) * hf.config.hidden_size, generator=generator)


@pytest.mark.parametrize("kind", KNOWN)
@torch.no_grad()
def test_a_place_knows_what_it_may_know_and_no_more(kind, hf):
    """Draft k behind position i: rows up to i, and tokens up to i + 1 + k, which a block does not have: up to i + 1."""
    net = net_of(kind, hf)
    tokens, rows = inputs(net, hf)
    before, size = net.predict(tokens, rows), hf.config.hidden_size
    assert len(before) == PLACES
    shifts = [k if issubclass(kind, EagleNet) and kind is not BlockOfMasks else 0 for k in range(PLACES)]
    for k, (guess, true) in enumerate(before):
        assert guess.shape == true.shape == (2, 8 - k + shifts[k], hf.config.hidden_size)
        assert torch.equal(true, rows[:, 1 + k - shifts[k] :, :size])

    def changed(*given):
        """For each step, at which positions its guess has become another one."""
        steps = zip(net.predict(*given), before, shifts)
        return [((new - old).abs().amax((0, 2)) > 1e-5)[shift:] for (new, _), (old, _), shift in steps]

    for at in range(1, 9):
        others = tokens.clone()
        others[:, at] = (others[:, at] + 1) % hf.config.vocab_size
        for k, moved in enumerate(changed(others, rows)):
            first = max(0, at - KNOWN[kind](k))  # the first position that knows this token
            assert not moved[:first].any(), "a token of the future"
            assert first >= len(moved) or moved[first]
        for part in range(0, rows.shape[-1], size):
            others = rows.clone()
            others[:, at, part : part + size] += torch.arange(size) % 3
            for moved in changed(tokens, others):
                assert not moved[:at].any(), "a row of the future"
                assert at >= len(moved) or moved[at]
