"""The static site, opened from the disk: its widgets without a kernel, and its pages by keyboard."""

import re
import sys

import nbformat
import pytest
from driving import Quiet, served
from pages import builder


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


def test_a_chart_says_the_numbers_pointed_at(visit):
    page = visit("lessons/05_choosing_gamma.html")
    chart = page.locator(".charted").filter(has_text="Speed-up, from the medians")
    svg = chart.locator("svg[role]")
    svg.scroll_into_view_if_needed()
    box, said = svg.bounding_box(), dict(re.findall(r"(.+): .*?([\d.]+) at 4,", svg.locator("desc").text_content()))
    page.mouse.move(box["x"] + 0.6 * box["width"] * 0.79, box["y"] + box["height"] / 2)
    shown = chart.locator(".reading")
    assert shown.locator("b").inner_text() == "γ, drafts a round: 4"
    found = [row.inner_text().split(maxsplit=1) for row in shown.locator("span").all()]
    assert {name: float(number) for number, name in found} == pytest.approx(
        {n: float(x) for n, x in said.items()}, abs=0.005
    )
    page.mouse.move(5, 5)
    assert shown.is_hidden()


def test_a_page_by_keyboard(visit):
    """The first stop leads past the contents; every stop can be seen; wide code is one of them, and scrolls."""
    page = visit("exercises/02_draft_then_verify.html", 360)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="To the text")
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    stops = []
    for _ in range(50):
        page.keyboard.press("Tab")
        stop = page.evaluate("""() => {
            const e = document.activeElement, look = getComputedStyle(e);
            return { seen: look.outlineStyle !== "none" && look.outlineWidth !== "0px", inside: Boolean(e.closest("main")),
                     wide: e.ariaLabel === "scrolls sideways", at: e.scrollLeft };
        }""")
        assert stop["inside"] and stop["seen"]
        stops.append(stop["wide"])
        if stop["wide"] and stop["at"] == 0:
            page.keyboard.press("ArrowRight")
            page.wait_for_function("document.activeElement.scrollLeft > 0")
            break
    assert stops[-1], "nothing that scrolls sideways was reached"


def test_speed_up_and_map_say_one_thing(visit):
    """For each place of the sliders the framed cell has the number above the map, and no other row moves."""
    page = visit("lessons/05_choosing_gamma.html")
    explorer = page.get_by_role("group", name="Speed-up Explorer")
    rows = explorer.locator(".sdl-heat tr")
    others = [rows.nth(i).inner_text() for i in range(2, rows.count())]
    for name, key, times in (("α, acceptance rate", "ArrowLeft", 7), ("γ, drafts a round", "ArrowRight", 3)):
        slider = explorer.get_by_role("slider", name=name)
        slider.focus()
        for _ in range(times):
            page.keyboard.press(key)
            gain = float(explorer.locator(".sdl-big").inner_text().removesuffix("×"))
            framed = explorer.locator("[aria-current=true]")
            assert abs(float(framed.inner_text()) - gain) <= 0.051
            assert framed.evaluate("cell => cell.parentElement.rowIndex") == 1
            assert [rows.nth(i).inner_text() for i in range(2, rows.count())] == others


def test_an_address_that_leads_nowhere_leads_back(site, browser):
    """From any depth, and where the site lies in a folder of its host."""

    class Host(Quiet):
        """The site below /course, with its page for whatever is not there."""

        def send_head(self):
            self.path = self.path.removeprefix("/course") if self.path.startswith("/course") else "/none"
            if not (site / self.path.lstrip("/")).is_file():
                self.path = "/404.html"
                if self.command == "HEAD":
                    return self.send_error(404)
            return super().send_head()

    hrefs = "[...document.querySelectorAll('main a')].map((a) => a.href)"
    page = browser.new_page()
    with served(site, Host) as host:
        for gone in ("gone.html", "lessons/old/gone.html"):
            page.goto(f"{host}/course/{gone}")
            page.wait_for_function(f"{hrefs}[0] === '{host}/course/index.html'")
            assert page.evaluate(hrefs) == [f"{host}/course/{name}.html" for name in ("index", "gallery")]
    page.close()


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


def test_a_line_to_write_is_pressed_where_no_python_runs(visit, site):
    """Each button shows the code with its line, and what was recorded with it."""
    build = builder()
    cells = [nbformat.v4.new_code_cell(f"x = {x}  # your line") for x in (4, 2)]
    for cell in cells:
        cell.outputs = [nbformat.v4.new_output("stream", text=f"with {cell.source[:5]}")]
    cells[0].metadata["tried"] = cells[1:]
    body = f"<h1>A line</h1>{sys.modules['cells'].code(cells[0])}"
    path = site / "lessons" / "line.html"
    path.write_text(build.page_of(body, "A line", "lessons/line.html", {}), encoding="utf-8")
    page = visit("lessons/line.html")
    shown = page.locator(".tries > div:not(.lines):visible")
    assert shown.all_inner_texts() == ["x = 4  # your line\n\n\nwith x = 4"]
    page.get_by_role("group", name="Your line").get_by_role("button", name="x = 2").click()
    assert shown.all_inner_texts() == ["x = 2  # your line\n\n\nwith x = 2"]
    pressed = page.locator(".lines button").evaluate_all("all => all.map(b => b.ariaPressed)")
    assert pressed == ["false", "true"]
    path.unlink()
