"""Turn lessons/src/*.md into executed notebooks: the one command is `make notebooks`.

A lesson is written and reviewed as Markdown (jupytext's format); the notebook beside it is
made from it and stored with its results, for readers without a kernel. `tests/test_notebooks.py`
fails when the two differ. A cell that begins with ```python tags=["fold"] is closed at first: code that
is needed, and teaches nothing. So is a cell that only draws a field for a guess, its outcome, or a quiz.
In a cell that begins with ```python tries=["x = 2", "x = 3"] the reader writes the line that ends in `# your line`. It is
stored as it stands; what the other lines give is recorded beside it, and the site, where no Python runs, shows them.
Such a cell may run many times, and no later one needs it.

    python lessons/build.py [NAME …]     execute and store (all lessons, or those whose name contains NAME)
    python lessons/build.py --prose      store changed text and changed looks, where no code has changed; nothing is executed
    python lessons/build.py --links      write the addresses for Binder and Colab into the README
"""

import ast
import hashlib
import json
import os
import re
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import jupytext
import nbformat
import stills
from published import REPOSITORY, TAG, site_address

from specdec_lab.show.progress_line import GONE

HERE = Path(__file__).parent
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
ONLY_DRAWS = re.compile(r"(sd\.(guess|outcome|quiz|ledger)|print\(sd\.in_words\.\w+)\(")
LINE = re.compile(r"(?m)\S.*\S(?= +# your line$)")
BEGIN, END = "<!-- hosted -->", "<!-- /hosted -->"
SITE, SITE_END = "<!-- site -->", "<!-- /site -->"


def from_source(source: Path, terms: bool = True) -> nbformat.NotebookNode:
    """The notebook of a Markdown source, not executed, with ids that do not change from build to build.

    Args:
        terms: link the words of the glossary.
    """
    notebook = jupytext.read(source)
    notebook.cells = [part for cell in notebook.cells for part in parted_after_answers(cell)]
    if source.parent == HERE / "src":
        notebook.cells[0].source = re.sub(r"\n", f"\n\n{way(source)}\n", notebook.cells[0].source, count=1)
    if terms:
        link_terms(notebook)
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i:02}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in ("tags", "tries")}
        if cell.cell_type == "code" and ONLY_DRAWS.match(cell.source) and len(ast.parse(cell.source).body) == 1:
            cell.metadata["tags"] = ["fold"]
        if "fold" in cell.metadata.get("tags", []):
            cell.metadata["jupyter"] = {"source_hidden": True}
    return nbformat.from_dict(notebook)


def way(source: Path) -> str:
    """Links to the lessons before and after this one, and its minutes, as the README has them.

    They stand below the title in a notebook, where the site has a menu.
    """
    path = sorted((HERE / "src").glob("[0-9]*.md"))
    at = path.index(source) if source in path else None
    before, after = (path[max(0, at - 1) : at], path[at + 1 : at + 2]) if at is not None else ([], [])
    links = [f"[← {lesson.stem.replace('_', ' ')}]({lesson.stem}.ipynb)" for lesson in before]
    links.append("[all lessons](00_start_here.ipynb#Where-to-go)")
    links += [f"[{lesson.stem.replace('_', ' ')} →]({lesson.stem}.ipynb)" for lesson in after]
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    links += [f"{minutes} minutes" for minutes in re.findall(rf"/{source.stem}\.ipynb\) \| (\d+) \|", readme)]
    return f'<span class="in-notebook">{" · ".join(links)}</span>'


def parted_after_answers(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """A text behind a folded answer as a cell of its own: in the same one it would stand close below the answer."""
    if cell.cell_type != "markdown":
        return [cell]
    cell.source, *rest = re.split(r"(?<=</details>)\n+(?!\n|<details|#)", cell.source)
    return [cell, *map(nbformat.v4.new_markdown_cell, rest)]


def link_terms(notebook: nbformat.NotebookNode) -> None:
    """The first time that a word of the glossary is emphasised, which is where it is explained, it links there."""
    entries = re.findall(r"^## (.*)$", (HERE / "glossary.md").read_text(encoding="utf-8"), re.M)
    anchors, linked = {entry.lower(): entry.replace(" ", "-") for entry in entries}, set()

    def link(found: re.Match) -> str:
        word = found[2].lower()
        entry = next((w for w in (word, word.removesuffix("s")) if w in anchors), None)
        if entry is None or entry in linked:
            return found[0]
        linked.add(entry)
        return f"[{found[0]}](glossary.md#{anchors[entry]})"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"(?<![\[*\w])(\*{1,2})([^*\n]+)\1(?![*\]])", link, cell.source)


