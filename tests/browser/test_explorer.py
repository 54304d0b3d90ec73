"""The Round Explorer, driven by mouse and by keyboard."""

import re

import pytest
from driving import focus_on, run_cells

EXPLORER = '.sdl-explorer[aria-label="Round Explorer"]'  # guesses have the same frame


def happened(explorer) -> list[str]:
    """The marks that the page shows for the current round, by their words."""
    return explorer.locator("[data-happened]").evaluate_all("cells => cells.map(c => c.dataset.happened)")


def test_round_explorer_in_lesson_02(page):
    page.run("lessons/02_draft_then_verify.ipynb", until=EXPLORER)
    explorer = page.locator(EXPLORER).first
    explorer.scroll_into_view_if_needed()
    assert explorer.locator("[data-happened]").count() == 0  # nothing is given away before the reveal

    # By mouse: mark every column of a round, reveal it, and read what happened.
    for select in explorer.locator("select.sdl-mark").all():
        select.select_option(index=1)  # ✓ accepted, and ↻ corrected for the target's own token
    explorer.get_by_role("button", name="reveal").click()
    marks = happened(explorer)
    assert marks
    assert set(marks) <= {"accepted", "rejected", "discarded", "corrected", "bonus", "plain"}
    for word in marks:  # symbol and word, not colour alone
        assert re.search(rf"[✓✗↻+–·] {word}", explorer.inner_text())
    right = sum(m == g for m, g in zip(marks, ["accepted"] * (len(marks) - 1) + ["corrected"]))
    assert f"{right} right of {len(marks)} set" in explorer.inner_text()

    # By keyboard alone: next round, mark, reveal, three times.
    seen = []
    for i in range(3):
        page.keyboard.press("ArrowRight")
        assert f"round {i + 2} of" in explorer.inner_text()
        focus_on(page, "sdl-mark")
        # A native list: the first letter of a choice chooses it.
        page.keyboard.type(page.evaluate("document.activeElement.options[1].text[0]"))
        focus_on(page, "sdl-reveal", backwards=True)
        page.keyboard.press("Enter")
        seen.append(happened(explorer))
        assert seen[-1], "Enter on reveal did nothing"
        given = int(re.search(r"right of (\d+) set", explorer.inner_text())[1])
        assert given == len(marks) + i + 1, "the mark set by keyboard was lost"
    assert any("rejected" in marks or "bonus" in marks for marks in seen)
    assert page.locator(".jp-Notebook .jp-Cell").count() > 20, "a key meant for the widget reached the notebook"

    # Play runs on by itself, takes no focus from whoever works elsewhere meanwhile, and stops.
    explorer.get_by_role("button", name="play").click()
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(2500)
    assert not explorer.evaluate("e => e.contains(document.activeElement)"), "play took the focus"
    explorer.get_by_role("button", name="stop").click()
    now = explorer.locator(".sdl-where").inner_text()
    page.wait_for_timeout(1500)
    assert explorer.locator(".sdl-where").inner_text() == now

    # A token's numbers.
    explorer.locator(".sdl-token").first.click()
    assert "the draft gives it" in explorer.inner_text()  # p, q and u are explained later, and decide nothing here
    assert "target, top 5" in explorer.inner_text()
    assert not page.locator("[class^=sdl-static]").first.is_visible(), "the static picture repeats the live widget"
    assert page.outside == []

    # A second view of the same widget knows what was marked and revealed. (The round before is revealed, whether or not
    # play had come to reveal the one where it stopped.)
    page.keyboard.press("ArrowLeft")
    score = re.search(r"\d+ right of \d+ set", explorer.inner_text())[0]
    explorer.locator(".sdl-title").click(button="right")
    page.get_by_role("menuitem", name="Create New View for Cell Output").click()
    second = page.locator(".jp-LinkedOutputView .sdl-explorer")
    second.wait_for()
    assert score in second.inner_text()
    assert second.locator("[data-happened]").count() > 0


@pytest.mark.parametrize("page", [{"viewport": {"width": 1000, "height": 1250}, "has_touch": True}], indirect=True)
def test_by_touch_a_round_that_a_stop_cut_can_be_marked_right(page, course):
    """The last round ends inside its drafts: the target adds nothing, and that is a choice."""
    run_cells(
        page,
        course / "lessons" / "cut.ipynb",
        (
            "import specdec_lab as sd\nfrom specdec_lab.cli.demo import PROMPT\nlab = sd.load()",
            'lab.explore(lab.speculative(PROMPT, "lookup", max_new_tokens=40))',
        ),
    )
    explorer = page.locator(EXPLORER).first
    explorer.scroll_into_view_if_needed()  # JupyterLab does not lay out what is far from the window
    explorer.get_by_text("round 1 of").wait_for()
    rounds = int(re.search(r"round 1 of (\d+)", explorer.text_content())[1])  # laid out or not
    for _ in range(rounds - 1):
        explorer.get_by_role("button", name="next").tap()
    explorer.locator(".sdl-token").last.tap()
    assert explorer.locator(".sdl-token").last.get_attribute("aria-pressed") == "true"
    explorer.locator("select.sdl-mark").last.select_option("nothing")
    explorer.get_by_role("button", name="reveal").tap()
    assert "1 right of 1 set" in explorer.inner_text()
    assert "the text ends there (an end marker)" in explorer.inner_text()
