"""Numbers that people decide by, on made-up rounds and clocks whose answers are known."""

import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from stand_ins import FakeLab
from tiny import rounds_of_accepted

from specdec_lab.engine.trace import Seconds, Trace
from specdec_lab.measure import bench, traffic
from specdec_lab.measure.prompts import ENOUGH, FEW, LONG, TIED, Prompt
from specdec_lab.measure.traffic import DEPLOY, DONT, TOO_FEW, UNCLEAR, decide
from specdec_lab.show.report import letter, policy_sentence, setting

MANY = [Prompt(f"p{i}", "ab"[i % 2], "x" * (i + 5)) for i in range(24)]  # enough for a decision
PROMPTS = MANY[:12]


def timed_trace(lengths, gamma, seconds):
    """Hand-made rounds that accepted so many drafts each, and took so long: (draft, verify, loop)."""
    trace = Trace([0]).collect(rounds_of_accepted(lengths, gamma))
    trace.rounds = [replace(r, seconds=Seconds(*s)) for r, s in zip(trace.rounds, seconds)]
    trace.clock = [100.0, *(sum(s) for s in seconds[1:])]  # the prefill is in the first, and does not count
    return trace


def arm(name: str, seconds: dict[str, list[list[float]]], accepted: int = 0) -> bench.Run:
    """For each prompt its repeats, for each of these the seconds of its rounds, which all accepted so many of 4 drafts."""
    texts = {
        i: [timed_trace([accepted] * len(s), 4, [(0.0, x, 0.0) for x in s]) for s in r] for i, r in seconds.items()
    }
    return bench.Run(name, 4, texts)


# --- arms are treated alike ---


def test_every_arm_gets_the_same():
    lab, said = FakeLab(), []
    more = {"repeats": 3, "timed": PROMPTS[:4], "say": said.append, "seed": 7}
    runs = bench.decode_all(lab, PROMPTS, {"lookup": 3, "model": 2}, **more)
    assert [(r.arm, r.gamma) for r in runs] == [("plain", None), ("lookup", 3), ("model", 2)]
    names = {"plain", "the lookup", "the model"}
    warm, *turns = [lab.asked[i : i + 3] for i in range(0, len(lab.asked), 3)]
    assert all(ids == (0, 1, 2, 3) for _, ids, _ in warm)
    assert [len(t[0][1]) for t in turns] == [*range(5, 17), *range(5, 9), *range(5, 9)]  # all, then the timed ones
    for turn in turns:
        assert {a for a, *_ in turn} == names and len({ids for _, ids, _ in turn}) == 1
        requests = [(s["request"], s["seed"]) for _, _, s in turn]
        assert requests == [(len(turn[0][1]) - 5, 7)] * 3  # the same random numbers for all, others for each prompt
    first = Counter(t[0][0] for t in turns)
    assert set(first) == names and max(first.values()) < 14
    assert all(s.get("gamma") == {"the lookup": 3, "the model": 2}.get(a) for a, _, s in lab.asked)
    for run in runs:
        assert {i: len(texts) for i, texts in run.traces.items()} == {f"p{i}": 3 if i < 4 else 1 for i in range(12)}
    assert said[0] == "1 of 20 prompts (p0)" and said[-1] == "20 of 20 prompts (p3)"
    lab.interrupted = True
    with pytest.raises(KeyboardInterrupt):  # half a text is no time
        bench.decode_all(lab, PROMPTS, {"model": 2})


# --- the best γ ---


def test_the_best_gamma_follows_from_survival_and_costs():
    flat = dict.fromkeys(range(1, 10), 1.0)
    plain = bench.Run("plain", 0, {"a": [timed_trace([0] * 10, 0, [(0.0, 1.0, 0.0)] * 10)]})

    def best(lengths, draft, others=(), gamma=8, other_draft=0.0, cost=flat):
        """Of rounds that took this long to draft, and of others with other drafts."""
        trace = timed_trace(lengths, 8, [(draft, 1.0, 0.0)] * len(lengths))
        trace.rounds += timed_trace(others, gamma, [(other_draft, 1.0, 0.0)] * len(others)).rounds
        return bench.best_gamma(bench.Run("x", 8, {"a": [trace]}), plain, ["a"], cost)

    assert best([8] * 10, draft=0.08) == 8  # always right, nearly free
    assert best([0] * 10, draft=0.8) == 1  # never right
    assert best([], 0.0, others=[0] * 4, gamma=0) == 1  # never drafts
    assert best([8] * 3, 0.1, others=[0] * 7, gamma=0) == 8  # lookup: seven rounds without a draft
    # A hybrid: copies of eight, free; and two drafts that cost one step in other rounds, whatever γ ≥ 2 is.
    assert best([3] * 6, 0.0, others=[1] * 6, gamma=2, other_draft=1.0) == 3
    # E(γ) / (1 + γ/8) is 3.1 / 1.375 with three, 3.4 / 1.5 with four, 3.6 / 1.625 with five.
    assert best([8, 3, 2, 4, 0, 1, 3, 2, 5, 1], draft=1.0) == 4
    steep = {k: 1.0 if k < 5 else 3.0 for k in range(1, 10)}  # as with weights in 4 bits: rows beyond four are dear
    assert best([8] * 4, 0.0, cost=steep) == 3
    assert best([8] * 4, 0.0, cost={k: flat[k] for k in (1, 2, 3)}) == 8  # of a short context


