"""Families of models besides Llama, tiny and random, as tools/architectures.py tries all of them."""

import re

import architectures
import pytest
import torch

from specdec_lab.models import load, reference
from specdec_lab.models.reference import ReferenceModel

WRITTEN_OUT = "reference, attention written out"
RUN = dict.fromkeys(["llama", "qwen2"], "fast")
RUN |= dict.fromkeys(
    ["qwen3", "mistral", "mixtral", "phi3", "gpt2", "gpt_neox", "falcon", "deepseek_v3", "whisper"], "reference"
)
RUN |= {"gptj": WRITTEN_OUT, "gpt_neo": WRITTEN_OUT, "mpt": f"{WRITTEN_OUT}, no trees"}
REFUSED = {
    "bloom": "does not run with a cache",
    "mamba2": None,
    "gemma2": "change their logits",
    "qwen3_next": "cannot be rewound",
}


@pytest.mark.parametrize("family", RUN)
def test_a_family_that_runs_writes_one_text_in_all_ways(family):
    assert architectures.runs(family) == (RUN[family], "")


@pytest.mark.parametrize("family", REFUSED)
def test_a_family_that_does_not_run_is_refused_with_a_sentence(family):
    how, why = architectures.runs(family)
    assert how == "refused" or (how, REFUSED[family]) == ("not tried", None)
    assert (REFUSED[family] or "") in why


def test_the_page_says_what_was_found():
    page = architectures.PAGE.read_text(encoding="utf-8")
    rows = {line.split(" | ")[0].strip("| "): line for line in page.splitlines() if line.startswith("| ")}
    for family, how in RUN.items():
        assert f" {family}," in rows[how].replace(" |", ",") or f" {family} " in rows[how]


def test_a_family_that_is_wrong_is_found_out(monkeypatch):
    """In a tree, or at the end of its window: as MPT and GPT-Neo were."""
    monkeypatch.setattr(ReferenceModel, "agrees_in_a_tree", lambda self: True)
    assert architectures.runs("mpt")[1].startswith("a tree writes another text")
    monkeypatch.setattr(reference, "WINDOW", re.compile("sliding_window"))
    how, why = architectures.runs("gpt_neo")
    assert how == "differs" and why.endswith("(window: 16 tokens)")


def test_a_text_of_mpt_ends_at_its_longest():
    """Beside others that have drafts. The filling of its row stands behind the last slot that the model makes biases for."""
    target = load.wrapped(architectures.tiny("mpt", 1, "longest"), "mpt")
    text = [7, 5] * (target.context // 2)
    alone, both = target.cached(), target.cached(2)
    alone.extend([text[:-1]])
    both.extend([text[:-1], text[:3]])
    rows = both.extend([text[-1:], text[3:8]]).logits
    assert torch.allclose(rows[0, 0], alone.extend([text[-1:]]).logits[0, 0], atol=1e-4)


def test_a_family_is_found_out_whose_missing_weights_are_drawn(monkeypatch):
    monkeypatch.setattr(load, "check_weights", lambda *_: None)
    assert architectures.runs("gpt2") == ("differs", "a weight that is missing is drawn at random")
