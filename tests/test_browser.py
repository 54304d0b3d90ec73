"""The widgets in a real browser: JupyterLab as `make lab` opens it, driven by mouse and by keyboard."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LESSONS = Path(__file__).parents[1] / "lessons"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

if CHROMIUM is None and not os.environ.get("CI"):
    pytest.skip("no Chromium is installed, so no widget is driven: apt install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The folder of the working copy."""
    return tmp_path_factory.mktemp("lab") / "course"


@pytest.fixture(scope="module")
def jupyter(course) -> str:
    """The address of a running JupyterLab on a fresh working copy."""
    folder = course.parent
    command = [sys.executable, "-m", "specdec_lab", "lab", "--dir", str(course), "--port", "8890"]
    # Open tabs and settings of whoever runs this stay out of it.
    own = {f"JUPYTERLAB_{kind}_DIR": str(folder / kind.lower()) for kind in ("WORKSPACES", "SETTINGS")}
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | own
    )
    printed = []
    for line in server.stdout:
        printed.append(line)
        if found := re.search(r"http://\S+token=\S+", line):
            break
    else:
        pytest.fail("make lab printed no address:\n" + "".join(printed))
    assert any("✗" in line and "↻" in line for line in printed), "no real round was shown"
    yield found[0]
    server.terminate()  # not SIGINT, which a shell may have told its background jobs to ignore
    server.wait(timeout=30)


@pytest.fixture(scope="module")
def browser():
    assert CHROMIUM, "CI must have a Chromium; .ci/run installs it"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, jupyter):
    """Opens a notebook of the course, runs all of it, and collects what the page asked of the outside world."""
    page = browser.new_page(viewport={"width": 1300, "height": 1250})
    page.set_default_timeout(300_000)  # a busy machine may take minutes to import torch and to decode
    page.outside = []
    page.on(
        "request",
        lambda r: page.outside.append(r.url) if not re.match(r"(http|ws)://localhost|data:|blob:", r.url) else None,
    )

    def open_and_run(name: str) -> None:
        page.goto(jupyter.replace("lessons/00_start_here.ipynb", name) + "&reset")  # no tabs from the page before
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        # Run All on a kernel that has not answered yet runs nothing.
        page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    page.run = open_and_run
    yield page
    # The kernel may still be at the lesson's later cells, and the next notebook should have the machine.
    for kernel in page.request.get(address(jupyter, "api/kernels")).json():
        page.request.delete(address(jupyter, f"api/kernels/{kernel['id']}"))
    page.close()


def address(jupyter: str, path: str) -> str:
    """Of the server's own interface, with the token."""
    return re.sub(r"lab/tree/[^?]*", path, jupyter)


def happened(explorer) -> list[str]:
    """The marks that the page shows for the current round, by their words."""
    return explorer.locator("[data-happened]").evaluate_all("cells => cells.map(c => c.dataset.happened)")


def screenshot(shown, name: str) -> None:
    """Into the folder that SCREENSHOTS names, if it does."""
    if folder := os.environ.get("SCREENSHOTS"):
        shown.screenshot(path=Path(folder) / f"{name}.png")


def test_round_explorer_in_lesson_02(page):
    page.run("lessons/02_draft_then_verify.ipynb")
    explorer = page.locator(".sdl-explorer").first
    explorer.wait_for()
    explorer.scroll_into_view_if_needed()
    assert explorer.locator("[data-happened]").count() == 0  # nothing is given away before the reveal

    # By mouse: mark every column of a round, reveal it, and read what happened.
    for select in explorer.locator("select.sdl-mark").all():
        select.select_option(index=1)  # ✓ accepted, and ↻ corrected for the target's own token
    screenshot(explorer, "explorer-marked")
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
        if {"accepted", "rejected"} <= set(seen[-1]):
            screenshot(explorer, "explorer-revealed")
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
    assert "min(1, p/q)" in explorer.inner_text()
    assert "target, top 5" in explorer.inner_text()
    assert not page.locator("[class^=sdl-static]").first.is_visible(), "the static picture repeats the live widget"
    assert page.outside == []

    # A second view of the same widget knows what was marked and revealed.
    score = re.search(r"\d+ right of \d+ set", explorer.inner_text())[0]
    explorer.locator(".sdl-title").click(button="right")
    page.get_by_role("menuitem", name="Create New View for Cell Output").click()
    second = page.locator(".jp-LinkedOutputView .sdl-explorer")
    second.wait_for()
    assert score in second.inner_text()
    assert second.locator("[data-happened]").count() > 0