# --- the rows of a report ---


def test_times_come_from_the_timed_prompts_and_acceptance_from_all():
    def step(seconds):
        return timed_trace([0, 0], 0, [(0.0, seconds, 0.0)] * 2)

    plain = bench.Run("plain", 0, {"a": [step(0.5), step(0.5), step(2.0)], "b": [step(8.0)]})
    slow, fast = [(1.0, 1.0, 0.0)] * 2, [(0.25, 0.5, 0.25)] * 2
    timed = [timed_trace([2, 1], 2, s) for s in (fast, slow, fast)]
    run = bench.Run("x", 2, {"a": timed, "b": [timed_trace([0] * 3, 2, [*slow, *slow])]})
    row = bench.summary(run, plain, ["a", "b"], ["a"])
    assert (row["prompts"], row["new_tokens"], row["tokens_per_pass"]) == (2, 8, 8 / 5)  # each prompt once
    assert (row["alpha"], row["alpha_by_position"]) == (3 / 7, [2 / 5, 1 / 2])
    assert (row["d"], row["v"], row["o"]) == (0.5, 1.0, 0.5)  # medians, of plain steps as well, which take 0.5
    assert row["slow_rounds"] == 1 / 4  # two rounds took 2.0 and the others 1.0
    # Predicted is the time of "a", so from its rounds: 5 tokens in 2 passes.
    assert row["ratio_from_parts"] == 5 / 2 / (row["d"] + row["v"] + row["o"])
    assert row["ratio_to_plain"] == 0.5 / (2.0 / 5)  # medians
    assert row["tokens_per_second"] == 15 / 8


def test_the_interval_is_over_prompts_and_repeatable():
    plain = arm("plain", {str(i): [[1.0] * 4] for i in range(12)})
    fast = arm("fast", {str(i): [[0.5 if i < 6 else 1.0] * 4] for i in range(12)})
    ids = list(plain.traces)
    low, high = bench.ratio_interval(fast, plain, ids)
    assert [low, high] == bench.ratio_interval(fast, plain, ids)
    assert 1 < low < bench.ratio_to_plain(fast, plain, ids) < high < 2
    assert bench.ratio_interval(fast, plain, ids[:FEW]) and bench.ratio_interval(fast, plain, ids[: FEW - 1]) is None


def test_kinds_have_rows_of_their_own_from_their_own_prompts():
    plain = arm("plain", {f"p{i}": [[1.0] * 2] for i in range(12)})
    run = arm("x", {f"p{i}": [[2.0 if i % 2 else 0.5]] for i in range(12)}, accepted=1)
    found = {(r["arm"], r["kind"]): r for r in bench.rows(PROMPTS, [plain, run], PROMPTS[:4])}
    assert list(found) == [(a, k) for a in ("plain", "x") for k in ("overall", "a", "b")]
    assert [found["x", k]["ratio_to_plain"] for k in ("overall", "a", "b")] == pytest.approx([1.6, 4.0, 1.0])
    assert bench.ratio_to_plain(run, plain, ["p1", "p1", "p0"]) == pytest.approx(4 / 3)  # drawn twice counts twice
    assert [found["x", k]["prompts"] for k in ("overall", "a", "b")] == [12, 6, 6]
    assert found["plain", "overall"]["gamma"] is None and found["x", "a"]["gamma"] == 4
    assert found["plain", "overall"]["ratio_interval"] is found["x", "a"]["ratio_interval"] is None  # two timed prompts


