"""Progress in a notebook: one line that changes and goes, and nothing at all in a terminal."""

import nbformat
from nbclient import NotebookClient

import specdec_lab as sd


def test_in_a_terminal_it_is_the_items_and_nothing_else(capsys):
    assert list(sd.each((i * i for i in range(4)), "squares")) == [0, 1, 4, 9]
    sd.OneLine()("nobody reads this")
    assert capsys.readouterr() == ("", "")


CELLS = {
    "the line goes at the end, and what is printed stays": 'for i in sd.each([1, 2], "texts"):\n    print("text", i)',
    "the newest sentence stands there": 'say = sd.OneLine()\nfor i in range(3):\n    say(f"{i} of 3")',
    "a loop that stops early leaves no line": 'for i in sd.each(range(9), "texts"):\n    break',
    "behind with, the sentence goes": 'with sd.OneLine() as say:\n    say("3 of 9")\nprint("done")',
}


def test_in_a_notebook_there_is_one_line_until_the_end():
    cells = [nbformat.v4.new_code_cell(source) for source in ("import specdec_lab as sd", *CELLS.values())]
    NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=120, kernel_name="python3").execute()
    shown = [[o.get("data", o.get("text")) for o in cell.outputs] for cell in cells[1:]]
    gone = {"text/html": "", "text/plain": ""}
    line, *printed = shown[0]
    assert (line, "".join(printed)) == (gone, "text 1\ntext 2\n")
    assert shown[1:] == [[{"text/plain": "2 of 3"}], [gone], [gone, "done\n"]]
