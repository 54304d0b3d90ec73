"""What stays of live widgets in a stored lesson: pictures without anything to press, which say what there is to say."""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
import stills
from plain_text import html_to_text
from tiny import trace_of

import specdec_lab as sd
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.show.explorer import RoundExplorer, explorer_data
from specdec_lab.show.live import STORED

LESSONS = Path(__file__).parents[3] / "lessons"


@pytest.fixture
def kept(browser, monkeypatch):
    """What `stills.keep` leaves of an executed notebook that shows these widgets, and a bar of a download."""

    @contextmanager
    def drawing():
        yield (page := browser.new_page())
        page.close()

    monkeypatch.setattr(stills, "browser", drawing)  # the one that runs already

    def keep(*widgets) -> list[dict]:
        states = {str(n): {"state": widget.get_state()} for n, widget in enumerate(widgets)} | {"bar": {"state": {}}}
        shown = [nbformat.v4.new_output("display_data", data={stills.VIEW: {"model_id": name}}) for name in states]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=shown)])
        notebook.metadata["widgets"] = {stills.STATE: {"state": states}}
        stills.keep(notebook)
        return [output.data for output in notebook.cells[0].outputs]

    return keep


def test_every_widget_leaves_a_still_picture(kept, fresh_ledger):
    """With nothing to press; what is none of ours is left for `build.store` to drop."""
    trace = trace_of(keep=Keep(top=3), stops=Stops(20))
    data = explorer_data(trace, lambda ids: "".join(f"<b>{i}</b> " for i in ids), "a <title>")
    rules = sd.Rules((0.5, 0.3, 0.2), (0.7, 0.1, 0.2))
    *found, bar = kept(RoundExplorer(data), rules, sd.SpeedupExplorer(), sd.guess("a", "How many?"), sd.outcome("a", 2))
    assert set(bar) == {stills.VIEW} and found[1][STORED]["script"] == "sandbox"
    for output in found:
        assert not re.search("<(button|input|select|script|img)", output["text/html"])
    assert [output["text/html"].count("<style>") for output in found] == [1, 0, 0, 0, 0]
    rounds, rules, speedup, asked, outcome = (output["text/plain"] for output in found)
    first = trace.rounds[0]
    assert "a <title>" in rounds and all(f"<b>{d.id}</b>" in rounds for d in first.drafted)  # text, and no markup
    assert all(d.status in rounds for d in first.drafted)
    assert "drafted 0.10, kept 0.10, comes out 0.16, wanted 0.30" in rules
    assert "2.18×" in speedup and "How many?" in asked and "2\nmeasured" in outcome


@pytest.mark.parametrize(
    "lesson", [p for p in sorted(LESSONS.glob("[0-9b]*.ipynb")) if p.name[:2] != "00"], ids=lambda path: path.stem
)
def test_the_answers_of_a_stored_quiz_are_folded(lesson):
    outputs = [o.get("data", {}) for c in json.loads(lesson.read_text("utf-8"))["cells"] for o in c.get("outputs", [])]
    (quiz,) = (data for data in outputs if data.get(STORED, {}).get("script") == "quiz")
    html = "".join(quiz["text/html"])
    unfolded = html_to_text(re.sub(r"<details>.*?</details>", "", html))
    versions = [item["versions"][0] for item in quiz[STORED]["data"]["items"]]
    assert html.count("<details>") == len(versions)
    for posed in versions:
        for choice in posed.get("choices", ()):
            assert choice["text"].replace("`", "") in unfolded and choice["reason"].replace("`", "") not in unfolded
        if "how" in posed:
            assert posed["question"] in unfolded and posed["how"] not in unfolded
