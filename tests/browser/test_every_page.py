"""Every page of the site: its width, its weight, what it asks for, and what axe-core says of it."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, product

import pytest
from driving import violations

PHONE, DESK = 360, 1280  # pixels
WEIGHT = 600_000  # bytes of a page, its styles, its scripts and its data; pictures come on top
CUT = """[...document.querySelectorAll('main svg text')].filter(text => {
  const [inner, outer] = [text, text.ownerSVGElement].map(e => e.getBoundingClientRect());
  return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1);
}).map(text => text.textContent)"""
OPEN_ALL = "document.querySelectorAll('main details').forEach(d => { d.open = true; })"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *said) -> None:
        pass


@pytest.fixture(params=["disk", "web"])
def address(site, request):
    """Of the site's folder: opened from the disk, and from a plain web server."""
    if request.param == "disk":
        yield site.as_uri()
        return
    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def pages(site) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_every_page_is_light_fits_a_phone_cuts_no_words_and_asks_nothing_of_others(browser, site, address, pages):
    page = browser.new_page(viewport={"width": PHONE, "height": 740})
    asked, wrong = [], []
    page.on("request", lambda r: asked.append(r.url))
    page.on("response", lambda r: wrong.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.on("requestfailed", lambda r: wrong.append(f"failed: {r.url}"))
    page.on("pageerror", lambda e: wrong.append(str(e)))
    for name in pages:
        asked.clear()
        page.goto(f"{address}/{name}", wait_until="load")
        page.wait_for_function("[...document.querySelectorAll('.live')].every(e => e.children.length > 1)")
        page.evaluate(OPEN_ALL)
        wrong += [f"{name} asks for {url}" for url in asked if not url.startswith((f"{address}/", "data:"))]
        own = {site / url.removeprefix(f"{address}/") for url in asked if url.startswith(address)}
        if (weight := sum(f.stat().st_size for f in own if f.suffix not in (".png", ".svg"))) > WEIGHT:
            wrong.append(f"{name} weighs {weight:,} bytes")
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > PHONE:
            wrong.append(f"{name} is {wide} pixels wide")
        wrong += [f"{name}: a picture cuts “{text}”" for text in page.evaluate(CUT)]
        shared = page.locator("meta[property='og:image']").get_attribute(
            "content"
        )  # beside the pages, as no address is set
        if not (site / name).parent.joinpath(shared).is_file():
            wrong.append(f"{name} has no picture for those who share its link")
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
