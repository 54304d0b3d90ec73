"""What a visitor of the site meets first, and what tells them where they are."""

import re

import pytest
from driving import KEPT

PHONE = {"width": 360, "has_touch": True, "is_mobile": True}


def numbers(page) -> list[tuple[int, int]]:
    """(tokens, passes) of both lanes of the first page's race."""
    return [
        (int(lane.locator("i").first.inner_text()), int(lane.locator("i").last.inner_text()))
        for lane in page.locator(".opening .lane").all()
    ]


def test_the_first_page_plays_a_race_to_the_end_that_it_stands_at_without_motion(visit):
    still = visit("index.html", reduced_motion="reduce")
    end = numbers(still)
    assert still.locator(".opening .later").count() == 0
    plain, drafts = end
    assert drafts[0] == plain[0] == plain[1] and drafts[1] < plain[1] / 2  # the same tokens, fewer passes
    still.wait_for_timeout(600)
    assert numbers(still) == end

    page = visit("index.html")
    page.locator(".opening .under button").click()  # it waits for a press
    page.locator(".opening .under button").get_by_text("stop").wait_for()
    early = numbers(page)
    assert early != end and page.locator(".opening .later").count() > 0
    page.wait_for_function("n => Number(document.querySelector('.lane i').innerText) > n", arg=early[0][0])
    button = page.locator(".opening .under button")
    button.click()  # stops it
    assert numbers(page) == end
    assert "You said" not in page.locator(".opening .won").inner_text()
    button.click()
    assert page.locator(".opening .won > b").count() == 0  # the result waits for an answer, or for the end
    page.locator(".opening").get_by_role("button", name="2×").click()
    button.click()
    assert re.match(r"\d\.\d×", page.locator(".opening .won > b").inner_text())
    said = page.locator(".opening .won").inner_text()
    assert re.search(r"Over six kinds of prompts: \d\.\d×", said) and (
        "and your 2× is near that" in said or "You said 2×" in said
    )
    button.click()
    page.wait_for_function("n => Number(document.querySelector('.lane i').innerText) < n", arg=end[0][0])


@pytest.mark.parametrize("size", [{"width": 1280}, PHONE], ids=["desk", "phone"])
def test_something_to_press_is_in_the_first_window_and_one_press_answers(visit, size):
    page = visit("index.html", **size)
    go = page.get_by_role("link", name="Play a round")
    box = go.bounding_box()
    assert box["y"] + box["height"] < 640
    go.click()
    page.wait_for_url(re.compile("00_start_here"))
    tokens = page.locator(".sdl-explorer").first.locator(".sdl-token")
    assert tokens.first.bounding_box()["y"] < 740
    tokens.nth(3).click()
    page.locator(".sdl-verdict").first.get_by_text("✓ Right.").wait_for()


def test_results_wait_for_the_guess(visit):
    page = visit("lessons/01_idle_math.html")
    told = page.get_by_text("Here five tokens take")
    outcome = page.locator(".live[data-script=outcome]").first
    assert not told.is_visible() and not outcome.is_visible()
    assert page.get_by_role("group", name="Quiz").is_visible()
    guess = page.get_by_role("group", name="Your guess").first
    guess.get_by_label("your guess").fill("2")
    guess.get_by_role("button").click()
    told.wait_for()
    outcome.get_by_text(re.compile("Your guess was .* times too high")).wait_for()
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("button", name="What came of it").click()
    assert page.evaluate("document.activeElement.dataset.script") == "outcome"
    assert 0 < outcome.bounding_box()["y"] < 720
    page.reload()
    told.wait_for()

    other = visit("lessons/01_idle_math.html")
    gate = other.locator(".gate").first
    assert re.search(r"Locked until your guess is kept\s+Behind it: \d results?, your guess", gate.inner_text())
    gate.scroll_into_view_if_needed()
    before = gate.bounding_box()["y"]
    gate.get_by_role("button", name="show the results without a guess").click()
    other.get_by_text("Here five tokens take").wait_for()
    assert not gate.is_visible()
    skipped = other.get_by_text("Guess skipped. Guess after all?")
    guess = other.locator(".live[data-script=guess]").first
    assert not guess.is_visible()
    opened = "document.activeElement.matches('main > *') && document.activeElement.getBoundingClientRect().y"
    assert abs(other.evaluate(opened) - before) < 30, "the focus is lost, or the page jumped"
    assert other.evaluate(KEPT) is None
    skipped.click()  # and made after all
    guess.get_by_role("textbox", name="your guess").fill("2")


