"""Numbers that people decide by, on made-up rounds and clocks whose answers are known."""

import random
import statistics
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from test_bench import timed_trace
from tiny import rounds_of_accepted

from specdec_lab.engine.trace import Seconds, Trace
from specdec_lab.errors import LabError
from specdec_lab.measure import bench, results
from specdec_lab.measure.hf_baselines import Generated
from specdec_lab.measure.prompts import FEW, Prompt
from specdec_lab.measure.traffic import report


def arm(name: str, seconds: dict[str, list[list[float]]], accepted: int = 0) -> bench.Run:
    """For each prompt its repeats, for each of these the seconds of its rounds, which all accepted so many of 4 drafts."""
    texts = {
        i: [timed_trace([accepted] * len(s), 4, [(0.0, x, 0.0) for x in s]) for s in r] for i, r in seconds.items()
    }
    return bench.Run(name, 4, texts)


# --- intervals ---


def test_the_interval_leaves_ten_of_four_hundred_draws_on_each_side(monkeypatch):
    """Each draw has as many prompts as there are, some of them twice."""
    values, drawn = list(range(400)), []
    random.Random(1).shuffle(values)
    made = iter(values)
    monkeypatch.setattr(bench, "ratio_to_plain", lambda run, plain, ids: drawn.append(ids) or next(made))
    ids = [f"p{i}" for i in range(FEW)]
    assert bench.ratio_interval(None, None, ids) == [10, 389]
    assert len(drawn) == 400 and all(len(d) == FEW and set(d) <= set(ids) for d in drawn)
    assert max(Counter(d[0] for d in drawn).values()) < 120 and sum(len(set(d)) < FEW for d in drawn) > 300
    assert bench.ratio_interval(None, None, ids[:-1]) is None


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Of tokens a pass, over prompts that differ: 100 samples of 20 prompts, each with 20 passes. A right one holds it in
    about 93; one that is one-sided, or of half the width, in 70."""
    dice, held, below, above = random.Random(1), 0, 0, 0
    for _ in range(100):
        counts = {str(i): (round(20 * dice.uniform(1, 4)), 20) for i in range(20)}
        value, (low, high) = results.tokens_per_pass(counts)
        assert low < value < high
        held, below, above = held + (low <= 2.5 <= high), below + (high < 2.5), above + (low > 2.5)
    assert 84 <= held <= 99 and max(below, above) <= 12


def test_how_many_times_the_tokens_a_pass_of_another_is_taken_from_the_same_prompts():
    some, other = {"a": (30, 10), "b": (80, 40)}, {"a": (15, 10), "b": (40, 40)}
    value, (low, high) = results.tokens_per_pass(some, other)
    assert value == low == high == 2.0  # pairs: whichever prompts are drawn
    assert results.tokens_per_pass(some)[0] == 110 / 50  # of all together: no mean of 3 and 2
    assert results.tokens_per_pass(some) == results.tokens_per_pass(some)  # the same draws


# --- arms are treated alike ---


class FakeLab:
    """Decodes nothing; notes who was asked for what."""

    def __init__(self, context=100):
        self.asked, self.target = [], SimpleNamespace(context=context, name="fake")
        self.interrupted = False

    def encode(self, content, raw):
        return list(range(len(content) + 100 * raw))

    def drafter(self, name):
        return f"the {name}"

    def plain(self, ids, **settings):
        self.asked.append(("plain", tuple(ids), settings))
        return Trace([0]).collect(rounds_of_accepted([0], 0))

    def speculative(self, ids, *, drafter, gamma, keep, **settings):
        self.asked.append((drafter, tuple(ids), settings | {"gamma": gamma}))
        trace = Trace([0]).collect(rounds_of_accepted([1], gamma))
        trace.interrupted = self.interrupted
        return trace

    def peer(self, ids, **settings):
        self.asked.append(("peer", tuple(ids), settings))
        return Generated([1], 1.0, 1)


PROMPTS = [Prompt(f"p{i}", "ab"[i % 2], "x" * (i + 5)) for i in range(12)]


def test_every_arm_gets_the_same_and_each_is_first_now_and_then():
    lab, said = FakeLab(), []
    runs = bench.decode_all(
        lab,
        PROMPTS,
        {"lookup": 3, "model": 2},
        peers={"hf": lab.peer},
        repeats=3,
        timed=PROMPTS[:4],
        say=said.append,
        seed=7,
    )
    assert [(r.arm, r.gamma) for r in runs] == [("plain", None), ("lookup", 3), ("model", 2), ("hf", None)]
    names = {"plain", "the lookup", "the model", "peer"}
    warm, real = lab.asked[:4], lab.asked[4:]
    assert {a for a, *_ in warm} == names and all(ids == (0, 1, 2, 3) for _, ids, _ in warm)
    turns = [real[i : i + 4] for i in range(0, len(real), 4)]
    assert [len(t[0][1]) for t in turns] == [
        *range(5, 17),
        *range(5, 9),
        *range(5, 9),
    ]  # prompt by prompt, then the timed ones
    for turn in turns:
        assert {a for a, *_ in turn} == names and len({ids for _, ids, _ in turn}) == 1
        requests = [(s["request"], s["seed"]) for _, _, s in turn]
        assert requests == [(len(turn[0][1]) - 5, 7)] * 4  # the same random numbers for all, others for each prompt
    first = Counter(t[0][0] for t in turns)
    assert set(first) == names and max(first.values()) < 12
    assert all(s["gamma"] == {"the lookup": 3, "the model": 2}[a] for a, _, s in lab.asked if a.startswith("the"))
    for run in runs:
        assert {i: len(texts) for i, texts in run.traces.items()} == {f"p{i}": 3 if i < 4 else 1 for i in range(12)}
    assert said[0] == "1 of 20 prompts (p0)" and said[-1] == "20 of 20 prompts (p3)"


def test_all_prompts_are_repeated_where_none_are_named():
    (plain,) = bench.decode_all(FakeLab(), PROMPTS, {}, repeats=2)
    assert all(len(texts) == 2 for texts in plain.traces.values())
    (plain,) = bench.decode_all(FakeLab(), PROMPTS, {})
    assert all(len(texts) == 1 for texts in plain.traces.values())


def test_half_a_text_is_no_time_and_a_long_prompt_is_told_before_the_run():
    lab = FakeLab()
    lab.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        bench.decode_all(lab, PROMPTS, {"model": 2})
    lab = FakeLab(context=16)
    with pytest.raises(LabError, match="“p11” has 16 tokens"):
        bench.decode_all(lab, PROMPTS, {})
    assert not lab.asked
    bench.decode_all(FakeLab(context=17), PROMPTS, {})


# --- what a round costs, and the best γ ---


def test_the_best_gamma_is_that_of_the_formula():
    """Made-up pilots whose every S(γ) is worked out here, round by round: some rounds have eight drafts, some two or none."""
    found = Counter()
    for seed in range(60):
        dice = random.Random(seed)
        rounds, trace = [], Trace([0])  # (drafts, accepted, seconds of drafting)
        verify, loop = dice.choice((1.0, 1.5, 4.0)), dice.choice((0.0, 0.4))
        cost = {1: 0.5}  # a pass; where one more row is dear, and where it is free
        for k in range(2, 10):
            cost[k] = cost[k - 1] + dice.choice((0.0, 0.0, 0.05, 0.4))
        for drafts in (8, 2, 0):
            seconds = dice.choice((0.0, 0.3, 1.0)) if drafts else 0.0
            accepted = [min(drafts, dice.choice((0, 1, 1, 2, 3, 5, 8))) for _ in range(dice.randrange(1, 20))]
            trace.rounds += timed_trace(accepted, drafts, [(seconds, verify, loop)] * len(accepted)).rounds
            rounds += [(drafts, n, seconds) for n in accepted]
        plain = bench.Run("plain", None, {"a": [timed_trace([0] * 10, 0, [(0.0, 1.0, 0.0)] * 10)]})
        n, gain = len(rounds), {}
        for g in range(1, 9):
            drafting = sum(s * min(1, g / max(1, of)) for of, _, s in rounds) / n
            passes = sum(cost[min(of, g) + 1] for of, _, _ in rounds) / n / cost[1]
            gain[g] = (1 + sum(min(k, g) for _, k, _ in rounds) / n) / (drafting + passes + loop)
        best = bench.best_gamma(bench.Run("x", 8, {"a": [trace]}), plain, ["a"], cost)
        assert gain[best] == pytest.approx(max(gain.values()), rel=1e-12), (seed, gain)
        found[best] += 1
    assert len(found) > 4


def test_the_best_gamma_of_a_drafter_that_never_drafts_or_drafts_at_no_cost():
    plain = bench.Run("plain", None, {"a": [timed_trace([0] * 4, 0, [(0.0, 1.0, 0.0)] * 4)]})
    silent = bench.Run("x", 8, {"a": [timed_trace([0] * 4, 0, [(0.0, 1.0, 0.0)] * 4)]})
    flat = dict.fromkeys(range(1, 10), 1.0)
    assert bench.best_gamma(silent, plain, ["a"], flat) == 1
    free = bench.Run("x", 8, {"a": [timed_trace([8] * 4, 8, [(0.0, 1.0, 0.0)] * 4)]})
    assert bench.best_gamma(free, plain, ["a"], flat) == 8
    steep = {k: 1.0 if k < 5 else 3.0 for k in range(1, 10)}  # as with weights in 4 bits: rows beyond four are dear
    assert bench.best_gamma(free, plain, ["a"], steep) == 3
    assert bench.best_gamma(free, plain, ["a"], {k: flat[k] for k in (1, 2, 3)}) == 8  # of a short context


def test_pilots_are_run_for_all_drafters_at_once_with_eight_drafts(monkeypatch):
    seen = {}

    def decoded(lab, prompts, gammas, **settings):
        seen.update(gammas, settings=settings)
        return [
            arm("plain", {"a": [[1.0] * 4]}),
            *(arm(n, {"a": [[1.5] * 4]}, accepted=k) for n, k in (("x", 4), ("y", 0))),
        ]

    monkeypatch.setattr(bench, "decode_all", decoded)
    monkeypatch.setattr(bench, "pass_times", lambda target, widths: {k: [1.0 + k / 100] for k in widths})
    lab = SimpleNamespace(target=SimpleNamespace(context=100))
    assert bench.best_gammas(lab, PROMPTS, ["x", "y"], seed=3) == {"x": 4, "y": 1}
    assert seen == {"x": 8, "y": 8, "settings": {"seed": 3}}


def test_another_seed_draws_others_and_the_seed_of_the_interval_stays():
    """What is printed today is printed tomorrow: the draws are those of seed 0."""
    dice, counts = random.Random(0), {str(i): (i, 1) for i in range(9)}
    means = sorted(statistics.fmean(int(x) for x in dice.choices(list(counts), k=9)) for _ in range(400))
    assert results.tokens_per_pass(counts)[1] == pytest.approx((means[10], means[389]))
    plain = arm("plain", {i: [[1.0 + n]] for i, (n, _) in counts.items()})
    run = arm("x", {i: [[1.0]] for i in counts})
    assert bench.ratio_interval(run, plain, list(counts)) == pytest.approx([1 + means[10], 1 + means[389]])


def test_a_ratio_is_time_for_time_over_medians_of_each_prompt():
    plain = arm("plain", {"a": [[1.0] * 4, [1.5] * 4, [9.0] * 4], "b": [[2.0] * 2]})
    fast = arm("fast", {"a": [[2.0] * 2, [1.0] * 2, [1.5] * 2], "b": [[1.0]]}, accepted=1)
    # plain: 6 + 4 seconds for 6 tokens; fast: 3 + 1 for 6.
    assert bench.ratio_to_plain(fast, plain, ["a", "b"]) == pytest.approx(10 / 4)
    assert bench.ratio_to_plain(plain, fast, ["a", "b"]) == pytest.approx(4 / 10)
    assert bench.ratio_to_plain(fast, plain, ["b"]) == pytest.approx(4 / 1)
    assert bench.ratio_to_plain(fast, plain, ["b", "b", "a"]) == pytest.approx(
        14 / 8 / (5 / 8)
    )  # drawn twice counts twice


def test_kinds_have_rows_of_their_own_from_their_own_prompts():
    plain = arm("plain", {f"p{i}": [[1.0] * 2] for i in range(12)})
    run = arm("x", {f"p{i}": [[2.0 if i % 2 else 0.5]] for i in range(12)}, accepted=1)
    found = {(r["arm"], r["kind"]): r for r in bench.rows(PROMPTS, [plain, run], PROMPTS[:4])}
    assert list(found) == [(a, k) for a in ("plain", "x") for k in ("overall", "a", "b")]
    assert [found["x", k]["ratio_to_plain"] for k in ("overall", "a", "b")] == pytest.approx([1.6, 4.0, 1.0])
    assert [found["x", k]["prompts"] for k in ("overall", "a", "b")] == [12, 6, 6]
    assert found["plain", "overall"]["gamma"] is None and found["x", "a"]["gamma"] == 4
    assert found["plain", "overall"]["ratio_interval"] is found["x", "a"]["ratio_interval"] is None  # two timed prompts


def test_repetition_is_a_mean_over_texts_and_by_the_share_of_ngrams():
    assert bench.repetition([1, 2, 3, 4]) == bench.repetition([1, 2, 3]) == 0
    assert bench.repetition([1] * 5) == 0.5  # two, of which the second stood before
    assert bench.repetition([1, 2] * 3, n=2) == pytest.approx(3 / 5)
    texts = {
        "a": [Trace([0]).collect(rounds_of_accepted([0] * 5, 0))],
        "b": [Trace([0]).collect(rounds_of_accepted([0], 0))],
    }
    run = bench.Run("plain", None, texts)
    for t in (*texts["a"], *texts["b"]):
        t.clock = [1.0] * len(t.rounds)
        t.rounds = [SimpleNamespace(tokens=r.tokens, seconds=SimpleNamespace(total=1.0)) for r in t.rounds]
    assert bench.summary(run, run, ["a", "b"], ["a", "b"])["repetition"] == pytest.approx(0.25)


# --- the report on one's own traffic ---


@pytest.fixture
def made_up(monkeypatch):
    """A report over two drafters, in which everything that is measured is given here."""
    seconds = {"plain": [[1.0] * 4, [1.0] * 4], "slow": [[6.0, 6.0]] * 2, "fast": [[1.0], [1.25]]}
    accepted = {"plain": 0, "slow": 1, "fast": 3}
    runs = [arm(n, {p.id: s for p in PROMPTS}, accepted[n]) for n, s in seconds.items()]
    for text in (t for p in PROMPTS[1::2] for t in runs[1].traces[p.id]):  # "slow" is a wonder on one kind
        text.rounds = [replace(r, seconds=Seconds(0.0, 0.0625, 0.0)) for r in text.rounds]
        text.clock = [0.0625] * 2
    seen = SimpleNamespace(said=[])

    def best_gammas(lab, few, drafters, **settings):
        seen.few, seen.drafters = [p.id for p in few], drafters
        return {"slow": 2, "fast": 4}

    def decode_all(lab, prompts, gammas, *, repeats, say, **settings):
        seen.gammas, seen.repeats, seen.settings = gammas, repeats, settings
        return runs

    def batch_costs(target, ids, sizes, gammas, samples, drafter):
        seen.batch = (ids, sizes, gammas, drafter)
        return {(n, g): max(1.0, n * (g + 1) / 10) for n in sizes for g in gammas}

    monkeypatch.setattr(report.bench, "best_gammas", best_gammas)
    monkeypatch.setattr(report.bench, "decode_all", decode_all)
    monkeypatch.setattr(report, "batch_costs", batch_costs)
    return seen


def test_a_whole_report_on_made_up_rounds(made_up):
    prompts = [*PROMPTS[:-1], replace(PROMPTS[-1], raw=True)]
    found = report.compare_drafters(FakeLab(), prompts, ["slow", "fast"], say=made_up.said.append, seed=5)
    assert (made_up.few, made_up.drafters) == ([f"p{i}" for i in range(6)], ["slow", "fast"])
    assert (made_up.gammas, made_up.repeats, made_up.settings) == ({"slow": 2, "fast": 4}, 2, {"seed": 5})
    assert made_up.batch == (list(range(5)), (1, 2, 4, 8, 16), [0, 1, 2, 4], "the fast")
    # Four tokens: 4.0 seconds plainly, in the median 1.125 with "fast".
    assert found["judged"]["ratio_to_plain"] == pytest.approx(4 / 1.125)
    assert found["judged"]["ratio_interval"] == pytest.approx([4 / 1.125] * 2)  # all prompts are alike
    assert found["judged"]["prompts"] == 12
    assert (found["verdict"], found["policy"]["drafter"], found["policy"]["gamma"]) == ("deploy", "fast", 4)
    assert {name: waits["mean"] for name, waits in found["latency"].items()} == {"plain": 1000.0, "fast": 1125 / 4}
    # E is 1, 2, 3, 4 with 0, 1, 2, 4 drafts (three are accepted): per step of n texts over max(1, n(γ + 1)/10).
    E = {0: 1, 1: 2, 2: 3, 4: 4}
    for low, high, gamma in found["policy"]["schedule"]:
        for n in range(low, high + 1):
            if n in (1, 2, 4, 8, 16):
                pace = {g: E[g] / max(1.0, n * (g + 1) / 10) for g in E}
                assert pace[gamma] == max(pace.values())
    assert len(found["rows"]) == 9 and found["policy"]["largest_batch_measured"] == 16


def test_whoever_copies_is_timed_in_batches_with_free_drafts(made_up, monkeypatch):
    monkeypatch.setattr(report, "COPY", ("fast",))
    report.compare_drafters(FakeLab(), PROMPTS, ["slow", "fast"])
    assert made_up.batch[-1] is None


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ([1.0, 1.4], "unclear"),
        ([1.001, 1.4], "deploy"),
        ([0.6, 1.0], "unclear"),
        ([0.6, 0.999], "don't"),
        (None, "unclear"),
    ],
)
def test_the_verdict_at_its_limits(interval, verdict):
    """A lower end of exactly 1 is no gain yet; and nobody has lost at an upper end of exactly 1."""
    best = {"arm": "x", "gamma": 3, "kind": "overall", "ratio_to_plain": 1.25}
    rows = [best, best | {"kind": "even", "ratio_to_plain": 1.0}, best | {"kind": "odd", "ratio_to_plain": 0.99}]
    rows += [{"arm": "y", "gamma": 3, "kind": k, "ratio_to_plain": 0.5} for k in ("overall", "even")]
    judged = {"prompts": 20, "ratio_to_plain": 1.125, "ratio_interval": interval}
    made = report.decide(rows, best, judged, [(1, 2, 3), (3, 16, 0)])
    assert made["verdict"] == verdict
    if verdict == "deploy":
        assert made["policy"]["off_for_kinds"] == ["odd"] and made["policy"]["off_above_texts_at_once"] == 2
    else:
        assert made["policy"] == {
            "drafter": None, "gamma": 0, "off_for_kinds": [], "off_above_texts_at_once": 0, "largest_batch_measured": 16, "schedule": [],
        }  # fmt: skip
    assert ("1.12 times where it was chosen by the other prompts" in made["reason"]) is False  # two arms only: x and y
    three = report.decide([*rows, {**best, "arm": "plain"}], best, judged, [])
    assert (
        "1.25 times plain decoding on these 20 prompts, and 1.12 times where it was chosen by the other"
        in three["reason"]
    )
    assert (
        (f"({interval[0]:.2f} to {interval[1]:.2f})" in three["reason"])
        if interval
        else "bring at least 5" in three["reason"]
    )


def test_a_winner_is_chosen_by_seconds_a_token_of_the_other_prompts():
    """By tokens and seconds of all the others together, medians over repeats; not by seconds alone."""
    prompts = PROMPTS[:3]
    quick = arm("quick", {"p0": [[4.0]], "p1": [[9.0], [1.0], [1.0]], "p2": [[1.0]]}, accepted=1)  # 2 tokens a round
    long = arm("long", {"p0": [[1.0]], "p1": [[1.5]], "p2": [[1.5]]}, accepted=3)  # 4 tokens a round
    blind = report.chosen_blindly([quick, long], prompts)
    for i, texts in blind.traces.items():
        others = [p.id for p in prompts if p.id != i]

        def pace(run, others=others):
            return sum(statistics.median(t.seconds for t in run.traces[o]) for o in others) / sum(
                len(run.traces[o][0].tokens) for o in others
            )

        assert texts is min((quick, long), key=pace).traces[i]


def test_latency_is_in_milliseconds_with_medians_of_repeats_and_the_95th_of_prompts():
    prompts = [Prompt(str(i), "a", "x") for i in range(1, 41)]
    run = arm("x", {p.id: [[int(p.id) ** 2] * 2, [int(p.id) ** 2] * 2, [9999.0] * 2] for p in prompts})
    found = report.latency(run, prompts)
    assert (found["mean"], found["p50"], found["p95"]) == (553_500, 420_500, 38**2 * 1000)  # of 1, 4, 9, … 1600
    assert found["first"] == 100_000 and found["answer"] == 653_500


def test_prompts_that_leave_no_room_for_the_answer_are_left_out():
    lab = FakeLab(context=14)
    fit, problems = bench.usable(lab, PROMPTS, new=8)
    assert [p.id for p in fit] == ["p0", "p1"] and len(problems) == 10
    assert "it has 7 tokens, and fake can see 14" in problems[0]


def test_a_schedule_chooses_from_powers_of_two_and_the_best():
    assert [report.gammas_up_to(n) for n in (1, 2, 4, 5, 8, 9)] == [
        [0, 1], [0, 1, 2], [0, 1, 2, 4], [0, 1, 2, 4, 5], [0, 1, 2, 4, 8], [0, 1, 2, 4, 8, 9],
    ]  # fmt: skip
