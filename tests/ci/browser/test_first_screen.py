"""What a visitor of the site meets first, and what tells them where they are."""

import re

import pytest
from driving import KEPT, PHONE, keep_guess


def test_the_race_ends_where_it_stands_without_motion(visit):
    def numbers(page) -> list[tuple[int, int]]:
        """(tokens, passes) of both lanes."""
        lanes = page.locator(".opening .lane").all()
        return [tuple(int(lane.locator("i").nth(i).inner_text()) for i in (0, -1)) for lane in lanes]

    end = numbers(visit("index.html", reduced_motion="reduce"))
    plain, drafts = end
    assert drafts[0] == plain[0] == plain[1] and drafts[1] < plain[1] / 2  # the same tokens, fewer passes
    page = visit("index.html")
    button, won = page.locator(".opening .under button"), page.locator(".opening .won")
    button.click()  # it waits for a press
    early = numbers(page)
    assert early != end
    page.wait_for_function("n => Number(document.querySelector('.lane i').innerText) > n", arg=early[0][0])
    button.click()  # stops it
    assert numbers(page) == end
    button.click()
    assert won.locator("> b").count() == 0  # the result waits for an answer, or for the end
    won.get_by_role("button", name="2×").click()
    button.click()
    assert re.match(r"\d\.\d×", won.locator("> b").inner_text())


def results(page):
    """What stands behind the first guess of lesson 01: its text, and its outcome."""
    return page.get_by_text("Here five tokens take"), page.locator(".live[data-script=outcome]").first


def test_results_wait_for_the_guess(visit):
    page = visit("lessons/01_idle_math.html", reduced_motion="reduce")
    told, outcome = results(page)
    assert not told.is_visible() and not outcome.is_visible()
    assert page.get_by_role("group", name="Quiz").is_visible()
    keep_guess(page, "2")
    told.wait_for()
    assert "too high" in outcome.inner_text()
    page.get_by_role("button", name="What came of it").click()
    assert page.evaluate("document.activeElement.dataset.script") == "outcome"
    assert 0 < outcome.bounding_box()["y"] < 720
    page.reload()
    told.wait_for()


def test_results_are_shown_without_a_guess(visit):
    """On demand; the page does not jump, nothing counts as a guess, and one can be made after all."""
    page = visit("lessons/01_idle_math.html")
    gate, guess = page.locator(".gate").first, page.locator(".live[data-script=guess]").first
    assert re.search(r"\d results?", gate.inner_text())  # behind it
    gate.scroll_into_view_if_needed()
    before = gate.bounding_box()["y"]
    gate.get_by_role("button", name="show the results without a guess").click()
    results(page)[0].wait_for()
    assert not gate.is_visible() and not guess.is_visible()
    opened = "document.activeElement.matches('main > *') && document.activeElement.getBoundingClientRect().y"
    assert abs(page.evaluate(opened) - before) < 30, "the focus is lost, or the page jumped"
    assert page.evaluate(KEPT) is None
    page.locator(".skipped > summary").first.click()
    guess.get_by_role("textbox", name="your guess").fill("2")


FOUND = {  # what is searched for → where the first hit leads
    "bonus": "glossary.html#bonus",  # a word
    "kv cache": "bridge.html#3.",  # a section
    "load lab": "07_when_it_backfires.html#3.",  # a widget that stands in it
    "bonis": "glossary.html#bonus",  # with a wrong letter
    "memory bound": "glossary.html#memory-bound",  # a blank for a hyphen
    "what is a token": "glossary.html#token",
    "min(1, p/q)": ".html",  # signs: somewhere
    "lesson 7": "07_when_it_backfires.html",
}