def test_repetition_is_the_share_of_ngrams_that_stood_before():
    shares = {(1, 2, 3, 4, 5, 6): 0, (1, 2): 0, (1,) * 5: 1 / 2, (1, 2, 3, 4) * 3: 5 / 9}
    assert {text: bench.repetition(text) for text in shares} == pytest.approx(shares)
    run = arm("plain", {"a": [[1.0] * 5], "b": [[1.0]]})  # five times the same token, and one token
    assert bench.summary(run, run, ["a", "b"], ["a", "b"])["repetition"] == 0.25  # a mean over texts


# --- the report on one's own traffic ---


@pytest.fixture
def made_up(monkeypatch):
    """A report over two drafters, in which everything that is measured is given here."""
    seconds = {"plain": [[1.0] * 4, [1.0] * 4], "slow": [[6.0, 6.0]] * 2, "fast": [[1.0], [1.25]]}
    accepted = {"plain": 0, "slow": 1, "fast": 3}
    runs = [arm(n, {p.id: s for p in MANY}, accepted[n]) for n, s in seconds.items()]
    for text in (t for p in MANY[1::2] for t in runs[1].traces[p.id]):  # "slow" is a wonder on one kind
        text.rounds = [replace(r, seconds=Seconds(0.0, 0.0625, 0.0)) for r in text.rounds]
        text.clock = [0.0625] * 2
    seen = SimpleNamespace(runs=runs, batch=None, few=None)

    def best_gammas(lab, few, drafters, **settings):
        seen.few = [p.id for p in few]
        return {"slow": 2, "fast": 4}

    def decode_all(lab, prompts, gammas, **settings):
        seen.gammas = gammas
        return seen.runs

    def batch_costs(target, ids, sizes, gammas, samples, drafter):
        seen.batch = (sizes, gammas, drafter)
        return {(n, g): max(1.0, n * (g + 1) / 10) for n in sizes for g in gammas}

    monkeypatch.setattr(traffic.bench, "best_gammas", best_gammas)
    monkeypatch.setattr(traffic.bench, "decode_all", decode_all)
    monkeypatch.setattr(traffic, "batch_costs", batch_costs)
    return seen


def test_a_whole_report_on_made_up_rounds(made_up, monkeypatch):
    found = traffic.compare_drafters(FakeLab(), MANY, ["slow", "fast"], seed=5)
    assert (made_up.few, made_up.gammas) == ([f"p{i}" for i in range(6)], {"slow": 2, "fast": 4})
    assert made_up.batch == ((1, 2, 4, 8, 16), [0, 1, 2, 4], "the fast")
    # Four tokens: 4.0 seconds plainly, in the median 1.125 with "fast".
    assert found["judged"]["ratio_to_plain"] == pytest.approx(4 / 1.125)
    assert found["judged"]["ratio_interval"] == pytest.approx([4 / 1.125] * 2)  # all prompts are alike
    assert found["judged"]["prompts"] == 24
    # Two rounds of "slow" write four tokens, in 12 seconds or in 0.125; its interval depends on how many of each.
    (other,) = found["compared"]
    assert (other["first"], other["second"]) == ("fast", "slow")
    assert other["ratio"] == pytest.approx((12 + 0.125) / 2 / 1.125)
    assert 1 < other["interval"][0] < other["ratio"] < other["interval"][1]
    assert found["tokens_interval"] == {"fast": [4, 4], "slow": [2, 2]}
    assert (found["verdict"], found["policy"]["drafter"], found["policy"]["gamma"]) == (DEPLOY, "fast", 4)
    assert {name: waits["mean"] for name, waits in found["latency"].items()} == {"plain": 1000.0, "fast": 1125 / 4}
    # E is 1, 2, 3, 4 with 0, 1, 2, 4 drafts (three are accepted): per step of n texts over max(1, n(γ + 1)/10).
    E = {0: 1, 1: 2, 2: 3, 4: 4}
    for low, high, gamma in found["policy"]["schedule"]:
        for n in {1, 2, 4, 8, 16} & set(range(low, high + 1)):
            pace = {g: E[g] / max(1.0, n * (g + 1) / 10) for g in E}
            assert pace[gamma] == max(pace.values())
    assert len(found["rows"]) == 9 and found["policy"]["largest_batch_measured"] == 16
    monkeypatch.setattr(traffic, "COPY", ("fast",))
    traffic.compare_drafters(FakeLab(), MANY, ["slow", "fast"])
    assert made_up.batch[-1] is None  # whoever copies is timed in batches with free drafts
    last = made_up.runs[0].traces["p7"][0].rounds  # a whole answer may be short, and none is one that was cut off
    for stop, decided in {"eos": (DEPLOY, None), "limit": (UNCLEAR, 4)}.items():
        last[-1] = replace(last[-1], stop=stop)
        found = traffic.compare_drafters(FakeLab(), MANY, ["slow", "fast"])
        assert (found["verdict"], found["judged"]["cut_at"]) == decided


