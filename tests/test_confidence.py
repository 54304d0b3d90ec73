"""Checking only the drafts that are worth their row: what is left out, and that the text stays the target's."""

from collections import Counter
from itertools import product

import pytest
from tiny import TinyModel

from specdec_lab import theory
from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.confidence import checked, survival, to_check
from specdec_lab.engine.decode import Request, Stops, plain
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.models.tree import Tree


def sharp(rows: int) -> float:
    """Rows are free up to six, and cost their full price from there on."""
    return max(1.0, rows / 6)


def dip(rows: int) -> float:
    """A few rows more make it worse, and still more may make it better."""
    return 1.0 if rows <= 2 else 1.25 + 0.1 * (rows - 2)


def even(rows: int) -> float:
    return 1 + 0.1 * rows


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


P = {(): (0.5, 0.3, 0.2), (0,): (0.8, 0.1, 0.1), (1,): (0.2, 0.6, 0.2), (2,): (0.34, 0.33, 0.33)}
Q = {(): (0.4, 0.25, 0.35), (0,): (0.97, 0.02, 0.01), (1,): (0.3, 0.4, 0.3), (2,): (0.1, 0.85, 0.05)}
LENGTH = 2


def written(drafts: tuple[int, ...], text: tuple[int, ...] = ()) -> Counter:
    """The chance of each text of LENGTH tokens that goes on from `text`, with these drafts to check and then without."""
    if len(text) == LENGTH:
        return Counter({text: 1.0})
    p, found = P[text], Counter()
    accepted = min(1.0, p[drafts[0]] / Q[text][drafts[0]]) if drafts else 0.0
    if drafts:
        for end, chance in written(drafts[1:], (*text, drafts[0])).items():
            found[end] += accepted * chance
    for token, share in enumerate(theory.residual(p, Q[text]) if drafts else p):
        for end, chance in written((), (*text, token)).items():
            found[end] += (1 - accepted) * share * chance
    return found


def both_texts(chances_of, choose, seconds) -> tuple[Counter, set]:
    """What the first of two texts becomes, over all draws of two drafts for each, and how many drafts were checked."""
    found, cuts = Counter(), set()
    for draws in product(range(3), repeat=4):
        pairs = draws[:2], draws[2:]
        drawn = 1.0
        for x, y in pairs:
            drawn *= Q[()][x] * Q[x,][y]
        counts = choose([chances_of(x, y) for x, y in pairs], seconds)
        cuts.add(counts[0])
        for text, chance in written(pairs[0][: counts[0]]).items():
            found[text] += drawn * chance
    return found, cuts


def as_built(x: int, y: int) -> list[float]:
    return survival(Proposal([x, y], sure=lambda: [max(Q[()]), max(Q[x,])]))


def of_the_draft_itself(x: int, y: int) -> list[float]:
    return survival(Proposal([x, y], sure=lambda: [Q[()][x], Q[x,][y]]))


def best_of_all(chances, seconds) -> list[int]:
    """The best cut wherever it lies: it looks behind the first loss."""
    slots = sorted(((c, text) for text, row in enumerate(chances) for c in row), reverse=True)
    pace = [(2 + sum(c for c, _ in slots[:n])) / seconds(2 + n) for n in range(len(slots) + 1)]
    most = pace.index(max(pace))
    return [sum(text == t for _, text in slots[:most]) for t in range(2)]


def far(found: Counter) -> float:
    """How far the law of the text is from the target's own."""
    return max(abs(found[text] - chance) for text, chance in written(()).items())


@pytest.mark.parametrize("seconds", [even, dip])
def test_the_text_of_a_batch_is_the_targets_whatever_is_left_out(seconds):
    """By enumeration: nothing is drawn, the chances of all draws of both texts are added up."""
    found, cuts = both_texts(as_built, to_check, seconds)
    assert far(found) < 1e-12
    assert len(cuts) > 1 or seconds is dip  # what is checked differs from draw to draw


def test_whoever_looks_at_the_draft_itself_or_past_the_first_loss_writes_another_text():
    assert far(both_texts(of_the_draft_itself, to_check, even)[0]) > 0.005
    assert far(both_texts(as_built, best_of_all, dip)[0]) > 0.005


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