@pytest.mark.parametrize("size", [{"width": 1280}, PHONE], ids=["desk", "phone"])
def test_pages_sections_and_words_are_found(visit, size):
    page = visit("lessons/01_idle_math.html", **size)
    if size is PHONE:
        page.get_by_role("button", name="contents").click()
    search = page.get_by_role("search")
    find, hits = search.get_by_role("searchbox"), search.get_by_role("link")
    for asked, name, address in (
        ("bonus", "bonus", "glossary.html#bonus"),  # a word
        ("kv cache", "3. The KV cache", "bridge.html#3."),  # a section
        ("load lab", "3. A policy", "07_when_it_backfires.html#3."),  # a widget that stands in it
        ("speedup", "speed-up", "glossary.html#speed-up"),
        ("bonus token", "bonus", "glossary.html#bonus"),
        ("acceptence", "accepted", "glossary.html#accepted"),  # by its beginning
        ("bonis", "bonus", "glossary.html#bonus"),  # with a wrong letter
        ("memory bound", "memory-bound", "glossary.html#memory-bound"),  # a blank for a hyphen
        ("what is a token", "token", "glossary.html#token"),
        ("min(1, p/q)", "", ""),  # signs
        ("why is my draft slower", "", ""),
        ("lesson 7", "07", "07_when_it_backfires.html"),
        ("exercise 3", "Exercise 3", "03_exactly_the_target.html"),
        ("CHECKPOINT", "The checkpoint", "09_checkpoint.html"),
    ):
        find.fill(asked)
        first = hits.first
        first.get_by_text(name).first.wait_for()
        assert address in first.get_attribute("href")
    find.press("Enter")
    page.wait_for_url("**/exercises/09_checkpoint.html")
    page.go_back()
    if size is PHONE:
        page.get_by_role("button", name="contents").click()
    find.fill("vllm")
    hits.first.get_by_text("says vllm").wait_for()  # why it is a hit
    pages = [hit.get_attribute("href").partition("#")[0] for hit in hits.all()]
    assert 4 < len(pages) <= 10 and max(map(pages.count, pages)) == 2
    find.fill("3048")  # another number is no wrong letter
    search.get_by_text("Nothing found").wait_for()
    find.press("Escape")
    assert not search.get_by_text("Nothing found").is_visible()


def test_the_menu_says_where_one_is_and_what_is_done(visit):
    page = visit("lessons/01_idle_math.html", reduced_motion="reduce")
    menu = page.get_by_role("navigation", name="Contents")
    heads = [head.replace("\n", ". ") for head in page.locator("main h2").all_inner_texts()]
    assert menu.locator(".sections a").all_inner_texts() == heads
    assert menu.locator("details > summary").all_inner_texts() == ["Deeper", "Exercises, in the notebook"]
    assert menu.locator("details[open]").count() == 0  # one list, of which the open lesson alone has more
    opened = menu.locator("ul ul a").all_inner_texts()
    assert opened == [*heads, "Deeper: other machines", "Exercise: idle math"]
    page.evaluate("n => document.querySelectorAll('main h2')[n].scrollIntoView()", 2)
    menu.locator(".sections a[aria-current]").get_by_text(heads[2]).wait_for()
    box = menu.bounding_box()
    assert 0 <= box["y"] < 100, "the menu scrolled away"

    link = menu.locator("a[aria-current=page]")
    ids = link.get_attribute("data-ids").split()
    assert len(ids) == 4 and (link.get_attribute("data-done") or "") == ""
    guess = page.get_by_role("group", name="Your guess").first
    guess.get_by_label("your guess").fill("2")
    guess.get_by_role("button").click()
    assert link.get_attribute("data-done") == "1/4" and link.get_attribute("title") == "1 of 4 answered"
    whole = {"schema": 1, "claims": {id: {"guess": {"value": 1}} for id in ids}, "quiz": {}}
    page.evaluate("l => specdecLab.save('specdec-lab ledger', l)", whole)
    page.reload()
    assert page.locator("nav a[aria-current=page]").get_attribute("data-done") == "✓"


