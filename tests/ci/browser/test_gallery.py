"""The gallery of the static site: choosing, stepping, and the race."""

import re

GALLERY = "gallery.html#gallery-1?text=code&drafter=eagle&gamma=4&temperature=0"


def test_a_chosen_text_is_stepped_through(visit):
    page = visit("gallery.html")
    explorer = page.get_by_role("group", name="Round Explorer")
    page.get_by_label("text", exact=True).select_option("list")
    page.get_by_text("The prompt: List the months").wait_for()
    page.get_by_label("γ, drafts a round").select_option("2")
    explorer.get_by_text("EAGLE, γ = 2, temperature 0").wait_for()
    explorer.get_by_role("button", name="reveal").click()
    assert explorer.locator("[data-happened]").count() >= 2

    # Only EAGLE has every γ: another drafter brings γ = 4 with it, and it is said.
    page.get_by_label("drafter").select_option("lookup")
    page.get_by_text("recorded with γ = 4 at temperature 0").wait_for()
    explorer.get_by_text("lookup, γ = 4, temperature 0").wait_for()
    page.get_by_label("temperature").select_option("1")
    explorer.get_by_text("EAGLE, γ = 4, temperature 1").wait_for()

    # Over a reload: the choice, and what was revealed of each trace.
    page.reload()
    explorer.get_by_text("EAGLE, γ = 4, temperature 1").wait_for()
    assert page.get_by_label("text", exact=True).input_value() == "list"
    page.get_by_label("temperature").select_option("0")
    page.get_by_label("γ, drafts a round").select_option("2")
    explorer.get_by_text("EAGLE, γ = 2, temperature 0").wait_for()
    assert explorer.locator("[data-happened]").count() >= 2


def test_a_link_opens_its_race_which_is_stepped_and_played(visit):
    """By keyboard: a pass on, a pass back; then to its end."""
    page = visit(GALLERY)
    assert [page.get_by_label(name, exact=True).input_value() for name in ("text", "drafter")] == ["code", "eagle"]
    race = page.get_by_role("group", name="Race")

    def written() -> list[int]:
        """Tokens that plain decoding and speculation have written so far, as the race says."""
        said = " ".join(race.locator(".sdl-count").all_inner_texts())
        return [int(n) for n in re.findall(r": (\d+) tokens?,", said)]

    assert written() == [0, 0]
    race.get_by_role("button", name="a pass on").focus()
    page.keyboard.press("Enter")
    first = written()
    assert sum(first) > 0
    page.keyboard.press("ArrowRight")
    assert sum(written()) > sum(first)
    page.keyboard.press("ArrowLeft")
    assert written() == first

    race.get_by_label("pace").select_option("as recorded")
    race.get_by_role("button", name="play").click()
    race.get_by_role("button", name="again").wait_for()
    assert min(written()) > 0 and race.get_by_text(re.compile(r"passes, \d\.\d\d s")).count() == 2
