"""The static site as HTML, read without a browser: its links, and what every page of a kind has."""

import re
from collections import Counter
from itertools import pairwise
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

ONWARD = [*(f"{n:02}" for n in range(9)), "Test", "10", "11", "12"]  # the checkpoint in its place
STATE = re.compile(r"#([\w-]+)-(\d+)\?")  # a link to a state of the n-th widget of its kind


@pytest.fixture(scope="module")
def pages(site) -> dict[str, BeautifulSoup]:
    """Every page, by its path in the site."""
    paths = sorted(site.rglob("*.html"))
    return {p.relative_to(site).as_posix(): BeautifulSoup(p.read_bytes(), "html.parser") for p in paths}


def lessons(pages) -> dict[str, str]:
    """The pages that are read one after the other, with their numbers: as the first page lists them."""
    listed = pages["index.html"].select("#lessons li > a:has(> b):not([data-rounds=gallery])")
    return {link["href"]: link.b.text for link in listed}


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


def test_pages_are_told_apart(site, pages):
    """By their titles; and each has a picture for those who share its link: beside the pages, as no address is set."""
    titles = {page.title.text for page in pages.values()}
    assert len(titles) == len(pages) and all("Speculative decoding" in title for title in titles)
    for name, page in pages.items():
        assert page.html["lang"] == "en" and len(page.find_all("h1")) == 1
        shared = page.find("meta", property="og:image")["content"]
        assert ((site / name).parent / shared).is_file(), name


def test_each_lesson_has_its_own_picture(pages):
    """On its page, and on its tile."""
    front = pages["index.html"]
    tiles = {str(link.svg) for link in front.select("a:has(svg)")}
    pictures = {
        str(page.select_one("svg.plate")) for name, page in pages.items() if name.startswith(("lessons/0", "lessons/1"))
    }
    assert len(pictures) == 12 and pictures <= tiles


def test_the_end_of_pages_leads_on_and_back(pages):
    """Along the lessons; from what belongs to a lesson back to it, and on to the next."""
    numbered = lessons(pages)
    assert list(numbered.values()) == ONWARD

    def way(page: str, rel: str) -> str:
        return pages[page].select_one(f".turns a[rel={rel}]")["href"].removeprefix("../")

    for before, after in pairwise(numbered):
        assert (way(before, "next"), way(after, "prev")) == (after, before)
        minutes = re.search(r" (\d+) min", pages[after].select_one(".where").text)[1]
        card = pages[before].select_one(".turns a[rel=next]")
        assert f" {minutes} min" in card.small.text and len(card.span.text) > 15  # what the next one takes, and asks
        number = numbered[before].replace("Test", "09")
        for beside in (page for page in pages if f"/{number}_" in page or f"/deeper_{number}_" in page):
            if beside not in numbered:
                assert (way(beside, "next"), way(beside, "prev")) == (after, before)


def test_an_exercise_says_how_to_get_to_work(pages):
    """Below its title, and nowhere else; the checkpoint, which is also answered on its page, in other words."""
    said = Counter()
    for name, page in pages.items():
        if name.startswith("exercises/"):
            (how,) = page.select(".run")
            assert "preview" in how["class"] and how.find_previous_sibling()["class"] == ["cover"], name
            assert how.pre.text.endswith("make lab") and name.replace(".html", ".ipynb") in how.text
            said[how.p.text.partition(".")[0]] += 1
    assert sorted(said.values()) == [1, sum(said.values()) - 1]
