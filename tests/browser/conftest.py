"""JupyterLab as `make lab` opens it, in a real browser."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from driving import STARTING, end_kernels, idle, run_all
from pages import page_with

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
REACTING = 30_000  # ms for everything but a start: what hangs is told soon
FLAGS = ["--no-sandbox", "--no-first-run"]
FLAGS += [f"--disable-{what}" for what in ("gpu", "quic", "background-networking", "component-update", "sync")]


@pytest.fixture(scope="package")
def course(tmp_path_factory) -> Path:
    """The folder of the working copy."""
    return tmp_path_factory.mktemp("lab") / "course"


@pytest.fixture(scope="package")
def jupyter(course) -> str:
    """The address of a running JupyterLab on a fresh working copy."""
    folder = course.parent
    # A port for each worker: two that begin in the same second may be given the same one.
    port = 8890 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    command = [sys.executable, "-m", "specdec_lab", "lab", "--dir", str(course), "--port", str(port)]
    # Open tabs and settings of whoever runs this stay out of it.
    own = {f"JUPYTERLAB_{kind}_DIR": str(folder / kind.lower()) for kind in ("WORKSPACES", "SETTINGS")}
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
    yield found[0]
    server.terminate()  # not SIGINT, which a shell may have told its background jobs to ignore
    server.wait(timeout=30)


@pytest.fixture(scope="package")
def browser():
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("no Chromium is installed, so no widget is driven: apt install chromium")
    assert CHROMIUM, "CI must have a Chromium; .ci/run installs it"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def from_disk(browser):
    """Opens a page of the static site at a width; errors and requests to the outside are collected."""
    opened = []

    def visit(path: Path, width: int = 1280, before: str = "", **more):
        page = browser.new_context(viewport={"width": width, "height": 900}, **more).new_page()
        page.set_default_timeout(20_000)
        page.add_init_script(before)
        page.wrong = []
        own = "file:", "data:", "blob:file:"
        page.on("request", lambda r: None if r.url.startswith(own) else page.wrong.append(r.url))
        page.on("pageerror", lambda e: page.wrong.append(str(e)))
        page.goto(f"file://{path}")
        page.locator("html:not(.waits)").wait_for()  # its letters are there, or it goes on without
        opened.append(page)
        return page

    yield visit
    for page in opened:
        assert page.wrong == []
        page.context.close()


@pytest.fixture
def page(browser, jupyter, request):
    """Opens a notebook of the course, runs it until what is waited for is shown, and collects what the page asked of the
    outside world. A test's own settings of the browser (a size, touch) are given by indirect parametrization."""
    page = browser.new_page(**{"viewport": {"width": 1300, "height": 1250}} | getattr(request, "param", {}))
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
    yield page
    end_kernels(page, jupyter)  # the lesson's later cells may still run, and the next notebook should have the machine
    page.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the static site."""
    out = tmp_path_factory.mktemp("site") / "site"
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "site" / "build.py"), str(out)], check=True, capture_output=True
    )
    return out


@pytest.fixture
def visit(from_disk, site):
    """Opens a page of the site: (name, …) as `from_disk`."""
    return lambda name, *size, **more: from_disk(site / name, *size, **more)


@pytest.fixture
def made(site):
    """Puts a page with widgets into the site, for one test: (widget, …) → its name."""
    names = []

    def make(*widgets) -> str:
        names.append(page_with(site, *widgets))
        return names[-1]

    yield make
    for name in names:
        (site / name).unlink()


@pytest.fixture
def shown(visit, made):
    """A page of the site with one widget: (widget, …) → the page, opened as by `visit`."""
    return lambda widget, **more: visit(made(widget), **more)
