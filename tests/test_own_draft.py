"""A draft of one's own: what is learned from, what is only measured on, an interruption, and what is refused."""

import json
from itertools import product

import pytest

from specdec_lab import load
from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.train import answers, loop, own
from specdec_lab.train.answers import HELD_OUT, LEARNED, read_answers

PROMPTS = [Prompt(f"{i}", "mine", " ".join(words)) for i, words in enumerate(product("ab", "cd", "ef", "g"))] * 2
LONG = Prompt("long", "long", "a " * 600)


@pytest.fixture(scope="module")
def made(writer, tmp_path_factory):
    """(a Lab, the folder, what was looked at)"""
    lab, folder, looks = load(writer, device="cpu"), tmp_path_factory.mktemp("own"), []
    with pytest.MonkeyPatch.context() as m:
        m.setitem(answers.POSITIONS, "cpu", 8 * 41)
        own.own_draft(lab, PROMPTS, folder, 3_000, 12_000, None, lambda name, history: looks.append(len(history)))
    return lab, folder, looks


def test_what_is_measured_on_is_not_learned_from(made):
    lab, folder, _ = made
    learned, aside = ({tuple(lab.encode(p.content)) for p in side} for side in own.put_aside(PROMPTS[:8]))
    assert not learned & aside and len(learned) == 6
    for side, some in ((LEARNED, learned), (HELD_OUT, aside)):
        found = read_answers(folder / side, lab.target)
        assert {tuple(found.text(i)[: found.prompt[i]]) for i in range(len(found))} <= some


def test_the_draft_learns_and_is_loaded(made, writer):
    lab, folder, looks = made
    history = json.loads((folder / "eagle.json").read_text(encoding="utf-8"))
    assert history[-1]["steps"][0]["overlap"] > history[0]["steps"][0]["overlap"] + 0.02
    assert looks == list(range(looks[0], len(history) + 1)) and len(looks) >= 8
    mine = load(writer, device="cpu", weights=folder)
    trace = mine.speculative(PROMPTS[0].content, "eagle", max_new_tokens=30)
    assert trace.tokens == lab.plain(PROMPTS[0].content, max_new_tokens=30).tokens
    assert mine.speculative(PROMPTS[0].content, "eagle", temperature=1.0, max_new_tokens=30).alpha > 0.5


def test_it_goes_on_where_it_was_interrupted(made, tmp_path, small_batches):
    lab, folder, _ = made

    def stop(name, history):
        if history[-1]["tokens"] > 6_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own.own_draft(lab, PROMPTS, tmp_path, 3_000, 12_000, None, stop)
    assert not (tmp_path / "eagle.safetensors").exists()
    said = []
    own.own_draft(lab, PROMPTS, tmp_path, 3_000, 12_000, None, say=said.append)
    assert any("Going on from" in line for line in said)
    assert not any("answers" in line for line in said)  # nothing is written again
    once, again = (loop.read_checkpoint(f / "eagle.pt")["net"] for f in (folder, tmp_path))
    assert all((once[name] - again[name]).abs().max() < 1e-4 for name in once)


@pytest.mark.parametrize(
    ("prompts", "name", "more", "says"),
    [
        (PROMPTS[:7], "", {}, "7 prompts"),
        ([LONG] * 8, "", {}, "too few prompts of at most"),
        (PROMPTS, "file", {}, "file"),
        (PROMPTS, "", {"tokens": 9}, "too few to train on"),
        (PROMPTS, "", {"start": own.trained.WEIGHTS}, "was trained for"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(made, tmp_path, prompts, name, more, says):
    (tmp_path / "file").touch()
    with pytest.raises((LabError, OSError), match=says):
        own.own_draft(made[0], prompts, tmp_path / name, **{"start": None, **more})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]  # told before anything is written


def test_prompts_that_leave_no_room_are_left_out(made, tmp_path, monkeypatch):
    """Of a long list of one's own: one that is too long should not end it all."""
    lab, said, raw = made[0], [], Prompt("raw", "raw", "a b c", raw=True)
    monkeypatch.setattr(own, "ANSWER", 28)
    own.write_answers(lab, [*PROMPTS, LONG, raw, *PROMPTS[1:3]], tmp_path, 2_000, say=said.append)
    assert any("484" in line and line.endswith(": 1.") for line in said)
    kinds = [kind for side in (LEARNED, HELD_OUT) for kind in read_answers(tmp_path / side, lab.target).kind]
    assert set(kinds) == {"mine", "raw"}


def test_our_own_prompts_are_none_of_the_built_in_ones():
    for name in own.OURS:
        prompts = own.our_prompts(name)
        assert len(prompts) == 64
        assert not {str(p.content) for p in prompts} & {str(p.content) for p in read_prompts()}


def test_other_weights_have_a_folder_of_their_own(tmp_path, monkeypatch):
    """Its gain would be shown as that of the weights of today."""
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(own.trained, "WEIGHTS", tmp_path)
    folders = []
    for weights in (b"old", b"new", b"old"):
        (tmp_path / "eagle.safetensors").write_bytes(weights)
        folders.append(own.folder_of("mine"))
    assert folders[0] == folders[2] != folders[1] and {f.name for f in folders} == {"mine"}
