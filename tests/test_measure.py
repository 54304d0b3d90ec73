"""What lesson 01 measures with: times that cannot be right are said to be so, and a small mixture of experts."""

from types import SimpleNamespace

import pytest
import torch
from tiny import TinyModel

import specdec_lab as sd
from specdec_lab import threads
from specdec_lab.measure import roofline
from specdec_lab.measure.costs import WARM_UP, Race, doubts, pass_times, race, seconds_of, times_as_long, width_at


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """What the clock says."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def times(noise: float = 0.0, **medians: float) -> dict[int, list[float]]:
    """Five samples around each median, in seconds: times(k1=0.010, k5=0.012)."""
    return {int(k[1:]): [m + step * noise for step in (-2, -1, 0, 1, 2)] for k, m in medians.items()}


@pytest.mark.parametrize(
    "quiet",
    [
        times(k1=0.010, k2=0.010, k5=0.012, k64=0.080),
        times(k1=0.010, k5=0.0098),  # within the noise of any clock
        times(k1=0.010, k5=0.0200, k8=0.0185),  # a program that changes its method
        times(noise=0.0001, k1=0.010, k5=0.010, k64=0.010),  # a wide machine: nothing rises, and nothing is wrong
        times(noise=0.001, k1=0.010, k5=0.012, k64=0.080),
        {1: [0.010, 0.010, 0.010, 0.010, 0.5], 5: [0.012] * 5},  # one slow moment
        {1: [0.010]},
    ],
)
def test_nothing_speaks_against_times_that_can_be_true(quiet):
    assert doubts(quiet) is None


@pytest.mark.parametrize(
    ("loud", "says"),
    [
        (times(k1=0.020, k5=0.015, k64=0.080), "5 tokens took 0.75 times as long as 1"),
        (times(k1=0.010, k5=0.0094), "5 tokens took 0.94 times as long as 1"),
        (times(k1=0.010, k16=0.080, k64=0.040), "64 tokens took 0.5 times as long as 16"),
        (times(k4=0.010, k2=0.020), "4 tokens took 0.5 times as long as 2"),  # in whatever order they come
        (times(k1=1.0, k5=2.0, k8=1.2, k9=0.8), "9 tokens took 0.4 times as long as 5"),  # the worst fall
        (
            times(k1=0.010, k5=0.008),
            "if it stays, this machine's products of matrices run better with 5 rows than with 1",
        ),
        (times(noise=0.004, k1=0.010, k5=0.012), "by 8 ms from time to time, and 5 tokens by 2 ms from 1"),
    ],
)
def test_times_that_cannot_be_true_are_doubted(loud, says):
    found = doubts(loud)
    assert says in found and "easure again" in found


@pytest.mark.parametrize(
    ("ratios", "says"), [([1.5, 1.6, 1.7], None), ([2.5], "0.8 times as long"), ([1.2, 1.6, 1.7], "1.2 times … 1.7")]
)
def test_a_race_says_when_its_times_are_doubtful(ratios, says):
    two_tokens_a_pass = SimpleNamespace(tokens_per_pass=2.0)
    found = Race(ratios, plain=None, speculative=two_tokens_a_pass).doubt
    assert found is says is None or all(part in found for part in [*says.split(" … "), "measure again"])


def test_a_width_between_the_measured_ones_and_at_them():
    T = {1: [1.0, 1.0, 9.0], 4: [1.5, 1.5, 1.5], 8: [3.5, 3.5, 0.0], 16: [4.0, 4.0, 4.0]}
    assert width_at(T, 1.5) == 4 and width_at(T, 3.5) == 8 and width_at(T, 4.0) == 16
    assert width_at(T, 2.0) == 5 and width_at(T, 1.25) == 2.5
    assert width_at(T, 4.01) is None
    assert width_at({2: [2.0], 1: [1.0], 3: [1.9]}, 2.0) == 2  # where it is reached first


def test_a_race_goes_by_turns():
    order, plain_seconds = [], iter([4.0, 6.0, 100.0, 5.0])

    def text_of(name, seconds, tokens, interrupted=False):
        order.append(name)
        return SimpleNamespace(seconds=seconds, tokens=[0] * tokens, interrupted=interrupted)

    def plain():
        return text_of("p", next(plain_seconds), 4)

    def fast():
        return text_of("s", 1.0, 2)

    def broken():
        return text_of("b", 1.0, 1, interrupted=True)

    found = race(plain, fast, repeats=4)
    assert "".join(order) == "pssppssp"
    assert found.ratios == [2.0, 3.0, 50.0, 2.5] and found.ratio == 2.75
    assert (found.plain.seconds, found.speculative.seconds) == (5.0, 1.0)  # the last ones
    for arms in ((broken, fast), (fast, broken)):
        with pytest.raises(KeyboardInterrupt):
            race(*arms)


def test_the_rates_of_a_machine_that_is_known(monkeypatch, now):
    """A clock on which reading 256 MB takes 2 s, the product 0.5 s, and a launch 1/1024 s, each in its first call longer."""
    warm = set()

    def takes(what, seconds):
        now[0] += seconds if what in warm else 100.0
        warm.add(what)

    class Ones:
        def __init__(self, *shape, **_):
            self.shape, self.nbytes = shape, 4 * shape[0]

        def sum(self):
            takes("reading", 2.0)

        def add_(self, one):
            takes("starting", 1 / 1024)
            return self

    class Captured:
        def __init__(self, do, x):
            pass

        def __call__(self, x):
            now[0] += 0.5

    monkeypatch.setattr(roofline.torch, "ones", Ones)
    monkeypatch.setattr(roofline, "Linear", lambda weight: lambda x: takes("product", 0.5))
    model = SimpleNamespace(device="cpu", dtype=torch.float32, synchronize=lambda: None)
    machine = roofline.measure_machine(model)
    assert machine.bandwidth == pytest.approx(2**27) and machine.arithmetic == pytest.approx(2 * 2048**3 / 0.5)
    assert machine.launch == pytest.approx(1 / 1024)
    model.capture = Captured  # its operations are started by the pass, all in half a second
    assert roofline.measure_machine(model).launch == 0.5 / roofline.STARTS


def test_a_clock_runs_until_the_device_is_done(now):
    waiting = [5.0]

    def synchronize():
        now[0] += sum(waiting)
        waiting.clear()

    def do():
        waiting.append(2.0)  # the device goes on after the call
        now[0] += 1.0

    assert seconds_of(SimpleNamespace(synchronize=synchronize), do) == 3.0


def test_data_sheets_say_where_drafts_are_free():
    """By hand: an H100 computes 295 rows while it reads 16-bit weights; experts that sleep need not be read."""
    names = ("one", "short", "long", "eight bits", "FP8", "four bits", "experts", "many experts")
    v = dict(zip(names, sd.data_sheets().values(), strict=True))
    assert all(x[0] == 1 and len(x) == 11 for x in v.values())
    assert v["one"][10] == 1
    assert v["short"][1] == 1 < v["short"][4]  # 256 rows and 640
    rows = 128 * 11 * (2 * 7.5e9 + 500 * 4 * 32 * 4096) / 989e12
    read = (2 * 7.5e9 + 128 * 500 * 131_072) / 3350e9
    assert v["short"][10] == pytest.approx(rows / read)
    assert v["long"][4] == 1 < v["long"][10] < v["short"][10]
    assert v["eight bits"][2] == 1 < v["eight bits"][3]  # 192 rows and 256: half of the bytes, the same operations
    assert v["FP8"][6] == 1 < v["FP8"][7]  # twice the operations: the idle math is back
    assert v["experts"][1] == pytest.approx((1.2e9 + 29e9 * (1 - (1 - 1 / 16) ** 2)) / (1.2e9 + 29e9 / 16), rel=0.01)
    assert v["many experts"][10] < 1.05


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "50000 100000"}, 1),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu.max": "700000 100000"}, None),  # all seven that it sees
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({}, None),
    ],
)
def test_a_container_with_less_time_has_fewer_threads(tmp_path, monkeypatch, files, found):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(7)), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert threads.quota(tmp_path) == found


def test_passes_are_timed_behind_what_the_context_can_hold(monkeypatch, now):
    """Behind 32 tokens each time, where 40 have room; the first turns only warm up."""
    passes, target = [], TinyModel(5, seed=1, context=40)
    cached = target.cached()
    extend = cached.extend

    def timed(new, **how):
        passes.append((cached.lengths[0], len(new[0])))
        now[0] += 2.0 if len(new[0]) == 8 else 1.0
        return extend(new, **how)

    monkeypatch.setattr(cached, "extend", timed)
    monkeypatch.setattr(target, "cached", lambda: cached)
    found = pass_times(target, [1, 8], samples=3)
    assert found == {1: [1.0] * 3, 8: [2.0] * 3} and passes[1:] == [(32, 1), (32, 8)] * (3 + WARM_UP)
    assert times_as_long(found, 8) == 2.0
