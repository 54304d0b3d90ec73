"""One's own prompts in, a report out; and the names that engines have for its numbers."""

import json
from dataclasses import replace

import pytest
from models_on_disk import save
from stand_ins import written
from tiny import rounds_of_accepted

from specdec_lab.cli import main
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.measure import endpoint
from specdec_lab.show.report import PACES


def test_engines_numbers_follow_their_formulas():
    """Accepted 2, 0, 4 and 1 of four drafts; and a round without drafts, which only SGLang counts."""
    trace = Trace([0]).collect(rounds_of_accepted([2, 0, 4, 1], gamma=4))
    trace.rounds.append(replace(trace.rounds[1], drafted=()))
    said = endpoint.as_reported([trace], gamma=4)
    assert said["vLLM: Mean acceptance length"] == said["TensorRT-LLM: acceptanceLength"] == 1 + 7 / 4
    assert said["vLLM: Avg Draft acceptance rate"] == said["llama.cpp: draft acceptance"] == 7 / 16
    assert (said["SGLang: accept len"], said["SGLang: accept rate"]) == (1 + 7 / 5, 7 / 20)
    assert said["SGLang: accept rate"] == endpoint.as_reported([trace], gamma=8)["SGLang: accept rate"] * 2
    survival = [said[f"vLLM: Per-position acceptance rate, place {i}"] for i in (1, 2, 3, 4)]
    assert survival == [3 / 4, 2 / 4, 1 / 4, 1 / 4]
    assert 1 + sum(survival) == said["llama.cpp: mean len"] == 1 + 7 / 16 * 4
    assert endpoint.conditional(survival) == pytest.approx(trace.alpha_by_position)
    with pytest.raises(LabError, match="no rounds with drafts"):
        endpoint.as_reported([Trace([0])], 4)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return [save(tmp_path_factory.mktemp(name), seed=i) for i, name in enumerate(("target", "draft"))]


def test_the_report_says_its_verdict(capsys, tmp_path, pair):
    texts = ["the cat sat on the mat", "a cat", "on a mat the cat", "the mat . the cat", "sat on", "the " * 100]
    lines = "\n".join(json.dumps({"kind": "ab"[i % 2], "prompt": t}) for i, t in enumerate(texts))
    argv = ["traffic", written(tmp_path, f"{lines}\n{{bad"), "--device", "cpu", "--target", pair[0], "--draft", pair[1]]
    argv += ["--drafters", "lookup,model", "--max-new-tokens", "10", "--repeats", "3"]
    argv += ["--html", str(tmp_path / "out.html")]
    assert main([*argv, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["meta"]["prompts"], result["meta"]["repeats"]) == (5, 3)
    assert result["verdict"] == "too few prompts" and "5 prompts" in result["reason"]
    assert [(c["first"], c["second"]) for c in result["compared"]] in ([("lookup", "model")], [("model", "lookup")])
    assert {r["arm"] for r in result["rows"]} == {"plain", "lookup", "model"}
    assert len(result["latency"]) == 2 and all(set(x) == set(PACES) for x in result["latency"].values())
    assert len(result["problems"]) == 2
    assert "Line 7 was left out" in result["problems"][0] and "was left out: it has" in result["problems"][1]
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<table>" in html and "http" not in html
    for said in (result["verdict"].upper(), "Line 7", "Policy:", "place in the round"):
        assert said in html
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "Policy:" in out and "Left out" in out and "<" not in out
