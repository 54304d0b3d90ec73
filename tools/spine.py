"""How long the course is: what each notebook asks of its reader, in minutes, and the one table of them.

    python tools/spine.py            the minutes of each notebook, part by part, and of the two ways through the course
    python tools/spine.py --write    put them where they are published: README.md, exercises/README.md and lesson 00

The site and the heads of the lessons read the table of README.md: after `--write` comes `make notebooks ARGS=--prose`.
Minutes are counted from the stored notebook, for somebody who reads all of it once and does what it asks:

- **words / 170**: of the text and its tables, of what is folded, of what cells print, of the tables that they show, of
  what widgets say in words, of each quiz item with its right reply, and 0.7 of the words of the code that is seen. Not
  read are hints, who found a thing, and what stands on a race. What an exercise calls further does not count;
- **running**: the seconds that its cells took when it was stored;
- **a picture**: 0.6, for a plot, a drawing or a race;
- **a guess**: 1, with its sum and its outcome; 0.7 for a question in bold without a field that is no paragraph's name;
- **a choice**: 0.3, in a quiz or in the checkpoint;
- **a sum**: 1, for a quiz item with numbers, for each thing that a part of an exercise asks for, and for a line to write;
- **a task**: 2, for each thing to do at a widget. The paragraph below a widget names them: the items of a numbered list,
  or the questions of its first paragraph, or else one. What is to be written in one's own words is a task, too.

One first reader was clocked: 169 minutes for the path, 44 for the first hour. Of nearly the same text these rules say 168
and 45. No class has been timed. Exercises other than the checkpoint name their own minutes.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
WORDS_A_MINUTE = 170
CODE = 0.7  # of the words of code that is seen: much of it is passed over
MINUTES = {"pictures": 0.6, "guesses": 1.0, "asked": 0.7, "choices": 0.3, "sums": 1.0, "tasks": 2.0}
PATH = re.compile(r"lessons/0[0-8]_|exercises/09_")
WIDGET, PLOTLY = "application/vnd.specdec-lab.widget+json", "application/vnd.plotly.v1+json"
FIELD = re.compile(r"\bsd\.(guess|outcome|quiz)\(")
CLOSED = re.compile(r"^(Hint|Who found this)")  # summaries of folds that stay so
HOUR = {  # the sections of the first hour: what a round is, that the text stays, what α does, what is gained
    "00_start_here": (),  # all of it
    "02_draft_then_verify": (1, 3),
    "04_acceptance_rate": (1, 2, 4),
    "05_choosing_gamma": (1, 2, 3),
}
AIM, HOUR_AIM = 120, 40  # minutes of the path, and of the first hour
README = ROOT / "README.md"


@dataclass(frozen=True)
class Count:
    """What a notebook asks of its reader.

    words: of the text outside all folds. answers, printed, quizzed, code: words, too; of what is folded, of results and
    widgets, of quiz items with their right replies, and of visible code. lines: of the longest visible cell. quiz: its
    items. folded: questions with a folded answer. parts: of an exercise. brackets: sentences in brackets.
    """

    words: int = 0
    answers: int = 0
    printed: int = 0
    quizzed: int = 0
    code: int = 0
    seconds: float = 0.0
    pictures: int = 0
    guesses: int = 0
    asked: int = 0
    choices: int = 0
    sums: int = 0
    tasks: int = 0
    cells: int = 0
    lines: int = 0
    quiz: int = 0
    folded: int = 0
    parts: int = 0
    brackets: int = 0

    @property
    def askings(self) -> int:
        return self.guesses + self.quiz + self.folded + self.parts

    @property
    def by_part(self) -> dict[str, float]:
        """Minutes, by what takes them."""
        words = {
            "text": self.words + self.answers,
            "results": self.printed,
            "quiz": self.quizzed,
            "code": CODE * self.code,
        }
        read = {name: count / WORDS_A_MINUTE for name, count in words.items()}
        return (
            read | {"running": self.seconds / 60} | {name: each * getattr(self, name) for name, each in MINUTES.items()}
        )

    @property
    def minutes(self) -> float:
        return sum(self.by_part.values())

    def __add__(self, other: "Count") -> "Count":
        """Both together; the longest cell is that of the longer one."""
        both = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Count)}
        return Count(**both | {"lines": max(self.lines, other.lines)})


def count(path: Path, sections: tuple[int, ...] = ()) -> Count:
    """The counts of a stored notebook.

    Args:
        sections: count only these, by the numbers of their headings; 0 is what stands before the first. The seconds are
            stored for the whole notebook, and are counted as a whole.

    Raises:
        ValueError: where it has no such section.
    """
    notebook = nbformat.read(path, as_version=4)
    by_section: dict[int, list] = {}
    for number, cell in sectioned(notebook.cells):
        by_section.setdefault(number, []).append(cell)
    if missing := set(sections) - set(by_section):
        raise ValueError(f"{path.name} has no section {min(missing)}")
    total = Count(seconds=notebook.metadata.get("seconds", 0.0))
    for number, cells in by_section.items():
        if not sections or number in sections:
            total += counted(cells)
    return total


def sectioned(cells: list) -> Iterator[tuple[int, nbformat.NotebookNode]]:
    """The cells with the numbers of their sections, a text cut where a section begins, without what goes further. A heading
    without a number counts on."""
    number, further = 0, ""
    for cell in cells:
        if cell.cell_type != "markdown":
            if not further:
                yield number, cell
            continue
        for text in re.split(r"^(?=## )", cell.source, flags=re.M):
            if text.startswith("## "):
                named = re.match(r"## (?:Part )?(\d+)", text)
                number = int(named[1]) if named else number + 1
            text, further, _ = text.partition("*Further")
            if text.strip():
                yield number, nbformat.v4.new_markdown_cell(text)


def counted(cells: list) -> Count:
    """The counts of these cells, without the seconds."""
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = [cell for cell in cells if cell.cell_type == "code"]
    source = "\n".join(cell.source for cell in code)
    visible = [cell.source for cell in code if "fold" not in cell.metadata.get("tags", [])]
    folds = re.findall(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", prose, re.S)
    text = shown(prose)
    quiz = [item for name in re.findall(r'\bsd\.quiz\("(\w+)"\)', source) for item in quiz_items(name)]
    parts = set(re.findall(r'^check\("([^"]+)"', source, re.M))
    letters, sums = asked_by(parts)
    return Count(
        words=len(text.split()),
        answers=sum(len(shown(answer).split()) for question, answer in folds if not CLOSED.match(question)),
        printed=sum(len(printed(output, cell).split()) for cell in code for output in cell.get("outputs", [])),
        quizzed=sum(words for words, _ in quiz),
        code=sum(len(cell.split()) for cell in visible),
        pictures=len(re.findall(r"!\[[^\]]*\]\(", prose)) + sum(is_picture(cell) for cell in code),
        guesses=len(re.findall(r"\bsd\.guess\(", source)),
        asked=0 if parts else sum(map(asks, unfolded(prose).splitlines())),
        choices=sum(not is_sum for _, is_sum in quiz) + letters,
        sums=sum(is_sum for _, is_sum in quiz) + sums + sum("tries" in cell.metadata for cell in code),
        tasks=sum(tasks(cells, at) for at in range(len(cells))) + prose.count("<!-- answer "),
        cells=len(visible),
        lines=max((len([x for x in cell.splitlines() if x.strip()]) for cell in visible), default=0),
        quiz=len(quiz),
        folded=sum("?" in question or question == "Answer" for question, _ in folds),
        parts=len(parts),
        brackets=len(re.findall(r"(?<![\]\w])\([A-Z][^()]*(?:\([^()]*\)[^()]*)*[.?!]\)", text)),
    )


def asks(line: str) -> int:
    """The questions in bold of a line. One that begins it names a paragraph, unless nothing follows, or an item of a list."""
    found = [
        (line[: bold.start()].strip(), line[bold.end() :].strip()) for bold in re.finditer(r"\*\*[^*]+\?\*\*", line)
    ]
    return sum(not re.fullmatch(r"\d+\.|-|", before) or not (before or after) for before, after in found)


def quiz_items(lesson: str) -> list[tuple[int, bool]]:
    """The items of a quiz: the words that are read, with the right reply, and whether it asks for a number."""
    from specdec_lab.course.quiz import items

    found = []
    for item in items(lesson):
        shown, *_ = item["versions"]
        choices = shown.get("choices", [])
        read = [c["text"] for c in choices] + [c["reason"] for c in choices if c["right"]] + [shown.get("how", "")]
        found.append((len(" ".join([shown["question"], *read]).split()), not choices))
    return found


def asked_by(parts: set[str]) -> tuple[int, int]:
    """What these parts of an exercise ask for: letters, and numbers or lists."""
    if not parts:
        return 0, 0
    from specdec_grader.checks import PARTS
    from specdec_grader.sheets.fixed_answers import letter_of

    whys = [id for id in parts if id.endswith(".why")]
    others = [PARTS[id] for id in parts if id not in whys and id in PARTS]
    letters = sum(question.read is letter_of for part in others for question in part.asks)
    return len(whys) + letters, sum(max(1, len(part.asks)) for part in others) - letters


def printed(output: nbformat.NotebookNode, cell: nbformat.NotebookNode) -> str:
    """What stands below a cell to be read: what it printed, a table, or the words on a widget that asks for something."""
    if output.output_type == "stream":
        return output.text
    data = output.get("data", {})
    page = data.get("text/html", "")
    if WIDGET in data:
        on_it = re.sub(r"<(svg|style).*?</\1>|<[^>]+>", " ", page, flags=re.S)
        return "" if FIELD.search(cell.source) or is_picture(cell) else re.sub(r"\S*\d\S*", "", on_it)
    return data.get("text/plain", "") if "<table" in page else ""


def is_picture(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell shows a plot, a race, which plays by itself, or all rules, with nothing to press."""
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    drawn = any(
        PLOTLY in d or (WIDGET not in d and "<svg" in d.get("text/html", "") and "<table" not in d.get("text/html", ""))
        for d in data
    )
    return drawn or ".replay(" in cell.source or "sd.Rules(" in cell.source


