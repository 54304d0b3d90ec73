"""The Round Explorer, driven by mouse and by keyboard."""

import re

from driving import focus_on

EXPLORER = '.sdl-explorer[aria-label="Round Explorer"]'  # guesses have the same frame


def happened(explorer) -> list[str]:
    """The marks that the page shows for the current round, by their words."""
    return explorer.locator("[data-happened]").evaluate_all("cells => cells.map(c => c.dataset.happened)")


def test_round_explorer_in_lesson_00(page):
    page.run("lessons/00_start_here.ipynb", until=f"{EXPLORER} >> nth=1")
    explorer = page.locator(EXPLORER).nth(1)  # the first one is the round by hand
    explorer.scroll_into_view_if_needed()
    assert explorer.locator("[data-happened]").count() == 0  # nothing is given away before the reveal

    # By mouse: one press says which draft is the first miss, and shows what happened.
    drafts = explorer.locator(".sdl-token").count()
    explorer.locator(".sdl-token").first.click()
    marks = happened(explorer)
    assert set(marks) <= {"accepted", "rejected", "discarded", "corrected", "bonus", "plain"} and len(marks) > drafts
    for word in marks:  # symbol and word, not colour alone
        assert re.search(rf"[✓✗↻+–·]\s+(\S+\s+)?{word}", explorer.inner_text())
    right = int(marks[0] == "rejected")
    assert explorer.locator(".sdl-verdict").inner_text().startswith("✓ Right." if right else "Not quite: ")

    # By keyboard alone: on to the next round, and say that there is no miss; three times.
    seen = []
    for i in range(3):
        page.keyboard.press("ArrowRight")
        assert f"round {i + 2} of" in explorer.inner_text()
        focus_on(page, "sdl-none")
        page.keyboard.press("Enter")
        seen.append(happened(explorer))
        assert seen[-1], "Enter on an answer did nothing"
        right += seen[-1][-1] == "bonus"
        assert f"{right} of {i + 2}" in explorer.locator(".sdl-totals").inner_text()
    assert any("rejected" in marks or "bonus" in marks for marks in seen)
    assert page.locator(".jp-Notebook .jp-Cell").count() > 10, "a key meant for the widget reached the notebook"

    # Play runs on by itself, takes no focus from whoever works elsewhere meanwhile, and stops.
    explorer.get_by_role("button", name="play").click()
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(2500)
    assert not explorer.evaluate("e => e.contains(document.activeElement)"), "play took the focus"
    explorer.get_by_role("button", name="stop").click()
    now = explorer.locator(".sdl-where").inner_text()
    page.wait_for_timeout(1500)
    assert explorer.locator(".sdl-where").inner_text() == now

    # A token's numbers, of a round that was revealed.
    page.keyboard.press("ArrowLeft")
    assert not explorer.get_by_text("the draft gives it").is_visible()
    explorer.locator(".sdl-token").first.click()
    assert "the draft gives it" in explorer.inner_text()  # p, q and u are explained later, and decide nothing here
    assert "target, top 5" in explorer.inner_text()
    assert page.outside == []

    # A second view of the same widget knows what was said and revealed.
    score = re.search(r"first misses found \d of \d", explorer.inner_text())[0]
    explorer.locator(".sdl-title").click(button="right")
    page.get_by_role("menuitem", name="Create New View for Cell Output").click()
    second = page.locator(".jp-LinkedOutputView .sdl-explorer")
    second.wait_for()
    assert score in second.inner_text()
    assert second.locator("[data-happened]").count() > 0
