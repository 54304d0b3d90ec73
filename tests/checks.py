"""Checks of decoding, which raise AssertionError. For a planted bug they must: see test_planted_bugs."""

from collections.abc import Callable, Sequence
from random import Random

import torch
from tiny import SAMPLED
from torch import Tensor

from specdec_lab.drafters import Drafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Keep, Request, Stops, plain, speculative
from specdec_lab.engine.processors import LogitBias, RepetitionPenalty
from specdec_lab.engine.rules import Rule
from specdec_lab.engine.sampling import GREEDY, Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import silent
from specdec_lab.models.base import Model

SAMPLERS = GREEDY, SAMPLED, Sampler(0.7, top_k=3), Sampler(1.0, top_p=0.8)
SHAPED = (), (), (RepetitionPenalty(1.7),), (LogitBias({0: 1.5, 2: -1.0}),)


def by_chance(counts: Tensor, expected: Tensor) -> float:
    """The probability of counts that are at least so far from what is expected of them (χ²)."""
    statistic = ((counts - expected) ** 2 / expected).sum() / 2
    return float(torch.special.gammaincc(torch.tensor((counts.numel() - 1) / 2).double(), statistic.double()))


def check_caches(
    target: Model,
    drafter: Drafter,
    draft: Model | None,
    prompt: Sequence[int],
    *,
    gamma: int,
    uniforms,
    sampler: Sampler = SAMPLED,
    stops: Stops = Stops(24),
    tolerance: float,
) -> list[str]:
    """After every round, both caches give the rows that a fresh pass over the text gives.

    Checked twice: the rows the round decided with, and a probe of the caches it left behind. One pass over the whole
    text, without a cache, has the rows for all probes.
    Returns the kinds of rounds met.
    """
    seen = {}
    start = drafter.start
    drafter.start = lambda cached, prompt, hidden: (seen.update(target=cached.cached), start(cached, prompt, hidden))[1]
    text, kinds, probes = list(prompt), [], {}
    for r in speculative(
        target, drafter, prompt, gamma=gamma, sampler=sampler, stops=stops, uniforms=uniforms, keep=Keep(rows=True)
    ):
        tokens = [d.id for d in r.drafted]
        fresh = sampler(target.cached().extend([text + tokens]).logits[0, len(text) - 1 :])
        assert (fresh - r.p_rows).abs().max() < tolerance, "the target's rows differ from uncached ones"
        if draft is not None and tokens:
            fresh = sampler(draft.cached().extend([(text + tokens)[:-1]]).logits[0, len(text) - 1 :])
            assert (fresh - r.q_rows).abs().max() < tolerance, "the draft's rows differ from uncached ones"
        text += r.tokens
        kinds.append("cut" if r.cut else f"{r.emitted.kind} at {r.accepted} of {len(r.drafted)}")
        caches = [(target, seen["target"])] + ([(draft, drafter.row.cached)] if draft is not None else [])
        for model, cached in caches:
            held = cached.lengths[0]
            assert held <= len(text) - 1, "a cache holds tokens that are not in the text"
            probes.setdefault(model, {})[len(text) - 1] = cached.extend([text[held:]]).logits[0, -1]
            cached.rewind([held])
    for model, found in probes.items():
        fresh = model.cached().extend([text]).logits[0, list(found)]
        # Not by the run's sampler: two one-hot rows may agree by chance.
        apart = SAMPLED(torch.stack([*found.values()])) - SAMPLED(fresh)
        assert apart.abs().max() < tolerance, f"{model.name}: the cache is stale"
    return kinds


def check_caches_often(target: Model, drafter: Callable[[], Drafter], draft: Model, times: int, **more) -> set[str]:
    """The same with other random numbers each time. Returns the kinds of rounds met."""
    kinds = set()
    for request in range(times):
        kinds |= set(check_caches(target, drafter(), draft, [0, 1], uniforms=Uniforms(1, request), **more))
    return kinds


