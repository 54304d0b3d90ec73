"""The answers that a tiny target writes for its students to learn from."""

import random

import numpy as np
import pytest
import torch
from models_on_disk import SMALL
from training_text.conversations import write_conversations
from training_text.documents import Library
from training_text.requests import Requests

from specdec_lab.errors import LabError, silent
from specdec_lab.train import write
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, collected, read_answers, save_answers
from specdec_lab.train.write import Asked, Request, loops

PROMPT, ANSWER = SMALL
END = {0}


def check_own(target, answers: Answers) -> int:
    """Each greedy answer is what the target finds most likely, up to its end: how many tokens that is."""
    checked = 0
    for i in range(len(answers)):
        text, first = answers.text(i), answers.prompt[i]
        assert len(text) - first <= ANSWER and not END & set(text[first:-1])
        if answers.temperature[i] == 0:
            best = target.cached().extend([text[:-1]]).logits[0].argmax(-1).tolist()
            assert text[first:] == best[first - 1 :]
            checked += len(text) - first
    return checked


def test_the_answers_are_the_targets_own(written):
    target, _, folder = written
    answers = read_answers(folder / LEARNED, target)
    assert answers.answered >= 4_000
    assert check_own(target, answers) > 500
    assert {0.0, 0.3, 0.7, 1.0} == {round(x, 1) for x in answers.temperature.tolist()}


def test_texts_have_neighbours_and_do_not_notice(written, monkeypatch):
    """Others join and leave beside it: the same requests and random numbers give the same greedy answers."""
    target, tokenizer, _ = written
    found = []
    for many in (2, 5, 16):
        monkeypatch.setitem(write.SIDE_BY_SIDE, "cpu", many)
        asked = Asked(Requests(tokenizer, Library([]), False, PROMPT).draw, random.Random(0), 600, ANSWER)
        texts = list(write.answers(target, END, asked, ANSWER, 0))
        assert asked.open == 0 and asked.ended == len(texts) and asked.answered >= 600
        found.append({(tuple(t.request.tokens), tuple(t.tokens)) for t in texts if t.temperature == 0})
    assert len(found[0] & found[1] & found[2]) > 5


def test_the_same_seed_gives_the_same_text(written, tmp_path):
    """What is held out has no seed. And more text goes on behind what is there."""
    target, tokenizer, _ = written
    texts = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_conversations(target, tokenizer, END, tmp_path / name, 1_000, longest=SMALL, seed=seed, say=silent)
        texts.append([read_answers(tmp_path / name / side, target).tokens.tolist() for side in (LEARNED, HELD_OUT)])
    assert texts[0] == texts[1] and texts[0][0] != texts[2][0] and texts[0][1] == texts[2][1]
    write_conversations(target, tokenizer, END, tmp_path / "a", 2_000, longest=SMALL, say=silent)
    more = read_answers(tmp_path / "a" / LEARNED, target).tokens.tolist()
    assert more[: len(texts[0][0])] == texts[0][0] and len(more) > len(texts[0][0])
    assert more[len(texts[0][0]) :][:40] != texts[0][0][:40]


def test_an_interrupt_keeps_the_answers_that_have_ended(written, tmp_path, monkeypatch):
    target, tokenizer, _ = written
    seen = []

    def interrupted(self, text, end=Asked.end):
        end(self, text)
        seen.append(text)
        if len(seen) == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(Asked, "end", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_conversations(target, tokenizer, END, tmp_path, 4_000, longest=SMALL, say=silent)
    assert len(read_answers(tmp_path / HELD_OUT, target)) == 29


def torn(path, arrays):
    path.write_bytes(path.read_bytes()[:-200])


def stored(**changes):
    """What writes the arrays again, with some of them changed."""

    def write(path, arrays):
        np.savez(path, **arrays | {name: change(arrays[name]) for name, change in changes.items()})

    return write


DAMAGED = {
    "torn": (torn, "is damaged"),
    "too few tokens": (stored(tokens=lambda x: x[:-3]), "is damaged"),
    "ids of another vocabulary": (stored(tokens=lambda x: x + 60_000), "is damaged"),
    "another target": (stored(target=lambda _: np.array("gpt-9")), "was written by gpt-9"),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_file_is_one_sentence_that_names_it(written, tmp_path, how):
    target = written[0]
    for _ in range(2):
        save_answers(collected([("ask", 0.0, [1, 2], [3, 0])] * 40, target), tmp_path)
    assert len(read_answers(tmp_path, target)) == 80
    path = tmp_path / "answers-0001.npz"
    with np.load(path) as file:
        arrays = dict(file)
    damage, says = DAMAGED[how]
    damage(path, arrays)
    with pytest.raises(LabError, match=says) as told:
        read_answers(tmp_path, target)
    assert str(path) in str(told.value) and "\n" not in str(told.value)


def test_each_text_is_drawn_at_its_own_temperature(written):
    """By itself, as often as softmax says; a text that shared its random number with its neighbours would say what they say."""
    target, n = written[0], 2000
    prompt = [1, 3, 5, 8]
    logits = target.cached().extend([prompt]).logits[0, -1]
    for temperature in (0.3, 1.0):
        asked = Asked(lambda draw: Request("x", prompt), random.Random(0), n, 1)
        with pytest.MonkeyPatch.context() as m:
            m.setattr(write, "TEMPERATURES", (temperature,))
            drawn = torch.tensor([text.tokens[0] for text in write.answers(target, END, asked, 1, 0)])
        share = torch.bincount(drawn, minlength=len(logits)) / len(drawn)
        assert len(drawn) == n and (share - (logits / temperature).softmax(-1)).abs().max() < 0.05


def test_an_answer_that_goes_round_in_circles_is_found():
    plain = list(range(80))
    assert not loops(plain) and not loops(plain[:4]) and not loops([])
    assert loops(plain[:50] + [1, 2, 3, 4, 5, 6] * 5)
    assert loops(plain[:68] + [7] * 12) and not loops(plain[:68] + [7] * 11)
    assert not loops(plain[:68] + [7] * 10 + [78, 79])  # and then it went on
    assert loops(plain[:40] * 2)  # many tokens, twice
