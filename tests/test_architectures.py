"""Families of models besides Llama, tiny and random, as tools/architectures.py tries all of them."""

import re

import architectures
import pytest
import torch

from specdec_lab.models import load, reference
from specdec_lab.models.reference import ReferenceModel

RUN = {"llama": "fast", "qwen2": "fast", "qwen3": "reference", "mistral": "reference", "mixtral": "reference", "phi3": "reference",
       "gpt2": "reference", "gpt_neox": "reference", "falcon": "reference", "gptj": "reference, attention written out",
       "deepseek_v3": "reference", "gpt_neo": "reference, attention written out", "whisper": "reference",
       "mpt": "reference, attention written out, no trees"}  # fmt: skip
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


def test_a_family_is_found_out_that_is_wrong_in_a_tree_or_at_the_end_of_its_window(monkeypatch):
    """As MPT and GPT-Neo were."""
    monkeypatch.setattr(ReferenceModel, "agrees_in_a_tree", lambda self: True)
    assert architectures.runs("mpt")[1].startswith("a tree writes another text")
    monkeypatch.setattr(reference, "WINDOW", re.compile("sliding_window"))
    how, why = architectures.runs("gpt_neo")
    assert how == "differs" and why.endswith("(window: 16 tokens)")


def test_a_text_of_mpt_ends_at_its_longest_beside_others_that_have_drafts():
    """The filling of its row stands behind the last slot that the model makes biases for."""
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
