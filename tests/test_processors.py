"""Penalties, biases and masks under speculation: each row of p is shaped with the text that stands before it."""

from functools import partial

import pytest
import torch
from every_way import worst_apart
from tiny import NO_STUTTER, Shaped, TinyModel

from specdec_lab.drafters import DialDrafter, LookupDrafter, ModelDrafter
from specdec_lab.engine.decode import Keep, Stops, speculative
from specdec_lab.engine.processors import LogitBias, Mask, RepetitionPenalty
from specdec_lab.engine.sampling import GREEDY, Sampler
from specdec_lab.errors import LabError

ALL = {
    "repetition penalty": (RepetitionPenalty(1.7),),
    "bias": (LogitBias({0: 1.5, 2: -1.0}),),
    "forbidden": (LogitBias({1: float("-inf")}),),
    "mask": (NO_STUTTER,),
    "all of them": (RepetitionPenalty(0.6), LogitBias({0: 0.7}), NO_STUTTER),
}


TARGET, DRAFT = TinyModel(3, seed=1), TinyModel(3, seed=2)
DRAFTER = partial(ModelDrafter, DRAFT)


def worst_with(processors, drafter=DRAFTER, **more) -> float:
    """How far the chance of a text is from the target's, shaped one text at a time; at worst."""
    return worst_apart(Shaped(TARGET, processors), drafter, run_on=TARGET, processors=processors, **more)


@pytest.mark.parametrize("name", ALL)
def test_processors_are_exact_under_speculation(name):
    assert worst_with(ALL[name], gamma=2, rounds=2) < 1e-12


@pytest.mark.parametrize("draft_sampler", [GREEDY, Sampler(0.4), Sampler(2.0)])
def test_drafts_may_be_drawn_otherwise_than_the_targets_tokens(draft_sampler):
    """Argmax drafts at temperature 1, or colder and hotter ones: q is what they were drawn from."""
    assert worst_apart(TARGET, DRAFTER, gamma=2, rounds=2, draft_sampler=draft_sampler) < 1e-12
    how = {"sampler": Sampler(1.0), "draft_sampler": draft_sampler, "keep": Keep(rows=True)}
    first = next(speculative(TARGET, DRAFTER(), [0, 1], **how))
    assert torch.equal(first.q_rows[0], draft_sampler(DRAFT.logits([0, 1])))


def test_they_are_those_of_transformers():
    from transformers import MinPLogitsWarper, RepetitionPenaltyLogitsProcessor

    logits, text = torch.randn(2, 9, generator=torch.Generator().manual_seed(0)), [1, 4, 4, 7]
    theirs = RepetitionPenaltyLogitsProcessor(1.4)(torch.tensor([text, text]), logits.clone())
    ours = torch.stack([RepetitionPenalty(1.4)(row, text) for row in logits])
    assert torch.allclose(ours, theirs)
    theirs = MinPLogitsWarper(0.3)(None, logits / 0.7).softmax(-1)
    assert torch.allclose(Sampler(0.7, min_p=0.3)(logits).float(), theirs, atol=1e-6)


def masked(allowed):
    return Mask(lambda text: allowed)


@pytest.mark.parametrize(
    ("processor", "said"),
    [
        *((LogitBias({3: 1.0, token: 1.0}), "ids from 0 to 3") for token in (-1, 4)),
        (masked([]), "allows no token"),
        *((masked([1, token]), "ids from 0 to 3") for token in (-1, 4)),
        *(
            (masked(odd), "ids from 0 to 3")
            for odd in (["a"], "abc", 5, [[1, 2]], [1.5], torch.ones(12, dtype=torch.bool))
        ),
        *((odd, "a row of 4 numbers") for odd in (lambda row, text: None, lambda row, text: row[:2])),
        (LogitBias(dict.fromkeys(range(4), float("-inf"))), "NaN or infinity"),
    ],
)
def test_what_no_row_can_be_shaped_with_is_refused(processor, said):
    with pytest.raises(LabError, match=said):
        list(speculative(TinyModel(4, seed=1), LookupDrafter(), [0, 1], processors=[processor], stops=Stops(5)))


def test_penalties_that_are_not_positive_and_dials_beside_processors_are_refused():
    for penalty in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(LabError, match="positive"):
            RepetitionPenalty(penalty)
    with pytest.raises(LabError, match="“dial” mixes"):
        next(speculative(TARGET, DialDrafter(0.5), [0, 1], processors=[RepetitionPenalty(1.1)]))


def test_a_mask_lets_pass_what_it_allows_with_its_own_logits_and_none_is_no_mask():
    logits = torch.tensor([0.5, -1.0, 2.0])
    assert Mask(lambda text: [2, 0])(logits, []).tolist() == [0.5, float("-inf"), 2.0]
    assert Mask(lambda text: None)(logits, []) is logits
