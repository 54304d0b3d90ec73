"""JupyterLab as `make lab` opens it, and the static site, in a real browser."""

import subprocess
import sys
from pathlib import Path

import pytest
from driving import chromium, jupyterlab, notebook_page
from pages import page_with

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="package")
def course(tmp_path_factory) -> Path:
    """The folder of the working copy."""
    return tmp_path_factory.mktemp("lab") / "course"


@pytest.fixture(scope="package")
def jupyter(course) -> str:
    with jupyterlab(course) as url:
        yield url


@pytest.fixture(scope="package")
def browser():
    with chromium() as browser:
        yield browser


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
def page(browser, jupyter):
    with notebook_page(browser, jupyter) as page:
        yield page


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
