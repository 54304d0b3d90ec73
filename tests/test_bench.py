"""What the benchmark reports, apart from times, which no test judges."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from tiny import rounds_of_accepted
from writer import save

from specdec_lab import load
from specdec_lab.choices import TRAINED
from specdec_lab.cli import main
from specdec_lab.engine.trace import Seconds, Trace
from specdec_lab.errors import LabError
from specdec_lab.measure import bench, results
from specdec_lab.measure import prompts as prompts_module
from specdec_lab.measure.hf_baselines import Generated, hf_arms
from specdec_lab.measure.prompts import read_prompts
from specdec_lab.measure.roofline import Machine, Work, work

ROW = {
    "arm", "kind", "tokens_per_pass", "alpha", "alpha_by_position", "d", "v", "o", "tokens_per_second",
    "ratio_to_plain", "ratio_interval", "ratio_from_parts", "gamma", "prompts", "new_tokens", "repetition",
}  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A tiny pair, and prompts for it."""
    target, draft = (save(tmp_path_factory.mktemp(name), seed=i) for i, name in enumerate(("target", "draft")))
    prompts = tmp_path_factory.mktemp("prompts") / "mine.jsonl"
    texts = ["the cat sat on the mat", "a cat", "on a mat the cat", "the mat . the cat", "sat on", "the the the"]
    lines = [{"id": f"p{i}", "kind": "even" if i % 2 == 0 else "odd", "prompt": t} for i, t in enumerate(texts)]
    prompts.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return target, draft, str(prompts)


@pytest.fixture
def run(capsys, folders):
    """The command on the tiny pair: (what it prints, what it says beside)."""
    target, draft, prompts = folders

    def command(options: str, *more: str, draft=("--draft", draft)):
        argv = ["bench", "--device", "cpu", "--target", target, *draft, "--prompts", prompts, *options.split(), *more]
        assert main(argv) == 0
        return capsys.readouterr()

    return command


@pytest.fixture
def measured(monkeypatch) -> list[list[bench.Run]]:
    """The runs of each decoding so far."""
    seen, decode_all = [], bench.decode_all
    monkeypatch.setattr(bench, "decode_all", lambda *a, **k: seen.append(decode_all(*a, **k)) or seen[-1])
    return seen


def test_the_rows_over_all_kinds_by_arm():
    result = results.saved_results(temperature=0.0, gamma="4")[0]
    found = bench.overall(result["rows"])
    assert list(found) == list(dict.fromkeys(r["arm"] for r in result["rows"]))
    assert all(r["arm"] == arm and r["kind"] == "overall" for arm, r in found.items())
    ours = bench.overall(result["rows"], peers=False)
    assert ours == {arm: r for arm, r in found.items() if not arm.startswith("hf-")}
    named = [{"arm": arm, "kind": "overall"} for arm in ("plain", "llama-plain", "hf-lookup", "lookup")]
    assert list(bench.overall(named, peers=False)) == ["plain", "lookup"]


@pytest.mark.parametrize("temperature", ["0", "1"])
def test_the_report_has_every_arm_and_kind(run, temperature):
    out, _ = run("--json --drafters lookup,model --max-new-tokens 12 --temperature", temperature)
    result = json.loads(out)
    assert [(r["arm"], r["kind"]) for r in result["rows"]] == [
        (arm, kind) for arm in ("plain", "lookup", "model") for kind in ("overall", "even", "odd")
    ]
    for r in result["rows"]:
        assert set(r) == ROW
        assert r["prompts"] == (6 if r["kind"] == "overall" else 3)
        speculative = r["arm"] != "plain"
        assert all((r[x] is None) != speculative for x in ("gamma", "d", "v", "o", "ratio_from_parts"))
        assert (r["ratio_interval"] is not None) == (speculative and r["kind"] == "overall")  # not from three prompts
        if speculative:
            assert r["ratio_from_parts"] == pytest.approx(r["tokens_per_pass"] / (r["d"] + r["v"] + r["o"]))
    assert result["rows"][0]["tokens_per_pass"] == result["rows"][0]["ratio_to_plain"] == 1
    assert result["meta"]["identical_texts"] == (12 if temperature == "0" else None)


