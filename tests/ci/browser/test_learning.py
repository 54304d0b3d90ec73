"""An exercise, driven by keyboard."""

ENTRIES = """def entries(drafts, choices):
    accepted = 0
    while accepted < len(drafts) and drafts[accepted] == choices[accepted]:
        accepted += 1
    return len(drafts) + 1, accepted + {more}
"""


def test_an_exercise_by_keyboard(page):
    """Untouched it runs through; then a wrong answer is named, and a right one earns its points."""
    page.run("exercises/02_draft_then_verify.ipynb", until="text=· 2.loop")
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    page.keyboard.press("Escape")

    def go_to(text: str) -> None:
        for _ in range(80):
            if text in active.inner_text():
                return
            page.keyboard.press("ArrowUp")
        raise AssertionError(f"{text} cannot be reached by keyboard")

    for more, said in ((0, "One more may stay"), (1, "2 of 2 points")):
        go_to("def entries(")
        page.keyboard.press("Enter")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(ENTRIES.format(more=more))
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Shift+Enter")
        page.get_by_text(said).wait_for()
        page.keyboard.press("Escape")
    assert page.outside == []
