"""A class through nbgrader, from release to report: three submissions of two notebooks."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from specdec_grader.classroom.course import nbgrader_api, write_course
from specdec_grader.classroom.report import read_class
from specdec_grader.learner.jail import bubblewrap_works
from specdec_grader.part import PARTS

from specdec_lab.cli import main
from specdec_lab.course.quiz import MISCONCEPTIONS
from specdec_lab.errors import LabError

ROOT = Path(__file__).parents[2]
NAMES = ["11_todays_designs", "09_checkpoint"]
SUBMITTED = [("ann", NAMES[0]), ("ann", NAMES[1]), ("bob", NAMES[0]), ("bea", NAMES[0])]
TWO_SAMPLES = """import sys
def alpha_at_once(joint):
    print("a line on stderr", file=sys.stderr)
    return sum(x * sum(other[j] for other in joint) for row in joint for j, x in enumerate(row))
"""
RUNS = {  # what a learner may write into a text, and a piece of HTML that would run it
    "<script>alert(1)</script>": r"<script>alert",
    "<img src=x onerror=alert(2)>": r"<img[^>]*onerror",
    "[a link](javascript:alert(4))": r"href=.javascript:",
    "<a href=' java\tscript:alert(5)'>x</a>": r"<a[^>]*script:",
    "<iframe srcdoc='<script>alert(8)</script>'></iframe>": r"<iframe",
    "<span id=cell-1 class=modal style='position:fixed'>x</span>": r"<span[^>]*(cell-1|modal|fixed)",
    "<img src=https://example.org/seen>": r"src=.https://example",
    "$x$ <math><mtext></mtext><style><!--</style><img title='--><img src=x onerror=alert(9)>'></math>": r"<img[^>]*onerror",
}
SHOWN = [
    "# A head",
    "a **bold** *word*, `a < b`, $a < b$ and a [link](https://example.org).",
    "| a | b |\n|---|---|\n| 1 | 2 |",
]
OTHERS = ("alpha_with_head", "offered", "which_rule")


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    """A graded course: ann solved everything; of the first exercise bob solved nothing, and bea has one mistake and deleted his other checks."""
    if not bubblewrap_works():
        pytest.skip("bubblewrap is not here, or may not be used")
    out = tmp_path_factory.mktemp("class") / "course"
    assert set(NAMES) <= set(write_course(out))
    made = nbformat.read(out / "release" / NAMES[0] / f"{NAMES[0]}.ipynb", as_version=4)
    next(c for c in made.cells if c.metadata.get("nbgrader", {}).get("solution")).source = TWO_SAMPLES
    made.cells = [c for c in made.cells if c.cell_type != "code" or not any(name in c.source for name in OTHERS)]
    made.cells[0].metadata["nbgrader"] = None
    made.cells += [nbformat.v4.new_markdown_cell(text) for text in (*RUNS, *SHOWN)]
    made.cells += [nbformat.v4.new_raw_cell("<script>alert(10)</script>", metadata={"raw_mimetype": "text/html"})]
    made.cells += [nbformat.v4.new_code_cell("1", metadata={"tags": ["'><script>alert(11)</script>"], "nbgrader": {"grade_id": "<script>alert(12)"}})]  # fmt: skip
    made.metadata |= {"title": "</title><script>alert(13)</script>", "widgets": {"application/vnd.jupyter.widget-state+json": {"x": "</script><script>alert(14)"}}}  # fmt: skip
    api = nbgrader_api(out)
    for student, name in SUBMITTED:
        folder = out / "submitted" / student / name
        folder.mkdir(parents=True)
        if student == "bea":
            nbformat.write(made, folder / f"{name}.ipynb")
        else:
            shutil.copy((ROOT / "solutions" if student == "ann" else out / "release" / name) / f"{name}.ipynb", folder)
        done = api.autograde(name, student)
        assert done["success"], done["error"]
    for name in NAMES:
        assert api.generate_feedback(name)["success"]
    return out


def test_what_is_released_is_the_exercise(course):
    for name in NAMES:
        released, exercise = (
            nbformat.read(folder / f"{name}.ipynb", as_version=4)
            for folder in (course / "release" / name, ROOT / "exercises")
        )
        assert [(c.cell_type, c.source) for c in released.cells] == [(c.cell_type, c.source) for c in exercise.cells]


def test_points_and_misconceptions_of_a_class(course, capsys, tmp_path):
    found = read_class(course / "gradebook.db")
    assert set(NAMES) <= set(found["assignments"])
    ann, bea, bob = found["students"]
    exercise = sum(part.points for id, part in PARTS.items() if id.startswith("11."))
    solved = {"points": exercise, "max_points": exercise, "waits_for_a_hand": False}
    assert ann["points"][NAMES[0]] == solved
    assert bob["points"][NAMES[0]] == bea["points"][NAMES[0]] == solved | {"points": 0.0}
    assert ann["points"][NAMES[1]]["waits_for_a_hand"], "written answers wait for a hand"
    assert ann["points"][NAMES[1]]["points"] == sum(part.points for id, part in PARTS.items() if id.startswith("9."))
    assert [s["beliefs"] for s in (ann, bea, bob)] == [[], [3], []]

    odd = tmp_path / "a#b?c"
    shutil.copytree(course, odd)
    written = tmp_path / "class.html"
    assert main(["class-report", str(odd / "gradebook.db"), "--html", str(written), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["beliefs"] == [{"number": 3, "belief": MISCONCEPTIONS[3], "students": 1}]
    html = written.read_text(encoding="utf-8")
    assert "bea" in html and "✎" in html and "http" not in html
    assert main(["class-report", str(odd / "gradebook.db")]) == 0
    assert f"{exercise}/{exercise}" in capsys.readouterr().out


def test_nbgrader_runs_nothing_itself(course):
    """Only checks have an output, which is the grader's; the code of bea's that shows something has none."""
    made = nbformat.read(course / "autograded" / "bea" / NAMES[0] / f"{NAMES[0]}.ipynb", as_version=4)
    shown = [cell.source for cell in made.cells if cell.get("outputs")]
    assert shown and all(source.startswith("check(") for source in shown)


def formgrader_page(course: Path, path: Path) -> str:
    """A notebook as the formgrader shows it, by the exporter that it makes from the course's configuration."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers

    config = nbgrader_api(course).config
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    asked = ("submission_id", "notebook_id", "assignment_id", "base_url", "student", "notebook_path")
    about = dict.fromkeys(asked, "x")
    return HTMLExporter(config=config).from_filename(str(path), resources=about | {"index": 0, "total": 1})[0]


