"""Driving a page: its notebooks and its keyboard, and what axe-core says of it."""

import os
import re
from pathlib import Path

import nbformat
import pytest

KEPT = "JSON.parse(localStorage.getItem('specdec-lab ledger'))"  # what the site keeps of what a reader did


def address(jupyter: str, path: str) -> str:
    """Of the server's own interface, with the token."""
    return re.sub(r"lab/tree/[^?]*", path, jupyter)


def run_cells(page, path: Path, cells: tuple[str, ...]) -> None:
    """Put a notebook of these cells into the course, and run it there to its end."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    page.run(f"{path.parent.name}/{path.name}", until=f".jp-InputPrompt:text-is('[{len(cells)}]:')")


def focus_on(page, wanted: str, backwards: bool = False) -> None:
    """Press Tab until the focus is on an element of class `wanted`."""
    focus_where(page, f"e => e.className.includes('{wanted}')", backwards)


def focus_where(page, wanted: str, backwards: bool = False) -> None:
    """Press Tab until `wanted`, a function of the focused element, says yes."""
    for _ in range(60):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        if page.evaluate(f"Boolean(({wanted})(document.activeElement))"):
            return
    raise AssertionError(f"{wanted} cannot be reached by keyboard")


def press_button(page, name: str) -> None:
    """By keyboard: go on to the button of this name, and press Enter."""
    focus_where(page, f"e => e.tagName == 'BUTTON' && e.innerText == '{name}'")
    page.keyboard.press("Enter")


def violations(page, within: str | None = None) -> list[str]:
    """The serious and critical ones that axe-core finds on the page, or in one element of it: rule, place and HTML."""
    if not os.environ.get("CI"):  # where it must be there
        pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: make .venv/test")
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=within).response["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:150]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]
