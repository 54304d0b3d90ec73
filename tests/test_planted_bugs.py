"""The guards, tested by breaking what they guard: each bug of the table is caught by the check that stands beside it.

Each family also has its sound form (`None`, or SOUND), so that what fails, fails for its bug.
"""

import copy
from dataclasses import replace
from functools import partial

import pytest
import torch
from branched_drafter import TWO_BY_TWO, TreeOf
from checks import check_batch, check_caches_often, check_stops_at_eos, check_strict_at_zero
from every_way import Unknown, worst_apart
from random_nets import make
from tiny import NO_STUTTER, Shaped, TinyCached, TinyModel

from specdec_lab.drafters import LookupDrafter, ModelDrafter, Proposal, drawing, model
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.engine import decode
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Stops, speculative
from specdec_lab.engine.lockstep import Pass, as_generator
from specdec_lab.engine.processors import RepetitionPenalty, process
from specdec_lab.engine.rules import Rule, survives, verify_block
from specdec_lab.engine.sampling import DRAFT, Sampler, draw
from specdec_lab.engine.verify import Verdict, accepts, residual, verify
from specdec_lab.models.base import Rows
from specdec_lab.models.tree import TEXT, Tree

TARGET, DRAFTER = TinyModel(3, seed=1), partial(ModelDrafter, TinyModel(3, seed=2))
BRANCHED = partial(TreeOf, TinyModel(3, seed=2), TWO_BY_TWO)
FOUR = TinyModel(4, seed=8, spread=0.5)


def exact(target=TARGET, drafter=DRAFTER, **how) -> None:
    """The check of all exactness: every way that random numbers can take, added up."""
    assert worst_apart(target, drafter, **how) < 1e-6


# Rules


def chain_rule(bug=None):
    def rule(p, q, drafts, u_accept, u_resample):
        if bug == "rows shifted":
            p = p.roll(-1, 0)
        for i, x in enumerate(drafts):
            a, b = (q, p) if bug == "p and q swapped" else (p, q)
            p_x, q_x = float(a[i, x]), float(b[i, x])
            if bug == "lenient" and p_x < q_x:
                p_x = (p_x * q_x) ** 0.5
            if not accepts(0.9 * p_x if bug == "strict" else p_x, q_x, u_accept[i]):
                rest = p[i] if bug == "no residual" else residual(p[i], q[i])
                return Verdict(range(i), draw(rest, (u_accept if bug == "one number for both" else u_resample)[i]), "")
        last = len(drafts)
        row = q[last - 1] if bug == "bonus from q" else p[last]
        return Verdict(range(last), draw(row, u_resample[last]), "bonus")

    return rule


def wrong_from_the_fourth_draft_on(p, q, drafts, u_accept, u_resample):
    p = p.clone()
    p[3] = p[2]
    return verify(p, q, drafts, u_accept, u_resample)


def tree_rule(bug=None):
    def rule(p, q, drafts, u_accept, u_resample, tree=None):
        tree = tree or Tree.chain(len(drafts))
        at, way = TEXT, []
        while offered := tree.children[at]:
            rest = p[at if bug == "another row" and at > 0 else at + 1]
            for i in offered:
                taken = q[offered[0]] if bug == "the first one's q" else q[i]
                if accepts(float(rest[drafts[i]]), float(taken[drafts[i]]), u_accept[i]):
                    break
                if bug != "one residual" or i == offered[0]:
                    rest = residual(rest, taken)
            else:
                rest = p[at + 1] if bug == "p instead of what is left" else rest
                return Verdict(way, draw(rest, u_resample[len(way)]), "corrected")
            at = i
            way.append(i)
        return Verdict(way, draw(p[at + 1], u_resample[len(way)]), "bonus")

    return Rule(rule, tree=rule)