def test_nothing_is_measured_that_is_not_asked_for(made_up):
    """A γ that is given needs no pilot; batches are timed only for what is switched on."""
    found = traffic.compare_drafters(FakeLab(), PROMPTS, {"slow": 2, "fast": 4})
    assert (made_up.few, made_up.gammas, made_up.batch) == (None, {"slow": 2, "fast": 4}, None)
    assert found["verdict"] == TOO_FEW and found["policy"]["drafter"] is None


def test_of_two_equal_ones_the_safer_is_recommended(made_up):
    """Nearly as fast, but the same everywhere: from the runs to the page, all follow this one decision."""
    steady = arm("steady", {p.id: [[2.0], [2.0]] for p in MANY}, 3)
    wild = arm("wild", {p.id: [[0.5 if i % 3 else 4.5]] * 2 for i, p in enumerate(MANY)}, 3)
    made_up.runs = [made_up.runs[0], steady, wild]
    found = traffic.compare_drafters(FakeLab(), MANY, ["steady", "wild"])
    assert found["compared"][0]["first"] == "wild"
    assert found["estimate"]["drafter"] == found["policy"]["drafter"] == "steady"
    assert found["estimate"]["ratio_interval"] == bench.overall(found["rows"])["steady"]["ratio_interval"]
    assert list(found["latency"]) == ["plain", "steady"] and made_up.batch[-1] == "the steady"
    assert "draft with steady" in policy_sentence(found["policy"])
    assert re.search("over 4 tokens an answer.*I switch steady on", " ".join(letter(found, "mails")))


def row_of(name: str, ratio: float, interval: list[float] | None, **more) -> dict:
    parts = {"gamma": 3, "kind": "overall", "tokens_per_pass": 2.0, "d": 0.1, "v": 1.1, "prompts": 2, "new_tokens": 75}
    return {"arm": name, "ratio_to_plain": ratio, "ratio_interval": interval, **parts, **more}


def decided(*rows: dict, judged=None, ratio=(1.0, [1.0, 1.0]), prompts=40, most=3.0, cut_at=None) -> dict:
    """What is decided of these drafters, the fastest first; `ratio` is what each comparison with it found."""
    blind, interval = judged or (rows[0]["ratio_to_plain"], rows[0]["ratio_interval"])
    compared = [
        {"first": rows[0]["arm"], "second": r["arm"], "ratio": ratio[0], "interval": ratio[1]} for r in rows[1:]
    ]
    return decide(
        {r["arm"]: r for r in rows},
        {"prompts": prompts, "cut_at": cut_at, "ratio_to_plain": blind, "ratio_interval": interval},
        compared,
        {r["arm"]: [1.0, most] for r in rows},
    )


