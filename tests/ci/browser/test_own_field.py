"""The field for a reader's own sentence, without a model: what it fetches and when, what it says where none can run, and how
what a worker writes runs in the lanes of the race.
"""

import json
import re

import pytest
from driving import served
from pages import ROOT, builder

SAID = {
    "megabytes": 129,
    "files": 9,
    "hardware": "a browser",
    "large": {"card": "a card", "billions": 7, "costs": {"5": 1.1}},
}
# A worker that writes recorded rounds: what it tells has the form of live/worker.js.
WORKER = """const { rounds, plain } = TRACE, seconds = { draft: 0, verify: 0.04, loop: 0 };
const kept = ({ drafted, emitted }) => [...drafted.filter((d) => d.status === "accepted"), emitted].filter(Boolean);
self.onmessage = ({ data }) => {
  if (data.load) postMessage({ progress: 1, megabytes: [129, 129], making: "the target" });
  if (data.load) setTimeout(() => postMessage({ ready: 1 }), 1000);
  if (!data.write) return;
  const both = { plain: plain.tokens.map((text) => ({ drafted: [], emitted: { text, kind: "plain" } })), eagle: rounds };
  for (const [name, all] of Object.entries(both)) {
    let at = 0;
    for (const round of all) postMessage({ name, turn: 1, seconds, round, tokens: kept(round).map(() => at++) });
  }
  postMessage({ done: true });
};"""


def written(folder) -> dict:
    """In place of the model: the worker. Returns what the page says of it."""
    folder.mkdir()
    (folder / "worker.js").write_text(WORKER.replace("TRACE", json.dumps(recorded())), encoding="utf-8")
    return SAID


def recorded() -> dict:
    gallery = builder().gallery
    return gallery.traces(gallery.recorded())["question-hybrid-4-0"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A site of the lessons that have the field; its model is not there. Returns its folder, and its address."""
    out, build = tmp_path_factory.mktemp("own") / "site", builder()
    lessons = [ROOT / page.replace(".html", ".ipynb") for page in build.TYPED]
    build.build(out, lessons, written)
    for page in (*build.TYPED, build.GALLERY, "index.html"):
        assert (out / page).read_text(encoding="utf-8").count('data-script="own"') == 1
    with served(out) as host:
        yield out, host


@pytest.fixture
def opened(browser, made):
    """Opens a page of it; `asked` has the files that it fetched."""
    tabs = []

    def open_(name: str, **more):
        tab = browser.new_context(viewport={"width": 1280, "height": 900}, **more).new_page()
        tab.asked = []
        tab.on("request", lambda request: tab.asked.append(request.url.rpartition("/")[2]))
        tab.goto(f"{made[1]}/{name}")
        tabs.append(tab)
        return tab

    yield open_
    for tab in tabs:
        tab.context.close()


def test_the_field_waits_for_whoever_enters_it(opened):
    page = opened("index.html")
    page.wait_for_load_state("networkidle")
    assert not {"own.js", "shared.js", "shared.css"} & set(page.asked)
    page.locator(".stub textarea").fill("A red boat")
    page.locator(".sdl-own").wait_for()
    field = page.get_by_label("your sentence")
    assert field.count() == 1 and field.input_value() == "A red boat"
    assert field.evaluate("(field) => field === document.activeElement")
    assert "129 MB" in page.locator(".sdl-own [role=status]").first.inner_text()


def test_a_link_leads_to_its_sentence(opened):
    page = opened("gallery.html#own-1?prompt=A+red+boat&drafter=lookup&gamma=3&temperature=0")
    page.locator(".sdl-own").wait_for()
    assert page.get_by_label("your sentence").input_value() == "A red boat"
    assert page.locator(".sdl-own").evaluate("(own) => own.getBoundingClientRect().top < innerHeight")


@pytest.mark.parametrize("name", ["index.html", "lessons/06_variants.html"])
def test_a_sentence_runs_in_the_two_lanes(opened, name):
    """Until the model is there the recorded race stands; then the same lanes, chips and large number are the sentence's."""
    page, trace = opened(name, reduced_motion="reduce"), recorded()
    tokens, passes = len(trace["plain"]["tokens"]), len(trace["rounds"])
    box = page.locator(".opening")
    asked, won, lanes = (box.locator(what) for what in (".asked", ".won", ".lane"))
    assert asked.is_visible() == (name == "index.html")
    page.get_by_label("your sentence").fill("A red boat")
    page.locator(".sdl-own").wait_for()
    page.get_by_role("button", name="write it").click()
    bar = page.get_by_role("progressbar", name="the model")
    bar.wait_for()
    assert bar.bounding_box()["width"] > 0.85 * box.bounding_box()["width"]
    assert "A red boat" not in asked.text_content()
    won.get_by_text(f"{passes} passes in place of {tokens}").wait_for()
    assert won.locator("> b").inner_text() == f"{tokens / passes:.2f}"
    assert f"The same {tokens} tokens" in won.inner_text() and "A red boat" in asked.inner_text()
    counts = [tuple(int(n) for n in lane.locator("i").all_inner_texts()) for lane in lanes.all()]
    assert counts == [(tokens, tokens), (tokens, passes)]
    plain, drafts = lanes.locator(".said").all_inner_texts()
    assert plain == drafts and plain.strip()
    assert re.match("[✓✗↻+–]", lanes.nth(1).locator(".sdl-meets span").first.inner_text())
    assert page.get_by_role("group", name="Round Explorer").last.get_by_text(f"of {passes}").count()
    again = box.locator(".under button")
    again.click()
    page.wait_for_function("n => Number(document.querySelectorAll('.lane i')[0].innerText) < n", arg=tokens)
    again.click()
    assert int(lanes.first.locator("i").first.inner_text()) == tokens


def test_a_phone_chooses_a_recorded_sentence(opened):
    page = opened("index.html", has_touch=True, is_mobile=True, reduced_motion="reduce")
    assert not page.locator(".stub").is_visible()
    page.locator(".choose select").select_option("question")
    page.locator(".opening .won").get_by_role("button", name="2×").tap()
    assert "spoon" in page.locator(".opening .asked").inner_text()
    page.get_by_text(f"{len(recorded()['rounds'])} passes in place of").wait_for()


def test_the_disk_is_told_why_it_cannot(from_disk, made):
    page = from_disk(made[0] / "gallery.html")
    assert "server" in page.locator(".sdl-own").inner_text()
