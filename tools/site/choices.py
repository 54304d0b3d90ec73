"""Choices and own words of an exercise, answered on its page; what needs Python stays in the notebook."""

import re
import sys
from hashlib import sha256
from html import escape
from pathlib import Path

import nbformat

from specdec_lab.course.quiz import CONFIDENCE, MISCONCEPTIONS
from specdec_lab.show.live import STORED

sys.path.insert(0, str(Path(__file__).parents[2] / "exercises"))
from specdec_grader.mistakes import Wrong
from specdec_grader.part import PARTS
from specdec_grader.sheets import e09_checkpoint  # noqa: F401  it registers its parts

LIST = re.compile(r"(?m)^- \*\*([A-D])\.\*\* (.+)\n?")
WORDS = re.compile(r"<!-- answer ([\w.]+): .*? -->\s*\*Your answer here\.\*")


def answered_here(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with a quiz of one item in place of each list of statements, and a field for each answer in words."""
    cells = []
    for cell in notebook.cells:
        if found := re.fullmatch(r'check\("([\w.]+\.why)", \w+\)', cell.source):
            cells.pop()  # the function that would return the letter
            statements = LIST.findall(cells[-1].source)
            before = LIST.sub("", cells[-1].source).strip()
            cells[-1].source, _, question = before.rpartition("\n\n")
            if question.startswith("**Difficulty"):  # the title has asked
                cells[-1].source, question = before, "Which is right?"
            stored = {STORED: asked(found[1], question.replace("*", ""), statements), "text/plain": ""}
            cell.outputs = [nbformat.v4.new_output("display_data", stored)]
        if cell.cell_type == "markdown":
            cell.source = WORDS.sub(lambda id: field(id[1]), cell.source)
        cells.append(cell)
    notebook.cells = cells
    return notebook


def field(id: str) -> str:
    """page.js keeps what is written there."""
    return f'<textarea class="words" name="{escape(id)}" rows="4" aria-label="in your own words" placeholder="kept in this browser alone"></textarea>'


def asked(id: str, question: str, statements: list[tuple[str, str]]) -> dict:
    """The data of a quiz with this one item, judged as the grader does."""
    choices = []
    for letter, text in statements:
        try:
            PARTS[id].judge(letter)
            reply, belief = "", None
        except Wrong as wrong:
            reply, belief = str(wrong), wrong.belief
        choices.append({"text": text, "right": not reply, "reason": reply, "misconception": belief})
    item = {"id": id, "versions": [{"question": question, "choices": choices}]}
    beliefs = {str(c["misconception"]): MISCONCEPTIONS[c["misconception"]] for c in choices if c["misconception"]}
    data = {
        "items": [item],
        "beliefs": beliefs,
        "confidence": CONFIDENCE,
        "id": sha256(id.encode()).hexdigest()[:8],
        "marks": {},
    }
    return {"script": "quiz", "data": {**data, "ledger": {"section": "quiz", "ids": [id]}}}
