"""What a visitor of the site meets first, and what tells them where they are."""

import re

import pytest
from driving import DESK_AND_PHONE, KEPT, PHONE, keep_guess, open_file_menu


def numbers(page) -> list[tuple[int, int]]:
    """(tokens, passes) of both lanes of the first page's race."""
    lanes = page.locator(".opening .lane")
    return [tuple(int(lane.locator("i").nth(i).inner_text()) for i in (0, -1)) for lane in lanes.all()]


def test_the_race_ends_where_it_stands_without_motion(visit):
    still = visit("index.html", reduced_motion="reduce")
    end = numbers(still)
    assert still.locator(".opening .later").count() == 0
    plain, drafts = end
    assert drafts[0] == plain[0] == plain[1] and drafts[1] < plain[1] / 2  # the same tokens, fewer passes
    still.wait_for_timeout(600)
    assert numbers(still) == end

    page = visit("index.html")
    button, won = page.locator(".opening .under button"), page.locator(".opening .won")
    two = re.compile(r"(?<![.\d])2×")
    button.click()  # it waits for a press
    button.get_by_text("stop").wait_for()
    early = numbers(page)
    assert early != end and page.locator(".opening .later").count() > 0
    page.wait_for_function("n => Number(document.querySelector('.lane i').innerText) > n", arg=early[0][0])
    button.click()  # stops it
    assert numbers(page) == end
    assert not two.search(won.inner_text())
    button.click()
    assert won.locator("> b").count() == 0  # the result waits for an answer, or for the end
    won.get_by_role("button", name="2×").click()
    button.click()
    assert re.match(r"\d\.\d×", won.locator("> b").inner_text())
    assert two.search(won.locator(".usual").inner_text())  # what was said
    button.click()
    page.wait_for_function("n => Number(document.querySelector('.lane i').innerText) < n", arg=end[0][0])


@DESK_AND_PHONE
def test_the_first_window_has_something_to_press(visit, size):
    """And one press there answers."""
    page = visit("index.html", **size)
    go = page.get_by_role("link", name="Play a round")
    box = go.bounding_box()
    assert box["y"] + box["height"] < 640
    go.click()
    page.wait_for_url(re.compile("00_start_here"))
    tokens = page.locator(".sdl-explorer").first.locator(".sdl-token")
    assert tokens.first.bounding_box()["y"] < 740
    tokens.nth(3).click()
    page.locator(".sdl-verdict").first.get_by_text("✓").wait_for()


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


WORDS = "glossary.html#"
FOUND = {  # what is searched for → where the first hit leads
    "bonus": f"{WORDS}bonus",  # a word
    "kv cache": "bridge.html#3.",  # a section
    "load lab": "07_when_it_backfires.html#3.",  # a widget that stands in it
    "speedup": f"{WORDS}speed-up",
    "bonus token": f"{WORDS}bonus",
    "acceptence": f"{WORDS}accepted",  # by its beginning
    "bonis": f"{WORDS}bonus",  # with a wrong letter
    "memory bound": f"{WORDS}memory-bound",  # a blank for a hyphen
    "what is a token": f"{WORDS}token",
    "min(1, p/q)": ".html",  # signs: somewhere
    "why is my draft slower": ".html",
    "lesson 7": "07_when_it_backfires.html",
    "exercise 3": "03_exactly_the_target.html",
    "CHECKPOINT": "09_checkpoint.html",
}


@DESK_AND_PHONE
def test_pages_sections_and_words_are_found(visit, size):
    page = visit("lessons/01_idle_math.html", **size)
    search = page.get_by_role("search")
    find, hits = search.get_by_role("searchbox"), search.get_by_role("link")
    if size is PHONE:
        page.get_by_role("button", name="contents").click()
    for asked, address in FOUND.items():
        find.fill(asked)
        hits.first.and_(page.locator(f'[href*="{address}"]')).wait_for()
    find.press("Enter")
    page.wait_for_url("**/exercises/09_checkpoint.html")
    page.go_back()
    if size is PHONE:
        page.get_by_role("button", name="contents").click()
    find.fill("vllm")
    hits.first.get_by_text("vllm").wait_for()  # why it is a hit
    pages = [hit.get_attribute("href").partition("#")[0] for hit in hits.all()]
    assert 4 < len(pages) <= 10 and max(map(pages.count, pages)) == 2
    find.fill("3048")  # another number is no wrong letter
    nothing = search.get_by_text("Nothing found")
    nothing.wait_for()
    find.press("Escape")
    assert not nothing.is_visible()


