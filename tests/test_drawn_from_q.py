"""Drafts are drawn from the q that they are compared with: every drafter that draws, every sampler, and long drafts, too."""

from collections import defaultdict

import pytest
import torch
from every_way import Unknown, apart, every_way, follow_draws, written
from random_nets import TREES, make
from tiny import Shaped, TinyModel

from specdec_lab.choices import TRAINED
from specdec_lab.drafters import ModelDrafter, drawing
from specdec_lab.engine.decode import Keep, Stops, speculative
from specdec_lab.engine.sampling import ACCEPT, DRAFT, Sampler, Uniforms, draw
from specdec_lab.errors import LabError
from specdec_lab.models.tree import Tree

SAMPLERS = [Sampler(0.6), Sampler(0.7, top_k=2), Sampler(1.0, top_p=0.7), Sampler(1.0, min_p=0.5)]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
@pytest.mark.parametrize("name", [*TRAINED, *TREES])
def test_drafts_come_as_often_as_q_says(monkeypatch, name, sampler):
    """All first rounds: the chance of its drafts is the product of their q; and q is cut as the target's p is."""
    target, _, drafter, _ = make(name, 4, [0, 1, 2, 3])
    gamma = 2 if sampler is SAMPLERS[0] else 3  # which leaves all tokens, and so has the most ways
    follow_draws(monkeypatch)

    def run(choose):
        settings = {"sampler": sampler, "stops": Stops(9), "uniforms": Unknown(choose), "keep": Keep(rows=True)}
        r = next(speculative(target, drafter(), [0, 1, 2], gamma=gamma, **settings))
        tokens = tuple((d.parent, d.id) for d in r.drafted)
        return tokens, float(torch.tensor([d.q for d in r.drafted], dtype=torch.float64).prod()), r.q_rows

    came, said, fewest = defaultdict(float), {}, 4
    for chance, (tokens, q, rows) in every_way(run):
        came[tokens] += chance
        said[tokens] = q
        fewest = min(fewest, int((rows > 0).sum(1).min()))
    assert (len(came) > 2 and fewest < 4) or (sampler.top_k, sampler.top_p, sampler.min_p) == (None, None, None)
    assert all(abs(came[tokens] - said[tokens]) < 1e-9 for tokens in came)
    assert sum(came.values()) == pytest.approx(1)


@pytest.mark.parametrize("gamma", [4, 5])
def test_long_drafts_are_exact(monkeypatch, gamma):
    """Also past the third: every draw of every draft."""
    target, draft = TinyModel(2, seed=1), TinyModel(2, seed=2)
    texts = written(monkeypatch, lambda: ModelDrafter(draft), target, vocab=2, length=gamma + 1, gamma=gamma)
    assert sum(texts.values()) == pytest.approx(1, abs=1e-12)
    assert apart(texts, target, vocab=2, length=gamma + 1) < 1e-12


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_chains_are_exact_under_every_sampler(monkeypatch, sampler):
    target, draft = Shaped(TinyModel(3, seed=1), (), sampler), TinyModel(3, seed=2)
    texts = written(
        monkeypatch, lambda: ModelDrafter(draft), target, run_on=TinyModel(3, seed=1), sampler=sampler, gamma=3
    )
    assert apart(texts, target) < 1e-12


@pytest.mark.parametrize("name", [*TRAINED, *TREES])
def test_each_number_serves_one_draft_and_one_purpose(name):
    """A draft at position i is drawn with the number of i: were it another draft's, the two would not be independent."""
    target, _, drafter, _ = make(name, 4, [0, 1, 2, 3])
    table = Uniforms(5, 2)
    asked = []

    def noted(position, purpose, rank=0):
        asked.append((position, purpose, rank))
        return table(position, purpose, rank)

    noted.fresh = lambda: noted
    settings = {"sampler": Sampler(1.0), "stops": Stops(9), "uniforms": noted, "keep": Keep(rows=True)}
    r = next(speculative(target, drafter(), [0, 1, 2], gamma=3, **settings))
    assert len(set(asked)) == len(asked)
    tree = Tree(tuple(d.parent for d in r.drafted))
    places = [(3 + depth, rank) for depth, rank in zip(tree.depths, tree.ranks)]
    for of in (DRAFT, ACCEPT):
        assert sorted((position, rank) for position, purpose, rank in asked if purpose == of) in (sorted(places), [])
    assert [d.u for d in r.drafted] == [table(p, ACCEPT, t) for p, t in places]


LOGITS = torch.tensor([[1.0, 3.0, 0.0], [2.0, 0.5, 1.5], [0.0, 0.1, 4.0]])
IDS = torch.tensor([5, 0, 3])


def drawn(width, ids, sampler, logits=LOGITS):
    """A proposal of a draft for each row; and what each `add` returned."""
    chain = drawing.ChainBuilder(width, ids, sampler, Uniforms(3), 7)
    added = [chain.add(row) for row in logits]
    return chain.proposal(), added


@pytest.mark.parametrize("sampler", [Sampler(0.0), Sampler(0.8), Sampler(1.0, top_k=2)], ids=str)
@pytest.mark.parametrize(
    ("width", "ids"), [(6, IDS), (3, None), (5, None), (2, None)], ids=["cut head", "same", "narrower", "wider"]
)
def test_a_proposal_is_of_the_targets_tokens(width, ids, sampler):
    """Worked out token by token: which logit stands for which, what is missing, and greedy drafts are the favourites."""
    proposal, added = drawn(width, ids, sampler)
    stands = ids.tolist() if ids is not None else list(range(min(3, width)))
    raw = torch.full((3, width), float("-inf"))
    raw[:, stands] = LOGITS[:, : len(stands)]
    assert torch.equal(proposal.logits(), raw)
    assert [token.item() for token in added] == proposal.tokens and {token.shape for token in added} == {(1, 1)}
    if sampler.greedy:
        assert proposal.q is None and proposal.tokens == raw.argmax(1).tolist()
        return
    q = torch.zeros(3, width, dtype=torch.float64)
    q[:, stands] = sampler(LOGITS[:, : len(stands)])
    assert torch.equal(proposal.q, q)
    own = [draw(row[stands], Uniforms(3)(7 + i, DRAFT)) for i, row in enumerate(q)]
    assert proposal.tokens == [stands[x] for x in own]


def test_a_draft_from_logits_that_are_not_numbers_is_refused():
    with pytest.raises(LabError, match="NaN"):
        drawn(3, None, Sampler(1.0), logits=torch.tensor([[0.0, float("nan"), 1.0]]))
