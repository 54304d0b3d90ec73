"""Turn lessons/src/*.md into executed notebooks: the one command is `make notebooks`.

A lesson is written and reviewed as Markdown (jupytext's format); the notebook beside it is
made from it and stored with its results, for readers without a kernel. `tests/test_notebooks.py`
fails when the two differ.

    python lessons/build.py [NAME …]     execute and store (all lessons, or those whose name contains NAME)
    python lessons/build.py --record     record the rounds that lesson 00 replays while the model loads
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat

HERE = Path(__file__).parent
WIDGET = "application/vnd.jupyter.widget-view+json"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
RECORDED = HERE.parent / "specdec_lab" / "data" / "recorded_rounds.json"


def from_source(source: Path) -> nbformat.NotebookNode:
    """The notebook of a Markdown source, not executed, with ids that do not change from build to build."""
    notebook = jupytext.read(source)
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i:02}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k == "tags"}
    return nbformat.from_dict(notebook)


def store(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write an executed notebook: no times, and no live widgets, whose static pictures stay.

    The picture is another form of the same output, or an output of its own beside the widget.
    """
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                output["data"].pop(WIDGET, None)
        cell.outputs = [o for o in cell.outputs if WIDGET not in o.get("data", {})]
    notebook.metadata.pop("widgets", None)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def build(source: Path) -> None:
    from nbclient import NotebookClient

    notebook = from_source(source)
    with tempfile.TemporaryDirectory() as empty:  # nobody's guesses are stored
        os.environ["SPECDEC_LAB_LEDGER"] = str(Path(empty, "ledger.json"))
        NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=HERE)
    path = HERE / f"{source.stem}.ipynb"
    store(notebook, path)
    print(f"{path.name}: {path.stat().st_size >> 10} KB")


def record() -> None:
    from specdec_lab import load
    from specdec_lab.cli.demo import PROMPT
    from specdec_lab.show.explorer import explorer_data

    lab = load(device="cpu")
    trace = lab.speculative(PROMPT, "lookup", max_new_tokens=40)
    data = explorer_data(trace, lab.text, f"A recorded run: {lab.target.name}, drafts by prompt lookup")
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(rounded(data), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def rounded(value):
    """Numbers to five digits: what a picture can show, and a diff can be read."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    names = sys.argv[1:]
    if names == ["--record"]:
        record()
    else:
        for source in sorted((HERE / "src").glob("*.md")):
            if not names or any(name in source.stem for name in names):
                build(source)
