"""A round seen from outside: where its time goes, how it ends, what is kept of it. (What it writes: test_any_run.)"""

from functools import partial
from itertools import combinations

import pytest
import torch
from branched_drafter import DEEP, TWO_BY_TWO, TreeOf
from tiny import TinyModel

from specdec_lab.drafters import DialDrafter, Drafter, ModelDrafter
from specdec_lab.engine import decode
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Keep, Request, Stops, plain, speculative
from specdec_lab.engine.rules import Rule, verify_tree
from specdec_lab.engine.trace import Seconds, Trace
from specdec_lab.engine.verify import verify

TARGET, DRAFT_MODEL = TinyModel(5, seed=3, spread=0.8), TinyModel(5, seed=4, spread=0.6)

# Time, by a clock that only the parts of a round move.

PASS, GUESS, RULE, TOLD, WRITTEN = 16.0, 1.0, 0.5, 0.25, 0.125  # seconds of each


class Device:
    """Passes are begun and not waited for, as on a GPU: only `synchronize` lets their time go by."""

    def __init__(self, monkeypatch):
        self.now, self.begun = 100.0, 0.0
        monkeypatch.setattr("time.perf_counter", lambda: self.now)
        monkeypatch.setattr(decode, "record", partial(self.slowly, WRITTEN, decode.record))

    def slowly(self, seconds: float, function, *args, **more):
        self.now += seconds
        return function(*args, **more)

    def model(self, seed: int, seconds: float) -> TinyModel:
        model = TinyModel(4, seed)
        make = model.cached

        def cached(rows=1):
            cache = make(rows)
            extend = cache.extend

            def begin(*args, **more):
                self.begun += seconds
                return extend(*args, **more)

            cache.extend = begin
            return cache

        model.cached, model.synchronize = cached, self.wait
        return model

    def wait(self) -> None:
        self.now, self.begun = self.now + self.begun, 0.0

    def request(self, drafter: Drafter | None = None) -> dict:
        if drafter:
            drafter.observe = partial(self.slowly, TOLD, drafter.observe)
        return {"verify": partial(self.slowly, RULE, verify), "stops": Stops(9)}


def test_the_seconds_of_a_round_are_those_of_its_parts_and_not_of_the_prompt(monkeypatch):
    device = Device(monkeypatch)
    target, prompt = device.model(1, PASS), [0, 1, 2]
    for r in plain(target, prompt, **device.request()):
        assert r.seconds == Seconds(0.0, PASS, RULE + WRITTEN)
    drafter = ModelDrafter(device.model(2, GUESS))
    drafted = set()
    for r in speculative(target, drafter, prompt, gamma=3, **device.request(drafter)):
        assert r.seconds == Seconds(len(r.drafted) * GUESS + TOLD, PASS, RULE + WRITTEN)
        drafted.add(len(r.drafted))
    assert 3 in drafted
    dial = DialDrafter(0.5)  # what knows the target's choices would be no drafter elsewhere: its time is nobody's
    for r in speculative(target, dial, prompt, gamma=3, **device.request(dial)):
        assert r.seconds == Seconds(0.0, PASS, RULE + WRITTEN)


def test_in_a_batch_they_are_those_of_all_and_the_clock_has_the_neighbours_prompts_too(monkeypatch):
    device = Device(monkeypatch)
    target, draft = device.model(1, PASS), device.model(2, GUESS)
    batch, traces = Batch(target), []
    drafters = [ModelDrafter(draft), ModelDrafter(draft), DialDrafter(0.5)]
    for i, drafter in enumerate(drafters[:2]):
        traces.append(batch.submit(Request(target, [0, i, 1], drafter, **device.request(drafter))))
    one = Seconds(2 * GUESS + TOLD, PASS, RULE + WRITTEN)
    assert [r.seconds for r in batch.step(2)] == [one, one]
    own = RULE + TOLD + WRITTEN
    assert [trace.clock for trace in traces] == [[2 * (PASS + GUESS) + 2 * GUESS + PASS + 2 * own]] * 2
    batch.step(2)
    assert [trace.clock[1:] for trace in traces] == [[2 * GUESS + PASS + 2 * own]] * 2
    traces.append(batch.submit(Request(target, [0, 1], drafters[2], **device.request(drafters[2]))))
    rounds = batch.step(2)
    assert [r.seconds.draft for r in rounds] == [2 * (PASS + GUESS) + TOLD] * 2 + [0.0]
    joined, passes = 2 * PASS, 2 * (PASS + GUESS) + PASS
    assert [trace.clock[-1] for trace in traces] == [joined + passes + 3 * own] * 3


# What else a round is given and gives.


REASONS = "eos", "stop_string", "limit", "context"


@pytest.mark.parametrize("given", [some for n in range(5) for some in combinations(REASONS, n)])
def test_of_several_reasons_to_end_at_one_token_the_first_is_told(given):
    """A text that came to its end with the last token it might have did not run into a limit."""
    string = (lambda new: new[-1] == 7) if "stop_string" in given else None
    stops = Stops(3 if "limit" in given else 9, frozenset({7} if "eos" in given else ()), string)
    found = stops.cut([1], [5, 7, 5], 2 if "context" in given else 9)
    assert found == ((2, given[0]) if given else (3, None))


class Coarse(TinyModel):
    """Often several tokens are equally likely, as happens in half precision."""

    def logits(self, text):
        return super().logits(text).round()


@pytest.mark.parametrize("keep", [Keep(), Keep(rows=True)])
def test_of_equally_likely_tokens_all_take_the_same(keep):
    """Plain decoding, the rule and the draft, whatever is kept: so a draft that is the target is always right."""
    target = Coarse(5, seed=1, spread=0.8)
    written = [token for r in plain(target, [0], stops=Stops(40)) for token in r.tokens]
    best = [target.logits([0, *written[:i]]).topk(2).values.tolist() for i in range(40)]
    assert sum(first == second for first, second in best) > 5
    for drafter in (ModelDrafter(target), TreeOf(target, DEEP), DialDrafter(1.0)):
        trace = Trace([0]).collect(speculative(target, drafter, [0], gamma=3, keep=keep, stops=Stops(40)))
        assert trace.tokens == written
        assert drafter.name == "tree" or not any(r.missed for r in trace.rounds)


@pytest.mark.parametrize("shape", [None, TWO_BY_TWO])
def test_a_rule_of_ones_own_is_given_whole_rows_also_in_greedy_rounds(shape):
    """Its drafts are then tokens, and of trees it is told when there is one."""
    seen = []

    def rule(p, q, drafts, u_accept, u_resample, tree=None):
        seen.append((len(drafts), tree))
        assert p.shape == (len(drafts) + 1, 5) and q.shape == (len(drafts), 5)
        assert q.argmax(-1).tolist() == list(drafts) and torch.equal(q.sum(-1), torch.ones(len(drafts)).double())
        return (
            verify_tree(p, q, drafts, u_accept, u_resample, tree) if tree else verify(p, q, drafts, u_accept, [0] * 9)
        )

    drafter = TreeOf(DRAFT_MODEL, shape) if shape else ModelDrafter(DRAFT_MODEL)
    trace = Trace([0]).collect(speculative(TARGET, drafter, [0], gamma=3, verify=Rule(rule, rule), stops=Stops(12)))
    assert trace.tokens == Trace([0]).collect(plain(TARGET, [0], stops=Stops(12))).tokens
    assert [n for n, _ in seen] == [len(r.drafted) for r in trace.rounds]
    assert [tree is not None for _, tree in seen] == [bool(shape and r.is_tree) for r in trace.rounds]
