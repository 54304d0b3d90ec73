"""The gallery of the static site: choosing, stepping, the race, and links that hold a state."""

import re

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
