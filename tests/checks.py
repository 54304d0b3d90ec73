"""Checks of decoding, which raise AssertionError. For a planted bug they must: see test_planted_bugs."""

import random
from collections.abc import Callable, Sequence

import torch
from tiny import SAMPLED
from torch import Tensor

from specdec_lab.drafters import Drafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Keep, Request, Stops, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.models.base import Model


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


def written_alone(request: Request, gammas: Sequence[int]) -> Trace:
    """A text without neighbours, with these γ, one a round."""
    batch = Batch(request.target, 1)
    trace = batch.submit(request)
    for gamma in gammas:
        batch.step(gamma)
    return trace


def check_batch(
    target: Model, drafter: Callable[[int], Drafter], *, most: int, texts: int, seed: int, **more
) -> list[Trace]:
    """Texts that join and leave at random, γ changing from step to step: each is what it is alone.

    Args:
        drafter: makes the drafter of text number i.
        more: of what a request takes.

    Returns:
        The traces, for asking what happened in them.
    """
    dice, engine = random.Random(seed), Batch(target, most)
    requests, traces, gammas = [], [], []
    while len(requests) < texts or len(engine):
        if len(requests) < texts and (dice.random() < 0.4 or not len(engine)):
            i = len(requests)
            prompt = [dice.randrange(target.vocab_size) for _ in range(dice.randint(1, 12))]
            settings = {
                "sampler": Sampler(dice.choice([0.0, 1.0])),
                "stops": Stops(dice.randint(1, 30), eos=frozenset({1})),
                "uniforms": Uniforms(seed, i),
                **more,
            }
            requests.append((prompt, settings))
            traces.append(engine.submit(Request(target, prompt, drafter(i), **settings)))
            gammas.append([])
            continue
        gamma, before = dice.randint(0, 5), [len(trace.rounds) for trace in traces]
        engine.step(gamma)
        for trace, had, used in zip(traces, before, gammas):
            used += [gamma] * (len(trace.rounds) - had)
        assert len(engine.running) <= most, "more rows than allowed"
    for i, ((prompt, settings), row) in enumerate(zip(requests, traces)):
        row.check()
        one = written_alone(Request(target, prompt, drafter(i), **settings), gammas[i])
        assert (one.tokens, one.stop) == (row.tokens, row.stop), "a row differs from the same text alone"
        assert [[d.status for d in r.drafted] for r in one.rounds] == [
            [d.status for d in r.drafted] for r in row.rounds
        ], "a row's rounds differ from those of the same text alone"
    return traces
