"""Families of models besides Llama, tiny and random, as tools/architectures.py tries all of them."""

import architectures
import pytest

RUN = {"llama": "fast", "qwen2": "fast", "qwen3": "reference", "mistral": "reference", "mixtral": "reference", "phi3": "reference",
       "gpt2": "reference", "gpt_neox": "reference", "falcon": "reference", "gptj": "reference, attention written out",
       "deepseek_v3": "reference"}  # fmt: skip
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