def tasks(cells: list, at: int) -> int:
    """How many things there are to do at the widget of this cell."""
    cell = cells[at]
    if cell.cell_type != "code" or FIELD.search(cell.source) or is_picture(cell):
        return 0
    if not any(WIDGET in output.get("data", {}) for output in cell.get("outputs", [])):
        return 0
    below = cells[at + 1].source if at + 1 < len(cells) and cells[at + 1].cell_type == "markdown" else ""
    first = shown(below).strip().partition("\n\n")[0]
    return max(1, len(re.findall(r"^\d+\. ", shown(below), re.M)), first.count("?"))


def shown(prose: str) -> str:
    """What a reader has before the eyes: no folded answers, addresses, tags, or signs of the markup."""
    prose = re.sub(r'^<span class="in-notebook">.*</span>$', "", unfolded(prose), flags=re.M)  # the links of the head
    prose = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", prose)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    prose = re.sub(r"<[^>]+>|^[|\s:-]+$", " ", prose, flags=re.M)
    return re.sub(r"(?<!\w)[#>|*\-]+(?!\w)", " ", prose)


def unfolded(prose: str) -> str:
    return re.sub(r"<details>.*?</details>", "", prose, flags=re.S)


def notebooks() -> list[Path]:
    return [path for folder in ("lessons", "exercises") for path in sorted((ROOT / folder).glob("*.ipynb"))]