def test_pilots_have_prompts_of_their_own_where_there_are_enough(run, folders):
    every = read_prompts(folders[2])
    pilot, rest = bench.set_aside(every)
    assert ([p.id for p in pilot], rest) == (["p0", "p1"], every)  # four would give no interval
    more = [replace(p, id=f"{p.id}{i}") for i in range(2) for p in every]
    pilot, rest = bench.set_aside(more)
    assert len(pilot) == 2 and len(rest) == 10 and not any(p in rest for p in pilot)
    many = [replace(p, id=f"{p.id} {i}") for i in range(5) for p in every]
    pilot, rest = bench.set_aside(many)
    assert [sum(p.kind == kind for p in pilot) for kind in sorted({p.kind for p in every})] == [3, 3]
    assert len(rest) == 24 and not any(p in rest for p in pilot)
    ordered = [p for p in many if p.kind == pilot[0].kind]
    assert [ordered.index(p) for p in pilot[:3]] == [0, 4, 8]  # spread: the first ones may be the easy ones
    alone = replace(every[0], id="alone", kind="alone")
    pilot, rest = bench.set_aside([*many, alone])
    assert alone in pilot and alone in rest  # or its kind would be missing in the result


def test_predict_says_what_each_drafter_should_gain(run):
    out, _ = run("--json --gamma 2 --predict --drafters lookup,model --max-new-tokens 8")
    result = json.loads(out)
    assert set(result["expected"]) == {"lookup", "model"} and min(result["expected"].values()) > 0
    assert all(low <= result["expected"][arm] <= high for arm, (low, high) in result["expected_interval"].items())
    assert set(result["expected_interval"]) == set(result["expected"])
    assert result["meta"]["pilot"] == ["p0", "p1"]
    out, _ = run("--gamma 2 --predict --drafters lookup --max-new-tokens 8")
    heads, *rows = (line.split() for line in out[out.index("         arm") :].splitlines() if line.strip())
    predicted = {(r[0], r[2 if r[0] != "plain" else 1]): r[heads.index("predicted") - (r[0] == "plain")] for r in rows}
    assert float(predicted["lookup", "overall"]) > 0  # beside the clock's, for all prompts together
    assert {p for kind, p in predicted.items() if kind != ("lookup", "overall")} == {"–"}


def test_gamma_best_gives_each_drafter_its_own(run):
    out, _ = run("--gamma best --drafters lookup,model --max-new-tokens 8 --limit 1")
    assert "token for token" in out
    header, *table = out[out.index("         arm") :].splitlines()
    assert header.split()[-1] == "repetition"
    assert len(table) == 9
    assert all(line.endswith("%") for line in table)


def test_gamma_best_drafts_as_many_as_the_best_gamma_says(run, measured, monkeypatch):
    best = {"lookup": 2, "model": 6}
    monkeypatch.setattr(bench, "best_gamma", lambda pilot, plain, ids, cost: best[pilot.arm])
    out, _ = run("--json --gamma best --drafters lookup,model --max-new-tokens 12")
    assert {(r["arm"], r["gamma"]) for r in json.loads(out)["rows"]} == {("plain", None), *best.items()}
    most = [
        {x.arm: max(len(r.drafted) for traces in x.traces.values() for t in traces for r in t.rounds) for x in runs}
        for runs in measured
    ]
    assert most == [{"plain": 0, "lookup": 8, "model": 8}, {"plain": 0} | best]  # first the pilot


def timed_trace(lengths, gamma, seconds):
    """Hand-made rounds that accepted so many drafts each, and took so long: (draft, verify, loop)."""
    trace = Trace([0]).collect(rounds_of_accepted(lengths, gamma))
    trace.rounds = [replace(r, seconds=Seconds(*s)) for r, s in zip(trace.rounds, seconds)]
    trace.clock = [100.0, *(sum(s) for s in seconds[1:])]  # the prefill is in the first, and does not count
    return trace


def test_the_best_gamma_follows_from_survival_and_costs():
    def best(lengths, draft, others=(), gamma=8, other_draft=0.0):
        """Of rounds that took this long to draft, and of others with other drafts."""
        trace = timed_trace(lengths, 8, [(draft, 1.0, 0.0)] * len(lengths))
        trace.rounds += timed_trace(others, gamma, [(other_draft, 1.0, 0.0)] * len(others)).rounds
        flat = dict.fromkeys(range(1, 10), 1.0)
        return bench.best_gamma(bench.Run("x", 8, {"a": [trace]}), plain, ["a"], flat)

    plain = bench.Run("plain", 0, {"a": [timed_trace([0] * 10, 0, [(0.0, 1.0, 0.0)] * 10)]})
    assert best([8] * 10, draft=0.08) == 8  # always right, nearly free
    assert best([0] * 10, draft=0.8) == 1  # never right
    assert best([8] * 3, 0.1, others=[0] * 7, gamma=0) == 8  # lookup: seven rounds without a draft
    # A hybrid: copies of eight, free; and two drafts that cost one step in other rounds, whatever γ ≥ 2 is.
    assert best([3] * 6, 0.0, others=[1] * 6, gamma=2, other_draft=1.0) == 3
    assert 1 < best([8, 3, 2, 4, 0, 1, 3, 2, 5, 1], draft=1.0) < 8


