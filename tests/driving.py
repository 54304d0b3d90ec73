"""Driving a page: its notebooks and its keyboard, and what axe-core says of it."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat
import pytest

KEPT = "JSON.parse(localStorage.getItem('specdec-lab ledger'))"  # what the site keeps of what a reader did
STARTING = 120_000  # ms for a kernel to import torch and to load the target, on a busy machine
PHONE = {"width": 360, "has_touch": True, "is_mobile": True}
DESK_AND_PHONE = pytest.mark.parametrize("size", [{"width": 1280}, PHONE], ids=["desk", "phone"])


class Quiet(SimpleHTTPRequestHandler):
    """Gives the files of a folder, and logs nothing."""

    def log_message(self, *said) -> None:
        pass


@contextmanager
def served(folder: Path, host: type[Quiet] = Quiet) -> Iterator[str]:
    """The address of a web server for this folder."""
    server = ThreadingHTTPServer(("localhost", 0), partial(host, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def address(jupyter: str, path: str) -> str:
    """Of the server's own interface, with the token."""
    return re.sub(r"lab/tree/[^?]*", path, jupyter)


def idle(page) -> None:
    """Wait until the kernel answers: Run All on one that does not runs nothing."""
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=STARTING)


def run_all(page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def end_kernels(page, jupyter: str) -> None:
    for kernel in page.request.get(address(jupyter, "api/kernels")).json():
        ended = page.request.delete(address(jupyter, f"api/kernels/{kernel['id']}"))
        assert ended.ok, ended.status_text


def write_cells(path: Path, cells: tuple[str, ...]) -> None:
    """Put a notebook of these cells into the course."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


def run_cells(page, path: Path, cells: tuple[str, ...]) -> None:
    """Put a notebook of these cells into the course, and run it there to its end."""
    write_cells(path, cells)
    page.run(f"{path.parent.name}/{path.name}", until=f".jp-InputPrompt:text-is('[{len(cells)}]:')")


def keep_guess(page, value: str, number: int = 0) -> None:
    """Fill in a guess of the page, and keep it."""
    guess = page.get_by_role("group", name="Your guess").nth(number)
    guess.get_by_label("your guess").fill(value)
    guess.get_by_role("button", name="keep your guess").click()


def open_file_menu(page) -> None:
    """Unfold the progress, and in it what saves to a file and reads one; on a phone the contents have it."""
    if page.get_by_role("button", name="contents").is_visible():
        page.get_by_role("button", name="contents").click()
    page.locator(".progress > summary").click()
    page.get_by_text("save, or read a file").click()


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