def block_rule(bug=None):
    def rule(p, q, drafts, u_accept, u_resample):
        wanted, survivor = 1.0, (0, 1.0)
        for i, x in enumerate(drafts):
            ratio = float(p[i, x]) / float(q[i, x])
            wanted = ratio if bug == "per token" else wanted * ratio
            wanted = wanted if bug == "no cap" else min(1.0, wanted)
            last = q[i] if bug == "the last like the others" else None
            chance = survives(wanted, p[i + 1], q[i + 1] if i + 1 < len(drafts) else last)
            if u_accept[0 if bug == "one number for all" else i] < (wanted if bug == "bare share" else chance):
                survivor = (i + 1, wanted)
            elif bug == "first miss":
                break
        kept, wanted = survivor
        if kept == len(drafts):
            return Verdict(range(kept), draw(p[kept], u_resample[kept]), "bonus")
        share = 1.0 if bug == "plain residual" else wanted
        return Verdict(range(kept), draw(residual(share * p[kept], q[kept]), u_resample[kept]), "corrected")

    return rule


CHAIN = ("p and q swapped", "one number for both", "no residual", "bonus from q", "rows shifted", "lenient", "strict")
TREES = ("one residual", "the first one's q", "p instead of what is left", "another row")
BLOCK = ("plain residual", "per token", "first miss", "no cap", "the last like the others", "bare share")
BINARY = {"target": TinyModel(2, seed=1), "drafter": partial(ModelDrafter, TinyModel(2, seed=2))}


# Drafters


class Unscaled(TreeOf):
    """q of a later sibling is not renormalised."""

    def drafting(self, text, gamma, sampler, uniforms):
        proposal = super().drafting(text, gamma, sampler, uniforms)
        q = proposal.q.clone()
        for siblings in proposal.shape.children.values():
            for n, i in enumerate(siblings[1:], start=1):
                q[i] = q[siblings[0]]
                q[i, [proposal.tokens[j] for j in siblings[:n]]] = 0
        return Proposal(proposal.tokens, q, tree=proposal.tree)


class Choosy(TreeOf):
    """Drops improbable drafts after drawing: this is why the shape of a drawn tree is settled before."""

    def drafting(self, text, gamma, sampler, uniforms):
        proposal = super().drafting(text, gamma, sampler, uniforms)
        return proposal if float(proposal.q[0, proposal.tokens[0]]) > 0.3 else Proposal([])


class TakesBack(EagleDrafter):
    """Takes back a last draft that is improbable. Which drafts are checked then depends on their luck."""

    def drafting(self, text, gamma, sampler, uniforms):
        proposal = yield from super().drafting(text, gamma, sampler, uniforms)
        keep = len(proposal.tokens) - (float(proposal.q[-1, proposal.tokens[-1]]) < 0.34)
        return replace(proposal, tokens=proposal.tokens[:keep], q=proposal.q[:keep])


class OneForAllSiblings(Unknown):
    """All drafts of a depth share their numbers."""

    def __call__(self, position, purpose, rank=0):
        return super().__call__(position, purpose)


def draws_before_the_cut() -> None:
    """Drafts are drawn from all tokens, and compared with the q of the best two."""
    sampler = Sampler(0.7, top_k=2)
    with pytest.MonkeyPatch.context() as patch:
        shaped = drawing.ChainBuilder.draw

        def flatter(self, logits, u):
            choice = shaped(self, logits, u)
            self._q[-1] = sampler.shaped(logits)
            return choice

        patch.setattr(drawing.ChainBuilder, "draw", flatter)
        exact(Shaped(TARGET, (), sampler), run_on=TARGET, sampler=sampler, draft_sampler=Sampler(0.7), gamma=2)


def takes_back() -> None:
    target, net, _, _ = make("eagle", 3, [0, 1, 2])
    exact(target, partial(TakesBack, net), gamma=2)


# Processors: each row shaped with another text than its own


def shaped_by(wrong=None, processors=(RepetitionPenalty(1.7),), **how) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "process", wrong or process)
        exact(Shaped(TARGET, processors), run_on=TARGET, processors=processors, **{"gamma": 3} | how)


def row_by_row(processors, logits, text) -> torch.Tensor:
    return torch.stack([process(processors, row[None], text, Proposal([]))[0] for row in logits])


