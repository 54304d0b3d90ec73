"""Every page of the site: its widths, its weight, what it asks for, and what axe-core says of it."""

from itertools import cycle, product

import pytest
from driving import served, violations

PHONE, TABLET, DESK = 360, 800, 1280  # pixels
WEIGHT = 600_000  # bytes of a page, its styles, its scripts and its data; pictures come on top
CUT = """[...document.querySelectorAll('main svg text')].filter(text => {
  const [inner, outer] = [text, text.ownerSVGElement].map(e => e.getBoundingClientRect());
  return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1);
}).map(text => text.textContent)"""
OPEN_ALL = "document.querySelectorAll('main details').forEach(d => { d.open = true; })"


@pytest.fixture(params=["disk", "web"])
def address(site, request):
    """Of the site's folder: opened from the disk, and from a plain web server."""
    if request.param == "disk":
        yield site.as_uri()
        return
    with served(site) as host:
        yield host


@pytest.fixture
def pages(site) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_every_page_is_light_and_fits(browser, site, address, pages):
    """It fits each width, cuts no word of a picture, and asks nothing of others."""
    page = browser.new_page()
    asked, wrong = [], []
    page.on("request", lambda r: asked.append(r.url))
    page.on("response", lambda r: wrong.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.on("requestfailed", lambda r: wrong.append(f"failed: {r.url}"))
    page.on("pageerror", lambda e: wrong.append(str(e)))
    for name in pages:
        asked.clear()
        page.set_viewport_size({"width": PHONE, "height": 740})
        page.goto(f"{address}/{name}", wait_until="load")
        page.wait_for_function("[...document.querySelectorAll('.live')].every(e => e.children.length > 1)")
        page.evaluate(OPEN_ALL)
        wrong += [f"{name} asks for {url}" for url in asked if not url.startswith((f"{address}/", "data:"))]
        own = {site / url.removeprefix(f"{address}/") for url in asked if url.startswith(address)}
        if (weight := sum(f.stat().st_size for f in own if f.suffix not in (".png", ".svg"))) > WEIGHT:
            wrong.append(f"{name} weighs {weight:,} bytes")
        wrong += [f"{name}: a picture cuts “{text}”" for text in page.evaluate(CUT)]
        for width in (PHONE, TABLET, DESK):
            page.set_viewport_size({"width": width, "height": 740})
            if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
                wrong.append(f"{name} is {wide} pixels wide, in a window of {width}")
    page.close()
    assert wrong == [], "\n".join(wrong)


def test_axe_finds_nothing_serious_on_any_page(browser, site, pages, full):
    """A width and a theme for each page, in turn; with --full all of them for each."""
    page = browser.new_page()
    wrong = []
    kinds = [*product((PHONE, DESK), ("light", "dark"))]
    for name, kind in zip(pages, cycle(kinds)):
        page.goto((site / name).as_uri())
        page.evaluate(OPEN_ALL)
        for width, theme in kinds if full else [kind]:
            page.set_viewport_size({"width": width, "height": 740})
            page.emulate_media(color_scheme=theme)
            page.evaluate(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
            )
            wrong += [f"{name}, {width} px, {theme}: {found}" for found in violations(page)]
    page.close()
    assert wrong == [], "\n".join(wrong)
