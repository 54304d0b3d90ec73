"""Read this first: the laws of every run, and the tests of the first, on models small enough to follow all random numbers.

 1. Whatever drafts, a text comes as often as from the target alone. Here by enumeration; on the real pair test_exact_pair.
 2. At temperature 0 it is plain decoding's text, token for token: test_exact_pair.
 3. A draft is drawn from the q that it is compared with: test_drawn_from_q.
 4. Each random number serves one draft and one purpose: test_drawn_from_q, test_sampling.
 5. A cache holds the text that stands, and nothing of what was rejected: here, and test_any_run.
 6. A text in a batch is what it is alone: test_any_run, test_batch.
 7. In a tree a draft sees its own way alone: test_models.
 8. Nothing follows an end, wherever in a round it falls: here, and test_rounds.
 9. What is counted follows from the rounds: test_trace, and test_theory for what is expected of it.
10. Each of these guards fails for the bug that it is there for: test_planted_bugs.
"""

from functools import partial

import pytest
import torch
from checks import by_chance, check_caches_often
from every_way import worst_apart
from tiny import SAMPLED, TinyModel

from specdec_lab.drafters import DialDrafter, LookupDrafter, ModelDrafter
from specdec_lab.engine.decode import Stops, speculative
from specdec_lab.engine.rules import BLOCK, USUAL
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.verify import accepts, residual

DEAR = [(6, 1, 2), (5, 3, 1), (3, 1, 3), (3, 2, 2), (2, 3, 2)]


@pytest.mark.parametrize("rule", [USUAL, BLOCK], ids=["usual", "block"])
@pytest.mark.parametrize(
    ("vocab_size", "gamma", "rounds"),
    [(6, 2, 1), (4, 2, 2), *(pytest.param(*dear, marks=pytest.mark.slow) for dear in DEAR)],
)
def test_several_rounds_emit_the_targets_distribution(rule, vocab_size, gamma, rounds, full):
    """A position that is drafted twice sees one number, where the rule allows it."""
    if vocab_size == 4 and not full:
        rounds = 1  # two rounds are more ways than all other cases together
    drafter = partial(ModelDrafter, TinyModel(vocab_size, seed=2))
    assert worst_apart(TinyModel(vocab_size, seed=1), drafter, gamma=gamma, rounds=rounds, rule=rule) < 1e-12


def test_lookup_is_exact():
    """Its q is one-hot: a copied token survives with probability p."""
    assert worst_apart(TinyModel(3, seed=3), LookupDrafter, gamma=2, rounds=2, prompt=(0, 1, 2, 0, 1)) < 1e-12


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9, 1.0])
def test_dial_is_exact(alpha):
    assert worst_apart(TinyModel(3, seed=4), partial(DialDrafter, alpha), gamma=2) < 1e-12


def test_the_table_of_numbers_samples_the_target():
    """χ² over 3-token texts, 2,000 of them, fixed seeds; a correct engine fails with probability 1e-6."""
    target, draft, runs = TinyModel(3, seed=5), TinyModel(3, seed=6), 2000
    counts = torch.zeros(3, 3, 3, dtype=torch.float64)
    for request in range(runs):
        how = {"gamma": 2, "sampler": SAMPLED, "uniforms": Uniforms(7, request), "stops": Stops(3)}
        counts[tuple(t for r in speculative(target, ModelDrafter(draft), [0], **how) for t in r.tokens)] += 1
    first = target.probabilities([0])
    second = torch.stack([target.probabilities([0, a]) for a in range(3)])
    third = torch.stack([torch.stack([target.probabilities([0, a, b]) for b in range(3)]) for a in range(3)])
    assert by_chance(counts, runs * first[:, None, None] * second[:, :, None] * third) > 1e-6


def test_caches_hold_after_every_kind_of_round():
    target, draft = TinyModel(4, seed=8, spread=0.5), TinyModel(4, seed=9, spread=0.5)
    kinds = check_caches_often(target, lambda: ModelDrafter(draft), draft, 12, gamma=3, tolerance=1e-12)
    assert kinds >= {f"corrected at {i} of 3" for i in range(3)} | {"bonus at 3 of 3", "cut"}


def test_a_token_the_target_never_says_is_refused():
    """Also for u = 0."""
    assert not accepts(0.0, 0.5, 0.0)
    assert accepts(1e-300, 1.0, 0.0)


def test_nothing_after_end_of_text():
    """Drafts behind it are discarded even when the target agreed."""
    target, eos = TinyModel(4, seed=10, spread=0.3), 2
    for request in range(30):
        how = {"gamma": 3, "sampler": SAMPLED, "uniforms": Uniforms(0, request), "stops": Stops(200, frozenset({eos}))}
        rounds = list(speculative(target, ModelDrafter(target), [0, 1], **how))
        tokens = [token for r in rounds for token in r.tokens]
        assert rounds[-1].stop == "eos" and tokens.index(eos) == len(tokens) - 1


@pytest.mark.parametrize("apart", [1e-1, 1e-3, 1e-5])
def test_the_residual_of_rows_that_nearly_agree_is_what_is_missing(apart):
    """However little that is: a draft that is nearly perfect is still rejected now and then."""
    p = torch.tensor([0.25, 0.25, 0.25, 0.25], dtype=torch.float64)
    q = p + apart * torch.tensor([-0.75, 1.0, -0.25, 0.0], dtype=torch.float64)
    assert torch.allclose(residual(p, q), torch.tensor([0.75, 0.0, 0.25, 0.0], dtype=torch.float64), atol=1e-9)
