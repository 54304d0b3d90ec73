"""The drafters that copy from what was written before: lookup, its tree, and suffix decoding, which counts what it saw."""

import copy
from collections import Counter

import pytest
import torch
from checks import check_begins_anew
from tiny import SAMPLED, TinyModel

from specdec_lab.drafters import LookupDrafter, LookupTreeDrafter, SuffixDrafter, copying
from specdec_lab.drafters.copying import Memory
from specdec_lab.engine.sampling import Uniforms


def text_of(n, seed, tokens=3):
    return torch.randint(0, tokens, (n,), generator=torch.Generator().manual_seed(seed)).tolist()


def proposed(drafter, text, gamma):
    drafter.start(None, text, None)
    return drafter.propose(text, gamma, SAMPLED, Uniforms())


def copied(text, gamma=4):
    return proposed(LookupDrafter(), text, gamma).tokens


def test_lookup_takes_the_longest_match_and_of_those_the_most_recent():
    assert copied([7, 1, 2, 3, 8, 9, 2, 3, 5, 5, 1, 2, 3]) == [8, 9, 2, 3]  # three tokens beat a later two
    assert copied([1, 2, 8, 4, 4, 1, 2, 9, 5, 5, 1, 2]) == [9, 5, 5, 1]  # the later of two matches
    assert copied([1, 2, 3]) == copied([5]) == []
    assert copied([6, 4, 6], gamma=2) == [4, 6]
    assert proposed(LookupDrafter(3, 2), [6, 4, 6], 2).tokens == [], "a single token is no match here"


@pytest.mark.parametrize("kind", [LookupDrafter, LookupTreeDrafter, SuffixDrafter])
def test_what_is_remembered_grows_with_the_text(kind):
    """Round after round it proposes what a new drafter would that reads the whole text."""
    text, drafter = text_of(120, 0, tokens=4), kind()
    drafter.start(None, text[:10], None)
    for n in range(10, 120, 3):
        one, whole = drafter.propose(text[:n], 4, SAMPLED, Uniforms()), proposed(kind(), text[:n], 4)
        assert (one.tokens, one.tree) == (whole.tokens, whole.tree)


def ways(proposal):
    """Each draft with those before it."""
    return [tuple(proposal.tokens[j] for j in proposal.shape.path(i)) for i in range(len(proposal.tokens))]


def test_lookups_tree_drafts_the_beginnings_that_are_most_likely_to_hold(monkeypatch):
    """Worked out from every place where the words stood, each found by looking: those that share a beginning add up."""
    monkeypatch.setattr(copying, "CONTINUATIONS", 3)
    branched = 0
    for seed in range(60):
        text = text_of(25, seed)
        for gamma in (0, 1, 2, 5, 8):
            proposal = proposed(LookupTreeDrafter(), text, gamma)
            chances = Counter()
            for n in (3, 2, 1):
                ends = [end for end in range(len(text) - 1, n - 1, -1) if text[end - n : end] == text[-n:]]
                if ends:
                    break
            for age, end in enumerate(ends[:3]):
                copy = (text[end:] * 9)[:gamma]
                for n in range(1, gamma + 1):
                    chances[tuple(copy[:n])] += 0.5**age * copying.COPY_CONTINUES**n
            found = ways(proposal)
            assert len(set(found)) == len(found) == min(gamma, len(chances))
            best = sorted(chances.values(), reverse=True)[: len(found)]
            assert [chances[way] for way in found] == pytest.approx(best)
            branched += proposal.tree is not None
    assert branched > 20


def suffixes(text, gamma=8, memory=None, **settings):
    return proposed(SuffixDrafter(memory, **settings), text, gamma).tokens


def test_suffix_decoding_takes_what_followed_the_longest_known_end_most_often_and_of_equals_the_latest():
    assert suffixes([1, 2, 1, 3, 1, 2, 9, 1], gamma=1) == [2]  # twice, where lookup would take 9's neighbour
    assert suffixes([1, 2, 9, 1, 3, 9, 1], gamma=1) == [3]
    assert suffixes([7, 1, 2, 8, 1, 3, 8, 1, 3, 7, 1], gamma=1) == [2], "the longer run, not the more frequent token"
    assert suffixes([1, 2, 3]) == suffixes([5]) == []
    memory = Memory(3)
    memory.learn([1, 2, 3, 4, 9, 2, 3, 5, 9, 3, 5], 0)
    assert memory.next([7, 7, 1, 2, 3]) == (4, 1.0, 3)
    assert memory.next([8, 2, 3]) == (5, 0.5, 2)
    assert memory.next([3]) == (5, 2 / 3, 1)
    assert memory.next([7]) is None and memory.next([]) is None


def test_suffix_decoding_stops_where_it_is_unsure_and_after_a_short_match():
    text = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]
    assert suffixes(text, each=4) == [2, 3, 4, 5]
    assert suffixes([*text, 2], each=4) == [3, 4, 5, 6, 7, 8, 9, 1]
    assert suffixes(text, gamma=3) == [2, 3, 4]
    halves = [1, 2, 9, 1, 3, 9, 1]  # 3 or 2, then 9 and 1, then 3 or 2 again: a quarter
    for limit, expected in ((0.51, []), (0.5, [3, 9, 1]), (0.25, [3, 9, 1, 3, 9, 1])):
        assert suffixes(halves, memory=Memory(longest=1), min_confidence=limit, each=9)[:6] == expected
    varied = [x for token in range(2, 42) for x in (1, token)]
    assert suffixes([*varied, 1]) == [], "also without a limit of one's own: of forty tokens none is worth a guess"


def test_suffix_decoding_learns_each_text_from_its_beginning():
    """What it has learned of others stays, but where it stands in a text is that text's."""
    for seed in range(4):
        drafter = SuffixDrafter()
        check_begins_anew(TinyModel(3, seed), drafter, lambda d=drafter: SuffixDrafter(copy.deepcopy(d.memory)))
