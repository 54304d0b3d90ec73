"""The working copy: results cleared, work never overwritten."""

import json

import pytest

from specdec_lab.course.working_copy import COPIED, working_copy
from specdec_lab.errors import LabError


def notebook(*sources: str, outputs=()) -> dict:
    cells = [
        {"cell_type": "code", "source": s, "outputs": list(outputs), "execution_count": 1, "metadata": {}}
        for s in sources
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


RESULT = {"output_type": "stream", "name": "stdout", "text": "the answer"}


def write(path, *sources: str, outputs=()) -> None:
    path.write_text(json.dumps(notebook(*sources, outputs=outputs)))


@pytest.fixture
def folders(tmp_path):
    for folder in ("lessons", "exercises"):
        (tmp_path / "course" / folder).mkdir(parents=True)
        write(tmp_path / "course" / folder / "00.ipynb", "a", "b", outputs=[RESULT])
    return tmp_path / "course", tmp_path / "mine"


@pytest.fixture
def copied(folders):
    """The lesson in the course, the learner's copy of it, and what makes or updates copies."""
    source, mine = folders
    working_copy(mine, source)
    return source / "lessons/00.ipynb", mine / "lessons/00.ipynb", lambda: working_copy(mine, source)


def read(path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_new_copy_has_no_results(folders):
    source, mine = folders
    assert working_copy(mine, source) == [f"2 new notebooks in {mine}"]
    for folder in ("lessons", "exercises"):  # as in the course, so that their links to each other hold
        for cell in read(mine / folder / "00.ipynb")["cells"]:
            assert cell["outputs"] == [] and cell["execution_count"] is None
    assert working_copy(mine, source) == []


@pytest.mark.parametrize("read_only", ["lessons/pictures/cache.svg", "lessons/glossary.md"])
def test_pictures_and_the_glossary_travel_with_the_lessons(folders, read_only):
    source, mine = folders
    (source / "lessons/pictures").mkdir()
    for text in ("one", "two"):
        (source / read_only).write_text(text)
        working_copy(mine, source)
        assert (mine / read_only).read_text() == text
    assert working_copy(mine, source) == []


def test_a_copy_only_run_follows_its_lesson(copied):
    lesson, mine, update = copied
    write(mine, "a", "b", outputs=[RESULT])  # run and saved
    assert update() == []
    assert read(mine)["cells"][0]["outputs"]  # the learner's results stay
    write(lesson, "a", "c")
    assert update() == ["lessons/00.ipynb: updated"]
    assert read(mine)["cells"][1]["source"] == "c"


def test_an_update_lies_beside_an_edited_copy(copied):
    lesson, mine, update = copied
    write(mine, "a", "b", "my own cell")
    write(lesson, "a", "second")
    (said,) = update()
    assert "00 (update 1).ipynb" in said
    assert read(mine.with_stem("00 (update 1)"))["cells"][1]["source"] == "second"
    assert update() == []
    write(lesson, "third")  # untouched: follows
    assert update() == [said]
    write(mine.with_stem("00 (update 1)"), "hours of work")
    write(lesson, "fourth")
    assert update() == [said.replace("update 1", "update 2")]
    kept = [read(mine.with_stem(f"00{n}"))["cells"][-1]["source"] for n in ("", " (update 1)", " (update 2)")]
    assert kept == ["my own cell", "hours of work", "fourth"]


@pytest.mark.parametrize("own", ["", '{"cells": [', "[]", json.dumps(notebook("mine"))])
def test_a_torn_file_is_the_learners_too(copied, own):
    lesson, mine, update = copied
    mine.write_text(own)
    write(lesson, "z")
    update()
    (mine.parents[1] / COPIED).write_text('{"00.ipy')
    update()
    assert mine.read_text(encoding="utf-8") == own


def test_without_lessons_or_a_place_it_says_so(folders, tmp_path):
    source, _ = folders
    with pytest.raises(LabError, match="from a clone"):
        working_copy(tmp_path / "mine", tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="cannot be written"):
        working_copy(tmp_path / "file" / "mine", source)
