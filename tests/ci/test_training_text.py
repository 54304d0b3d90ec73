"""What the shipped drafters learned from: nothing that they are measured on, from the two sides nothing in common, and texts
whose licences the model card names."""

import random
from pathlib import Path

import passages
import pytest
from training_text import requests as requests_module
from training_text.documents import Document, Library
from training_text.requests import Requests, measured, runs
from training_text.word_problems import SHAPES, shapes
from transformers import AutoTokenizer

from specdec_lab.measure.prompts import read_prompts

STORY = "The boat came in the evening. Mr Okafor stood on the pier and waited for the captain. Nobody spoke. "


def document(number: int, language: str = "en") -> Document:
    text = "\n\n".join(f"{number}. {STORY * 2}".strip() for _ in range(6))
    return Document("tales", "prose", language, f"Tale {number}", text)


@pytest.fixture(scope="module")
def tokenizer(writer):
    return AutoTokenizer.from_pretrained(writer)


def make(tokenizer, documents=(), **more) -> Requests:
    return Requests(tokenizer, Library(documents), **more)


def test_nothing_that_drafts_are_measured_on_is_asked(tokenizer, monkeypatch):
    built_in = next(p.content for p in read_prompts() if p.kind == "question-answering")
    assert runs(built_in) <= measured()
    code = [Document("code", "code", "python", "f", f"def f{i}(x):\n" + "    x = x + 1\n" * i) for i in range(3, 80)]
    asked = make(tokenizer, [*map(document, range(30)), *(document(i, "de") for i in range(30)), *code])
    for kind in (*requests_module.WITH, *requests_module.WITHOUT):
        texts = [asked.text(kind, random.Random(seed), 200) for seed in range(40)]
        assert not any(text and runs(text) & measured() for text in texts), kind
    monkeypatch.setattr(requests_module.Requests, "text", lambda self, kind, draw, most: f"Hello! {built_in}")
    plain = make(tokenizer).render([{"role": "user", "content": requests_module.PLAIN}])
    assert make(tokenizer).of_length(random.Random(0), 28, 110).tokens == plain  # others would have held it


def test_the_two_sides_share_nothing(tokenizer):
    """No subject, no sum and no document."""
    train, held = (make(tokenizer, held_out=side) for side in (False, True))
    for name in requests_module.LISTS:
        assert set(train.words[name]) and set(held.words[name])
        assert not set(train.words[name]) & set(held.words[name])
    assert not set(shapes(False)) & set(shapes(True)) and len(shapes(False)) + len(shapes(True)) == len(SHAPES)
    assert train.text("arithmetic", random.Random(0), 60) != held.text("arithmetic", random.Random(0), 60)
    sides = [document(i).held_out for i in range(400)]
    assert 0.12 < sum(sides) / 400 < 0.28
    assert sides == [document(i).held_out for i in range(400)]


def test_the_card_names_every_source_and_its_licence():
    """They have learned from these texts: whoever ships them says under which terms the texts are."""
    card = (Path(__file__).parents[2] / "specdec_lab" / "weights" / "README.md").read_text(encoding="utf-8")
    for source in passages.SOURCES:
        assert source.licence and f"{source.name} ({source.licence})" in card, source.name
