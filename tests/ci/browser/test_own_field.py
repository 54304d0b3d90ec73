"""The field for a reader's own sentence, without a model: what it fetches and when, and what it says where none can run."""

import pytest
from driving import served
from pages import ROOT, builder

SAID = {
    "megabytes": 129,
    "files": 9,
    "hardware": "a browser",
    "large": {"card": "a card", "billions": 7, "costs": {"5": 1.1}},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A site of the lessons that have the field; its model is not there. Returns its folder, and its address."""
    out, build = tmp_path_factory.mktemp("own") / "site", builder()
    lessons = [ROOT / page.replace(".html", ".ipynb") for page in build.TYPED]
    build.build(out, lessons, lambda folder: SAID)
    for page in (*build.TYPED, build.GALLERY, "index.html"):
        assert (out / page).read_text(encoding="utf-8").count('data-script="own"') == 1
    with served(out) as host:
        yield out, host


@pytest.fixture
def opened(browser, made):
    """Opens a page of it; `asked` has the files that it fetched."""
    tabs = []

    def open_(name: str, **more):
        tab = browser.new_context(viewport={"width": 1280, "height": 900}, **more).new_page()
        tab.asked = []
        tab.on("request", lambda request: tab.asked.append(request.url.rpartition("/")[2]))
        tab.goto(f"{made[1]}/{name}")
        tabs.append(tab)
        return tab

    yield open_
    for tab in tabs:
        tab.context.close()


def test_the_field_waits_for_whoever_enters_it(opened):
    page = opened("index.html")
    page.wait_for_load_state("networkidle")
    assert not {"own.js", "shared.js", "shared.css"} & set(page.asked)
    page.locator(".stub textarea").fill("A red boat")
    page.locator(".sdl-own").wait_for()
    field = page.get_by_label("your sentence")
    assert field.count() == 1 and field.input_value() == "A red boat"
    assert field.evaluate("(field) => field === document.activeElement")
    assert "129 MB" in page.locator(".sdl-own [role=status]").first.inner_text()


def test_a_link_leads_to_its_sentence(opened):
    page = opened("gallery.html#own-1?prompt=A+red+boat&drafter=lookup&gamma=3&temperature=0")
    page.locator(".sdl-own").wait_for()
    assert page.get_by_label("your sentence").input_value() == "A red boat"
    assert page.locator(".sdl-own").evaluate("(own) => own.getBoundingClientRect().top < innerHeight")


def test_the_disk_is_told_why_it_cannot(from_disk, made):
    page = from_disk(made[0] / "gallery.html")
    assert "server" in page.locator(".sdl-own").inner_text()
