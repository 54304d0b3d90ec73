"""The text that a tiny target writes for its students to learn from."""

import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from writer import WORDS

from specdec_lab.errors import LabError
from specdec_lab.train import recipes, write
from specdec_lab.train.shards import read_shards


def test_the_text_is_the_targets_own(written):
    """Its hidden rows give back the distribution it was drawn from, and greedy answers are its favourites."""
    target, tokenizer, text = written
    turn = write.turns(tokenizer)
    prefix, (opens, assistant) = turn.prefix, turn.answer
    assert [[WORDS[i] for i in ids] for ids in (prefix, turn.answer, turn.user)] == [
        ["<turn>", "user"],
        ["<turn>", "assistant"],
        ["<end>", "<turn>", "user"],
    ]
    shards = read_shards(text)
    assert len(shards) == 2
    favourites = 0
    for r in range(0, 64, 7):
        shard = shards[0]
        whole = [*prefix[:-1], *shard.tokens[r, :-1].tolist()]
        rows = target.cached().extend([whole])
        expected = rows.hidden[0, len(prefix) - 1 :]
        assert np.allclose(shard.last[r], expected.numpy(), atol=2e-2)
        if shard.temperature[r] == 0:
            answering, last = False, None
            for i, token in enumerate(shard.tokens[r, 1:].tolist()):
                if last == opens:
                    answering = token == assistant
                elif answering:
                    favourites += 1
                    assert token == int(rows.logits[0, len(prefix) - 1 + i].argmax())
                last = token
    assert favourites > 10


def test_a_shard_is_made_again_alike_and_a_torn_one_is_not_there(written, tmp_path):
    target, tokenizer, text = written
    write.write_shard(target, tokenizer, tmp_path, 0, 64, 40, 1)
    again, first = read_shards(tmp_path)[0], read_shards(text)[0]
    assert np.array_equal(again.tokens, first.tokens)
    (tmp_path / "text-0000.npz").unlink()
    assert read_shards(tmp_path) == []


def test_users_ask_about_passages_from_earlier_answers(written, monkeypatch):
    """A stretch of one answer, written at a low temperature; then the user's turn is closed and an answer begins."""
    _, tokenizer, text = written
    monkeypatch.setattr(write, "PASSAGE", (3, 6))
    turn, shards = write.turns(tokenizer), read_shards(text)
    words, lengths = tokenizer("a b").input_ids, set()
    ending = [*turn.close, *turn.answer]
    assert [WORDS[i] for i in ending] == ["<end>", "<turn>", "assistant"]
    cool = [row.tolist() for s in shards for row, t in zip(s.tokens, s.temperature) if t <= write.COOL]
    for seed in range(20):
        ids = write.open_with("a b{text}", shards, tokenizer, turn, random.Random(seed))
        assert ids[:2] == words
        assert ids[-3:] == ending
        quoted = ids[2:-3]
        lengths.add(len(quoted))
        assert WORDS.index("<end>") not in quoted
        after = [*turn.answer, *quoted]
        assert any(row[i : i + len(after)] == after for row in cool for i in range(len(row)))
    assert lengths <= {3, 4, 5, 6} and max(lengths) == 6
    assert write.open_with("a b{text}", [], tokenizer, turn, random.Random(0)) == words
    assert write.open_with("a b", shards, tokenizer, turn, random.Random(0)) == words


def test_a_shard_that_was_not_finished_is_not_there(written, tmp_path, monkeypatch):
    target, tokenizer, _ = written
    replaced = Path.replace

    def fails(self, to):
        if Path(to).name.startswith("exit"):
            raise KeyboardInterrupt
        return replaced(self, to)

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        write.write_shard(target, tokenizer, tmp_path, 0, 8, 10, 1)
    assert read_shards(tmp_path) == []
    assert not list(tmp_path.glob("unfinished*"))


def test_a_full_disk_is_one_sentence_before_anything_is_written(written, tmp_path, monkeypatch):
    target, tokenizer, _ = written
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2_000_000))
    with pytest.raises(LabError, match="needs 3 MB of disk, and .* has 2 MB free: make room"):
        recipes.write(target, tokenizer, tmp_path, tokens=20_000, rows=64, length=40, say=lambda line: None)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    recipes.write(target, tokenizer, tmp_path, tokens=2_000, rows=64, length=40, say=lambda line: None)
    assert len(read_shards(tmp_path)) == 1


def test_older_shards_do_not_say_their_precision(written, tmp_path):
    for file in written[2].glob("*-0000*"):
        shutil.copy(file, tmp_path)
    arrays = dict(np.load(tmp_path / "text-0000.npz"))
    assert str(arrays.pop("precision")) == "float32"
    np.savez(tmp_path / "text-0000.npz", **arrays)
    assert read_shards(tmp_path)[0].precision == "an unknown precision"
