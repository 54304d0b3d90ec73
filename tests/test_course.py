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


@pytest.fixture
def folders(tmp_path):
    for folder in ("lessons", "exercises"):
        (tmp_path / "course" / folder).mkdir(parents=True)
        (tmp_path / "course" / folder / "00.ipynb").write_text(json.dumps(notebook("a", "b", outputs=[RESULT])))
    return tmp_path / "course", tmp_path / "mine"


def read(path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_new_copy_has_no_results(folders):
    source, mine = folders
    assert working_copy(mine, source) == [f"2 new notebooks in {mine}"]
    for folder in ("lessons", "exercises"):  # as in the course, so that their links to each other hold
        assert all(
            c["outputs"] == [] and c["execution_count"] is None for c in read(mine / folder / "00.ipynb")["cells"]
        )
    assert working_copy(mine, source) == []


def test_a_copy_that_was_only_run_follows_its_lesson(folders):
    source, mine = folders
    working_copy(mine, source)
    (mine / "lessons/00.ipynb").write_text(json.dumps(notebook("a", "b", outputs=[RESULT])))  # run and saved
    assert working_copy(mine, source) == []
    assert read(mine / "lessons/00.ipynb")["cells"][0]["outputs"]  # the learner's results stay
    (source / "lessons/00.ipynb").write_text(json.dumps(notebook("a", "c")))
    assert working_copy(mine, source) == ["lessons/00.ipynb: updated"]
    assert read(mine / "lessons/00.ipynb")["cells"][1]["source"] == "c"


def test_an_edited_copy_stays_and_the_update_lies_beside_it(folders):
    source, mine = folders
    working_copy(mine, source)
    (mine / "lessons/00.ipynb").write_text(json.dumps(notebook("a", "b", "my own cell")))
    (source / "lessons/00.ipynb").write_text(json.dumps(notebook("a", "c")))
    assert working_copy(mine, source) == ["lessons/00 (update 1).ipynb: updated beside your edited copy"]
    assert read(mine / "lessons/00.ipynb")["cells"][2]["source"] == "my own cell"
    assert read(mine / "lessons/00 (update 1).ipynb")["cells"][1]["source"] == "c"
    assert working_copy(mine, source) == []


def test_work_in_an_update_is_work_too(folders):
    source, mine = folders
    working_copy(mine, source)
    (mine / "lessons/00.ipynb").write_text(json.dumps(notebook("edited")))
    (source / "lessons/00.ipynb").write_text(json.dumps(notebook("second")))
    working_copy(mine, source)
    (source / "lessons/00.ipynb").write_text(json.dumps(notebook("third")))
    assert working_copy(mine, source) == [
        "lessons/00 (update 1).ipynb: updated beside your edited copy"
    ]  # untouched: follows
    (mine / "lessons/00 (update 1).ipynb").write_text(json.dumps(notebook("hours of work")))
    (source / "lessons/00.ipynb").write_text(json.dumps(notebook("fourth")))
    assert working_copy(mine, source) == ["lessons/00 (update 2).ipynb: updated beside your edited copy"]
    kept = [read(mine / f"lessons/00{n}.ipynb")["cells"][0]["source"] for n in ("", " (update 1)", " (update 2)")]
    assert kept == ["edited", "hours of work", "fourth"]


@pytest.mark.parametrize("torn", ["", '{"cells": [', "[]"])
def test_a_torn_file_is_the_learners_too(folders, torn):
    source, mine = folders
    working_copy(mine, source)
    (mine / "lessons/00.ipynb").write_text(torn)
    (source / "lessons/00.ipynb").write_text(json.dumps(notebook("z")))
    working_copy(mine, source)
    assert (mine / "lessons/00.ipynb").read_text(encoding="utf-8") == torn


def test_a_torn_record_loses_nothing(folders):
    source, mine = folders
    working_copy(mine, source)
    (mine / "lessons/00.ipynb").write_text(json.dumps(notebook("mine")))
    (mine / COPIED).write_text('{"00.ipy')
    working_copy(mine, source)
    assert read(mine / "lessons/00.ipynb")["cells"][0]["source"] == "mine"


def test_without_lessons_and_without_a_place_to_write_it_says_so(folders, tmp_path):
    source, _ = folders
    with pytest.raises(LabError, match="from a clone"):
        working_copy(tmp_path / "mine", tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="cannot be written"):
        working_copy(tmp_path / "file" / "mine", source)
