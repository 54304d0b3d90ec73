"""Passes that are captured once and replayed: what a GPU runs. Here a `Tape` stands in for the CUDA graph."""

import gc
import warnings

import pytest
import torch
from graph_tape import STAND_INS, Graph, Tape
from small_models import check_pass, make, text

from specdec_lab.clock import read_clock
from specdec_lab.models import fast
from specdec_lab.models.cuda_graph import CapturedPass


@pytest.fixture
def model():
    return make("replayed llama")


@pytest.fixture
def made(monkeypatch) -> list[torch.Size]:
    """The shape [rows, width] of every capture from now on."""
    shapes, begin = [], Tape.__init__

    def noted(self, do, x):
        begin(self, do, x)
        shapes.append(x.shape[:2])

    monkeypatch.setattr(Tape, "__init__", noted)
    return shapes


def test_each_width_is_captured_once_for_all_texts(model, made):
    for tokens in (text(40, seed) for seed in range(3)):
        cached = model.cached()
        cached.prefill(tokens[:20])
        for begin in range(20, 38, 6):
            for k in (1, 5):
                check_pass(cached, tokens[: begin + k])
                cached.rewind([begin])
            cached.extend([tokens[begin : begin + 6]])
        del cached
        gc.collect()
    assert made == [(1, 20), (1, 1), (1, 5), (1, 6)]


def test_a_room_is_clean_when_it_is_taken_over(model):
    """NaN counts even where it has no weight."""
    spoiled = model.cached()
    spoiled.extend([text(20)])
    left = spoiled.held
    with torch.inference_mode():
        left.kv.fill_(float("nan"))
    del spoiled
    clean = model.cached()
    assert clean.held is left
    check_pass(clean, text(5))


def test_the_clock_stands_still_while_a_pass_is_captured(monkeypatch, model):
    now, waited = [0.0], []
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    class Slow(Tape):
        def __init__(self, do, x):
            now[0] += 5
            super().__init__(do, x)

        def __call__(self, x):
            now[0] += 1
            return super().__call__(x)

    model.capture, model.synchronize = Slow, lambda: waited.append(now[0])
    cached, begin = model.cached(), read_clock()
    for seconds in (1, 2):
        cached.extend([[1]])
        assert read_clock() - begin == seconds
    assert now[0] == 7 and waited == [0]  # before the capture: what runs on the device still counts


def test_a_device_that_cannot_record_runs_on_and_says_so(model):
    def fails(do, x):
        raise RuntimeError("operation not permitted\nmore")

    model.capture = fails
    cached, tokens = model.cached(), text(8)
    with pytest.warns(UserWarning, match=r"captured \(operation not permitted\):"):
        check_pass(cached, tokens[:4])
    with warnings.catch_warnings(action="error"):
        check_pass(cached, tokens)


def test_loading_notices_a_capture_that_is_frozen(model):
    """The check at loading makes passes of one width at several positions. The model goes on without captures."""

    class Frozen(Tape):
        def __call__(self, x):
            super().__call__(x)
            return self.first

        def __init__(self, do, x):
            self.first = do(x)
            super().__init__(do, x)

    model.check()
    assert model.capture is Tape
    model = make("fast llama")
    model.capture = Frozen
    with pytest.warns(UserWarning, match="a replay is not the pass itself"):
        model.check()
    assert model.capture is None


def test_rooms_that_wait_give_way_when_memory_runs_out(monkeypatch, model):
    model.cached().extend([[1]])
    assert model.unused[fast.FIRST_SIZE]
    key_values, tries = fast.KeyValues, []

    def full(*a):
        tries.append(bool(model.unused))
        if model.unused:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return key_values(*a)

    monkeypatch.setattr(fast, "KeyValues", full)
    model.cached(2).extend([[1], [2]])
    assert tries == [True, False]


def test_a_replay_may_round_otherwise_and_no_more(monkeypatch):
    """A pass that changes what it reads: the replay is two steps from what was expected. And one that holds nothing."""
    for name, stand_in in STAND_INS.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)

    def captured(step):
        scale = torch.ones(1)
        return CapturedPass(lambda x: scale.add_(step) * x, torch.ones(2, 3))

    captured(0.005)
    with pytest.raises(RuntimeError, match="a replay differs by"):
        captured(0.03)
    monkeypatch.setattr(Graph, "replay", lambda self: None)
    with pytest.raises(RuntimeError, match="a replay differs by nan"):
        captured(0)