def test_progress_closes_by_escape_and_by_a_press_elsewhere_and_code_has_one_switch(visit):
    page = visit("lessons/05_choosing_gamma.html")
    progress = page.locator("details.progress")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").click()):
        page.locator(".progress > summary").click()
        assert progress.evaluate("e => e.open")
        close()
        assert not progress.evaluate("e => e.open")
    folds = page.locator("details.fold")
    opened = "all => all.filter(e => e.open).length"
    assert folds.count() > 4 and folds.evaluate_all(opened) == 0
    page.get_by_role("button", name="show code").click()
    assert folds.evaluate_all(opened) == folds.count()
    page.reload()
    assert folds.evaluate_all(opened) == folds.count()
    page.get_by_role("button", name="hide code").click()
    assert folds.evaluate_all(opened) == 0


def test_on_a_phone_the_contents_open_from_anywhere(visit):
    page = visit("lessons/05_choosing_gamma.html", **PHONE)
    listed = page.get_by_role("link", name="08 Measure your traffic")
    assert not listed.is_visible()
    page.evaluate("scrollTo(0, 3000)")
    page.get_by_role("button", name="contents").tap()
    listed.wait_for()
    page.get_by_role("button", name="contents").tap()
    assert not listed.is_visible()
    assert page.evaluate("scrollY") == 3000  # one is where one was
    page.get_by_role("button", name="contents").tap()
    assert page.evaluate("document.activeElement.innerText") == "05 Choosing γ"
    page.keyboard.press("Escape")
    assert not listed.is_visible() and page.evaluate("[scrollY, document.activeElement.id]") == [3000, "menu"]
    page.get_by_role("button", name="contents").tap()
    page.locator("nav .sections a").first.tap()  # leads to it, and lets it be seen
    assert not listed.is_visible() and page.evaluate("scrollY") < 3000


def test_a_word_of_the_glossary_has_its_card_in_place(visit):
    page = visit("lessons/00_start_here.html")
    page.locator('main a[href*="glossary.html#token"]').first.hover()
    card = page.locator(".word")
    card.get_by_text("the unit in which models read and write").wait_for()
    page.keyboard.press("Escape")
    assert not card.is_visible()
    phone = visit("lessons/00_start_here.html", **PHONE)
    phone.locator('main a[href*="glossary.html#token"]').first.tap()  # and stays on the page
    phone.locator(".word").get_by_role("link", name="the glossary").tap()
    phone.wait_for_url(re.compile("glossary.html#token"))


def guess_first(page) -> None:
    """Fill in the first guess of a page, and keep it."""
    guess = page.get_by_role("group", name="Your guess").first
    guess.get_by_label("your guess").fill("1.2")
    guess.get_by_role("button", name="keep your guess").click()
    guess.get_by_text("Kept. It cannot be changed now.").wait_for()


def test_what_was_guessed_is_in_the_progress_and_leads_on(visit):
    page = visit("lessons/01_idle_math.html")
    guess_first(page)
    page.get_by_role("link", name="Measure your traffic").first.click()
    page.locator(".own").get_by_text("T(5) / T(1)").wait_for()
    assert "1.2" in page.locator(".own td").all_inner_texts()[1]
    page.get_by_role("link", name="Speculative decoding", exact=True).click()
    page.get_by_role("link", name="Next: 00").wait_for()
    page.locator(".progress > summary").click()
    assert "1 of 4 answered" in page.locator("#progress li").filter(has_text="01 Idle math").inner_text()