def check_begins_anew(target: Model, drafter: Drafter, fresh: Callable[[], Drafter]) -> None:
    """A drafter that has written a text drafts for the next one what a new one drafts for it.

    Args:
        fresh: makes the new one; called between the texts.
    """

    def drafts(by: Drafter, prompt: Sequence[int]) -> list[list[int]]:
        rounds = speculative(target, by, prompt, gamma=3, stops=Stops(20), sampler=SAMPLED)
        return [[d.id for d in r.drafted] for r in rounds]

    drafts(drafter, [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1])
    new = fresh()
    assert drafts(drafter, [1, 0, 0, 1, 0]) == drafts(new, [1, 0, 0, 1, 0]), "the text before is not forgotten"


def twice(new: Sequence[int]) -> bool:
    return list(new[-2:]) == [2, 2]


def settings_of(dice: Random, i: int) -> dict:
    """What text number i is asked for with."""
    stops = Stops(dice.randint(1, 40), dice.choice([frozenset(), frozenset({1})]), dice.choice([None, twice]))
    keep, sampler = dice.choice([Keep(), Keep(), Keep(rows=True)]), dice.choice(SAMPLERS)
    more = {"stops": stops, "uniforms": Uniforms(7, i), "keep": keep}
    return {"sampler": sampler, "processors": dice.choice(SHAPED), **more}


def check_together(
    dice: Random,
    target: Model,
    drafts: Callable[[Random, int], tuple[Callable[[], Drafter | None], Rule]],
    *,
    texts: int,
    most: int,
    after: Callable[[Batch], None] = silent,
) -> list[tuple[Request, Trace]]:
    """Texts join, leave and pause at random, γ changing from step to step: each is what it is alone, and ends where plain
    decoding ends.

    Args:
        drafts: for text number i what makes its drafter, and a rule that judges such drafts.
        after: called behind each step.
    """
    batch, asked = Batch(target, most), []
    while len(asked) < texts or len(batch):
        if len(asked) < texts and (dice.random() < 0.4 or not len(batch)):
            prompt = [dice.randrange(target.vocab_size) for _ in range(dice.randint(1, 12))]
            make, rule = drafts(dice, len(asked))
            how = settings_of(dice, len(asked)) | {"verify": rule}
            request = Request(target, prompt, make(), **how)
            asked.append((request, batch.submit(request), prompt, make, how, []))
            continue
        gamma, before = dice.randint(0, 6), [len(trace.rounds) for _, trace, *_ in asked]
        batch.step(gamma)
        for (_, trace, *_, gammas), had in zip(asked, before):
            gammas += [gamma] * (len(trace.rounds) - had)
            assert len(trace.clock) == len(trace.rounds)
        assert len(batch.running) <= most, "more rows than allowed"
        after(batch)
    for _, trace, prompt, make, how, gammas in asked:
        check_alone(trace, target, prompt, make, how, gammas)
    return [(request, trace) for request, trace, *_ in asked]


def check_alone(trace: Trace, target: Model, prompt: list[int], make, how: dict, gammas: list[int]) -> None:
    trace.check()
    batch = Batch(target, 1)
    alone = batch.submit(Request(target, prompt, make(), **how))
    for gamma in gammas:
        batch.step(gamma)
    assert (alone.tokens, alone.stop) == (trace.tokens, trace.stop), "a row differs from the same text alone"
    for a, b in zip(alone.rounds, trace.rounds, strict=True):
        assert [(d.id, d.status, d.parent) for d in a.drafted] == [(d.id, d.status, d.parent) for d in b.drafted]
    if how["sampler"].greedy:
        own = Trace(prompt).collect(plain(target, prompt, **how))
        assert (own.tokens, own.stop) == (trace.tokens, trace.stop), "not plain decoding's text"
    for r, gamma in zip(trace.rounds, gammas, strict=True):
        assert len(r.drafted) <= min(gamma, target.context - r.start - 1 if gamma else 0)