GAIN, LOSS, OPEN = [1.001, 1.4], [0.6, 0.999], [1.0, 1.4]  # an end of exactly 1 shows neither
X, LOOKUP, EAGLE = (
    row_of("x", 1.5, [1.2, 1.8]),
    row_of("lookup", 1.96, [1.43, 2.68]),
    row_of("eagle", 1.87, [1.77, 1.96]),
)
LUCKY = (1.69, [1.40, 2.08])  # the fastest, where other prompts chose it
USELESS = row_of("untrained", 0.99, [0.95, 1.03], tokens_per_pass=1.01, d=0.04, v=1.05)
SLOW, TIE = row_of("y", 0.5, [0.4, 0.6]), (1.05, [0.8, 1.3])
LOST, EVEN = row_of("x", 0.97, [0.95, 0.99]), row_of("y", 0.96, [0.8, 1.1])
DECISIONS = [  # the drafters, the fastest first; how they compare; the verdict, its drafter, and parts of its reason
    ([row_of("x", 1.25, OPEN)], {}, UNCLEAR, "x", "1.25 times (1.00 to 1.40)"),
    ([row_of("x", 1.25, GAIN)], {}, DEPLOY, "x", "even the low end, 1.00"),
    ([row_of("x", 0.8, [0.6, 1.0])], {}, UNCLEAR, "x", "neither a gain nor a loss"),
    ([row_of("x", 0.8, LOSS)], {}, DONT, "x", "even the high end, 1.00"),
    # The fastest of several is judged where other prompts chose it.
    ([X, SLOW], {"judged": (1.25, OPEN), "ratio": (3, [2, 4])}, UNCLEAR, "x", "1.50 times (1.20 to 1.80) … 1.25 times (1.00 to 1.40) … 3.00 times (2.00 to 4.00) as fast as y"),
    ([X, SLOW], {"judged": (1.25, GAIN), "ratio": (3, [2, 4])}, DEPLOY, "x", ""),
    ([X, SLOW], {"judged": (0.8, LOSS), "ratio": (3, [2, 4])}, DONT, "x", ""),
    # Too few prompts decide nothing, and say nothing about which one is better.
    ([X], {"prompts": ENOUGH - 1}, TOO_FEW, "x", f"{ENOUGH - 1} prompts … at least {ENOUGH}"),
    ([X], {"prompts": ENOUGH}, DEPLOY, "x", ""),
    ([row_of("x", 1.7, None), SLOW], {"prompts": 4, "ratio": (1.1, None)}, TOO_FEW, "x", "4 prompts"),
    ([X], {"cut_at": LONG - 1}, UNCLEAR, "x", f"38 tokens an answer … cut off at {LONG - 1} tokens … {LONG} or more"),
    ([row_of("x", 0.8, LOSS)], {"cut_at": 8}, UNCLEAR, "x", "cut off at 8 tokens"),
    ([X], {"cut_at": LONG}, DEPLOY, "x", "over 38 tokens an answer"),
    # Of those that cannot be told apart, the one with the largest low end.
    ([LOOKUP, EAGLE], {"judged": LUCKY, "ratio": TIE}, DEPLOY, "eagle", "cannot be told apart … eagle with γ = 3 is the safer one"),
    ([LOOKUP, EAGLE], {"judged": LUCKY, "ratio": (1.05, [1 + TIED, 1.3])}, DEPLOY, "eagle", "cannot be told apart"),
    ([LOOKUP, EAGLE], {"judged": LUCKY, "ratio": (1.05, [1.021 + TIED, 1.3])}, DEPLOY, "lookup", "It is 1.05 times"),
    ([LOOKUP, EAGLE], {"judged": (1.95, [1.80, 2.08]), "ratio": TIE}, DEPLOY, "lookup", "lookup with γ = 3 is the safer one"),
    ([LOOKUP, EAGLE, row_of("hybrid", 1.8, [1.79, 1.81])], {"judged": LUCKY, "ratio": TIE}, DEPLOY, "hybrid", "lookup and eagle and hybrid"),
    # Nothing is switched on where one of the two may still be a gain, or where both lose.
    ([LOST, row_of("y", 0.9, [0.8, 0.95])], {"ratio": TIE}, DONT, "x", "cannot be told apart"),
    ([LOST, EVEN], {"ratio": TIE}, UNCLEAR, "x", "cannot be told apart"),
    ([EVEN, LOST], {"ratio": TIE}, UNCLEAR, "y", "cannot be told apart"),
    # The untrained draft cannot pay: 1.01 tokens a round, and its drafts cost 0.04 of a plain step. A clear gain is one.
    ([USELESS], {"most": 1.04}, DONT, "untrained", "1.04 at the most"),
    ([USELESS | {"v": 0.9}], {"most": 1.02}, UNCLEAR, "untrained", ""),  # a machine on which a wider pass is cheaper
    ([USELESS], {"most": 1.05}, UNCLEAR, "untrained", ""),
    ([USELESS], {"most": 1.02, "prompts": 6}, TOO_FEW, "untrained", ""),
    ([USELESS | {"ratio_interval": [1.1, 1.2]}], {"most": 1.0}, DEPLOY, "untrained", ""),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "how", "verdict", "drafter", "says"), DECISIONS)
def test_the_verdict_follows_the_intervals(rows, how, verdict, drafter, says):
    made = decided(*rows, **how)
    assert (made["verdict"], made["estimate"]["drafter"]) == (verdict, drafter)
    assert all(part in made["reason"] for part in says.split(" … ")), made["reason"]
    assert ("safer" in made["reason"]) == (verdict == DEPLOY and "apart" in made["reason"])
    assert ("apart" in made["reason"]) == (verdict != TOO_FEW and len(rows) > 1 and how["ratio"][1][0] <= 1 + TIED)
    fastest = how.get("judged") or (rows[0]["ratio_to_plain"], rows[0]["ratio_interval"])
    chosen = next(row for row in rows if row["arm"] == drafter)
    expected = fastest if chosen is rows[0] else (chosen["ratio_to_plain"], chosen["ratio_interval"])
    assert (made["estimate"]["ratio_to_plain"], made["estimate"]["ratio_interval"]) == expected


