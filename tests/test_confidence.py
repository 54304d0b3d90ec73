"""Checking only the drafts that are worth their row: what is left out, and that the text stays the target's."""

from collections import Counter
from dataclasses import replace
from itertools import product
from math import prod

import pytest
import torch
from checks import drawn_from, round_cells
from tiny import SAMPLED, Scripted, TinyModel

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.confidence import checked, survival, to_check
from specdec_lab.engine.decode import Request, Stops, plain
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Fresh, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.engine.verify import verify
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


PROMPTS, GAMMA = ([0, 1], [1]), 3


class Told(Scripted):
    """Numbers that are written down are fresh ones."""

    def fresh(self):
        return self


def step(target, draft, scripts, seconds):
    """One round of two texts, with these random numbers."""
    batch = Batch(target, 2)
    for prompt, script in zip(PROMPTS, scripts):
        batch.submit(Request(target, prompt, ModelDrafter(draft), SAMPLED, Stops(99), Told([script])))
    return batch.step(GAMMA, seconds)


def apart(seconds) -> tuple[float, set]:
    """How far the joint law of what two texts write is from the target's, and the numbers of drafts that were checked.

    Every path of the engine is run: all drafts of both texts, whatever their rules can decide about those that were
    checked, and all draws after that. What is missing up to γ + 1 tokens, the target itself would write.
    """
    target, draft = TinyModel(2, seed=1), TinyModel(2, seed=2, spread=3.0)
    drafts = [list(drawn_from(draft.probabilities)(prompt, GAMMA)) for prompt in PROMPTS]
    chances, cuts, measured = Counter(), set(), {}
    for pair in product(*drafts):
        counts = [len(r.drafted) for r in step(target, draft, [d.script for d in pair], seconds)]
        cuts.add(tuple(counts))
        left = [replace(d, tokens=d.tokens[:n], q=d.q[:n]) for d, n in zip(pair, counts)]
        cells = [
            round_cells(target, prompt, GAMMA, lambda text, gamma, d=d: [d], verify, measured)
            for prompt, d in zip(PROMPTS, left)
        ]
        for (one, first), (other, second) in product(*map(list, cells)):
            rounds = step(target, draft, (first, second), seconds)
            chances[tuple(tuple(r.tokens) for r in rounds)] += one * other

    def ahead(prompt, text, begin=0):
        return prod(float(target.probabilities([*prompt, *text[:i]])[text[i]]) for i in range(begin, len(text)))

    worst = 0.0
    for texts in product(product(range(2), repeat=GAMMA + 1), repeat=2):
        got = sum(
            chance * prod(ahead(prompt, text, len(w)) for prompt, text, w in zip(PROMPTS, texts, written))
            for written, chance in chances.items()
            if all(text[: len(w)] == w for text, w in zip(texts, written))
        )
        worst = max(worst, abs(got - prod(map(ahead, PROMPTS, texts))))
    return worst, cuts


def priced(*prices: float):
    """Seconds by rows, for two texts: 1 for two rows, and these for each further one."""
    return lambda rows: 1 + sum(prices[: rows - 2])


CONVEX, BUMPY = priced(0.12, 0.2, 0.25, 0.3, 0.35, 0.4), priced(0.1, 0.1, 0.25, 0.05, 0.3, 0.05)


@pytest.mark.parametrize("seconds", [CONVEX, BUMPY])
def test_two_texts_write_what_the_target_writes_whatever_is_left_out(seconds):
    """By enumeration: nothing is drawn, the chances of all draws are added up."""
    worst, cuts = apart(seconds)
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


def test_a_choice_that_knows_the_draft_writes_another_text(monkeypatch):
    with monkeypatch.context() as m:
        m.setattr("specdec_lab.engine.confidence.to_check", best_of_all)
        assert apart(BUMPY)[0] > 1e-3
    monkeypatch.setattr("specdec_lab.engine.confidence.survival", of_the_drafts_themselves)
    assert apart(CONVEX)[0] > 1e-3


def test_sampled_texts_draw_fresh_numbers_each_round():
    """A draft that was left out has told its number, so the next round must not use it again."""
    target, draft = TinyModel(4, seed=1), TinyModel(4, seed=2)
    batch = Batch(target, 2)
    requests = [Request(target, [i], ModelDrafter(draft), SAMPLED, Stops(9), Uniforms(0, i)) for i in range(2)]
    for request in requests:
        batch.submit(request)
    batch.step(2, float)
    assert all(isinstance(request.uniforms, Fresh) for request in requests)


def test_greedy_texts_of_a_batch_are_those_of_plain_decoding():
    target, draft = TinyModel(4, seed=1, context=200), TinyModel(4, seed=2, spread=3.0, context=200)
    batch, prompts = Batch(target, 3), [[1, 2, 3], [3, 0], [2, 1, 0, 3], [2, 3]]
    traces = [
        batch.submit(Request(target, p, ModelDrafter(draft), stops=Stops(24), uniforms=Uniforms(0, i)))
        for i, p in enumerate(prompts)
    ]
    while len(batch):
        batch.step(4, sharp)
    for prompt, trace in zip(prompts, traces):
        assert trace.tokens == Trace(prompt).collect(plain(target, prompt, stops=Stops(24))).tokens
    numbers = {len(r.drafted) for trace in traces for r in trace.rounds}
    assert len(numbers) > 2 and max(numbers) <= 4  # the cut moves from round to round
