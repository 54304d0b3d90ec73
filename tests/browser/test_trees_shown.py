"""The Tree Explorer in lesson 10, driven by mouse and by keyboard."""

import re

from driving import focus_on


def test_tree_explorer_in_lesson_10(page):
    page.run("lessons/10_trees.ipynb", until=".sdl-trees")
    explorer = page.locator(".sdl-trees").first
    explorer.scroll_into_view_if_needed()
    assert explorer.locator("[data-happened]").count() == 0  # nothing is given away before the reveal
    assert explorer.locator(".sdl-token").count() == 8

    # By mouse: choose the first draft, reveal, and read what happened.
    explorer.locator(".sdl-token").first.click()
    assert explorer.locator(".sdl-token").first.get_attribute("aria-pressed") == "true"
    explorer.get_by_role("button", name="reveal").click()
    happened = explorer.locator("[data-happened]").evaluate_all("all => all.map(c => c.dataset.happened)")
    assert len(happened) == 9 and set(happened) <= {"accepted", "rejected", "discarded", "corrected", "bonus"}
    assert sum(word in ("corrected", "bonus") for word in happened) == 1
    assert re.search(r"\d of 8 drafts kept; .* from one pass over 9 rows", explorer.inner_text())

    # By keyboard alone: the next round, down to a draft and up again, choose it, reveal.
    page.keyboard.press("ArrowRight")
    assert "round 2 of" in explorer.inner_text()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.column") is not None
    page.keyboard.press("Enter")
    chosen = explorer.locator('.sdl-token[aria-pressed="true"]')
    assert chosen.count() == 1
    assert explorer.locator(".sdl-verdict").inner_text() == "1 draft chosen."
    focus_on(page, "sdl-reveal", backwards=True)
    page.keyboard.press("Enter")
    assert explorer.locator("[data-happened]").count() >= 2
    assert re.match(r"✓ Right\.|Your way: [01] of 1 kept", explorer.locator(".sdl-verdict").inner_text())
    assert re.search(r"ways found\s+\d of 2", explorer.inner_text())

    # What was chosen gets its answer before the next round comes.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    for held in (True, False):
        page.keyboard.press("ArrowRight")
        assert ("round 3 of" in explorer.inner_text()) == held
    assert re.search(r"ways found\s+\d of 3", explorer.inner_text())
    assert page.locator(".jp-Notebook .jp-Cell").count() > 20, "a key meant for the widget reached the notebook"
