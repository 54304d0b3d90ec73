"""The guards, tested by breaking what they guard: each bug here is caught by a check named in its test."""

import copy
from dataclasses import replace
from functools import partial

import pytest
import torch
from checks import check_caches_often, check_stops_at_eos, check_strict_at_zero
from every_way import worst_apart
from tiny import TinyCached, TinyModel

from specdec_lab.drafters import ModelDrafter, Proposal
from specdec_lab.engine.decode import Stops, speculative
from specdec_lab.engine.sampling import DRAFT, draw
from specdec_lab.engine.verify import Verdict, accepts, residual
from specdec_lab.models.base import Rows


def broken_rule(
    *, swap=False, same_u=False, no_residual=False, bonus_from_q=False, shift_rows=False, lenient=False, strict=False
):
    """The verification rule with one thing wrong."""

    def verify(p, q, drafts, u_accept, u_resample):
        if shift_rows:
            p = p.roll(-1, 0)
        for i, x in enumerate(drafts):
            a, b = (q, p) if swap else (p, q)
            p_x, q_x = float(a[i, x]), float(b[i, x])
            p_x = (p_x * q_x) ** 0.5 if lenient and p_x < q_x else 0.9 * p_x if strict else p_x
            if not accepts(p_x, q_x, u_accept[i]):
                rest = p[i] if no_residual else residual(p[i], q[i])
                return Verdict(range(i), draw(rest, u_accept[i] if same_u else u_resample[i]), "corrected")
        last = len(drafts)
        row = q[last - 1] if bonus_from_q else p[last]
        return Verdict(range(last), draw(row, u_resample[last]), "bonus")

    return verify


TARGET, DRAFTER = TinyModel(3, seed=1), partial(ModelDrafter, TinyModel(3, seed=2))


@pytest.mark.parametrize("bug", ["swap", "same_u", "no_residual", "bonus_from_q", "shift_rows", "lenient", "strict"])
def test_wrong_rules_are_caught_by_enumeration(bug):
    """A single round of it is enough. Two are exact without the bug, so that what fails, fails for its bug."""
    assert worst_apart(TARGET, DRAFTER, gamma=2, rule=broken_rule(**{bug: True})) > 1e-3
    assert worst_apart(TARGET, DRAFTER, gamma=2, rounds=2, rule=broken_rule()) < 1e-12


def test_accepting_what_has_probability_zero_is_caught():
    with pytest.raises(AssertionError):
        check_strict_at_zero(lambda p_x, q_x, u: u * q_x <= p_x)


class RowsOffByOne(TinyCached):
    """Returns the row of the token before: what a wrong shift of the logits does."""

    def extend(self, new, **more):
        rows = super().extend(new, **more)
        shifted = rows.logits.roll(1, 1)
        return Rows(rows.hidden, shifted)


class NeverRewinds(TinyCached):
    """Keeps the keys of rejected drafts."""

    def rewind(self, lengths):
        pass


def on(model, kind):
    """The same tiny model on another kind of cache."""
    other = copy.copy(model)
    other.cached = lambda rows=1: kind(other, rows)
    return other


@pytest.mark.parametrize("kind", [RowsOffByOne, NeverRewinds])
def test_a_broken_target_cache_is_caught(kind):
    assert worst_apart(TARGET, DRAFTER, gamma=2, rounds=2, run_on=on(TARGET, kind)) > 1e-3
    with pytest.raises(AssertionError, match=r"uncached|stale|not in the text"):
        caches(on(TinyModel(4, seed=8, spread=0.5), kind), ModelDrafter)


class OneShort(ModelDrafter):
    """Feeds the draft only the newest token: after a fully accepted round its cache misses one."""

    def drafting(self, text, gamma, sampler, uniforms):
        tokens, q, last = [], [], text[-1]
        for i in range(gamma):
            row = sampler(self.row.cached.extend([[last]]).logits[0, -1])
            last = draw(row, uniforms(len(text) + i, DRAFT))
            tokens.append(last)
            q.append(row)
        return Proposal(tokens, torch.stack(q))


def caches(target, drafter):
    """The cache check on its own; the uncached rows come from the sound model underneath."""
    sound = TinyModel(4, seed=8, spread=0.5)
    draft = TinyModel(4, seed=9, spread=0.5)
    check_caches_often(target, lambda: drafter(draft), draft, 6, gamma=3, tolerance=1e-12, fresh_target=sound)


def test_a_draft_cache_that_is_one_short_is_caught_by_the_cache_check_alone():
    target = TinyModel(4, seed=8, spread=0.5)
    with pytest.raises(AssertionError, match="draft's rows differ"):
        caches(target, OneShort)
    # What it emits is still exact: q is whatever the drafts were drawn from. Only its acceptance suffers.
    for seed in range(3):
        text = [0]
        for r in speculative(target, OneShort(TinyModel(4, seed)), [0], gamma=3, stops=Stops(40)):
            for token in r.tokens:
                assert token == int(target.logits(text).argmax())
                text.append(token)


def test_tokens_kept_after_end_of_text_are_caught():
    def keeps_all(*args, stops, **more):
        """Ends after the round that held end-of-text instead of at it."""
        for r in speculative(*args, **more):
            if stops.eos & set(r.tokens):
                yield replace(r, stop="eos")
                return
            yield r

    with pytest.raises(AssertionError, match="after end-of-text"):
        check_stops_at_eos(keeps_all)