WRONGLY_SHAPED = {
    "without the drafts": lambda how, logits, text, proposal, ends: row_by_row(how, logits, text),
    "with the drafts behind": lambda how, logits, text, proposal, ends: row_by_row(
        how, logits, [*text, *proposal.tokens]
    ),
    "a token late": lambda how, logits, text, proposal, ends: process(
        how, logits, text[:-1], Proposal([text[-1], *proposal.tokens[:-1]])
    ),
    "the last row not": lambda how, logits, text, proposal, ends: torch.cat(
        [process(how, logits, text, proposal)[:-1], logits[-1:]]
    ),
    "without the prompt": lambda how, logits, text, proposal, ends: process(how, logits, text[2:], proposal),
}


def as_a_chain(processors, logits, text, proposal, ends):
    return process(processors, logits, text, Proposal(proposal.tokens))


# Caches


class RowsOffByOne(TinyCached):
    """Returns the row of the token before: what a wrong shift of the logits does."""

    def extend(self, new, **more):
        rows = super().extend(new, **more)
        return Rows(rows.hidden, rows.logits.roll(1, 1))


class KeepsRejected(TinyCached):
    def rewind(self, lengths):
        pass


def on(tiny, kind):
    """The same tiny model on another kind of cache."""
    other = copy.copy(tiny)
    other.cached = lambda rows=1: kind(other, rows)
    return other


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


def caches(target=FOUR, drafter=ModelDrafter) -> None:
    """The uncached rows come from the sound model underneath."""
    draft = TinyModel(4, seed=9, spread=0.5)
    check_caches_often(target, lambda: drafter(draft), draft, 6, gamma=3, tolerance=1e-12, fresh_target=FOUR)


# Batches


def keeps_the_last_row(cached) -> None:
    cached.drop = lambda row: cached.lengths.pop() and cached.slots.pop()


def rewinds_all_alike(cached) -> None:
    cached.rewind = lambda lengths: type(cached).rewind(cached, [min(lengths)] * len(lengths))


def never_rewinds(cached) -> None:
    cached.rewind = lambda lengths: None


def batched(breaks=None, fills_up=False) -> None:
    """breaks: what is done to the cache. fills_up: a row's last place of the padded pass counts as its own last row."""

    class Broken(Batch):
        def step(self, gamma):
            def filled_up(request, g):
                tokens = (yield from as_generator(type(request).drafting(request, g))).tokens
                return Proposal([*tokens, *[0] * (gamma - len(tokens))])  # with token 0, as the pass does

            if breaks:
                breaks(self.shared.cached)
            for request, _ in [*self.running, *self.waiting] if fills_up else []:
                request.drafting = partial(filled_up, request)
            return super().step(gamma)

    def drafter(i: int):
        return LookupDrafter() if i % 3 == 0 else ModelDrafter(TinyModel(5, seed=3 if i % 3 == 1 else 4, spread=0.8))

    for seed in range(4):
        check_batch(TinyModel(5, seed=3, spread=0.8), drafter, most=3, texts=12, seed=seed, batch=Broken)


class GivenTheNeighboursRows(Pass):
    @staticmethod
    def answer(asked):
        found = Pass.answer(asked)
        return found[-1:] + found[:-1]


class PaddingIsHeld(Pass):
    """Texts that asked for nothing hold one token more afterwards."""

    @staticmethod
    def answer(asked):
        cached, found = asked[0].row.cached, Pass.answer(asked)
        who = {one.row.at for one in asked}
        cached.lengths = [n + (r not in who) for r, n in enumerate(cached.lengths)]
        return found


def passing(kind=Pass) -> None:
    target, _, drafter, _ = make("model", 7, list(range(7)))
    shared = drafter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "Pass", kind)
        for seed in range(2 if kind is Pass else 20):
            check_batch(target, lambda i: copy.copy(shared), most=4, texts=10, seed=seed)


# Ends