def test_a_round_that_a_stop_cut_can_be_marked_right(page):
    """The last recorded round ends inside its drafts: the target adds nothing, and that is a choice."""
    page.run("lessons/00_start_here.ipynb")
    explorer = page.locator(".sdl-explorer").first
    explorer.wait_for()
    rounds = int(re.search(r"round 1 of (\d+)", explorer.inner_text())[1])
    for _ in range(rounds - 1):
        explorer.get_by_role("button", name="next").click()
    explorer.locator("select.sdl-mark").last.select_option("nothing")
    explorer.get_by_role("button", name="reveal").click()
    assert "1 right of 1 set" in explorer.inner_text()
    assert "the text ends there (an end marker)" in explorer.inner_text()
    screenshot(explorer, "explorer-cut")


def test_guess_outcome_and_quiz(page, course):
    """A notebook that only holds these: Run All, then a guess by keyboard and a quiz by both."""
    from specdec_lab.learn.ledger import Ledger
    from specdec_lab.learn.quiz import items

    cells = (
        "import specdec_lab as sd",
        'sd.guess("09.a", "How many tokens?", "tokens")',
        'sd.outcome("09.a", 1.5, (1.25, 1.75), 1.4)',
        'sd.quiz("02")',
    )
    run_cells(page, course / "lessons" / "guess_and_quiz.ipynb", cells)

    # Run All came through without a guess, and nothing waits.
    page.get_by_text("There was no guess to compare with.").wait_for()
    outputs = page.locator(".jp-Cell-outputArea")
    guess, outcome, quiz = (outputs.nth(i) for i in (1, 2, 3))
    assert guess.get_by_label("your guess").input_value() == ""

    # A guess by keyboard: a word first, then a number with a comma. It is kept, and then fixed.
    guess.get_by_label("your guess").focus()
    page.keyboard.type("many")
    press_button(page, "keep your guess")
    guess.get_by_text("“many” is not a number").wait_for()
    guess.get_by_label("your guess").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("2,7")
    page.keyboard.press("Tab")
    page.keyboard.type("twice and a bit")
    press_button(page, "keep your guess")
    guess.get_by_text("Kept: it does not change any more.").wait_for()
    assert guess.get_by_label("your guess").is_disabled()
    assert page.evaluate("document.activeElement.innerText") == "keep your guess"  # the keyboard keeps its place
    assert Ledger().claim("09.a")["guess"]["value"] == 2.7
    screenshot(guess, "guess")

    # The cell of the outcome again, by keyboard; then the line and the second guess.
    page.locator(".jp-CodeCell").nth(2).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.get_by_text("Your guess was 1.8 times too high. It was made when").wait_for()
    outcome.get_by_label("what I had assumed").focus()
    page.keyboard.type("that reading is free")
    press_button(page, "keep this line")
    outcome.get_by_text("Kept.").wait_for()
    outcome.get_by_label("second guess").fill("1.6")
    outcome.get_by_role("button", name="keep second guess").click()
    outcome.get_by_text("Your second guess was right: it lies in the interval").wait_for()
    claim = Ledger().claim("09.a")
    assert (claim["assumed"], claim["revision"]["value"]) == ("that reading is free", 1.6)
    screenshot(outcome, "outcome")

    # The first question by mouse: the choices come after one's own words, and a wrong one has its reason.
    item = items("02")[0]
    wrong = next(c for c in item.choices if c.misconception == 1)
    right = next(c for c in item.choices if c.right)
    assert not quiz.get_by_text(right.text).is_visible()
    quiz.get_by_label("recall").fill("up to the miss")
    quiz.get_by_role("button", name="show the choices").click()
    assert quiz.locator("input[type=radio]:checked").count() == 0
    quiz.get_by_label(wrong.text).check()
    quiz.get_by_label("sure", exact=True).check()
    screenshot(quiz, "quiz-choices")
    quiz.get_by_role("button", name="check").click()
    quiz.get_by_text("✗ Not yet.").wait_for()
    assert "a draft that agrees after a miss still counts" in quiz.inner_text()
    screenshot(quiz, "quiz-wrong")

    # Again, by keyboard: shuffled, and nothing is chosen.
    press_button(page, "again")
    page.wait_for_function("document.querySelectorAll('.widget-radio input:checked').length == 0")
    focus_where(page, f"e => e.closest('label')?.innerText.trim() == '{right.text}'", backwards=True)
    page.keyboard.press("Space")
    focus_where(page, "e => e.closest('label')?.innerText.trim() == 'think so'")
    page.keyboard.press("Space")
    press_button(page, "check")
    quiz.get_by_text("✓ Right.").wait_for()
    attempts = Ledger().attempts(item.id)
    assert [(a["right"], a["misconception"], a["said"]) for a in attempts] == [
        (False, 1, "up to the miss"),
        (True, None, "up to the miss"),
    ]

    # The next question has come: a number, by keyboard, and other numbers on a retry.
    asked = quiz.get_by_text("Question 2 of 6.").locator("..")
    before = asked.inner_text()
    focus_where(page, "e => e.placeholder == 'a number'")
    page.keyboard.type("0")
    focus_where(page, "e => e.type == 'radio'")
    page.keyboard.press("Space")
    press_button(page, "check")
    quiz.get_by_text("Press “again” for other numbers.").wait_for()
    screenshot(quiz, "quiz-number")
    press_button(page, "again")
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells), (
        "a key meant for the widget reached the notebook"
    )
    assert page.outside == []