def store(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write an executed notebook: the seconds of all its cells together, and no live widgets, whose pictures stay.

    The seal shows whether code or results were changed by hand afterwards.
    """
    took = 0.0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        took += seconds(cell.metadata.pop("execution", {}))
        cell.outputs = [o for o in cell.outputs if stills.VIEW not in o.get("data", {}) and o.get("data") != GONE]
    notebook.metadata.pop("widgets", None)
    if took:
        notebook.metadata["seconds"] = round(took, 1)
    notebook.metadata["seal"] = seal(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def seconds(execution: dict) -> float:
    """What a cell took, by the times that a kernel's messages carry."""
    begin, end = (execution.get(key) for key in ("iopub.execute_input", "shell.execute_reply"))
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds() if begin and end else 0.0


def seal(notebook: nbformat.NotebookNode) -> str:
    """A short digest of all code cells and their results, also with other lines."""
    cells = [[c.source, c.outputs, *c.metadata.get("tried", [])] for c in notebook.cells if c.cell_type == "code"]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:16]


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run it there: without anybody's guesses, and without what somebody's IPython does at its start."""
    from nbclient import NotebookClient

    class Client(NotebookClient):
        async def async_execute_cell(self, cell, cell_index, **how):
            """With each line that is to be tried, and then as it stands: so later cells see nothing of the others."""
            for line in cell.metadata.get("tries", []):
                other = nbformat.v4.new_code_cell(put_line(cell.source, line))
                await super().async_execute_cell(other, cell_index, store_history=False)
                self.code_cells_executed -= 1
                tried = nbformat.NotebookNode(source=other.source, outputs=other.outputs)
                cell.metadata.setdefault("tried", []).append(tried)
            return await super().async_execute_cell(cell, cell_index, **how)

    with tempfile.TemporaryDirectory() as empty:
        os.environ |= {"SPECDEC_LAB_LEDGER": str(Path(empty, "ledger.json")), "IPYTHONDIR": empty}
        Client(notebook, timeout=600, kernel_name="python3").execute(cwd=folder, transport_encryption="auto")


def put_line(source: str, line: str) -> str:
    """The source of a cell with another line in place of the reader's. Raises ValueError unless it has one such line."""
    source, times = LINE.subn(lambda _: line, source)
    if times != 1:
        raise ValueError(f"{times} lines of this cell end in “# your line”, and not one:\n{source}")
    return source


def build(source: Path) -> None:
    notebook = from_source(source)
    execute(notebook, HERE)
    stills.keep(notebook)
    path = HERE / f"{source.stem}.ipynb"
    store(notebook, path)
    print(f"{path.name}: {path.stat().st_size >> 10} KB")


def prose(source: Path) -> None:
    """Put the text of a source, and the layout of its code, into its stored notebook, whose results stay."""
    path = HERE / f"{source.stem}.ipynb"
    made, stored = from_source(source), nbformat.read(path, as_version=4)
    cells = [[c for c in n.cells if c.cell_type == "code"] for n in (made, stored)]
    code = [[(ast.dump(ast.parse(c.source)), c.metadata.get("tries")) for c in of] for of in cells]
    if code[0] != code[1]:
        sys.exit(f"{source.name}: code has changed, so it must be executed: run `make notebooks ARGS={source.stem}`.")
    for cell, old in zip(*cells):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
        cell.metadata |= {k: v for k, v in old.metadata.items() if k == "tried"}
    made.metadata = stored.metadata
    stills.keep(made)
    store(made, path)


def links() -> None:
    """What needs a public repository: its address is the one set in pyproject.toml."""
    page = HERE.parent / "README.md"
    readme = page.read_text(encoding="utf-8")
    names = [path.stem for path in sorted((HERE / "src").glob("[0-9]*.md"))]
    readme = between(readme, SITE, SITE_END, site_link(REPOSITORY))
    readme = between(readme, BEGIN, END, f"\n{hosted(REPOSITORY, TAG, names)}\n")
    page.write_text(readme, encoding="utf-8")


def between(text: str, begin: str, end: str, new: str) -> str:
    """The text with `new` between two marks."""
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{new}{end}{rest.partition(end)[2]}"


def site_link(repository: str) -> str:
    """The link to the published site, as Markdown; nothing where there is no repository (owner/name on GitHub)."""
    address = site_address(repository)
    return f"\n**[Read it and try it in the browser]({address})**, without installing anything.\n" if address else ""


def hosted(repository: str, tag: str, names: list[str]) -> str:
    """Where the lessons run in somebody else's computer, as Markdown.

    Args:
        repository: owner/name on GitHub; empty when there is none.
        tag: the version that is opened.
    """
    if not repository:
        return "No public address is set: put `repository` into `[tool.specdec-lab]` of pyproject.toml, and run `make links`."
    binder = f"https://mybinder.org/v2/gh/{repository}/{tag}?urlpath=lab/tree/lessons"
    colab = f"https://colab.research.google.com/github/{repository}/blob/{tag}/lessons"
    rows = "\n".join(f"| {name} | [Binder]({binder}/{name}.ipynb) | [Colab]({colab}/{name}.ipynb) |" for name in names)
    package = f"'specdec-lab[lab] @ git+https://github.com/{repository}@{tag}'"
    # Colab's PyTorch stays where it is new enough; otherwise the build is taken that fits the machine.
    install = f"!pip install -q uv && uv pip install -q --system --torch-backend=auto {package}"
    return f"| lesson | | |\n|---|---|---|\n{rows}\n\nIn Colab, run `{install}` in a cell of its own first."


if __name__ == "__main__":
    names = sys.argv[1:]
    if names == ["--links"]:
        links()
    else:
        make = prose if "--prose" in names else build
        names = [name for name in names if name != "--prose"]
        for source in sorted((HERE / "src").glob("*.md")):
            if not names or any(name in source.stem for name in names):
                make(source)