def test_times_follow_from_the_clocks_alone():
    """Binary fractions, so that everything is exact."""
    plain = bench.Run("plain", 0, {"a": [timed_trace([0] * 4, 0, [(0.0, 0.5, 0.0)] * 4)]})
    rounds = [(0.125, 0.75, 0.125), (0.375, 0.75, 0.125)]
    run = bench.Run("x", 2, {"a": [timed_trace([2, 0], 2, rounds)]})
    row = bench.summary(run, plain, ["a"], ["a"])
    assert (row["d"], row["v"], row["o"]) == (0.5, 1.5, 0.25)
    assert (row["new_tokens"], row["tokens_per_pass"], row["ratio_from_parts"]) == (4, 2.0, 2 / 2.25)
    assert (row["tokens_per_second"], row["ratio_to_plain"]) == (4 / 2.25, 0.5 / (2.25 / 4))
    row = bench.summary(plain, plain, ["a"], ["a"])
    assert (row["tokens_per_second"], row["ratio_to_plain"], row["d"]) == (2.0, 1.0, None)


def test_times_come_from_the_timed_prompts_and_acceptance_from_all():
    def step(seconds):
        return timed_trace([0, 0], 0, [(0.0, seconds, 0.0)] * 2)

    plain = bench.Run("plain", 0, {"a": [step(0.5), step(0.5), step(2.0)], "b": [step(8.0)]})
    slow, fast = [(1.0, 1.0, 0.0)] * 2, [(0.25, 0.5, 0.25)] * 2
    run = bench.Run(
        "x",
        2,
        {"a": [timed_trace([2, 1], 2, s) for s in (fast, slow, fast)], "b": [timed_trace([0] * 3, 2, [*slow, *slow])]},
    )
    row = bench.summary(run, plain, ["a", "b"], ["a"])
    assert (row["prompts"], row["new_tokens"], row["tokens_per_pass"]) == (2, 8, 8 / 5)  # each prompt once
    assert row["alpha"] == 3 / 7
    assert row["alpha_by_position"] == [2 / 5, 1 / 2]
    assert (row["d"], row["v"], row["o"]) == (0.5, 2 / 3, 1 / 6)  # a plain step takes 1.0 in the mean
    # Predicted is the time of "a", so from its rounds: 5 tokens in 2 passes.
    assert row["ratio_from_parts"] == 5 / 2 / (row["d"] + row["v"] + row["o"])
    assert row["ratio_to_plain"] == 0.5 / (2.0 / 5)  # medians
    assert row["tokens_per_second"] == 15 / 8


def test_timed_prompts_alone_are_repeated(run, measured):
    options = "--timed 1 --drafters model --max-new-tokens 6 --repeats 3"
    result = json.loads(run(options, "--json").out)
    for arm in measured[0]:
        assert {i: len(traces) for i, traces in arm.traces.items()} == {f"p{i}": 3 if i < 2 else 1 for i in range(6)}
    assert result["meta"]["timed"] == 1
    assert [r["prompts"] for r in result["rows"]] == [6, 3, 3] * 2
    assert all(r["ratio_interval"] is None for r in result["rows"])  # not from two prompts
    kinds = {"overall": range(6), "even": (0, 2, 4), "odd": (1, 3, 5)}
    for r in result["rows"][3:]:
        timed = [i for i in (0, 1) if i in kinds[r["kind"]]]
        assert r == {"arm": "model", "kind": r["kind"]} | bench.summary(
            measured[0][1], measured[0][0], [f"p{i}" for i in kinds[r["kind"]]], [f"p{i}" for i in timed]
        )
    assert "Times of the first 1 prompts of each kind in units" in run(options).out


def test_repetition_counts_what_stood_before():
    assert bench.repetition([1, 2, 3, 4, 5, 6]) == 0
    assert bench.repetition([1, 2, 3, 4] * 3) == pytest.approx(5 / 9)
    assert bench.repetition([1, 2]) == 0


