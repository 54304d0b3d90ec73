"""The exactness checks. `test_exact.py` runs them on the engine, `test_planted_bugs.py` on broken ones.

Each takes the pieces that may be wrong as arguments and raises AssertionError when they are.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from tiny import SAMPLED, Scripted, TinyModel
from torch import Tensor

from specdec_lab.drafters import Drafter, LookupDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Keep, Request, Stops, speculative
from specdec_lab.engine.sampling import ACCEPT, DRAFT, RESAMPLE, Sampler, Uniforms, draw
from specdec_lab.engine.trace import Trace
from specdec_lab.engine.verify import residual, verify
from specdec_lab.models.base import Model


@dataclass(frozen=True)
class Drafted:
    """One way a round's draft can come out: its probability, tokens, rows q, and the uniforms that cause it."""

    weight: float
    tokens: tuple[int, ...]
    q: tuple[Tensor, ...]
    script: dict[tuple[int, int], float]


Drafts = Callable[[Sequence[int], int], Iterator[Drafted]]


def cells(distribution: Tensor) -> Iterator[tuple[int, float, float]]:
    """(token, probability, a u inside its cell) for the engine's draw, whose edges are checked."""
    edge = 0.0
    for token, mass in enumerate(distribution.tolist()):
        if mass > 1e-9:
            for u in (edge + 1e-12, edge + mass - 1e-12):
                assert draw(distribution, u) == token, "the draw does not invert the cumulative distribution"
        if mass > 0:
            yield token, mass, edge + mass / 2
        edge += mass


def accept_chance(verify, p: Tensor, q: Tensor, x: int) -> float:
    """How much of u in [0, 1) the rule itself accepts x for, by bisection: it is a step in u."""

    def kept(u: float) -> bool:
        return verify(torch.stack([p, p]), q[None], [x], [u], [0.5, 0.5]).accepted == 1

    if kept(1 - 2**-53):
        return 1.0
    low, high = 0.0, 1.0
    while high - low > 1e-16 and low < (low + high) / 2 < high:
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    assert all(kept(u) == (u < low) for u in (0.13, 0.37, 0.61, 0.89)), "the accept rule is not a step in u"
    return low


def drawn_from(
    q_of: Callable[[Sequence[int], Sequence[int]], Tensor], stop_below: float = 0.0, dropped: int = 0
) -> Drafts:
    """Every draft of a drafter that draws token by token from q_of(text, drafts so far).

    Args:
        stop_below: it stops when its tokens were less probable than this, all together.
        dropped: so many tokens it takes back when it stops, which is a mistake.
    """

    def drafts(text: Sequence[int], gamma: int) -> Iterator[Drafted]:
        def grow(done: Drafted) -> Iterator[Drafted]:
            unsure = done.weight < stop_below
            if unsure and dropped:
                done = replace(done, tokens=done.tokens[:-dropped], q=done.q[:-dropped])
            if unsure or len(done.tokens) == gamma:
                yield done
                return
            q = q_of(text, done.tokens)
            here = (len(text) + len(done.tokens), DRAFT)
            for token, mass, u in cells(q):
                yield from grow(
                    Drafted(done.weight * mass, (*done.tokens, token), (*done.q, q), {**done.script, here: u})
                )

        yield from grow(Drafted(1.0, (), (), {}))

    return drafts


def copies(text: Sequence[int], gamma: int) -> Iterator[Drafted]:
    """What `LookupDrafter` drafts from three tokens: nothing is drawn."""
    drafter = LookupDrafter()
    drafter.start(None, text, None)
    tokens = drafter.propose(text, gamma, SAMPLED, Uniforms()).tokens
    yield Drafted(1.0, tuple(tokens), tuple(torch.eye(3, dtype=torch.float64)[tokens]), {})


