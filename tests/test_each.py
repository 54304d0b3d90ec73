"""Progress in a notebook: one line that changes and goes, and nothing at all in a terminal."""

import nbformat
from nbclient import NotebookClient

import specdec_lab as sd


def outputs(source: str) -> list[dict]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [o.get("data", o.get("text")) for o in notebook.cells[0].outputs]


def test_in_a_terminal_it_is_the_items_and_nothing_else(capsys):
    assert list(sd.each((i * i for i in range(4)), "squares")) == [0, 1, 4, 9]
    sd.OneLine()("nobody reads this")
    assert capsys.readouterr() == ("", "")


def test_in_a_notebook_the_line_goes_at_the_end_and_what_is_printed_stays():
    source = 'import specdec_lab as sd\nfor i in sd.each([1, 2], "texts"):\n    print("text", i)'
    line, *printed = outputs(source)
    assert (line, "".join(printed)) == ({"text/plain": ""}, "text 1\ntext 2\n")


def test_the_newest_sentence_stands_there():
    source = "import specdec_lab as sd\nsay = sd.OneLine()\nfor i in range(3):\n    say(f'{i} of 3')"
    assert outputs(source) == [{"text/plain": "2 of 3"}]


def test_a_loop_that_stops_early_leaves_no_line():
    source = 'import specdec_lab as sd\nfor i in sd.each(range(9), "texts"):\n    break\ndel i'
    assert outputs(source) == [{"text/plain": ""}]


def test_behind_with_the_sentence_goes():
    source = "import specdec_lab as sd\nwith sd.OneLine() as say:\n    say('3 of 9')\nprint('done')"
    assert outputs(source) == [{"text/plain": ""}, "done\n"]
