"""Block verification, and the enumeration that proves it exact. (In several rounds: test_exact.)"""

import pytest
import torch
from tiny import TinyModel

from specdec_lab.engine.enumeration import completed, outcomes
from specdec_lab.engine.rules import verify_block
from specdec_lab.engine.verify import verify


def tiny(seed, vocab_size=3, spread=1.5):
    model = TinyModel(vocab_size, seed, spread)
    return lambda text: model.probabilities([0, *text]).tolist()


def worst_error(rule, target, draft, gamma):
    """How far the chance of a text is from the target's, at worst."""
    wanted = completed({(): 1.0}, target, gamma + 1)
    got = completed(outcomes(rule, target, draft, gamma), target, gamma + 1)
    assert set(got) <= set(wanted)
    return max(abs(got.get(text, 0.0) - chance) for text, chance in wanted.items())


def tokens_a_round(rule, target, draft, gamma):
    return sum(len(text) * chance for text, chance in outcomes(rule, target, draft, gamma).items())


@pytest.mark.parametrize(
    ("vocab_size", "gamma", "spread"), [(3, 2, 1.5), (2, 3, 1.5), (4, 1, 1.5), (2, 2, 4.0), (2, 2, 0.3), (2, 3, 5.0)]
)
def test_both_rules_are_exact_and_block_verification_keeps_no_fewer(vocab_size, gamma, spread):
    target, draft = (tiny(seed, vocab_size, spread) for seed in (1, 2))
    assert worst_error(verify, target, draft, gamma) < 1e-12
    assert worst_error(verify_block, target, draft, gamma) < 1e-12
    more = tokens_a_round(verify_block, target, draft, gamma) - tokens_a_round(verify, target, draft, gamma)
    assert more > (1e-3 if gamma > 1 and spread == 1.5 else -1e-12)
    assert gamma > 1 or abs(more) < 1e-12  # one draft: the same rule


def test_the_example_of_the_paper():
    """Section 2 there: two tokens, rows that never change. 10/9 drafts are kept by the one rule and 11/9 by the other."""
    rows = (lambda text: (1 / 3, 2 / 3)), (lambda text: (2 / 3, 1 / 3))
    assert abs(tokens_a_round(verify, *rows, 2) - 1 - 10 / 9) < 1e-12
    assert abs(tokens_a_round(verify_block, *rows, 2) - 1 - 11 / 9) < 1e-12
    assert worst_error(verify_block, *rows, 2) < 1e-12


def certain(text):
    return [float(i == (len(text) + sum(text)) % 3) for i in range(3)]


def never_the_first(text):
    p = tiny(1)(text)
    return [0.0, p[1] / (p[1] + p[2]), p[2] / (p[1] + p[2])]


@pytest.mark.parametrize(
    ("target", "draft"),
    [(tiny(1), certain), (certain, certain), (certain, tiny(2)), (never_the_first, tiny(2)), (tiny(3), tiny(3))],
    ids=["copied drafts", "greedy", "a sure target", "tokens that the target never says", "a perfect draft"],
)
def test_the_edges(target, draft):
    for rule in (verify, verify_block):
        assert worst_error(rule, target, draft, 2) < 1e-12
    if target is draft:
        assert abs(tokens_a_round(verify_block, target, draft, 2) - 3) < 1e-12


def test_a_verdict_says_what_kind_of_token_it_ends_with():
    p, q = torch.tensor([[0.5, 0.5]] * 3).double(), torch.tensor([[0.9, 0.1]] * 2).double()
    kinds = {u: verify_block(p, q, [0, 0], [u, u], [0.5] * 3) for u in (0.0, 0.999)}
    assert [(v.accepted, v.kind) for v in kinds.values()] == [(2, "bonus"), (0, "corrected")]
    assert verify_block(p[:1], q[:0], [], [], [0.5]).kind == "plain"