def test_the_interval_is_over_prompts_and_repeatable():
    def run(name, seconds):
        traces = {str(i): [timed_trace([0] * 4, 1, [(0.0, s, 0.0)] * 4)] for i, s in enumerate(seconds)}
        return bench.Run(name, 1, traces)

    plain, fast = run("plain", [1.0] * 12), run("fast", [0.5] * 6 + [1.0] * 6)
    low, high = bench.ratio_interval(fast, plain, list(plain.traces))
    assert (low, high) == tuple(bench.ratio_interval(fast, plain, list(plain.traces)))
    assert 1 < low < bench.ratio_to_plain(fast, plain, list(plain.traces)) < high < 2
    assert bench.ratio_interval(fast, plain, ["0", "1"]) is None


def test_a_peers_texts_that_ended_with_the_prefill_have_no_time_and_do_not_count():
    def peer(seconds):
        return bench.Run(
            "peer", None, {str(i): [Generated([0] * 4 if s else [0], s, 1)] for i, s in enumerate(seconds)}
        )

    traces = {str(i): [timed_trace([0] * 4, 1, [(0.0, 1.0, 0.0)] * 4)] for i in range(6)}
    plain, ids = bench.Run("plain", None, traces), list(traces)
    some = peer([2.0, 0.0, 2.0, 0.0, 2.0, 2.0])  # half a second a token, where plain decoding takes one
    assert bench.ratio_to_plain(some, plain, ids) == 2 and bench.ratio_to_plain(some, plain, ["1"]) is None
    assert bench.tokens_per_second([t for texts in some.traces.values() for t in texts]) == 2
    assert bench.ratio_interval(peer([2.0] * 6), plain, ids) == [2, 2]
    assert bench.ratio_interval(peer([0.0] * 5 + [2.0]), plain, ids) is None  # most draws have only texts without
    none = bench.summary(peer([0.0] * 6), plain, ids, ids)
    assert none["ratio_to_plain"] is none["ratio_interval"] is none["tokens_per_second"] is None
    assert none["new_tokens"] == 6


def test_the_builtin_prompts():
    prompts = prompts_module.read_prompts()
    kinds = Counter(p.kind for p in prompts)
    assert set(kinds) == {"chat", "translation", "summarisation", "question-answering", "arithmetic", "retrieval"}
    assert min(kinds.values()) >= 12
    assert len({p.id for p in prompts}) == len({str(p.content) for p in prompts}) == len(prompts)
    assert all(p.content[-1]["role"] == "user" for p in prompts if not isinstance(p.content, str))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": 1, "kind": "x"}', "“prompt” is missing"),
        ('{"id": 1, "kind": "x", "prompt": ""}', "the prompt is empty"),
        ("{", "Line 2 of"),
        ("[]", "it is no object"),
        ('{"id": 1, "kind": "x", "prompt": 5}', "the prompt is empty"),
        ('{"id": 1, "kind": "x", "messages": ["hi"]}', "each message needs"),
        ('{"id": 1, "kind": "x", "messages": [{"role": "user"}]}', "each message needs"),
        ('{"id": 0, "kind": "x", "prompt": "again"}', "“0” stands twice"),
    ],
)
def test_a_bad_prompts_file_names_its_line(tmp_path, line, says):
    file = tmp_path / "p.jsonl"
    file.write_text('{"id": 0, "kind": "x", "prompt": "hi"}\n' + line, encoding="utf-8")
    with pytest.raises(LabError, match=says):
        prompts_module.read_prompts(str(file))


def test_files_without_prompts_are_one_sentence_and_a_prompt_may_hold_any_line_break_of_unicode(tmp_path):
    file = tmp_path / "p.jsonl"
    with pytest.raises(LabError, match="cannot be read"):
        prompts_module.read_prompts(str(file))
    file.touch()
    with pytest.raises(LabError, match="no prompts in"):
        prompts_module.read_prompts(str(file))
    file.write_text('{"id": 0, "kind": "x", "prompt": "a\u2028b"}', encoding="utf-8")
    assert len(prompts_module.read_prompts(str(file))) == 1


@pytest.mark.parametrize(
    ("option", "value"), [("--limit", "0"), ("--repeats", "0"), ("--timed", "0"), ("--gamma", "²")]
)
def test_bad_options_are_one_sentence(capsys, option, value):
    assert main(["bench", option, value]) == 2
    assert option in capsys.readouterr().err


def test_a_drafter_trained_for_another_target_is_one_sentence(folders):
    lab = load(folders[0], device="cpu")
    for name in (*TRAINED, "untrained"):
        with pytest.raises(LabError, match="weights|trained for"):
            lab.drafter(name)


