"""How long the course is: words, cells, askings and minutes of each notebook.

    python tools/spine.py            the table


Minutes are words outside folded answers / 180, the seconds that its cells took when it was stored, and one minute
for each asking: a field for a guess, an item of its quiz, a folded answer to a question, a part of an exercise.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
WORDS_A_MINUTE = 180


@dataclass(frozen=True)
class Count:
    """What a notebook asks of its reader. lines: of its longest visible cell."""

    words: int
    cells: int
    lines: int
    guesses: int
    quiz: int
    folded: int
    parts: int
    seconds: float
    brackets: int

    @property
    def askings(self) -> int:
        return self.guesses + self.quiz + self.folded + self.parts

    @property
    def minutes(self) -> float:
        return self.words / WORDS_A_MINUTE + self.seconds / 60 + self.askings


def count(path: Path) -> Count:
    """The counts of a stored notebook."""
    from specdec_lab.course.quiz import items

    notebook = nbformat.read(path, as_version=4)
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    folds = re.findall(r"<details>\s*<summary>(.*?)</summary>", prose, re.S)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    source = "\n".join(cell.source for cell in code)
    visible = [cell.source for cell in code if "fold" not in cell.metadata.get("tags", [])]
    text = shown(prose)
    return Count(
        words=len(text.split()),
        cells=len(visible),
        lines=max((len([x for x in cell.splitlines() if x.strip()]) for cell in visible), default=0),
        guesses=len(re.findall(r"\bsd\.guess\(", source)),
        quiz=sum(len(items(name)) for name in re.findall(r'\bsd\.quiz\("(\w+)"\)', source)),
        folded=sum("?" in question or question == "Answer" for question in folds),
        parts=len(set(re.findall(r'^check\("([^"]+)"', source, re.M))),
        seconds=notebook.metadata.get("seconds", 0.0),
        brackets=len(re.findall(r"(?<![\]\w])\([A-Z][^()]*(?:\([^()]*\)[^()]*)*[.?!]\)", text)),
    )


def shown(prose: str) -> str:
    """What a reader has before the eyes: no folded answers, addresses, tags, or signs of the markup."""
    prose = re.sub(r"<details>.*?</details>", "", prose, flags=re.S)
    prose = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", prose)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    prose = re.sub(r"<[^>]+>|^[|\s:-]+$", " ", prose, flags=re.M)
    return re.sub(r"(?<!\w)[#>|*\-]+(?!\w)", " ", prose)


def notebooks() -> list[Path]:
    folders = (ROOT / "lessons", ROOT / "exercises")
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def main() -> None:
    heads = (
        "words",
        "cells",
        "lines",
        "guesses",
        "quiz",
        "folded",
        "parts",
        "askings",
        "seconds",
        "brackets",
        "minutes",
    )
    print(f"{'':34}" + "".join(f"{head:>9}" for head in heads))
    total = dict.fromkeys(heads, 0.0)
    for path in notebooks():
        found = count(path)
        row = {head: getattr(found, head) for head in heads}
        total = {head: total[head] + row[head] for head in heads}
        name = f"{path.parent.name}/{path.stem}"
        print(f"{name:34}" + "".join(f"{row[head]:9.0f}" for head in heads))
    print(f"{'all':34}" + "".join(f"{total[head]:9.0f}" for head in heads))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "solutions"))
    main()
