"""The gallery of the static site: choosing, stepping, the race, and links that hold a state."""

import re

import specdec_lab as sd

GALLERY = "gallery.html#gallery-1?text=code&drafter=eagle&gamma=4&temperature=0"


def race_of(page):
    return page.get_by_role("group", name="Race")


def written(race) -> list[int]:
    """Tokens that plain decoding and speculation have written so far, as the race says."""
    return [int(n) for n in re.findall(r": (\d+) tokens?,", " ".join(race.locator(".sdl-count").all_inner_texts()))]


def seconds(race) -> float:
    return float(race.locator(".sdl-where").inner_text().split()[0])


def test_a_chosen_text_is_stepped_through(visit):
    page = visit("gallery.html")
    explorer = page.get_by_role("group", name="Round Explorer")
    assert page.get_by_label("drafter").input_value() == "hybrid"  # the best of them
    page.get_by_label("text", exact=True).select_option("list")
    page.get_by_text("The prompt: List the months").wait_for()
    page.get_by_label("γ, drafts a round").select_option("2")
    explorer.get_by_text("EAGLE, γ = 2, temperature 0").wait_for()
    explorer.get_by_role("button", name="reveal").click()
    assert explorer.locator("[data-happened]").count() >= 2
    page.keyboard.press("ArrowRight")
    explorer.get_by_text(re.compile("round 2 of")).wait_for()

    # Only EAGLE has every γ: another drafter brings γ = 4 with it, and it is said.
    page.get_by_label("drafter").select_option("lookup")
    page.get_by_text("recorded with γ = 4 at temperature 0").wait_for()
    explorer.get_by_text("lookup, γ = 4, temperature 0").wait_for()
    page.get_by_label("temperature").select_option("1")
    page.get_by_text("Only EAGLE").wait_for()
    explorer.get_by_text("EAGLE, γ = 4, temperature 1").wait_for()

    # Over a reload: the choice, and what was revealed of each trace.
    page.reload()
    explorer.get_by_text("EAGLE, γ = 4, temperature 1").wait_for()
    assert page.get_by_label("text", exact=True).input_value() == "list"
    page.get_by_label("temperature").select_option("0")
    page.get_by_label("γ, drafts a round").select_option("2")
    explorer.get_by_text("EAGLE, γ = 2, temperature 0").wait_for()
    assert explorer.locator("[data-happened]").count() >= 2


def test_every_round_stays_within_a_phones_window(visit):
    """Long tokens take two lines; where they did not, the last column stood outside."""
    page = visit("gallery.html", width=360)
    explorer = page.get_by_role("group", name="Round Explorer")
    onward = explorer.get_by_role("button", name="next")
    page.get_by_label("text", exact=True).select_option("translation")
    explorer.locator(".sdl-text", has_text="Le petit marché").wait_for()
    while True:
        explorer.locator(".sdl-token").first.click()
        assert re.match("✓ Right|Not quite: |The text ends here", explorer.locator(".sdl-verdict").inner_text())
        hidden = explorer.locator(".sdl-scroll").evaluate("box => box.scrollWidth - box.clientWidth")
        assert hidden <= 0, explorer.locator(".sdl-strip").inner_text()
        if onward.is_disabled():
            return
        onward.click()


def test_a_number_in_the_table_leads_to_rounds(visit):
    page = visit("gallery.html")
    cell = page.get_by_role("row", name=re.compile("^story")).get_by_role("link").nth(1)
    said = cell.inner_text()
    cell.click()
    page.get_by_text(f"{said} tokens per pass").wait_for()
    assert page.get_by_label("drafter").input_value() == "model"


def test_the_race_is_played_paused_and_stepped(visit):
    """By keyboard: a pass on, a pass back; then play, pause, and on to the end."""
    page = visit(GALLERY)
    race = race_of(page)
    assert written(race) == [0, 0]
    race.get_by_role("button", name="a pass on").focus()
    page.keyboard.press("Enter")
    assert sum(written(race)) > 0
    first = seconds(race)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    third = written(race)
    assert seconds(race) > first
    page.keyboard.press("ArrowLeft")
    assert sum(written(race)) < sum(third)
    heard = [int(n) for n in re.findall(r"(\d+)(?: tokens|$)", race.locator(".sdl-live").text_content().rstrip("."))]
    assert heard == written(race)

    race.get_by_label("pace").select_option("20× slower")
    before = seconds(race)
    race.get_by_role("button", name="play").click()
    page.wait_for_function(
        "([e, t]) => parseFloat(e.innerText) > t", arg=[race.locator(".sdl-where").element_handle(), before]
    )
    race.get_by_role("button", name="pause").click()
    stands = seconds(race)
    page.wait_for_timeout(300)
    assert seconds(race) == stands

    race.get_by_label("pace").select_option("as recorded")
    race.get_by_role("button", name="play").click()
    race.get_by_role("button", name="again").wait_for()
    assert min(written(race)) > 0 and race.get_by_text(re.compile(r"passes, \d\.\d\d s")).count() == 2
    last = race.locator("details tr").last.locator("td").all_text_contents()  # folded
    assert written(race) == [int(n) for n in last]