def test_panels_and_plots(page, course):
    """The sandbox by keyboard and by mouse, the explorer's slider, and a plot."""
    cells = (
        "import specdec_lab as sd",
        "sd.sandbox()",
        "sd.speedup_explorer()",
        'sd.Plot("a plot", [sd.Line("one", [(1, 1), (2, 3)], spread=[(0.5, 2), (2, 4)])], "x", "y")',
    )
    run_cells(page, course / "lessons" / "panels.ipynb", cells)
    outputs = page.locator(".jp-Cell-outputArea")
    sandbox, explorer, plot = (outputs.nth(i) for i in (1, 2, 3))

    # By mouse: a wrong rule; by keyboard: a slider, which the table follows.
    sandbox.get_by_text("What comes out is p:").wait_for()
    sandbox.get_by_label("rule").select_option("bug: after a rejection, draw from p")
    sandbox.get_by_text("The largest difference is 0.140.").wait_for()
    screenshot(sandbox, "sandbox-bug")
    sandbox.locator(".noUi-handle").first.focus()
    page.keyboard.press("ArrowRight")
    sandbox.get_by_text("0.505").first.wait_for()  # 51 of 101

    explorer.get_by_text("S = 2.18").wait_for()
    explorer.locator(".noUi-handle").nth(1).focus()
    page.keyboard.press("ArrowRight")
    explorer.get_by_text("α = 0.75, γ = 5: E = 3.29").wait_for()
    screenshot(explorer, "speedup-explorer")

    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    screenshot(plot, "plot")
    assert page.outside == []


ENTRIES = """def entries(drafts, choices):
    accepted = 0
    while accepted < len(drafts) and drafts[accepted] == choices[accepted]:
        accepted += 1
    return len(drafts) + 1, accepted + {more}
"""


def test_an_exercise_by_keyboard(page):
    """Untouched it runs through; then a wrong answer is named, and a right one earns its points."""
    page.run("exercises/02_draft_then_verify.ipynb")
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    page.get_by_text("2.loop: still open").wait_for()
    page.keyboard.press("Escape")

    def go_to(text: str) -> None:
        for _ in range(80):
            if text in active.inner_text():
                return
            page.keyboard.press("ArrowUp")
        raise AssertionError(f"{text} cannot be reached by keyboard")

    for more, said in ((0, "One more may stay"), (1, "✓ 2.cache: right. (2 of 2 points)")):
        go_to("def entries(")
        page.keyboard.press("Enter")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(ENTRIES.format(more=more))
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Shift+Enter")
        page.get_by_text(said).wait_for()
        page.keyboard.press("Escape")
        screenshot(page, f"exercise-{more}")
    assert page.outside == []


