"""The Round Explorer of lesson 00 in JupyterLab: by keyboard, and in a second view. What it says is in test_what_is_shown."""

import re

from driving import focus_on

EXPLORER = '.sdl-explorer[aria-label="Round Explorer"]'  # guesses have the same frame


def test_the_first_lesson_by_keyboard(page):
    page.run("lessons/00_start_here.ipynb", until=f"{EXPLORER} >> nth=1")
    assert page.locator(".jp-Cell.jp-mod-active").get_by_text("load_soon").count(), "Run All left its first cell"
    explorer = page.locator(EXPLORER).nth(1)  # the first one is the round by hand
    explorer.scroll_into_view_if_needed()
    happened = explorer.locator("[data-happened]")
    assert happened.count() == 0  # nothing is given away before the reveal
    explorer.locator(".sdl-token").first.click()
    right = int(happened.first.get_attribute("data-happened") == "rejected")

    # On to the next round, and say that there is no miss; three times.
    for i in range(3):
        page.keyboard.press("ArrowRight")
        assert f"round {i + 2} of" in explorer.inner_text()
        focus_on(page, "sdl-none")
        page.keyboard.press("Enter")
        assert happened.count() > 0, "Enter on an answer did nothing"
        right += happened.last.get_attribute("data-happened") == "bonus"
        assert f"{right} of {i + 2}" in explorer.locator(".sdl-totals").inner_text()
    assert page.locator(".jp-Notebook .jp-Cell").count() > 10, "a key meant for the widget reached the notebook"
    assert page.outside == []

    # A second view of the same widget knows what was said and revealed.
    score = re.search(r"first misses found \d of \d", explorer.inner_text())[0]
    explorer.locator(".sdl-title").click(button="right")
    page.get_by_role("menuitem", name="Create New View for Cell Output").click()
    second = page.locator(".jp-LinkedOutputView .sdl-explorer")
    second.wait_for()
    assert score in second.inner_text()
    assert second.locator("[data-happened]").count() > 0
