"""The drafters that copy from what was written before: how lookup's tree weighs its sources, and what suffix decoding remembers."""

from collections import Counter
from itertools import pairwise

import pytest
import torch

from specdec_lab.drafters import LookupDrafter, LookupTreeDrafter, SuffixDrafter, lookup
from specdec_lab.drafters.suffix import Memory
from specdec_lab.engine.sampling import Sampler, Uniforms

SAMPLED = Sampler(1.0)


def text_of(n, seed, tokens=3):
    return torch.randint(0, tokens, (n,), generator=torch.Generator().manual_seed(seed)).tolist()


def proposed(drafter, text, gamma):
    drafter.start(None, text, None)
    return drafter.propose(text, gamma, SAMPLED, Uniforms())


def ways(proposal):
    """Each draft with those before it."""
    return [tuple(proposal.tokens[j] for j in proposal.shape.path(i)) for i in range(len(proposal.tokens))]


def test_lookups_tree_gives_room_to_an_older_source_where_the_latest_has_gone_far():
    """With 0.8 a token and half for each older source: the latest copy's fifth token is worth 0.164, the older one's first 0.2."""
    text = [1, 2, 3, 9, 1, 4, 5, 6, 7, 8, 1]
    expected = [(4,), (4, 5), (4, 5, 6), (4, 5, 6, 7), (2,), (4, 5, 6, 7, 8)]
    for gamma in (1, 4, 5, 6):
        proposal = proposed(LookupTreeDrafter(), text, gamma)
        assert ways(proposal) == expected[:gamma]
        assert (proposal.tree is None) == (gamma < 5)


def test_lookups_tree_drafts_the_beginnings_that_are_most_likely_to_hold(monkeypatch):
    """Worked out from every place where the words stood, each found by looking: those that share a beginning add up."""
    monkeypatch.setattr(lookup, "CONTINUATIONS", 3)
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
                    chances[tuple(copy[:n])] += 0.5**age * lookup.COPY_CONTINUES**n
            found = ways(proposal)
            assert len(set(found)) == len(found) == min(gamma, len(chances))
            best = sorted(chances.values(), reverse=True)[: len(found)]
            assert [chances[way] for way in found] == pytest.approx(best)
            branched += proposal.tree is not None
    assert branched > 20


def test_lookups_tree_with_one_source_is_lookup():
    text = [1, 2, 3, 4, 5, 1, 2]
    one, two = proposed(LookupTreeDrafter(), text, 4), proposed(LookupDrafter(), text, 4)
    assert one.tokens == two.tokens == [3, 4, 5, 1] and one.tree is None
    assert proposed(LookupTreeDrafter(), [1, 2, 3], 4).tokens == []


@pytest.mark.parametrize("longest", [1, 3, 8])
def test_a_memory_is_what_followed_each_run_in_every_text(longest):
    """Learned in pieces, of any size, from two texts; and of no run that is longer."""
    memory, counts = Memory(longest), {}
    for text in (text_of(30, 1), text_of(20, 2)):
        for known, upto in pairwise([0, 1, 2, 3, 7, 8, len(text)]):
            memory.learn(text[:upto], known)
        for end in range(1, len(text)):
            for begin in range(max(0, end - longest), end):
                counts.setdefault(tuple(text[begin:end]), Counter())[text[end]] += 1
    assert memory.follows == counts


def test_what_follows_is_asked_of_the_longest_known_end():
    memory = Memory(3)
    memory.learn([1, 2, 3, 4, 9, 2, 3, 5, 9, 3, 5], 0)
    assert memory.next([1, 2, 3]) == (4, 1.0, 3)
    assert memory.next([7, 7, 1, 2, 3]) == (4, 1.0, 3)
    assert memory.next([8, 2, 3]) == (5, 0.5, 2), "of two as frequent the later"
    assert memory.next([3]) == (5, 2 / 3, 1)
    assert memory.next([7, 9]) == (3, 0.5, 1)
    assert memory.next([7]) is None and memory.next([]) is None


def test_suffix_decoding_goes_on_while_the_product_of_the_shares_is_at_least_the_limit():
    """Behind 1 come 2 and 3 as often, behind those the same: each further draft halves the chance."""
    text = [1, 2, 9, 1, 3, 9, 8, 1, 2, 9, 8, 1, 3, 9, 1]

    def drafts(limit, gamma=6):
        return proposed(SuffixDrafter(Memory(1), stop_below=limit, each=9), text, gamma).tokens

    shares = {a: Counter(b for x, b in pairwise(text) if x == a) for a in text}
    chance, token, expected = 1.0, 1, []
    for _ in range(6):
        latest = {b: i for i, (x, b) in enumerate(pairwise(text)) if x == token}
        best = max(latest, key=lambda b: (shares[token][b], latest[b]))
        chance *= shares[token][best] / shares[token].total()
        expected.append((best, chance))
        token = best
    for n, (_, chance) in enumerate(expected):
        assert drafts(chance) == [b for b, c in expected if c >= chance], n
    assert drafts(0.51) == [] and len(drafts(0.5)) >= 1
    for gamma in range(7):
        assert drafts(0.0, gamma) == [b for b, _ in expected[:gamma]]


def test_suffix_decoding_stops_by_itself_where_anything_may_follow():
    """Without being told when: of forty tokens that followed, none is worth a guess; the only one is."""
    varied = [x for token in range(2, 42) for x in (1, token)]
    assert proposed(SuffixDrafter(), [*varied, 1], 8).tokens == []
    assert proposed(SuffixDrafter(), [1, 2, 3, 4, 1], 3).tokens == [2, 3, 4]