def path() -> dict[str, Count]:
    """The counts of the lessons 00 to 08 and of the checkpoint, by the addresses of their notebooks from the root."""
    found = {path.relative_to(ROOT).as_posix(): path for path in notebooks()}
    return {name: count(path) for name, path in found.items() if PATH.match(name)}


def hour() -> float:
    """The minutes of the first hour: of each lesson what stands before its first section, and the sections named."""
    return sum(count(ROOT / f"lessons/{name}.ipynb", (0, *of) if of else ()).minutes for name, of in HOUR.items())


def hour_line(folder: str) -> str:
    """The first hour, with links to its lessons. folder: where they lie, as seen from the page; lesson 00 lies there itself."""
    looks = []
    for name, of in HOUR.items():
        named = f"sections {', '.join(map(str, of[:-1]))} and {of[-1]} of " if of else ""
        looks.append(f"{named}[{name[:2]}]({folder}{name}.ipynb)" if folder or of else "this lesson")
    return f"{', '.join(looks[:-1])}, and {looks[-1]}: {hour():.0f} minutes"


def published() -> dict[Path, str]:
    """The pages that name minutes, as they should be."""
    counts = path()
    total = f"{sum(c.minutes for c in counts.values()):.0f}"
    readme = README.read_text(encoding="utf-8")
    for name, found in counts.items():
        readme = put(readme, rf"(\]\({re.escape(name)}\) \| )\d+( \|)", f"{found.minutes:.0f}")
    readme = put(readme, mark("hour"), hour_line("lessons/"))
    readme = put(readme, mark("bridge"), f"{count(ROOT / 'lessons' / 'bridge.ipynb').minutes:.0f}")
    classes = ROOT / "exercises" / "README.md"
    routes = classes.read_text(encoding="utf-8")
    for name, found in counts.items():
        number = re.search(r"/(\d\d)_", name)[1]
        routes = put(routes, rf"(?m)(^\| )\d+( \| {number} )", f"{found.minutes:.0f}")
    start = ROOT / "lessons" / "src" / "00_start_here.md"
    first = put(start.read_text(encoding="utf-8"), mark("hour"), hour_line(""))
    return {README: put(readme, mark("path"), total), classes: routes, start: put(first, mark("path"), total)}


def mark(name: str) -> str:
    """Matches what stands between two marks of a page: comments, which nobody sees."""
    return rf"(?s)(<!-- {name} -->).*?(<!-- /{name} -->)"


def put(page: str, pattern: str, new: str) -> str:
    """The page with `new` between the two groups of the pattern. Raises ValueError where it stands nowhere, or twice."""
    page, times = re.subn(pattern, lambda found: f"{found[1]}{new}{found[2]}", page)
    if times != 1:
        raise ValueError(f"{pattern} stands in the page {times} times, and not once")
    return page


def table() -> str:
    """All notebooks: minutes, and what takes them."""
    of = Count().by_part
    rows = ["".join([f"{'':30}{'minutes':>9}{'words':>7}", *(f"{name:>10}" for name in of)])]
    for file in notebooks():
        found, name = count(file), file.relative_to(ROOT).with_suffix("").as_posix()
        if name.startswith("lessons/") or PATH.match(name):
            parts = "".join(f"{value:10.1f}" for value in found.by_part.values())
            rows.append(f"{name:30}{found.minutes:9.1f}{found.words:7}{parts}")
    total = sum(found.minutes for found in path().values())
    return "\n".join([*rows, "", f"first hour {hour():.0f} (aim {HOUR_AIM}), path {total:.0f} minutes (aim {AIM})"])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for page, text in published().items():
            page.write_text(text, encoding="utf-8")
        print("Written. The heads of the lessons follow with: make notebooks ARGS=--prose")
    print(table())
