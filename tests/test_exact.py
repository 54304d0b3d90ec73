"""Exactness on models small enough to enumerate. The real pair is in `test_exact_pair.py`."""

import pytest
import torch
from checks import check_caches_often, check_enumeration, check_stops_at_eos, check_strict_at_zero, copies, drawn_from
from tiny import TinyModel

from specdec_lab.drafters import DialDrafter, LookupDrafter, ModelDrafter
from specdec_lab.engine.decode import Stops, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.verify import accepts, residual


@pytest.mark.parametrize(
    ("vocab_size", "gamma", "rounds"),
    [(6, 1, 2), (6, 2, 1), (5, 3, 1), (4, 2, 2), (3, 1, 3), (3, 2, 2), (2, 3, 2)],
)
def test_several_rounds_emit_the_targets_distribution(vocab_size, gamma, rounds, full):
    if vocab_size == 4 and not full:
        rounds = 1  # two rounds are more paths than all other cases together
    target, draft = TinyModel(vocab_size, seed=1), TinyModel(vocab_size, seed=2)
    runs = check_enumeration(target, lambda: ModelDrafter(draft), drawn_from(draft.probabilities), gamma, rounds)
    assert runs > vocab_size  # every draft, every acceptance, every replacement


def test_lookup_is_exact():
    """Its q is one-hot: a copied token survives with probability p."""
    check_enumeration(TinyModel(3, seed=3), LookupDrafter, copies, 2, 2, prompt=[0, 1, 2, 0, 1])


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9, 1.0])
def test_dial_is_exact(alpha):
    target = TinyModel(3, seed=4)

    def q_of(text, drafts):
        return DialDrafter(alpha).mixed(target.logits([*text, *drafts]), Sampler(1.0))

    check_enumeration(target, lambda: DialDrafter(alpha), drawn_from(q_of), 2, 1)


def test_position_seeded_numbers_sample_the_target():
    """With the real table, where a position that is drafted twice sees one number: χ² over 3-token texts.

    2,000 texts, fixed seeds; a correct engine fails with probability 1e-6.
    """
    target, draft = TinyModel(3, seed=5), TinyModel(3, seed=6)
    counts = torch.zeros(3, 3, 3, dtype=torch.float64)
    for request in range(2000):
        rounds = speculative(
            target,
            ModelDrafter(draft),
            [0],
            gamma=2,
            sampler=Sampler(1.0),
            uniforms=Uniforms(7, request),
            stops=Stops(3),
        )
        counts[tuple(t for r in rounds for t in r.tokens)] += 1
    expected = torch.zeros_like(counts)
    for a in range(3):
        for b in range(3):
            ahead = target.probabilities([0])[a] * target.probabilities([0, a])[b]
            expected[a, b] = 2000 * ahead * target.probabilities([0, a, b])
    statistic = ((counts - expected) ** 2 / expected).sum() / 2
    assert torch.special.gammaincc(torch.tensor(26 / 2, dtype=torch.float64), statistic) > 1e-6


def test_caches_hold_after_every_kind_of_round():
    target, draft = TinyModel(4, seed=8, spread=0.5), TinyModel(4, seed=9, spread=0.5)
    kinds = check_caches_often(target, lambda: ModelDrafter(draft), draft, 12, gamma=3, tolerance=1e-12)
    assert kinds >= {f"corrected at {i} of 3" for i in range(3)} | {"bonus at 3 of 3", "cut"}


def test_a_token_the_target_never_says_is_refused():
    check_strict_at_zero(accepts)


def test_nothing_after_end_of_text():
    target = TinyModel(4, seed=10, spread=0.3)
    for request in range(30):
        check_stops_at_eos(
            speculative, target, ModelDrafter(target), 2, gamma=3, sampler=Sampler(1.0), uniforms=Uniforms(0, request)
        )


@pytest.mark.parametrize("apart", [1e-1, 1e-3, 1e-5])
def test_the_residual_of_rows_that_nearly_agree_is_what_is_missing(apart):
    """However little that is: a draft that is nearly perfect is still rejected now and then."""
    p = torch.tensor([0.25, 0.25, 0.25, 0.25], dtype=torch.float64)
    q = p + apart * torch.tensor([-0.75, 1.0, -0.25, 0.0], dtype=torch.float64)
    assert torch.allclose(residual(p, q), torch.tensor([0.75, 0.0, 0.25, 0.0], dtype=torch.float64), atol=1e-9)
