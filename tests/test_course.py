"""The working copy: results cleared, work never overwritten."""

import json

import pytest

from specdec_lab.course.working_copy import COPIED, working_copy
from specdec_lab.errors import LabError


def write(path, *sources: str, ran: bool = False) -> None:
    about = {"cell_type": "code", "execution_count": 1, "metadata": {}}
    about["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "the answer"}] * ran
    cells = [about | {"source": source} for source in sources]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def cells(path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


@pytest.fixture
def course(tmp_path):
    """A lesson in the course, the learner's copy of it, and what makes or updates copies: here it has made them."""
    source, mine = tmp_path / "course", tmp_path / "mine"
    for folder in ("lessons", "exercises"):
        (source / folder).mkdir(parents=True)
        write(source / folder / "00.ipynb", "a", "b", ran=True)
    assert working_copy(mine, source) == [f"2 new notebooks in {mine}"]
    return source / "lessons/00.ipynb", mine / "lessons/00.ipynb", lambda: working_copy(mine, source)


def test_a_new_copy_has_no_results_and_what_its_links_need(course):
    lesson, mine, update = course
    for folder in ("lessons", "exercises"):  # as in the course, so that their links to each other hold
        for cell in cells(mine.parents[1] / folder / "00.ipynb"):
            assert cell["outputs"] == [] and cell["execution_count"] is None
    (lesson.parent / "pictures").mkdir()
    for name in ("pictures/cache.svg", "glossary.md"):
        for text in ("one", "two"):
            (lesson.parent / name).write_text(text)
            update()
            assert (mine.parent / name).read_text() == text
    assert update() == []


def test_a_copy_only_run_follows_its_lesson(course):
    lesson, mine, update = course
    write(mine, "a", "b", ran=True)  # run and saved
    assert update() == []
    assert cells(mine)[0]["outputs"]  # the learner's results stay
    write(lesson, "a", "c")
    assert update() == ["lessons/00.ipynb: updated"]
    assert cells(mine)[1]["source"] == "c"


def test_an_update_lies_beside_an_edited_copy(course):
    lesson, mine, update = course
    write(mine, "a", "b", "my own cell")
    write(lesson, "a", "second")
    (said,) = update()
    assert "00 (update 1).ipynb" in said and cells(mine.with_stem("00 (update 1)"))[1]["source"] == "second"
    assert update() == []
    write(lesson, "third")  # untouched: follows
    assert update() == [said]
    write(mine.with_stem("00 (update 1)"), "hours of work")
    write(lesson, "fourth")
    assert update() == [said.replace("update 1", "update 2")]
    kept = [cells(mine.with_stem(f"00{n}"))[-1]["source"] for n in ("", " (update 1)", " (update 2)")]
    assert kept == ["my own cell", "hours of work", "fourth"]


@pytest.mark.parametrize("own", ["", '{"cells": [', "[]", '{"cells": [], "of": "mine"}'])
def test_a_torn_file_is_the_learners_too(course, own):
    lesson, mine, update = course
    mine.write_text(own)
    write(lesson, "z")
    update()
    (mine.parents[1] / COPIED).write_text('{"00.ipy')
    update()
    assert mine.read_text(encoding="utf-8") == own


def test_without_lessons_or_a_place_it_says_so(course, tmp_path):
    with pytest.raises(LabError, match="from a clone"):
        working_copy(tmp_path / "mine", tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="cannot be written"):
        working_copy(tmp_path / "file" / "mine", tmp_path / "course")