def test_the_menu_says_where_one_is(visit):
    """The sections of the open lesson, and what belongs to it; and what is done of it."""
    page = visit("lessons/01_idle_math.html", reduced_motion="reduce")
    menu = page.get_by_role("navigation", name="Contents")
    heads = [head.replace("\n", ". ") for head in page.locator("main h2").all_inner_texts()]
    opened = menu.locator("ul ul a")
    assert opened.all_inner_texts()[: len(heads)] == menu.locator(".sections a").all_inner_texts() == heads
    beside = [link.get_attribute("href") for link in opened.all()[len(heads) :]]
    assert [re.search("(deeper|exercises)(.*)01_", href)[1] for href in beside] == ["deeper", "exercises"]
    assert menu.locator("details").count() == 2 and menu.locator("details[open]").count() == 0
    page.evaluate("n => document.querySelectorAll('main h2')[n].scrollIntoView()", 2)
    menu.locator(".sections a[aria-current]").get_by_text(heads[2]).wait_for()
    assert 0 <= menu.bounding_box()["y"] < 100, "the menu scrolled away"

    link = menu.locator("a[aria-current=page]")
    ids = link.get_attribute("data-ids").split()
    assert len(ids) == 4 and (link.get_attribute("data-done") or "") == ""
    keep_guess(page, "2")
    assert link.get_attribute("data-done") == "1/4" and link.get_attribute("title").startswith("1 of 4")
    whole = {"schema": 1, "claims": {id: {"guess": {"value": 1}} for id in ids}, "quiz": {}}
    page.evaluate("l => specdecLab.save('specdec-lab ledger', l)", whole)
    page.reload()
    assert link.get_attribute("data-done") == "✓"


def test_progress_closes_by_escape_and_a_press_elsewhere(visit):
    page = visit("lessons/05_choosing_gamma.html")
    progress = page.locator("details.progress")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").click()):
        progress.locator("> summary").click()
        assert progress.evaluate("e => e.open")
        close()
        assert not progress.evaluate("e => e.open")


def test_code_has_one_switch(visit):
    page = visit("lessons/05_choosing_gamma.html")
    folds, opened = page.locator("details.fold"), page.locator("details.fold[open]")
    assert folds.count() > 4 and opened.count() == 0
    page.get_by_role("button", name="show code").click()
    assert opened.count() == folds.count()
    page.reload()
    assert opened.count() == folds.count()
    page.get_by_role("button", name="hide code").click()
    assert opened.count() == 0


def test_on_a_phone_contents_open_from_anywhere(visit):
    page = visit("lessons/05_choosing_gamma.html", **PHONE)
    contents, listed = page.get_by_role("button", name="contents"), page.locator('nav a[href*="08_"]').first
    assert not listed.is_visible()
    page.evaluate("scrollTo(0, 3000)")
    contents.tap()
    listed.wait_for()
    contents.tap()
    assert not listed.is_visible()
    assert page.evaluate("scrollY") == 3000  # one is where one was
    contents.tap()
    assert page.evaluate("document.activeElement.ariaCurrent") == "page"
    page.keyboard.press("Escape")
    assert not listed.is_visible() and page.evaluate("[scrollY, document.activeElement.id]") == [3000, "menu"]
    contents.tap()
    page.locator("nav .sections a").first.tap()  # leads to it, and lets it be seen
    assert not listed.is_visible() and page.evaluate("scrollY") < 3000


def test_a_word_has_its_card_in_place(visit):
    token = 'main a[href*="glossary.html#token"]'
    page = visit("lessons/00_start_here.html")
    page.locator(token).first.hover()
    page.locator(".word").wait_for()
    page.keyboard.press("Escape")
    assert not page.locator(".word").is_visible()
    phone = visit("lessons/00_start_here.html", **PHONE)
    phone.locator(token).first.tap()  # and stays on the page
    phone.locator(".word").get_by_role("link", name="the glossary").tap()
    phone.wait_for_url(re.compile("glossary.html#token"))


def test_a_guess_is_in_the_progress(visit):
    page = visit("lessons/01_idle_math.html")
    keep_guess(page, "1.2")
    page.locator('nav a[href*="08_"]').first.click()
    page.locator(".own td:nth-child(2)", has_text="1.2").wait_for()
    page.get_by_role("link", name="Speculative decoding", exact=True).click()
    page.get_by_role("link", name="Next: 00").wait_for()
    assert page.locator('[data-ids][href*="01_"]').first.get_attribute("data-done") == "1/4"


