"""Every number of a round, worked out again from the text and both models, whatever the shape of its drafts."""

import pytest
import torch
from branched_drafter import DEEP, THREE_THEN_ONE, TWO_BY_TWO, Favourites, TreeOf
from tiny import TinyModel

from specdec_lab.drafters import LookupDrafter, LookupTreeDrafter, ModelDrafter
from specdec_lab.engine.decode import Keep, Stops, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import ACCEPTED, DISCARDED, REJECTED, Trace

TARGET, DRAFT = TinyModel(5, seed=8, spread=0.9), TinyModel(5, seed=9, spread=0.7)

# What drafts, and what its rows come from: the draft model, or the token alone (q is then one-hot).
KINDS = {
    "chain": (lambda: ModelDrafter(DRAFT), "model"),
    "tree": (lambda: TreeOf(DRAFT, TWO_BY_TWO), "model"),
    "wide tree": (lambda: TreeOf(DRAFT, THREE_THEN_ONE), "model"),
    "deep tree": (lambda: TreeOf(DRAFT, DEEP), "model"),
    "favourites": (lambda: Favourites(DRAFT, None), "tokens of the model"),
    "copies": (LookupDrafter, "tokens"),
    "several copies": (LookupTreeDrafter, "tokens"),
}
SAMPLERS = {"greedy": Sampler(0.0), "drawn": Sampler(1.0), "cut": Sampler(0.7, top_k=3)}


def most_likely(row, n):
    """All with a chance, and only so many."""
    pairs = sorted(((v, i) for i, v in enumerate(row.tolist()) if v > 0), reverse=True)[:n]
    return [(i, pytest.approx(v, abs=1e-6)) for v, i in pairs]


def check(r, text, kind, sampler, top):
    one_hot = torch.eye(5, dtype=torch.float64)
    _, rows_of = KINDS[kind]
    ways = {-1: text}
    for i, d in enumerate(r.drafted):
        ways[i] = [*ways[d.parent], d.id]
    p = {i: sampler(TARGET.logits(way)) for i, way in ways.items()}
    p_raw = {i: Sampler(1.0)(TARGET.logits(way)) for i, way in ways.items()}
    shown = p_raw if sampler.greedy else p
    wanted, taken = dict(p), {i: [] for i in ways}  # what refused siblings left, and which tokens they were
    for i, d in enumerate(r.drafted):
        if rows_of == "model" and not sampler.greedy:
            q = sampler(DRAFT.logits(ways[d.parent])).index_fill(0, torch.tensor(taken[d.parent], dtype=torch.long), 0)
            q = q / q.sum()
        else:
            q = one_hot[d.id]
        raw = one_hot[d.id] if rows_of == "tokens" else Sampler(1.0)(DRAFT.logits(ways[d.parent]))
        row = p[d.parent] if d.status == DISCARDED else wanted[d.parent]
        if not (r.cut and d.status == DISCARDED):  # a stop may have cut it off after it was tested
            assert (d.p, d.overlap) == pytest.approx((float(row[d.id]), float(torch.minimum(row, q).sum())))
        assert d.q == pytest.approx(float(q[d.id]))
        if r.p_rows is not None:
            assert torch.allclose(r.p_rows[i + 1], p[i]) and torch.allclose(r.q_rows[i], q)
        assert (d.p_raw, d.q_raw) == pytest.approx((float(p_raw[d.parent][d.id]), float(raw[d.id])), abs=1e-6)
        assert list(d.p_top) == most_likely(shown[d.parent], top) and list(d.after_top) == most_likely(shown[i], top)
        assert list(d.q_top) == most_likely(raw if sampler.greedy else q, top)
        assert (d.u is None) == sampler.greedy
        if d.status != DISCARDED:
            assert (d.status == ACCEPTED) == ((0.5 if d.u is None else d.u) * d.q < d.p)
        if d.status == REJECTED:
            rest = (wanted[d.parent] - q).clamp(min=0)
            wanted[d.parent] = rest / rest.sum()
        taken[d.parent].append(d.id)
    assert list(r.after_top) == most_likely(shown[len(r.drafted) - 1], top)
    if r.emitted:
        own = r.emitted
        assert (own.p, own.p_raw) == pytest.approx((float(p[r.last][own.id]), float(p_raw[r.last][own.id])), abs=1e-6)
        assert list(own.p_top) == most_likely(shown[r.last], top)
        assert float(wanted[r.last][own.id]) > 0
    assert r.start == len(text) and (r.p_rows is None or torch.allclose(r.p_rows[0], p[-1]))


@pytest.mark.parametrize("of", SAMPLERS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_numbers_of_a_round_follow(kind, of):
    statuses = set()
    for i in range(6):
        prompt, top = [0, 1, 2, 0, 1, 3, 0, 1], 2 + 3 * (i % 3)
        settings = {"sampler": SAMPLERS[of], "stops": Stops(7 + i, frozenset({4})), "uniforms": Uniforms(3, i)}
        trace, text = Trace(prompt), list(prompt)
        trace.collect(speculative(TARGET, KINDS[kind][0](), prompt, gamma=6, keep=Keep(top, i % 2 == 1), **settings))
        trace.check()
        for r in trace.rounds:
            check(r, text, kind, SAMPLERS[of], top)
            text += r.tokens
            statuses |= {d.status for d in r.drafted}
    assert {REJECTED, DISCARDED} <= statuses and (ACCEPTED in statuses or of == "greedy")
