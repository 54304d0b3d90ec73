"""What a visitor of the site meets first, and what tells them where they are."""

import re

from driving import KEPT, keep_guess

RESULT = "Here five tokens take"  # stands behind the first guess of lesson 01


def test_a_guess_brings_its_results_and_the_menu_counts_it(visit):
    page = visit("lessons/01_idle_math.html", reduced_motion="reduce")
    told, outcome = page.get_by_text(RESULT), page.locator(".live[data-script=outcome]").first
    assert not told.is_visible() and not outcome.is_visible()
    menu = page.get_by_role("navigation", name="Contents")
    link = menu.locator("a[aria-current=page]")
    ids = link.get_attribute("data-ids").split()
    assert len(ids) > 1 and (link.get_attribute("data-done") or "") == ""
    keep_guess(page, "2")
    told.wait_for()
    assert "too high" in outcome.inner_text() and link.get_attribute("data-done") == f"1/{len(ids)}"
    page.get_by_role("button", name="What came of it").click()
    assert page.evaluate("document.activeElement.dataset.script") == "outcome"
    assert 0 < outcome.bounding_box()["y"] < 720

    page.evaluate("n => document.querySelectorAll('main h2')[n].scrollIntoView()", 2)
    here = page.locator("main h2").nth(2).inner_text().replace("\n", ". ")
    menu.locator(".sections a[aria-current]").get_by_text(here).wait_for()
    assert 0 <= menu.bounding_box()["y"] < 100, "the menu scrolled away"
    whole = {"schema": 1, "claims": {id: {"guess": {"value": 1}} for id in ids}, "quiz": {}}
    page.evaluate("l => specdecLab.save('specdec-lab ledger', l)", whole)
    page.reload()
    told.wait_for()
    assert link.get_attribute("data-done") == "✓"


def test_results_are_shown_without_a_guess(visit):
    """On demand; the page does not jump, nothing counts as a guess, and one can be made after all."""
    page = visit("lessons/01_idle_math.html")
    gate, guess = page.locator(".gate").first, page.locator(".live[data-script=guess]").first
    assert re.search(r"\d results?", gate.inner_text())  # behind it
    gate.scroll_into_view_if_needed()
    before = gate.bounding_box()["y"]
    gate.get_by_role("button", name="show the results without a guess").click()
    page.get_by_text(RESULT).wait_for()
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
    "break even": "glossary.html#crossover",  # in other words than the page has
    "why is the text the same": "02_draft_then_verify.html#3.",
    "how do I install": "00_start_here.html#install",
    "structured output": "deeper_08_engines.html#4.",
    "my draft is slow": "engines.html#4.",
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
