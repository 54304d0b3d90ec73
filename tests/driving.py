"""Driving a page: JupyterLab in a real browser, its notebooks and its keyboard, and what axe-core says of it."""

import os
import re
import shutil
import subprocess
import sys
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
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
REACTING = 30_000  # ms for everything but a start: what hangs is told soon
FLAGS = ["--no-sandbox", "--no-first-run"]
FLAGS += [f"--disable-{what}" for what in ("gpu", "quic", "background-networking", "component-update", "sync")]


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


@contextmanager
def chromium() -> Iterator:
    """A running browser; without one the test is skipped, but in CI."""
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("no Chromium is installed, so no widget is driven: apt install chromium")
    assert CHROMIUM, "CI must have a Chromium; .ci/run installs it"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p, p.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        yield browser


@contextmanager
def jupyterlab(course: Path) -> Iterator[str]:
    """The address of a running JupyterLab on a fresh working copy, as `make lab` opens it."""
    # A port for each worker: two that begin in the same second may be given the same one.
    port = 8890 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    command = [sys.executable, "-m", "specdec_lab", "lab", "--dir", str(course), "--port", str(port)]
    # Open tabs and settings of whoever runs this stay out of it.
    own = {f"JUPYTERLAB_{kind}_DIR": str(course.parent / kind.lower()) for kind in ("WORKSPACES", "SETTINGS")}
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | own
    )
    printed = []
    for line in server.stdout:
        printed.append(line)
        if found := re.search(r"http://\S+token=\S+", line):
            break
    else:
        pytest.fail("make lab printed no address:\n" + "".join(printed))
    assert any("✗" in line and "↻" in line for line in printed), "no real round was shown"
    try:
        yield found[0]
    finally:
        server.terminate()  # not SIGINT, which a shell may have told its background jobs to ignore
        server.wait(timeout=30)


@contextmanager
def notebook_page(browser, jupyter: str, **settings) -> Iterator:
    """A page that opens a notebook of the course (`open`), runs it until what is waited for is shown (`run`), and collects
    what it asked of the outside world (`outside`). The browser's own settings are a size, touch and the like.
    """
    page = browser.new_page(**{"viewport": {"width": 1300, "height": 1250}} | settings)
    page.set_default_timeout(REACTING)
    page.outside = []
    own = re.compile(r"(http|ws)://(localhost|127\.0\.0\.1):|data:|blob:")
    page.on("request", lambda r: None if own.match(r.url) else page.outside.append(r.url))

    def open_(name: str) -> None:
        page.goto(jupyter.replace("lessons/00_start_here.ipynb", name) + "&reset")  # no tabs from the page before
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        idle(page)

    def open_and_run(name: str, until: str) -> None:
        open_(name)
        run_all(page)
        page.locator(until).first.wait_for(timeout=STARTING)

    page.open, page.run = open_, open_and_run
    try:
        yield page
    finally:
        end_kernels(page, jupyter)  # later cells may still run, and the next notebook should have the machine
        page.close()


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
