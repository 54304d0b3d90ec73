"""The stored lessons: made from their sources, executed, light, and readable without a kernel.

That they run is checked by nbval, in the same `make test`.
"""

import json
import re
import sys
from pathlib import Path

import build
import nbformat
import pytest
from pages import builder

from specdec_lab.show.live import STORED

LESSONS = Path(__file__).parents[1] / "lessons"
SOURCES = sorted((LESSONS / "src").glob("*.md"))


def stored(source: Path) -> nbformat.NotebookNode:
    return nbformat.read(LESSONS / f"{source.stem}.ipynb", as_version=4)


def code(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [c for c in notebook.cells if c.cell_type == "code"]


def test_text_is_stored_without_running_it(tmp_path, monkeypatch):
    (tmp_path / "README.md").write_text("", encoding="utf-8")
    tmp_path = tmp_path / "lessons"
    source = tmp_path / "src" / "a.md"
    source.parent.mkdir(parents=True)
    source.write_text("# One\n\n```python\n1 + 1\n```\n", encoding="utf-8")
    (tmp_path / "glossary.md").write_text("## row\n", encoding="utf-8")
    monkeypatch.setattr(build, "HERE", tmp_path)
    first = build.from_source(source)
    first.cells[1].execution_count, first.cells[1].outputs = 1, [nbformat.v4.new_output("stream", text="2")]
    build.store(first, tmp_path / "a.ipynb")
    source.write_text("# Two\n\n```python\n1 + 1\n```\n", encoding="utf-8")
    build.prose(source)
    kept = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    assert (kept.cells[0].source, kept.cells[1].outputs[0].text) == ("# Two", "2")
    source.write_text("# Two\n\n```python\n1 + 2\n```\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="must be executed"):
        build.prose(source)


TRIED = """# A

```python tries=["x = 3", "x = \\"four\\""]
x = 2  # your line
x
```

```python
print(x)
```
"""


@pytest.mark.slow
def test_a_line_to_write_is_run_with_others_and_as_it_stands(tmp_path):
    """What the others give is recorded, later cells see the one that stands there, and the site has all of them."""
    (tmp_path / "a.md").write_text(TRIED, encoding="utf-8")
    notebook = build.from_source(tmp_path / "a.md")
    build.execute(notebook, tmp_path)
    _, cell, later = notebook.cells
    shown = [[out.data["text/plain"] for out in one.outputs] for one in (cell, *cell.metadata.tried)]
    assert shown == [["2"], ["3"], ["'four'"]] and later.outputs[0].text == "2\n"
    assert [cell.execution_count, later.execution_count] == [1, 2] and "x = 2  # your line" in cell.source
    builder()
    html = sys.modules["cells"].code(cell)
    assert re.findall('data-line="x = (.*?)"( hidden)?>', html) == [
        ("2", ""),
        ("3", " hidden"),
        ("&quot;four&quot;", " hidden"),
    ]
    sealed = build.seal(notebook)
    cell.metadata.tried[0].outputs[0].data["text/plain"] = "5"
    assert build.seal(notebook) != sealed


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.stem)
class TestLesson:
    def test_the_notebook_is_what_its_source_says(self, source):
        """Also with its words linked to the glossary, and with those cells closed that teach nothing."""
        kept, made = (
            [(c.cell_type, c.source, c.metadata.get("jupyter"), c.metadata.get("tries")) for c in n.cells]
            for n in (stored(source), build.from_source(source))
        )
        assert kept == made, "run `make notebooks`"

    def test_its_results_are_those_of_its_code(self, source):
        """As `make notebooks` stored them: nothing was changed by hand."""
        notebook = stored(source)
        assert notebook.metadata.seal == build.seal(notebook), "run `make notebooks`"
        for cell in code(notebook):
            assert cell["execution_count"], cell["source"]
            assert all(o["output_type"] != "error" for o in cell["outputs"])

    def test_every_guess_and_every_outcome_is_shown(self, source):
        """A notebook shows the last value of a cell: a call in its middle would be silent."""
        for cell in code(stored(source)):
            wanted = re.findall(r"(?m)^sd\.(guess|outcome)\(", cell["source"])
            shown = [o["data"][STORED]["script"] for o in cell["outputs"] if STORED in o.get("data", {})]
            assert wanted == [kind for kind in shown if kind in ("guess", "outcome")], cell["source"]

    def test_it_is_light_and_stands_alone(self, source):
        text = (LESSONS / f"{source.stem}.ipynb").read_text(encoding="utf-8")
        assert len(text) < 1_000_000 and "widget-view" not in text and "cdn" not in text.lower()
        for cell in code(stored(source)):
            shown = [{k: v for k, v in o.get("data", o).items() if k != STORED} for o in cell["outputs"]]
            kept = [o["data"][STORED] for o in cell["outputs"] if STORED in o.get("data", {})]
            unstyled = re.sub("<style>.*?</style>", "", json.dumps(shown))  # the styles stand once in a notebook
            assert len(unstyled) < 50_000
            assert len(json.dumps(kept)) < 100_000, "the static site has it as well: show fewer rounds"
            texts = [data["text/plain"] for data in shown if "text/html" in data]
            assert all(len(text) > 40 for text in texts), "a picture whose text says nothing"

    def test_links_lead_somewhere(self, source):
        text = "\n".join(c.source for c in build.from_source(source).cells if c.cell_type == "markdown")
        for link in re.findall(r"\]\(([^)]+)\)", text):
            name, _, word = link.partition("#")
            if name.startswith("https://"):
                continue
            # The working copy has lessons with their pictures, and exercises, and nothing else.
            allowed = r"(\.\./exercises/)?\w+\.ipynb|glossary\.md|pictures/[\w-]+\.svg"
            assert re.fullmatch(allowed, name) and (LESSONS / name).exists(), link
            if word:
                folder = LESSONS if name.endswith(".md") else LESSONS / "src"
                linked = (folder / f"{Path(name).stem}.md").read_text("utf-8")
                assert word in [h.replace(" ", "-") for h in re.findall(r"^#+ (.*)$", linked, re.M)], link

    def test_it_begins_and_ends_as_its_kind_does(self, source):
        text = source.read_text(encoding="utf-8")
        assert text.startswith("# ") and text.count("<details>") == text.count("</details>")
        if source.stem[0].isdigit():
            assert "**After this lesson you can**" in text or source.stem.startswith("00")  # which begins with a round
            begun = source.stem.startswith("00")  # whose questions the bridge asks, after it has said what they need
            asked = source.with_stem("bridge").read_text(encoding="utf-8") if begun else text
            assert f'sd.quiz("{source.stem[:2]}")' in asked
        elif source.stem.startswith("deeper_"):
            assert "**Who found this.**" in text and "sd.quiz(" not in text
