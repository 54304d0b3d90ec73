"""What the benchmark reports, apart from times, which no test judges."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from models_on_disk import save

from specdec_lab import load
from specdec_lab.cli import main
from specdec_lab.cli.bench import as_text
from specdec_lab.measure import bench, results
from specdec_lab.measure.prompts import read_prompts
from specdec_lab.measure.roofline import work


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


@pytest.mark.slow
@pytest.mark.parametrize("temperature", ["0", "1"])
def test_the_report_has_every_arm_and_kind(run, temperature):
    out, _ = run("--json --drafters lookup,model --max-new-tokens 12 --temperature", temperature)
    result = json.loads(out)
    assert [(r["arm"], r["kind"]) for r in result["rows"]] == [
        (arm, kind) for arm in ("plain", "lookup", "model") for kind in ("overall", "even", "odd")
    ]
    for r in result["rows"]:
        assert r["prompts"] == (6 if r["kind"] == "overall" else 3)
        speculative = r["arm"] != "plain"
        assert all((r[x] is None) != speculative for x in ("gamma", "d", "v", "o", "ratio_from_parts"))
        assert (r["ratio_interval"] is not None) == (speculative and r["kind"] == "overall")  # not from three prompts
        if speculative:
            assert r["ratio_from_parts"] == pytest.approx(r["tokens_per_pass"] / (r["d"] + r["v"] + r["o"]))
    assert result["rows"][0]["tokens_per_pass"] == result["rows"][0]["ratio_to_plain"] == 1
    assert result["meta"]["identical_texts"] == (12 if temperature == "0" else None)
    for share, doubted in ((0.05, False), (0.3, True)):
        result["rows"][3] |= {"slow_rounds": share}  # lookup's, overall
        assert ("30% of the time of lookup" in as_text(result)) == doubted


def test_pilots_have_prompts_of_their_own(folders):
    every = read_prompts(folders[2])
    pilot, rest = bench.split_pilot(every)
    assert ([p.id for p in pilot], rest) == (["p0", "p1"], every)  # four would give no interval
    many = [replace(p, id=f"{p.id} {i}") for i in range(5) for p in every]
    pilot, rest = bench.split_pilot(many)
    assert Counter(p.kind for p in pilot) == {"even": 3, "odd": 3}
    assert len(rest) == 24 and not any(p in rest for p in pilot)
    ordered = [p for p in many if p.kind == pilot[0].kind]
    assert [ordered.index(p) for p in pilot[:3]] == [0, 4, 8]  # spread: the first ones may be the easy ones
    alone = replace(every[0], id="alone", kind="alone")
    pilot, rest = bench.split_pilot([*many, alone])
    assert alone in pilot and alone in rest  # or its kind would be missing in the result


@pytest.mark.slow
def test_gamma_best_drafts_as_many_as_it_says(run, monkeypatch):
    best, measured, decode_all = {"lookup": 2, "model": 6}, [], bench.decode_all
    monkeypatch.setattr(bench, "decode_all", lambda *a, **k: measured.append(decode_all(*a, **k)) or measured[-1])
    monkeypatch.setattr(bench, "best_gamma", lambda pilot, plain, ids, cost: best[pilot.arm])
    out, _ = run("--json --gamma best --drafters lookup,model --max-new-tokens 12")
    assert {(r["arm"], r["gamma"]) for r in json.loads(out)["rows"]} == {("plain", None), *best.items()}
    most = [
        {x.arm: max(len(r.drafted) for traces in x.traces.values() for t in traces for r in t.rounds) for x in runs}
        for runs in measured
    ]
    assert most == [{"plain": 0, "lookup": 8, "model": 8}, {"plain": 0} | best]  # first the pilot


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