def test_nothing_that_a_learner_writes_runs(course):
    feedback = (course / "feedback" / "bea" / NAMES[0] / f"{NAMES[0]}.html").read_text("utf-8")
    assert "α is the overlap" in feedback  # what the check says, for the student
    graded = course / "autograded" / "bea" / NAMES[0] / f"{NAMES[0]}.ipynb"
    for html in (feedback, formgrader_page(course, graded)):
        assert [text for text, runs in RUNS.items() if re.search(runs, html, re.I)] == []
        assert "&lt;script&gt;alert(8)" in html  # it is shown, as the text that it is
        assert "A head</h1>" in html and "<strong>bold</strong> <em>word</em>" in html and "<td>1</td>" in html
        assert "a &lt; b" in html and 'href="https://example.org"' in html
        assert "<summary>" in html or "<details>" in html  # of the exercise's own hints


def test_what_is_no_gradebook_is_told(tmp_path):
    with pytest.raises(LabError, match="is not there"):
        read_class(tmp_path / "gradebook.db")
    (tmp_path / "gradebook.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(LabError, match="is no gradebook"):
        read_class(tmp_path / "gradebook.db")


def test_a_gradebook_is_never_overwritten(course, capsys):
    assert main(["course", str(course)]) == 2
    assert "is not empty" in capsys.readouterr().err