def round_cells(
    target: TinyModel, text: Sequence[int], gamma: int, drafts: Drafts, verify, chances: dict
) -> Iterator[tuple[float, dict]]:
    """Cells (weight, uniforms) that together cover everything one round can depend on.

    The accept rule is a step in u, and where it steps is measured on the rule itself; the draws
    are steps at the cumulative sums. One point inside each cell integrates them exactly.
    `chances` remembers what was measured.
    """
    for d in drafts(text, gamma):
        start, p = len(text), [target.probabilities([*text, *d.tokens[:i]]) for i in range(len(d.tokens) + 1)]
        survived, script = d.weight, dict(d.script)
        for i, x in enumerate(d.tokens):
            place = (len(text), *text, *d.tokens[: i + 1])  # q may depend on where drafting began
            if place not in chances:
                chances[place] = accept_chance(verify, p[i], d.q[i], x)
            chance = chances[place]
            if chance < 1:
                refused = {**script, (start + i, ACCEPT): (chance + 1) / 2}
                for _, mass, u in cells(residual(p[i], d.q[i])):
                    yield survived * (1 - chance) * mass, {**refused, (start + i, RESAMPLE): u}
            survived *= chance
            if survived == 0:
                break
            script[start + i, ACCEPT] = chance / 2
        else:
            for _, mass, u in cells(p[-1]):
                yield survived * mass, {**script, (start + len(d.tokens), RESAMPLE): u}


def check_enumeration(
    target: TinyModel,
    drafter: Callable[[], Drafter],
    drafts: Drafts,
    gamma: int,
    rounds: int,
    *,
    verify=verify,
    run_on: Model | None = None,
    prompt: Sequence[int] = (0, 1),
    tolerance: float = 1e-12,
    **request,
) -> int:
    """The distribution of what `rounds` rounds emit equals the target's. Returns how many engine runs it took.

    Every path through the engine is run for real, with its uniforms scripted. After R rounds a
    path has emitted some text; continued by the target itself, the paths must add up to the
    target's distribution over texts of the greatest length that a path can have.

    Args:
        target: what must come out. run_on: what runs, if not the same.
        request: more of what a request takes, such as processors.
    """
    prompt, runs, chances = list(prompt), 0, {}
    paths = [(1.0, [], [])]  # (weight, scripts, emitted)
    for _ in range(rounds):
        longer = []
        for weight, scripts, emitted in paths:
            for mass, script in round_cells(target, prompt + emitted, gamma, drafts, verify, chances):
                uniforms = Scripted([*scripts, script])
                got: list[int] = []
                stream = speculative(
                    run_on or target,
                    drafter(),
                    prompt,
                    gamma=gamma,
                    uniforms=uniforms,
                    verify=verify,
                    stops=Stops(1000),
                    **{"sampler": SAMPLED, **request},
                )
                for _ in range(len(uniforms.rounds)):
                    got += next(stream).tokens
                    uniforms.next_round()
                runs += 1
                longer.append((weight * mass, uniforms.rounds, got))
        paths = longer

    length = rounds * (gamma + 1)
    worst = 0.0
    emitted_mass: dict[tuple[int, ...], float] = {}
    for weight, _, emitted in paths:
        emitted_mass[tuple(emitted)] = emitted_mass.get(tuple(emitted), 0.0) + weight
    # Many texts begin alike, and each beginning is asked for once.
    row_after = cache(lambda *begin: target.probabilities([*prompt, *begin]).tolist())
    for text in itertools.product(range(target.vocab_size), repeat=length):
        ahead = [row_after(*text[:i])[text[i]] for i in range(length)]
        got = sum(emitted_mass.get(text[:n], 0.0) * math.prod(ahead[n:]) for n in range(1, length + 1))
        worst = max(worst, abs(got - math.prod(ahead)))
    assert worst < tolerance, f"a text's probability is off by {worst:.3g}"
    return runs


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
    fresh_target: Model | None = None,
) -> list[str]:
    """After every round, both caches give the rows that a fresh pass over the text gives.

    Checked twice: the rows the round decided with, and a probe of the caches it left behind. One pass over the whole
    text, without a cache, has the rows for all probes.
    `fresh_target` gives the uncached rows (default: the target). Returns the kinds of rounds met.
    """
    fresh_target = fresh_target or target
    seen = {}
    start = drafter.start
    drafter.start = lambda cached, prompt, hidden: (seen.update(target=cached.cached), start(cached, prompt, hidden))[1]
    text, kinds, probes = list(prompt), [], {}
    for r in speculative(
        target, drafter, prompt, gamma=gamma, sampler=sampler, stops=stops, uniforms=uniforms, keep=Keep(rows=True)
    ):
        tokens = [d.id for d in r.drafted]
        fresh = sampler(fresh_target.cached().extend([text + tokens]).logits[0, len(text) - 1 :])
        assert (fresh - r.p_rows).abs().max() < tolerance, "the target's rows differ from uncached ones"
        if draft is not None and tokens:
            fresh = sampler(draft.cached().extend([(text + tokens)[:-1]]).logits[0, len(text) - 1 :])
            assert (fresh - r.q_rows).abs().max() < tolerance, "the draft's rows differ from uncached ones"
        text += r.tokens
        kinds.append("cut" if r.cut else f"{r.emitted.kind} at {r.accepted} of {len(r.drafted)}")
        caches = [(fresh_target, seen["target"])] + ([(draft, drafter.row.cached)] if draft is not None else [])
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


