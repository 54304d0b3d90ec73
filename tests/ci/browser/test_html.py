"""The static site as HTML, read without a browser: its links, and how its pages lead on."""

import re
from collections import Counter
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

STATE = re.compile(r"#([\w-]+)-(\d+)\?")  # a link to a state of the n-th widget of its kind


@pytest.fixture(scope="module")
def pages(site) -> dict[str, BeautifulSoup]:
    """Every page, by its path in the site."""
    paths = sorted(site.rglob("*.html"))
    return {p.relative_to(site).as_posix(): BeautifulSoup(p.read_bytes(), "html.parser") for p in paths}


def test_no_link_leads_nowhere(site, pages):
    assert len(pages) >= 28
    for name, page in pages.items():
        for element in page.select("[href], [src]"):
            link = element.get("href") or element.get("src")
            path, _, place = link.partition("#")
            if ":" in path:
                continue
            target = (site / name).parent / path if path else site / name
            assert target.resolve().exists(), f"{name}: {link}"
            on = pages.get(target.resolve().relative_to(site.resolve()).as_posix())
            if place and on and not STATE.match(f"#{place}"):
                assert on.find(id=unquote(place)), f"{name}: {link}"
    assert sum(p.stat().st_size for p in site.rglob("*") if p.is_file()) < 15e6


def test_a_link_to_a_state_names_a_widget(pages):
    found = 0
    for name, page in pages.items():
        kinds = Counter(live["data-script"] for live in page.select(".live"))
        for kind, number in (STATE.match(link["href"]).groups() for link in page.find_all("a", href=STATE)):
            assert 1 <= int(number) <= kinds[kind], f"{name}: #{kind}-{number}"
            found += 1
    assert found > 100