def test_with_less_motion_the_race_moves_seldom(visit):
    page = visit(GALLERY, reduced_motion="reduce")
    race = race_of(page)
    race.get_by_label("pace").select_option("20× slower")
    page.evaluate("""() => { window.moves = 0; new MutationObserver(() => { window.moves += 1; }).observe(
        document.querySelector(".sdl-race .sdl-head"), { attributes: true }); }""")
    race.get_by_role("button", name="play").click()
    page.wait_for_timeout(1200)
    assert page.evaluate("window.moves") <= 3  # the first picture, and two more


def test_a_link_holds_trace_round_and_token(visit):
    page = visit("gallery.html")
    explorer = page.get_by_role("group", name="Round Explorer")
    page.get_by_label("text", exact=True).select_option("arithmetic")
    page.get_by_text("The prompt: A box holds").wait_for()
    explorer.get_by_role("button", name="next").click()
    explorer.get_by_role("button", name="reveal").click()
    explorer.locator(".sdl-token").nth(2).click()
    for _ in range(3):
        race_of(page).get_by_role("button", name="a pass on").click()
    page.get_by_role("button", name="copy a link").click()
    page.get_by_role("status").filter(has_text=re.compile("Copied|address bar")).wait_for()
    link = page.evaluate("location.href")
    assert "round=2&token=3&open=true" in link

    other = visit(link.split("site/")[1])  # a page of its own keeps nothing of the first one's
    explorer = other.get_by_role("group", name="Round Explorer")
    explorer.get_by_text("round 2 of").wait_for()
    assert other.get_by_label("text", exact=True).input_value() == "arithmetic"
    assert written(race_of(other)) == written(race_of(page)) != [0, 0]
    assert explorer.locator(".sdl-token.sdl-chosen").get_attribute("data-column") == "2"
    assert explorer.locator("[data-happened]").count() > 0


def test_links_hold_sliders_and_of_wrong_ones_the_nearest(visit, made):
    page = visit(made(sd.SpeedupExplorer(), sd.Sandbox()))
    page.get_by_label("γ, drafts a round").fill("7")
    page.get_by_role("button", name="copy a link").first.click()
    link = page.evaluate("location.href")
    other = visit(link.split("site/")[1])
    other.get_by_text("α = 0.75, γ = 7").wait_for(state="attached")

    # Another state of the second widget, on a page that is open; its menu holds words.
    other.evaluate("location.hash = 'sandbox-1?rule=bug: after a rejection, draw from p&p0=51'")
    other.locator(".sdl-grip[aria-valuetext='0.505']").wait_for()
    assert other.get_by_label("rule").input_value() == "bug: after a rejection, draw from p"
    assert other.get_by_label("γ, drafts a round").input_value() == "7"

    other.evaluate("location.hash = 'speedup-1?alpha=0.5&gamma=99&machine=nowhere'")
    other.get_by_text("α = 0.50, γ = 4").wait_for(state="attached")


def test_the_choices_stand_in_a_row_and_are_marked_in_the_table(visit):
    page = visit("gallery.html")
    explorer = page.get_by_role("group", name="Round Explorer")
    page.get_by_text("A drafter may offer fewer than γ drafts").wait_for()
    assert page.locator(".matrix [aria-current]").count() == 1
    page.get_by_label("drafter").select_option("eagle")
    explorer.get_by_text("EAGLE, γ = 4").wait_for()
    menus = page.locator(".sdl-gallery > .sdl-nav select")
    tops = menus.evaluate_all("all => all.map((e) => e.getBoundingClientRect().top)")
    assert len(tops) == 4 and len(set(tops)) == 1  # they stand in a row
