"""How long the course is: the path of two hours, and what a core lesson may ask (tools/spine.py counts it)."""

import re

import nbformat
import pytest
import spine

CORE = [path for path in spine.notebooks() if re.match(r"0[0-8]_", path.stem) and path.parent.name == "lessons"]
COUNTS = {f"{path.parent.name}/{path.stem}": spine.count(path) for path in spine.notebooks()}


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_a_core_lesson_is_one_idea_of_a_quarter_of_an_hour(path):
    found = spine.count(path)
    assert found.words <= 1_200 and found.cells <= 10 and found.lines <= 6 and found.brackets == 0
    assert 0 < found.seconds <= 90
    assert found.guesses <= 2 and found.quiz == (5 if path.stem.startswith("00") else 4)
    assert found.minutes <= 14


def test_the_path_is_two_hours_and_the_course_asks_with_measure():
    core = [COUNTS[f"lessons/{path.stem}"] for path in CORE]
    assert len(core) == 9
    assert sum(c.minutes for c in core) <= 126 and sum(c.words for c in core) <= 11_000
    assert sum(c.askings for c in core) <= 54
    assert sum(c.askings for c in COUNTS.values()) <= 130


def test_deeper_notebooks_ask_once_at_most():
    deeper = {name: found for name, found in COUNTS.items() if name.startswith("lessons/deeper_")}
    assert len(deeper) == 7
    assert all(found.guesses + found.folded <= 1 and found.quiz == 0 for found in deeper.values()), deeper


def test_what_is_counted(tmp_path):
    """A folded answer's words are not read on the way; a folded cell is not seen."""
    text = (
        "One two three.\n\n<details><summary>And why?</summary>\n\nfour five six\n\n</details>\n\n(Seven eight nine.)"
    )
    code = nbformat.v4.new_code_cell('sd.guess("a", "b")\n\nsd.quiz("01")')
    hidden = nbformat.v4.new_code_cell("1 + 1", metadata={"tags": ["fold"]})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text), code, hidden])
    notebook.metadata["seconds"] = 30.0
    path = tmp_path / "a.ipynb"
    nbformat.write(notebook, path)
    found = spine.count(path)
    assert (found.words, found.cells, found.lines, found.guesses, found.quiz, found.folded) == (6, 1, 2, 1, 4, 1)
    assert found.brackets == 1 and found.minutes == pytest.approx(6 / 180 + 0.5 + 6)


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("README.md", r"^\| \[[^|]*/(0\d)_[^|]*\| (\d+) \|"),
        ("exercises/README.md", r"^\| (?P<minutes>\d+) \| (?P<lesson>0\d) "),
    ],
)
def test_the_pages_name_the_minutes_that_are_counted(page, row):
    found = re.findall(row, (spine.ROOT / page).read_text(encoding="utf-8"), re.M)
    said = dict(pair if page == "README.md" else reversed(pair) for pair in found)
    assert list(said) == [f"0{n}" for n in range(10)]
    for number, minutes in said.items():
        folder = "exercises" if number == "09" else "lessons"
        (counted,) = (c for name, c in COUNTS.items() if name.startswith(f"{folder}/{number}"))
        assert abs(int(minutes) - counted.minutes) <= 2, number
