"""The text that a tiny target writes for its students to learn from."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from training_text import conversations
from training_text.conversations import Size, write_conversations
from training_text.documents import Document, Library, Passages
from training_text.requests import Requests
from writer import SMALL, WORDS

from specdec_lab.errors import LabError, silent
from specdec_lab.train import write
from specdec_lab.train.shards import CONVERSATIONS, HELD_OUT, read_shards
from specdec_lab.train.write import loops


def requests(tokenizer, documents=(), held_out=False) -> Requests:
    return Requests(tokenizer, write.turns(tokenizer).prefix, Library(documents), held_out, SMALL.longest)


def check_faithful(target, shard, rows) -> int:
    """The rows are what the target computes, at all three depths, and greedy answers its favourites: how many of these."""
    favourites = 0
    for r in rows:
        text = [shard.tokens[r, :-1].tolist()]
        whole = target.cached().extend(text)
        for part, layers in (("last", 3), ("exit", shard.exit_layer), ("middle", shard.middle_layer)):
            expected = target.cached().extend(text, layers=(0, layers), logits=False).hidden[0]
            assert np.allclose(getattr(shard, part)[r], expected.numpy(), atol=2e-2), part
        if shard.temperature[r] == 0:
            best = whole.logits[0].argmax(-1).numpy()
            own = shard.own[r]
            assert np.array_equal(shard.tokens[r, 1:][own], best[own])
            favourites += int(own.sum())
    return favourites


def test_the_text_is_the_targets_own(written):
    target, tokenizer, text = written
    turn = write.turns(tokenizer)
    assert [[WORDS[i] for i in ids] for ids in (turn.prefix, turn.answer, turn.user)] == [
        ["<turn>", "user"],
        ["<turn>", "assistant"],
        ["<end>", "<turn>", "user"],
    ]
    shards = read_shards(text / CONVERSATIONS)
    assert len(shards) > 2
    assert {s.exit_layer for s in shards} == {1} and {s.middle_layer for s in shards} == {2}
    shard = shards[0]
    assert check_faithful(target, shard, range(64)) > 50
    greedy = int(np.flatnonzero(shard.temperature == 0)[0])
    wrong = [
        replace(shard, own=np.roll(shard.own, 1, axis=1)),  # the mask at the token itself, not at the row before it
        replace(shard, last=np.roll(shard.last, 1, axis=1)),
        replace(shard, exit=shard.middle),
    ]
    for other in wrong:
        with pytest.raises(AssertionError):
            check_faithful(target, other, [greedy])


def loops_before(shard, r, i) -> bool:
    tokens, own = shard.tokens[r : r + 1, :i].astype(int), shard.own[r : r + 1, : i - 1]
    return bool(loops(torch.from_numpy(tokens), torch.from_numpy(own)))


def check_turns(turn, shard) -> None:
    """No token of a prompt or of a user's turn counts; every other one does, the end of an answer among them.

    An answer that went round in circles was ended for the target: that end does not count.
    """
    for r in range(len(shard.tokens)):
        tokens, own = shard.tokens[r].tolist(), shard.own[r].tolist()
        answering = False
        for i in range(1, len(tokens)):
            ends = answering and tokens[i : i + 3] == turn.user[: len(tokens) - i]
            assert own[i - 1] == answering or (ends and loops_before(shard, r, i)), (r, i)
            if ends:
                answering = False
            elif not answering and tokens[i - 1 : i + 1] == turn.answer:
                answering = True


def check_answers(turn, shard) -> int:
    """Where the target writes the user, too, its answers alone count: how many tokens do."""
    for tokens, own in zip(shard.tokens.tolist(), shard.own.tolist()):
        answering = False
        for i in range(1, len(tokens)):
            assert own[i - 1] == answering
            if tokens[i - 1 : i + 1] == turn.answer:
                answering = True
            elif tokens[i - 2 : i + 1] == turn.user:
                answering = False
    return int(shard.own.sum())


def test_users_words_do_not_count(written):
    _, tokenizer, text = written
    turn, found = write.turns(tokenizer), 0
    for shard in read_shards(text / CONVERSATIONS):
        free = shard.kind == "free"
        asked, written_whole = (
            replace(shard, tokens=shard.tokens[some], own=shard.own[some], kind=shard.kind[some])
            for some in (np.flatnonzero(~free)[:40], np.flatnonzero(free))
        )
        check_turns(turn, asked)
        found += check_answers(turn, written_whole)
        assert any(np.diff(own.astype(int)).clip(0).sum() > 1 for own in asked.own)  # several turns
        with pytest.raises(AssertionError):
            check_turns(turn, replace(asked, own=np.ones_like(asked.own)))
    assert found > 20


def test_a_shard_is_made_again_alike_and_a_torn_one_is_not_there(written, tmp_path, monkeypatch):
    target, tokenizer, text = written
    first = read_shards(text / CONVERSATIONS)[0]
    write.write_shard(target, tokenizer, requests(tokenizer), tmp_path, 0, SMALL)
    again = read_shards(tmp_path)[0]
    assert np.array_equal(again.tokens, first.tokens) and np.array_equal(again.own, first.own)
    texts = {}
    for held_out in (False, True):
        for seed in (0, 1):
            write.write_shard(target, tokenizer, requests(tokenizer, held_out=held_out), tmp_path, 0, SMALL, seed=seed)
            texts[held_out, seed] = read_shards(tmp_path)[0].tokens.tobytes()
    assert texts[True, 0] == texts[True, 1]  # so that what seeds bring can be compared
    assert len(set(texts.values())) == 3
    (tmp_path / "text-0000.npz").unlink()
    assert read_shards(tmp_path) == []

    def full(self, to):  # a part of it is in its place by then
        if to.name.startswith("middle"):
            raise OSError(28, "No space left on device")
        return replaced(self, to)

    replaced = Path.replace
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write.write_shard(target, tokenizer, requests(tokenizer), tmp_path, 0, SMALL)
    assert read_shards(tmp_path) == [] and not list(tmp_path.glob("unfinished*"))


def test_a_full_disk_is_one_sentence_before_anything_is_written(written, tmp_path, monkeypatch):
    target, tokenizer, _ = written
    say = {"size": SMALL, "say": lambda line: None}
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=200_000))
    with pytest.raises(LabError, match="needs about [1-9] MB of disk, and .* has 0 MB free: make room"):
        write_conversations(target, tokenizer, tmp_path, tokens=40_000, **say)
    assert write.written(tmp_path) == 0
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=9e9))
    said = []
    write_conversations(target, tokenizer, tmp_path, tokens=4_000, spare=10, size=SMALL, say=said.append)
    assert write.written(tmp_path) == 0
    assert "ending here, since 9 GB of disk are left" in said[-1]


def test_noise_draws_each_text_by_itself_and_at_its_own_temperature():
    """As often as softmax says; a text that shared its noise with its neighbours would say what they say."""
    noise = write.Noise(4, torch.Generator().manual_seed(0), torch.device("cpu"))
    logits, n = torch.tensor([2.0, 1.0, 0.5, -1.0]), 4000
    for temperature in (0.3, 1.0):
        drawn = noise.choose(logits.repeat(n, 1), torch.full((n,), temperature))
        share = torch.bincount(drawn, minlength=4) / n
        assert (share - (logits / temperature).softmax(-1)).abs().max() < 0.04
        assert 0.5 < (drawn[1:] == drawn[:-1]).float().mean() / (share**2).sum() < 1.5
    mixed = noise.choose(logits.repeat(n, 1), torch.arange(n) % 2.0)
    assert not mixed[::2].any() and mixed[1::2].any()


def test_neither_side_is_asked_about_what_the_other_has_composed(tmp_path, monkeypatch, written):
    """Else what drafts are measured on would hold what they have learned."""
    target, tokenizer, _ = written
    done, seen = {HELD_OUT: 0, CONVERSATIONS: 0}, []

    def write_shard(target, tokenizer, requests, into, number, *more):
        (into / f"text-{number:04}.npz").touch()
        done[into.name] += 100
        for of_language in requests.library.groups.values():
            seen.extend((into.name, d.text) for some in of_language.values() for d in some)

    def composed(sides, _):
        return [Document("written", "prose", "en", "", side) for side in sides]

    monkeypatch.setattr(conversations, "REFRESH_EVERY", 1)
    monkeypatch.setattr(write, "answered", lambda into: done[into.name])
    monkeypatch.setattr(write, "write_shard", write_shard)
    monkeypatch.setattr(conversations, "read_shards", lambda folder: [folder.name] * (done[folder.name] // 100))
    monkeypatch.setattr(conversations, "written_documents", composed)
    for _ in range(2):  # and it goes on
        write_conversations(target, tokenizer, tmp_path, 8 * 300, size=SMALL, say=silent)
        done[HELD_OUT] -= 100
    assert set(seen) == {(side, side) for side in done}


def test_an_answer_that_goes_round_in_circles_is_found():
    own = torch.ones(4, 79, dtype=torch.bool)
    tokens = torch.arange(4 * 80).view(4, 80)
    tokens[1, -30:] = torch.tensor([1, 2, 3, 4, 5, 6] * 5)
    tokens[2, -12:] = 7
    tokens[3, -12:-2] = 7  # and then it went on
    assert loops(tokens, own).tolist() == [False, True, True, False]
    own[1, -5] = False  # the user's words may repeat
    assert loops(tokens, own).tolist() == [False, False, True, False]
    assert loops(tokens[:, :5], own[:, :4]).tolist() == [False] * 4


def test_passages_are_written_about(written, tmp_path):
    """A document's words stand in prompts that do not count."""
    target, tokenizer, _ = written
    words = "a b c d e f g " * 8
    passages = Passages([Document("own", "prose", "en", "", f"{words}.{i}") for i in range(40)])
    big = Size(positions=4000, answer=30, longest=200)
    write_conversations(target, tokenizer, tmp_path, 100, passages, size=big, say=silent)
    shard = read_shards(tmp_path / CONVERSATIONS)[0]
    asked = [tokenizer.decode(t[: own.argmax()]) for t, own in zip(shard.tokens, shard.own)]
    assert any("a b c d e f g" in text for text in asked)