def test_what_is_asked_before_a_look_waits(visit):
    page = visit("lessons/04_acceptance_rate.html")
    answer, looks = page.get_by_text("27 accepted of 31 tested"), page.get_by_role("button", name="look", exact=True)
    assert looks.count() == 2 and not answer.is_visible()
    looks.first.click()
    assert answer.is_visible() and looks.count() == 1


def test_rounds_count_and_the_next_step_is_named(visit):
    page = visit("lessons/00_start_here.html")
    progress, said = page.locator(".progress > summary"), page.locator("#progress")
    progress.click()
    assert re.match(r"0 of 9 .*\nNext: 00 ", said.inner_text())
    page.keyboard.press("Escape")
    page.locator(".sdl-explorer").first.locator(".sdl-token").nth(3).click()
    progress.click()
    assert "1 round played" in said.inner_text() and "Go on with 00 " in said.inner_text()
    page.reload()
    page.locator('nav a[href*="01_idle"]').first.click()  # elsewhere they count, too
    open_file_menu(page)
    said.get_by_text("1 round played").wait_for()
    assert page.locator('nav a[href*="00_"]').get_attribute("data-done") == "begun"
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="forget all").click()
    assert "played" not in said.inner_text()


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


@DESK_AND_PHONE
def test_rounds_that_play_do_not_move_the_reader(visit, size):
    page = visit("lessons/00_start_here.html", **size)
    rounds = page.locator(".sdl-explorer").nth(1)
    rounds.get_by_role("button", name="play").click()
    before = rounds.locator(".sdl-where").inner_text()
    page.evaluate("document.querySelector('footer').scrollIntoView()")
    place = page.evaluate("scrollY")
    page.wait_for_function(
        "([e, t]) => e.querySelector('.sdl-where').innerText !== t", arg=[rounds.element_handle(), before]
    )
    page.wait_for_timeout(800)
    end = page.evaluate("document.querySelector('footer').getBoundingClientRect().top < innerHeight")
    assert end and page.evaluate("scrollY") > place - 100  # a sentence above it may be a line shorter


def test_on_a_phone_a_line_chart_stands_upright(visit):
    page = visit("lessons/07_when_it_backfires.html", **PHONE)
    page.wait_for_function("document.querySelectorAll('.result > div > .sdl-chart').length > 0")
    assert page.locator("main script.upright").count() == 0
    desk = visit("lessons/07_when_it_backfires.html")
    assert desk.locator(".result > div > .sdl-chart").count() == 0 < desk.locator("main script.upright").count()


def test_to_go_on_leads_to_an_open_question(visit):
    page = visit("lessons/00_start_here.html")
    keep_guess(page, "1.2")
    page.get_by_role("link", name="Speculative decoding", exact=True).click()
    page.get_by_role("link", name="Go on: 00").click()
    page.wait_for_url(re.compile("00_start_here.html#go-on$"))
    page.wait_for_function("scrollY > 300")
    page.wait_for_timeout(1000)
    at = page.evaluate("""() => {
        const place = document.activeElement.closest(".live"), box = document.activeElement.getBoundingClientRect();
        return { kind: place.dataset.script, kept: place.innerText.includes("✓ kept"), top: box.top };
    }""")
    assert at["kind"] in ("guess", "quiz") and not at["kept"] and 40 < at["top"] < 700


MOVED = """window.moved = [];
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value, sources } of list.getEntries())
    if (!hadRecentInput) window.moved.push([value, sources.map(({ node }) => node?.className || node?.nodeName).join(" ")]);
}).observe({ type: "layout-shift", buffered: true });"""
KINDS = ("index", "gallery", "lessons/00_start_here", "lessons/10_trees", "exercises/01_idle_math")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", KINDS)
def test_nothing_moves_while_a_page_loads(visit, name, width):
    """Cumulative layout shift: letters, goals and widgets have their room from the beginning. Good is below 0.1."""
    page = visit(f"{name}.html", width, before=MOVED)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    moved = page.evaluate("window.moved")
    assert sum(value for value, _ in moved) < 0.1, moved


def test_a_phone_sees_both_lanes_race(visit):
    page = visit("index.html", 360)
    page.set_viewport_size({"width": 360, "height": 660})
    page.locator(".won button").first.click()
    for lane in page.locator(".lane").all():
        page.wait_for_function(
            "(lane) => { const { top, bottom } = lane.getBoundingClientRect(); return top > 0 && bottom <= innerHeight + 1; }",
            arg=lane.element_handle(),
        )
