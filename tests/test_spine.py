"""How long the course is: its two ways, and what a core lesson may ask (tools/spine.py counts it)."""

import re

import nbformat
import pytest
import spine

COUNTS = {path.relative_to(spine.ROOT).with_suffix("").as_posix(): spine.count(path) for path in spine.notebooks()}
CORE = {name: found for name, found in COUNTS.items() if re.match(r"lessons/0[0-8]_", name)}
PATH = spine.path()


@pytest.mark.parametrize("name", CORE)
def test_a_core_lesson_is_one_idea(name):
    found = CORE[name]
    assert found.words <= 1_200 and found.cells <= 10 and found.lines <= 6 and found.brackets == 0
    assert 0 < found.seconds <= 90
    assert found.guesses <= 2 and found.quiz <= 5
    assert found.minutes <= 18


def test_the_ways_are_as_long_as_said():
    assert len(PATH) == 10 and spine.hour() <= 45
    assert sum(found.minutes for found in PATH.values()) <= spine.AIM
    assert sum(found.words for found in CORE.values()) <= 8_000
    assert sum(found.askings for found in CORE.values()) <= 54
    assert sum(found.askings for found in COUNTS.values()) <= 130


def test_deeper_notebooks_ask_once_at_most():
    deeper = {name: found for name, found in COUNTS.items() if name.startswith("lessons/deeper_")}
    assert len(deeper) == 9
    assert all(found.guesses + found.folded <= 1 and found.quiz == 0 for found in deeper.values()), deeper


def test_what_is_published_is_what_is_counted():
    for page, text in spine.published().items():
        stands = page.read_text(encoding="utf-8")
        assert stands == text, (
            f"{page.name} names other minutes than tools/spine.py counts: python tools/spine.py --write"
        )


def test_a_page_without_its_place_is_refused():
    assert spine.put("a <!-- hour -->1<!-- /hour --> b", spine.mark("hour"), "2") == "a <!-- hour -->2<!-- /hour --> b"
    with pytest.raises(ValueError, match="0 times"):
        spine.put("no place", spine.mark("hour"), "2")
    with pytest.raises(ValueError, match="2 times"):
        spine.put("<!-- hour -->1<!-- /hour -->" * 2, spine.mark("hour"), "2")


# What is counted

WIDGET = {spine.WIDGET: {}, "text/html": "<div><svg></svg></div>", "text/plain": "not read"}


def text(source):
    return nbformat.v4.new_markdown_cell(source)


def code(source, *shown, tags=()):
    """A cell. shown: what stands below it: text that was printed, or data by their kinds."""
    new = nbformat.v4.new_output
    outputs = [new("stream", text=s) if isinstance(s, str) else new("display_data", data=s) for s in shown]
    return nbformat.v4.new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


@pytest.fixture
def count(tmp_path):
    """(cells, sections) → the count of a notebook of these cells, which took half a minute."""

    def counted(*cells, sections=()):
        notebook = nbformat.v4.new_notebook(cells=list(cells))
        notebook.metadata["seconds"] = 30.0
        nbformat.write(notebook, tmp_path / "a.ipynb")
        return spine.count(tmp_path / "a.ipynb", sections)

    return counted


def test_folded_text_is_read_below_a_question(count):
    folded = "<details><summary>{}</summary>\n\nfour five six\n\n</details>\n\n"
    of = count(text("One two three.\n\n" + folded.format("And why?") + folded.format("Hint 1") + "(Seven eight nine.)"))
    assert (of.words, of.answers, of.folded, of.brackets) == (6, 3, 1, 1)
    assert of.minutes == pytest.approx(0.5 + 9 / 170)


def test_a_quiz_is_read_with_its_right_replies(count):
    of = count(code('sd.quiz("01")', WIDGET, tags=["fold"]))
    assert (of.quiz, of.choices, of.sums, of.tasks) == (3, 2, 1, 0) and 150 < of.quizzed < 300
    assert of.minutes == pytest.approx(0.5 + 2 * 0.3 + 1 + of.quizzed / 170)


def test_sections_together_are_the_whole(count):
    cells = text("a b\n\n## 1. One\n\nc"), code("x"), text("d\n\n## 2. Two\n\ne\n\n## Where to go\n\nf g h")
    words = [count(*cells, sections=(n,)).words for n in range(4)]
    assert words == [2, 4, 3, 6] and sum(words) == count(*cells).words
    assert count(*cells, sections=(1, 2)).code == 1 and count(*cells, sections=(2,)).code == 0
    with pytest.raises(ValueError, match="no section 7"):
        count(*cells, sections=(1, 7))