@pytest.mark.parametrize("temperature", ["0", "1"])
def test_peers_decode_the_same_prompts(run, temperature):
    """Greedy, transformers' texts are ours; and a peer has no α, d, v, o that we could know."""
    options = "--json --peers --drafters lookup --max-new-tokens 12 --floor --temperature"
    result = json.loads(run(options, temperature).out)
    arms = {r["arm"]: r for r in result["rows"] if r["kind"] == "overall"}
    assert list(arms) == ["plain", "lookup", "hf-plain", "hf-assisted", "hf-lookup"]
    assert all(set(r) == ROW for r in arms.values())
    assert arms["hf-plain"]["tokens_per_pass"] == 1
    assert arms["hf-assisted"]["tokens_per_pass"] > 1
    assert all(arms[a][x] is None for a in arms if a.startswith("hf") for x in ("alpha", "d", "v", "o", "gamma"))
    assert all(arms[a]["ratio_interval"] for a in arms if a.startswith("hf"))
    if temperature == "0":
        n = result["meta"]["prompts_used"]
        assert result["meta"]["identical_texts"] == result["meta"]["texts"] == n
        assert result["meta"]["identical_by_arm"] == {"lookup": n, "hf-assisted": n, "hf-lookup": n}
    assert result["floor"]["passes"][0]["k"] == 1
    assert result["floor"]["work"]["weight_bytes"] == 4 * result["floor"]["work"]["weights"]


def test_without_a_draft_model_a_peer_is_left_out_and_said(run, tmp_path):
    none = ("--weights", str(tmp_path))
    out, said = run("--json --peers --drafters lookup --max-new-tokens 4", draft=none)
    arms = [r["arm"] for r in json.loads(out)["rows"] if r["kind"] == "overall"]
    assert arms == ["plain", "lookup", "hf-plain", "hf-lookup"]
    (line,) = [line for line in said.splitlines() if "hf-assisted" in line]
    assert line.startswith("hf-assisted is left out: There are no weights for the drafter “model” in ")


def test_a_peers_time_leaves_out_the_prefill(folders, monkeypatch):
    target, draft, _ = folders
    lab = load(target, draft, device="cpu")
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def passed(module, args, kwargs):
        now[0] += kwargs["input_ids"].shape[1]

    lab.target.hf.register_forward_pre_hook(passed, with_kwargs=True)
    text = hf_arms(lab, 4)["hf-plain"]([1, 2, 3, 4] * 3, max_new_tokens=11)
    assert len(text.tokens) == text.target_passes
    assert text.seconds == len(text.tokens)  # one second a token; the prompt took twelve


def test_gamma_auto_chooses_by_the_round(run, monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    rows = json.loads(run("--json --gamma auto --drafters lookup,model --max-new-tokens 12").out)["rows"]
    assert {(r["arm"], r["gamma"]) for r in rows} == {("plain", None), ("lookup", "auto"), ("model", "auto")}
    assert len(json.loads((tmp_path / "costs.json").read_text())) == 2


def test_the_floor_is_the_larger_of_reading_and_computing():
    least = Work(weights=1000, weight_bytes=4000)
    machine = Machine(bandwidth=4000.0, arithmetic=8000.0, launch=0.0)
    assert least.floor(machine, 1) == (1.0, 0.25)
    assert least.floor(machine, 8) == (1.0, 2.0)


def test_the_work_of_a_pass_counts_every_matrix_once(folders):
    lab = load(folders[0], device="cpu")
    body = sum(p.numel() for n, p in lab.target.hf.model.layers.named_parameters() if "proj" in n)
    found = work(lab.target)
    assert found.weights == body + lab.target.hf.lm_head.weight.numel()
    assert found.weight_bytes == 4 * found.weights  # of float32


def test_a_result_can_be_recorded_and_found_again(run, monkeypatch, tmp_path):
    monkeypatch.setattr(results, "folder", lambda: tmp_path / "kept")
    for temperature in ("0", "0.5", "0"):
        options = "--json --record --drafters lookup --max-new-tokens 4 --temperature"
        printed, said = run(options, temperature, draft=())
        assert "The result is kept in" in said
    assert len(list((tmp_path / "kept").glob("*.json"))) == 2  # the third replaced the first
    assert results.saved_results(temperature=0) == [json.loads(printed)]
    assert len(results.saved_results()) == 2
    assert results.saved_results(hardware="another machine") == []


def test_what_is_recorded_names_its_hardware():
    for result in results.saved_results():
        assert result["meta"]["hardware"]
        assert {r["arm"] for r in result["rows"]} >= {"plain"}
