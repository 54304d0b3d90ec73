"""The static site, opened from the disk: its widgets without a kernel, and its pages by keyboard."""


def test_the_sandbox_follows_its_sliders(visit):
    page = visit("lessons/03_exactly_the_target.html")
    sandbox = page.get_by_role("group", name="Acceptance Sandbox")
    sandbox.get_by_label("rule").select_option("bug: after a rejection, draw from p")
    sandbox.locator(".sdl-picture").get_by_text("0.140").first.wait_for()
    sandbox.get_by_role("slider", name="p, target: “on”").focus()
    page.evaluate("""() => {
        window.spoken = new Set();
        new MutationObserver((all) => all.forEach(({ target: t }) => {
            const live = (t.closest ? t : t.parentElement).closest("[aria-live], [role=status], output");
            if (live && live.ariaLive !== "off") spoken.add(live);
        })).observe(document.body, { subtree: true, childList: true, characterData: true });
    }""")
    page.keyboard.press("ArrowRight")
    sandbox.get_by_text("p 0.51").wait_for()
    assert page.evaluate("[...spoken].map(e => e.className)") == ["sdl-live"], "a screen reader says it more than once"
    page.reload()
    page.get_by_text("p 0.51").wait_for()


def test_a_page_by_keyboard(visit):
    """The first stop leads past the contents; every stop can be seen; wide code is one of them."""
    page = visit("exercises/02_draft_then_verify.html", 360)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="To the text")
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    for _ in range(50):
        page.keyboard.press("Tab")
        inside, seen, wide = page.evaluate("""() => {
            const e = document.activeElement, { outlineStyle, outlineWidth } = getComputedStyle(e);
            return [e.closest("main") !== null, outlineStyle !== "none" && outlineWidth !== "0px", e.ariaLabel === "scrolls sideways"];
        }""")
        assert inside and seen
        if wide:
            break
    assert wide, "nothing that scrolls sideways was reached"


def test_the_checkpoint_is_answered_on_its_page(visit):
    page = visit("exercises/09_checkpoint.html")
    words = page.get_by_label("in your own words")
    assert words.count() == 4
    words.first.fill("The drafter proposes.")
    asked = page.get_by_role("group", name="Question 1 of 1").locator("p").all_inner_texts()
    assert len(asked) == 6 and not any("Difficulty" in question for question in asked)
    quiz = page.get_by_role("group", name="Quiz").first
    quiz.get_by_role("button", name="show the choices").click()
    quiz.get_by_text("a text that has").click()
    quiz.get_by_label("sure", exact=True).check()
    quiz.get_by_role("button", name="check").click()
    quiz.get_by_text("✓ Right.").wait_for()
    page.reload()
    assert words.first.input_value() == "The drafter proposes."
    assert page.locator("nav a[aria-current=page]").get_attribute("data-done") == "1/6"
    assert page.locator(".progress > summary").inner_text().startswith("0 of 9")  # it is no lesson