@pytest.mark.parametrize(("interval", "verdict"), [([1.1, 1.4], DEPLOY), ([0.8, 0.9], DONT), ([0.9, 1.1], UNCLEAR)])
def test_the_policy_follows_the_verdict(interval, verdict):
    best = row_of("x", 1.25, interval)
    ends = {"gain": [1.1, 1.2], "loss": [0.8, 0.99], "even": [0.8, 1.0], "open": [0.6, 1.4], "few": None}
    rows = [best, *(row_of("x", 0.9, ends[kind], kind=kind) for kind in ends)]
    rows += [row_of("y", 0.5, None, kind=k) for k in ("overall", "even")]
    policy = traffic.policy_of(decided(best), rows, [(1, 2, 3), (3, 16, 0)])
    chosen = (policy["drafter"], policy["gamma"], policy["off_for_kinds"], policy["off_above_texts_at_once"])
    assert chosen == (("x", 3, ["loss"], 2) if verdict == DEPLOY else (None, 0, [], 0))
    assert policy["schedule"] == ([[1, 2, 3], [3, 16, 0]] if verdict == DEPLOY else [])


def test_the_policy_follows_the_schedule():
    overall = row_of("eagle", 1.2, [1.1, 1.4])
    policy = traffic.policy_of(decided(overall), [overall], [(1, 3, 4), (4, 6, 1), (7, 16, 0)])
    assert (policy["off_above_texts_at_once"], policy["schedule"]) == (6, [[1, 3, 4], [4, 6, 1], [7, 16, 0]])
    assert "[[1, 3, 4], [4, 6, 1], [7, 16, 0]]" in setting(policy)
    assert "off when more than 6 texts" in policy_sentence(policy)
    # One text was judged by the clock.
    assert traffic.policy_of(decided(overall), [overall], [(1, 16, 0)])["off_above_texts_at_once"] == 1
    assert traffic.gammas_up_to(3) == [0, 1, 2, 3] and traffic.gammas_up_to(8) == [0, 1, 2, 4, 8]


def test_the_winner_is_judged_on_prompts_that_did_not_choose_it():
    prompts, ids = [Prompt(i, "all", i) for i in "abc"], list("abc")
    plain, steady = (arm(name, {i: [[seconds]] for i in ids}) for name, seconds in (("plain", 1.0), ("steady", 0.5)))
    lucky = arm("lucky", {"a": [[0.0625]], "b": [[0.5625]], "c": [[0.5625]]})
    steady_ratio = bench.ratio_to_plain(steady, plain, ids)
    assert bench.ratio_to_plain(lucky, plain, ids) > steady_ratio  # it owes that to one prompt
    blind = traffic.chosen_blindly([steady, lucky], prompts)
    assert {i: texts is lucky.traces[i] for i, texts in blind.traces.items()} == {"a": False, "b": True, "c": True}
    assert bench.ratio_to_plain(blind, plain, ids) < steady_ratio
    assert traffic.chosen_blindly([steady], prompts[:1]).traces == {"a": steady.traces["a"]}
    # Chosen by seconds a token, in the median of the repeats: two tokens in one second lose to four in 1.5.
    short = arm("short", {i: [[9.0], [1.0], [1.0]] for i in ids}, accepted=1)
    long = arm("long", {i: [[1.5]] for i in ids}, accepted=3)
    assert traffic.chosen_blindly([short, long], prompts).traces == long.traces
    assert traffic.chosen_blindly([arm("long", {i: [[2.5]] for i in ids}, 3), short], prompts).traces == short.traces


def test_a_user_waits_for_the_prompt_as_well():
    prompts = [Prompt(str(i), "a", "x") for i in range(1, 41)]
    run = arm("x", {p.id: [[int(p.id) ** 2] * 2, [int(p.id) ** 2] * 2, [9999.0] * 2] for p in prompts})
    found = traffic.latency(run, prompts)
    assert (found["mean"], found["p50"], found["p95"]) == (553_500, 420_500, 38**2 * 1000)  # of 1, 4, 9, … 1600
    # The first round took 100 seconds, most of which the prompt took.
    assert found["first"] == 100_000 and found["answer"] == 653_500
