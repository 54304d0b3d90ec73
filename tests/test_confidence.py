"""Checking only the drafts that are worth their row: what is left out, and that the text stays the target's."""

from collections import defaultdict
from functools import partial
from itertools import product

import pytest
import torch
from every_way import Unknown, completed, every_way, follow_draws
from tiny import SAMPLED, TinyModel

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.confidence import checked, survival, to_check
from specdec_lab.engine.decode import Request, Stops
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Fresh, Uniforms
from specdec_lab.models.tree import Tree


def sharp(rows: int) -> float:
    """Rows are free up to six, and cost their full price from there on."""
    return max(1.0, rows / 6)


def test_the_likeliest_drafts_are_checked_as_long_as_they_are_worth_their_row():
    chances = [[0.9, 0.8, 0.7], [0.5, 0.2], [0.3], []]
    assert to_check(chances, lambda rows: 1.0) == [3, 2, 1, 0]
    assert to_check(chances, sharp) == [2, 0, 0, 0]  # with 0.7 there would be 6.4 tokens for 7/6 of a step
    assert to_check(chances, float) == [0, 0, 0, 0]
    assert to_check([], sharp) == []


def test_chances_fall_along_a_draft_and_what_has_none_counts_as_sure():
    assert survival(Proposal([1, 2, 3], sure=lambda: [0.5, 1.0, 0.5])) == [0.5, 0.5, 0.25]
    copied, tree = Proposal([1, 2]), Proposal([1, 2], sure=lambda: [0.5, 0.5], tree=Tree((-1, -1)))
    assert survival(copied) == survival(tree) == [1.0, 1.0]
    whole = checked([copied, tree], float)
    assert whole[0].tokens == [1, 2] and whole[1] is tree


PROMPTS, GAMMA = ((0, 1), (1,)), 3


def worst_of_two(seconds) -> tuple[float, set]:
    """How far the joint law of what two texts write is from the target's, and the numbers of drafts that were checked.

    What is missing up to γ + 1 tokens, the target itself would write.
    """
    target, draft = TinyModel(2, seed=1), TinyModel(2, seed=2, spread=3.0)
    go_on = [partial(completed, target=target, vocab=2, length=GAMMA + 1, prompt=prompt) for prompt in PROMPTS]
    cuts, chances = set(), defaultdict(float)

    def run(choose):
        batch = Batch(target, 2)
        for prompt in PROMPTS:
            batch.submit(Request(target, prompt, ModelDrafter(draft), SAMPLED, Stops(99), Unknown(choose)))
        rounds = batch.step(GAMMA, seconds)
        cuts.add(tuple(len(r.drafted) for r in rounds))
        return [tuple(r.tokens) for r in rounds]

    for chance, written in every_way(run):
        one, other = (texts({tokens: 1.0}) for texts, tokens in zip(go_on, written))
        for first, second in product(one, other):
            chances[first, second] += chance * one[first] * other[second]
    own = [texts({(): 1.0}) for texts in go_on]
    return max(abs(chances[pair] - own[0][pair[0]] * own[1][pair[1]]) for pair in product(*own)), cuts


def priced(*prices: float):
    """Seconds by rows, for two texts: 1 for two rows, and these for each further one."""
    return lambda rows: 1 + sum(prices[: rows - 2])


CONVEX, BUMPY = priced(0.12, 0.2, 0.25, 0.3, 0.35, 0.4), priced(0.1, 0.1, 0.25, 0.05, 0.3, 0.05)


@pytest.mark.parametrize("seconds", [CONVEX, BUMPY])
def test_two_texts_write_what_the_target_writes_whatever_is_left_out(monkeypatch, seconds):
    """By enumeration: nothing is drawn, the chances of all draws are added up."""
    follow_draws(monkeypatch)
    worst, cuts = worst_of_two(seconds)
    assert worst < 1e-12 and len(cuts) >= 3


def best_of_all(chances, seconds) -> list[int]:
    """The best cut wherever it lies: it looks behind the first loss."""
    slots = sorted(((c, -place, text) for text, row in enumerate(chances) for place, c in enumerate(row)), reverse=True)
    pace = [(2 + sum(c for c, *_ in slots[:n])) / seconds(2 + n) for n in range(len(slots) + 1)]
    kept = slots[: pace.index(max(pace))]
    return [sum(text == t for *_, text in kept) for t in range(2)]


def of_the_drafts_themselves(proposal) -> list[float]:
    """The chance of each draft, and not of its place's favourite."""
    return proposal.q.gather(1, torch.tensor(proposal.tokens)[:, None])[:, 0].cumprod(0).tolist()


@pytest.mark.parametrize(
    ("part", "wrong", "seconds"), [("to_check", best_of_all, BUMPY), ("survival", of_the_drafts_themselves, CONVEX)]
)
def test_a_choice_that_knows_the_draft_writes_another_text(monkeypatch, part, wrong, seconds):
    follow_draws(monkeypatch)
    monkeypatch.setattr(f"specdec_lab.engine.confidence.{part}", wrong)
    assert worst_of_two(seconds)[0] > 1e-3


def test_sampled_texts_draw_fresh_numbers_each_round():
    """A draft that was left out has told its number, so the next round must not use it again."""
    target, draft = TinyModel(4, seed=1), TinyModel(4, seed=2)
    batch = Batch(target, 2)
    requests = [Request(target, [i], ModelDrafter(draft), SAMPLED, Stops(9), Uniforms(0, i)) for i in range(2)]
    for request in requests:
        batch.submit(request)
    batch.step(2, float)
    assert all(isinstance(request.uniforms, Fresh) for request in requests)
