"""The stored lessons as pages, for readers without a kernel."""

import json
import re
from pathlib import Path

import pytest
from nbconvert import HTMLExporter

LESSONS = Path(__file__).parents[3] / "lessons"


@pytest.mark.parametrize("notebook", sorted(LESSONS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_stored_lesson_is_readable_offline(browser, tmp_path, notebook):
    """Figures are there, answers stay folded, and nothing says that it could not be shown."""
    html, _ = HTMLExporter().from_filename(str(notebook))
    (tmp_path / "lesson.html").write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1300, "height": 1250})
    page.context.set_offline(True)
    page.goto((tmp_path / "lesson.html").as_uri(), wait_until="domcontentloaded")
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    heading = "".join(stored["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
    assert page.locator("h1").first.inner_text().startswith(heading)
    pictures = [
        o
        for c in stored["cells"]
        for o in c.get("outputs", [])
        if {"text/html", "image/svg+xml"} & set(o.get("data", {}))
    ]
    shown = page.locator(".jp-RenderedHTML, .jp-RenderedSVG")
    boxes = [shown.nth(i).bounding_box() for i in range(shown.count())]
    assert len(boxes) == len(pictures)
    assert all(box and box["height"] > 15 and box["width"] > 100 for box in boxes)
    assert page.locator("details[open]").count() == 0
    text = page.locator("body").inner_text()
    assert not re.search("Error displaying widget|Loading widget|Javascript Error|widget-view", text)
    page.close()