def test_what_one_is_asked_before_one_looks_waits_for_a_press(visit):
    page = visit("lessons/04_acceptance_rate.html")
    answer, looks = page.get_by_text("27 accepted of 31 tested"), page.get_by_role("button", name="look", exact=True)
    assert looks.count() == 2 and not answer.is_visible()
    looks.first.click()
    assert answer.is_visible() and looks.count() == 1


def test_rounds_that_were_played_count_and_the_next_step_is_named(visit):
    page = visit("lessons/00_start_here.html")
    said = page.locator("#progress")
    page.locator(".progress > summary").click()
    assert said.inner_text().startswith("0 of 9 lessons done.\nNext: 00 Start here (")
    page.keyboard.press("Escape")
    page.locator(".sdl-explorer").first.locator(".sdl-token").nth(3).click()
    page.locator(".progress > summary").click()
    assert "1 round played." in said.inner_text() and "Go on with 00 Start here" in said.inner_text()
    page.reload()
    page.get_by_role("link", name="01 Idle math").first.click()  # elsewhere they count, too
    page.locator(".progress > summary").click()
    said.get_by_text("1 round played.").wait_for()
    assert page.locator("nav a", has_text="00 Start here").get_attribute("data-done") == "begun"
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_text("save, or read a file").click()
    page.get_by_role("button", name="forget all").click()
    assert "played" not in said.inner_text()


def test_what_came_of_a_guess_waits_for_the_race_and_is_there_when_one_comes_back(visit):
    page = visit("lessons/00_start_here.html", reduced_motion="reduce")
    outcome, race = page.locator(".live[data-script=outcome]").first, page.get_by_role("group", name="Race")
    for guess in page.get_by_role("group", name="Your guess").all():
        guess.get_by_label("your guess").fill("2")
        guess.get_by_role("button").click()
    page.get_by_role("button", name="Watch the race").first.click()
    assert 0 < race.bounding_box()["y"] < 200 and not outcome.is_visible()
    race.get_by_label("pace").select_option("as recorded")
    race.get_by_role("button", name="pause").wait_for()  # it runs, as asked
    outcome.wait_for()
    assert not page.get_by_text("stands here after the race").is_visible()
    page.reload()
    outcome.wait_for()


@pytest.mark.parametrize("size", [{"width": 1280}, PHONE], ids=["desk", "phone"])
def test_rounds_that_play_leave_the_page_where_the_reader_is(visit, size):
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


def test_to_go_on_leads_to_the_first_question_that_is_open(visit):
    page = visit("lessons/00_start_here.html")
    guess_first(page)
    listed = page.locator("nav a", has_text="00 Start here")
    assert re.fullmatch(r"\d of \d answered", listed.get_attribute("title"))
    page.get_by_role("link", name="Speculative decoding", exact=True).click()
    page.get_by_role("link", name="Go on: 00").click()
    page.wait_for_url(re.compile("00_start_here.html#go-on$"))
    page.wait_for_function("scrollY > 300")
    page.wait_for_timeout(1000)
    at = page.evaluate("""() => {
        const place = document.activeElement.closest(".live"), box = document.activeElement.getBoundingClientRect();
        return { kind: place.dataset.script, kept: place.innerText.includes("Kept. It cannot"), top: box.top };
    }""")
    assert at["kind"] in ("guess", "quiz") and not at["kept"] and 40 < at["top"] < 700


MOVED = """window.moved = [];
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value, sources } of list.getEntries())
    if (!hadRecentInput) window.moved.push([value, sources.map(({ node }) => node?.className || node?.nodeName).join(" ")]);
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "gallery.html",
        "lessons/00_start_here.html",
        "lessons/10_trees.html",
        "exercises/01_idle_math.html",
    ],
)
def test_nothing_moves_while_a_page_loads(visit, name, width):
    """Cumulative layout shift: letters, goals and widgets have their room from the beginning. Good is below 0.1."""
    page = visit(name, width, before=MOVED)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    moved = page.evaluate("window.moved")
    assert sum(value for value, _ in moved) < 0.1, moved
