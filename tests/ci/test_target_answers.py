"""The answers that a tiny target writes for its students to learn from."""

import numpy as np
import pytest
from models_on_disk import SMALL
from training_text.conversations import write_conversations

from specdec_lab.errors import LabError, silent
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, collected, read_answers, save_answers
from specdec_lab.train.write import Asked, loops

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


def of_another_target(path, arrays):
    np.savez(path, **arrays | {"target": np.array("gpt-9")})


DAMAGED = {"torn": (torn, "is damaged"), "another target": (of_another_target, "was written by gpt-9")}


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


def test_an_answer_that_goes_round_in_circles_is_found():
    plain = list(range(80))
    assert not loops(plain) and not loops(plain[:4]) and not loops([])
    assert loops(plain[:50] + [1, 2, 3, 4, 5, 6] * 5)
    assert loops(plain[:68] + [7] * 12) and not loops(plain[:68] + [7] * 11)
    assert not loops(plain[:68] + [7] * 10 + [78, 79])  # and then it went on
    assert loops(plain[:40] * 2)  # many tokens, twice