def test_pages_sections_and_words_are_found(visit):
    page = visit("lessons/01_idle_math.html")
    search = page.get_by_role("search")
    find, hits = search.get_by_role("searchbox"), search.get_by_role("link")
    for asked, address in FOUND.items():
        find.fill(asked)
        hits.first.and_(page.locator(f'[href*="{address}"]')).wait_for()
    find.fill("3048")  # another number is no wrong letter
    search.get_by_text("Nothing found").wait_for()
    find.fill("lesson 7")
    hits.first.get_by_text("07").wait_for()
    find.press("Enter")
    page.wait_for_url("**/lessons/07_when_it_backfires.html")


def test_the_menu_says_where_one_is_and_what_is_done(visit):
    page = visit("lessons/01_idle_math.html", reduced_motion="reduce")
    menu = page.get_by_role("navigation", name="Contents")
    page.evaluate("n => document.querySelectorAll('main h2')[n].scrollIntoView()", 2)
    here = page.locator("main h2").nth(2).inner_text().replace("\n", ". ")
    menu.locator(".sections a[aria-current]").get_by_text(here).wait_for()
    assert 0 <= menu.bounding_box()["y"] < 100, "the menu scrolled away"

    link = menu.locator("a[aria-current=page]")
    ids = link.get_attribute("data-ids").split()
    assert len(ids) == 4 and (link.get_attribute("data-done") or "") == ""
    keep_guess(page, "2")
    assert link.get_attribute("data-done") == "1/4"
    whole = {"schema": 1, "claims": {id: {"guess": {"value": 1}} for id in ids}, "quiz": {}}
    page.evaluate("l => specdecLab.save('specdec-lab ledger', l)", whole)
    page.reload()
    assert link.get_attribute("data-done") == "✓"


def test_on_a_phone_contents_open_from_anywhere(visit):
    page = visit("lessons/05_choosing_gamma.html", **PHONE)
    contents, listed = page.get_by_role("button", name="contents"), page.locator('nav a[href*="08_"]').first
    assert not listed.is_visible()
    page.evaluate("scrollTo(0, 3000)")
    contents.tap()
    listed.wait_for()
    page.keyboard.press("Escape")
    assert not listed.is_visible()
    assert page.evaluate("scrollY") == 3000  # one is where one was
    contents.tap()
    page.locator("nav .sections a").first.tap()  # leads to it, and lets it be seen
    assert not listed.is_visible() and page.evaluate("scrollY") < 3000


def test_what_is_asked_before_a_look_waits(visit):
    page = visit("lessons/04_acceptance_rate.html")
    answer, looks = page.get_by_text("27 accepted of 31 tested"), page.get_by_role("button", name="look", exact=True)
    assert looks.count() == 2 and not answer.is_visible()
    looks.first.click()
    assert answer.is_visible() and looks.count() == 1


def test_an_outcome_waits_for_the_race(visit):
    """And is there when one comes back."""
    page = visit("lessons/00_start_here.html", reduced_motion="reduce")
    outcome, race = page.locator(".live[data-script=outcome]").first, page.get_by_role("group", name="Race")
    for number in range(page.get_by_role("group", name="Your guess").count()):
        keep_guess(page, "2", number)
    page.get_by_role("button", name="Watch the race").first.click()
    assert 0 < race.bounding_box()["y"] < 200 and not outcome.is_visible()
    race.get_by_label("pace").select_option("as recorded")
    race.get_by_role("button", name="pause").wait_for()  # it runs, as asked
    outcome.wait_for()
    assert not page.get_by_text("stands here after the race").is_visible()
    page.reload()
    outcome.wait_for()


MOVED = """window.moved = [];
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value, sources } of list.getEntries())
    if (!hadRecentInput) window.moved.push([value, sources.map(({ node }) => node?.className || node?.nodeName).join(" ")]);
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.parametrize("name", ["index", "lessons/00_start_here", "exercises/01_idle_math"])
def test_nothing_moves_while_a_page_loads(visit, name):
    """Cumulative layout shift: letters, goals and widgets have their room from the beginning. Good is below 0.1."""
    page = visit(f"{name}.html", 360, before=MOVED)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    moved = page.evaluate("window.moved")
    assert sum(value for value, _ in moved) < 0.1, moved