def keeps_all(*args, stops, **more):
    """Ends after the round that held end-of-text instead of at it."""
    for r in speculative(*args, **more):
        if stops.eos & set(r.tokens):
            yield replace(r, stop="eos")
            return
        yield r


BUGS = {
    **{f"chain: {bug}": partial(exact, gamma=2, rule=chain_rule(bug)) for bug in CHAIN},
    "chain: the fourth draft": partial(exact, **BINARY, gamma=4, length=5, rule=wrong_from_the_fourth_draft_on),
    **{f"tree: {bug}": partial(exact, drafter=BRANCHED, rule=tree_rule(bug), length=3) for bug in TREES},
    **{f"block: {bug}": partial(exact, gamma=2, rule=Rule(block_rule(bug), fresh=True)) for bug in BLOCK},
    "block: one number for all": partial(exact, gamma=2, rule=Rule(block_rule("one number for all"), fresh=True)),
    "block: numbers come again": partial(exact, **BINARY, gamma=2, rounds=2, rule=Rule(verify_block)),
    "zero: a token the target never says": partial(check_strict_at_zero, lambda p_x, q_x, u: u * q_x <= p_x),
    "drafter: q of siblings": partial(exact, drafter=partial(Unscaled, TinyModel(3, seed=2), TWO_BY_TWO), length=3),
    "drafter: drops after drawing": partial(exact, drafter=partial(Choosy, TinyModel(3, seed=2), TWO_BY_TWO), length=3),
    "drafter: siblings share numbers": partial(
        exact, drafter=partial(BRANCHED, again=True), numbers=OneForAllSiblings, length=2
    ),
    "drafter: draws before the cut": draws_before_the_cut,
    "drafter: takes back": takes_back,
    **{f"processors: {name}": partial(shaped_by, wrong) for name, wrong in WRONGLY_SHAPED.items()},
    "processors: a tree as a chain": partial(
        shaped_by, as_a_chain, (RepetitionPenalty(1.7), NO_STUTTER), drafter=BRANCHED, gamma=8, length=3
    ),
    "cache: rows off by one": partial(caches, on(FOUR, RowsOffByOne)),
    "cache: keeps what was rejected": partial(caches, on(FOUR, KeepsRejected)),
    "text: rows off by one": partial(exact, run_on=on(TARGET, RowsOffByOne), gamma=2, rounds=2),
    "text: keeps what was rejected": partial(exact, run_on=on(TARGET, KeepsRejected), gamma=2, rounds=2),
    "cache: of the draft, one short": partial(caches, drafter=OneShort),
    **{f"batch: {f.__name__}": partial(batched, f) for f in (keeps_the_last_row, rewinds_all_alike, never_rewinds)},
    "batch: reads the padding": partial(batched, fills_up=True),
    **{f"batch: {kind.__name__}": partial(passing, kind) for kind in (GivenTheNeighboursRows, PaddingIsHeld)},
    "end: tokens behind it": partial(check_stops_at_eos, keeps_all),
}
SOUND = {
    "chain": partial(exact, gamma=2, rounds=2, rule=chain_rule()),
    "tree": partial(exact, drafter=BRANCHED, rule=tree_rule(), length=3),
    "block": partial(exact, gamma=2, rule=Rule(block_rule(), fresh=True)),
    "processors": shaped_by,
    "caches": caches,
    "batch": batched,
    "passes": passing,
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug):
    with pytest.raises((AssertionError, IndexError, RuntimeError)):
        BUGS[bug]()


@pytest.mark.parametrize("family", SOUND)
def test_what_is_sound_passes(family):
    SOUND[family]()


def test_a_draft_cache_that_is_one_short_costs_acceptance_and_no_exactness():
    """Which is why it has a check of its own: q is whatever the drafts were drawn from."""
    for seed in range(3):
        text = [0]
        for r in speculative(FOUR, OneShort(TinyModel(4, seed)), [0], gamma=3, stops=Stops(40)):
            for token in r.tokens:
                assert token == int(FOUR.logits(text).argmax())
                text.append(token)