def check_strict_at_zero(accepts: Callable[[float, float, float], bool]) -> None:
    """A token that the target never says is refused even for u = 0."""
    assert not accepts(0.0, 0.5, 0.0)
    assert accepts(1e-300, 1.0, 0.0)


def check_stops_at_eos(run: Callable[..., Iterator], target: Model, drafter: Drafter, eos: int, **more) -> None:
    """Nothing stands after end-of-text, and drafts behind it are discarded even when the target agreed."""
    tokens, last = [], None
    for r in run(target, drafter, [0, 1], stops=Stops(200, frozenset({eos})), **more):
        tokens += r.tokens
        last = r
    assert last.stop == "eos", "the text did not end at end-of-text"
    assert tokens.index(eos) == len(tokens) - 1, "tokens stand after end-of-text"


class Schedule:
    """γ round by round, as a batch gave it to one of its rows."""

    def __init__(self, gammas: Sequence[int]):
        self.gammas = iter(gammas)

    def choose(self, part: str) -> int:
        return next(self.gammas, 0)  # a row that went wrong may have ended earlier

    def observe(self, r) -> None:
        pass


def check_batch(target: Model, drafter: Callable[[int], Drafter], *, most: int, texts: int, seed: int, batch=Batch):
    """Texts that join and leave at random, γ changing from step to step: each is what it is alone.

    Args:
        drafter: makes the drafter of text number i.
        batch: the engine under test.

    Returns:
        The traces, for asking what happened in them.
    """
    dice = random.Random(seed)
    engine, traces, gammas, alone = batch(target, most), [], [], []
    requests = []
    while len(requests) < texts or len(engine):
        if len(requests) < texts and (dice.random() < 0.4 or not len(engine)):
            i = len(requests)
            prompt = [dice.randrange(target.vocab_size) for _ in range(dice.randint(1, 12))]
            settings = {
                "sampler": Sampler(dice.choice([0.0, 1.0])),
                "stops": Stops(dice.randint(1, 30), eos=frozenset({1})),
                "uniforms": Uniforms(seed, i),
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
    for i, (prompt, settings) in enumerate(requests):
        rounds = speculative(target, drafter(i), prompt, gamma=Schedule(gammas[i]), **settings)
        alone.append(Trace(prompt).collect(rounds))
    for one, row in zip(alone, traces):
        row.check()
        assert (one.tokens, one.stop) == (row.tokens, row.stop), "a row differs from the same text alone"
        assert [[d.status for d in r.drafted] for r in one.rounds] == [
            [d.status for d in r.drafted] for r in row.rounds
        ], "a row's rounds differ from those of the same text alone"
    return traces