LOAD_LAB = """
from specdec_lab.serving import StepCosts
costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) / 50 for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
sd.load_lab({"computed": (costs, [4, 2, 0, 4, 1])}, {"mine": lambda texts, last: 4 if texts <= 6 else 0})
"""


def test_the_load_lab(page, course):
    """By keyboard from low load to overload; by mouse, bursts, and a limit that is too high."""
    run_cells(page, course / "lessons" / "load.ipynb", ("import specdec_lab as sd", LOAD_LAB))
    lab = page.locator(".jp-Cell-outputArea").nth(1)
    lab.get_by_text("With γ = 4 a round writes 3.20 tokens").wait_for()

    def mean(policy: str) -> float:
        """Milliseconds a token that the table shows for this policy."""
        return float(lab.get_by_role("row", name=policy).locator("td").first.inner_text())

    def changed_by(act) -> None:
        """Do it, and wait for another table; a slider's own number changes before that."""
        before = lab.locator("table").inner_text()
        act()
        page.wait_for_function(
            "([e, before]) => e.querySelector('table').innerText != before", arg=[lab.element_handle(), before]
        )

    def to_its_end(slider: int) -> None:
        lab.locator(".noUi-handle").nth(slider).focus()
        page.keyboard.press("End")

    assert mean("always") < 0.7 * mean("never")
    changed_by(lambda: to_its_end(0))  # the load
    assert mean("always") > 1.3 * mean("never")
    assert mean("mine") < mean("always")
    screenshot(lab, "load-lab")

    changed_by(lambda: lab.get_by_label("arrivals in bursts").check())
    limited = mean("load-aware")
    changed_by(lambda: to_its_end(1))  # off above
    assert mean("load-aware") > 1.2 * limited
    screenshot(lab, "load-lab-wrong-limit")
    assert page.outside == []


@pytest.mark.parametrize("notebook", sorted(LESSONS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_stored_lesson_is_readable_as_a_page_without_kernel_and_network(browser, tmp_path, notebook):
    """Figures are there, answers stay folded, and nothing says that it could not be shown."""
    html, _ = HTMLExporter().from_filename(str(notebook))
    (tmp_path / "lesson.html").write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1300, "height": 1250})
    page.context.set_offline(True)
    page.goto((tmp_path / "lesson.html").as_uri(), wait_until="domcontentloaded")
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    heading = "".join(stored["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
    assert page.locator("h1").first.inner_text().startswith(heading)
    pictures = [
        o
        for c in stored["cells"]
        for o in c.get("outputs", [])
        if {"text/html", "image/svg+xml"} & set(o.get("data", {}))
    ]
    shown = page.locator(".jp-RenderedHTML, .jp-RenderedSVG")
    boxes = [shown.nth(i).bounding_box() for i in range(shown.count())]
    assert len(boxes) == len(pictures)
    assert all(box and box["height"] > 15 and box["width"] > 100 for box in boxes)
    assert page.locator("details[open]").count() == 0
    text = page.locator("body").inner_text()
    assert not re.search("Error displaying widget|Loading widget|Javascript Error|widget-view", text)
    page.close()


def run_cells(page, path: Path, cells: tuple[str, ...]) -> None:
    """Put a notebook of these cells into the course, and run it there."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    page.run(f"{path.parent.name}/{path.name}")


def focus_on(page, wanted: str, backwards: bool = False) -> None:
    """Press Tab until the focus is on an element of class `wanted`."""
    focus_where(page, f"e => e.className.includes('{wanted}')", backwards)


def focus_where(page, wanted: str, backwards: bool = False) -> None:
    """Press Tab until `wanted`, a function of the focused element, says yes."""
    for _ in range(60):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        if page.evaluate(f"Boolean(({wanted})(document.activeElement))"):
            return
    raise AssertionError(f"{wanted} cannot be reached by keyboard")


def press_button(page, name: str) -> None:
    """By keyboard: go on to the button of this name, and press Enter."""
    focus_where(page, f"e => e.tagName == 'BUTTON' && e.innerText == '{name}'")
    page.keyboard.press("Enter")
