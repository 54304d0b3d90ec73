"""The ways between the pages: the contents beside each, what stands above its title, and what comes at its end."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

import spine
from plates import plate
from templates import fill

ROOT = Path(__file__).parents[2]
GALLERY, GALLERY_TITLE = "gallery.html", "A gallery of real rounds"
FIRST = "The whole path"
GROUPS = {  # of pages, in their order: the name, and how their addresses begin
    FIRST: "lessons/0|exercises/09",
    "Part two": "lessons/1",
    "Deeper": "lessons/(?!glossary)[a-z]",
    "Exercises, in the notebook": "exercises/(?!09)",
}
WAY = "|".join((GROUPS[FIRST], GROUPS["Part two"]))  # what is read one after the other
ASKS = {  # what the lessons of part two ask; those of the path have their questions in the README
    "10": "several drafts for one place: when is a tree worth its rows?",
    "11": "step by step or all at once: what does each cost, and what is missing in a claim?",
    "12": "can a draft learn from your own traffic, and when has it paid?",
}
BESIDE = {"bridge": "00", "deeper_measuring": "05", "engines": "08"}  # lessons of pages that have no number


def up(page: str) -> str:
    """From a page to the first folder of the site."""
    return "../" if "/" in page else ""


def number(page: str) -> str:
    """Of the lesson that this page is, or that it belongs to; none of the glossary."""
    found = re.search(r"/(?:deeper_)?(\d\d)_", page)
    return found[1] if found else BESIDE.get(Path(page).stem, "")


@cache
def about(page: str) -> tuple[str, str]:
    """The minutes of a lesson, and its question: as the README has them, or else counted, and from above."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| \[.*?\]\((.*?)\.ipynb\) \| (\d+) \| (.*?) \|$", readme)
    found = [row for name, *row in rows if f"{name}.html" == page]
    path = ROOT / Path(page).with_suffix(".ipynb")
    minutes, question = found[0] if found else (f"{spine.count(path).minutes:.0f}", ASKS.get(number(page), ""))
    return minutes, question[:1].upper() + question[1:]


def label(page: str, title: str, full: bool = False) -> str:
    """A page's name in a list: of a lesson the beginning alone, of an exercise its number only where all of it is wanted."""
    if not re.match(WAY, page):
        name = re.sub(
            "^(?:Deeper|Exercise ([0-9]+)): (.)", lambda found: f"{found[1] or ''} {found[2].upper()}".strip(), title
        )
        return name if full else re.sub("^Exercise [0-9]+", "Exercise", title)
    name = re.sub("^Exercise [0-9]+: ", "", title).partition(":")[0].capitalize()
    return name if page.startswith("exercises/") else f"{number(page)} {name}"  # the checkpoint is no lesson


def contents(
    titles: dict[str, str], here: str, sections: Sequence[str] = (), tracked: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The lessons, and below the open one its sections, its exercise and what goes deeper; on the first page, all pages.

    Args:
        tracked: attributes of the links to a page, for progress.js to tick it off.
    """
    first = here == "index.html"

    def entry(page: str) -> dict:
        of_way, same = re.match(WAY, page), number(page) == number(here)
        minutes, question = about(page) if of_way else ("", "")
        name = label(page, titles[page], full=first)
        more = [other for other in titles if number(other) == number(page) and not re.match(WAY, other)]
        return {
            "page": page,
            "open": page == here,
            "number": re.match(r"(\d\d)?", name)[0] if first and of_way else "",
            "name": re.sub(r"^\d\d ", "", name) if first and of_way else name,
            "minutes": minutes,
            "question": question,
            "plate": plate(number(page)) if first else "",
            "tracked": tracked.get(page, ""),
            "more": [entry(other) for other in more] if of_way and same and not first else [],
        }

    groups = {name: [page for page in titles if re.match(pages, page)] for name, pages in GROUPS.items()}
    aside = list(groups)[2:]  # at hand, and folded; those of this lesson stand below it
    return fill(
        "contents",
        up=up(here),
        here=here,
        first=first,
        sections=sections,
        gallery_plate=plate("gallery"),
        groups={name: [entry(page) for page in pages] for name, pages in groups.items()},
        folded={name: [entry(page) for page in groups[name] if number(page) != number(here)] for name in aside},
        besides=[entry(page) for page in titles if not number(page)],
    )


def covered(body: str, here: str, titles: dict[str, str]) -> str:
    """A page whose title stands on a ground of its own, with what is asked and the picture of its lesson."""
    picture = plate("gallery" if here == GALLERY else number(here))

    def cover(found: re.Match) -> str:
        place = where(here, titles) if titles else None
        return fill("cover", up=up(here), place=place, head=found[1], plate=picture)

    return re.sub(r"(?s)\A\s*(<h1.*?</h1>(?:\s*<p>.*?</p>)?)", cover, body)


def where(here: str, titles: dict[str, str]) -> dict:
    """For the line above a page's title: where it stands, and how long it takes."""
    lesson = [page for page in titles if re.match(WAY, page) and number(page) == number(here)]
    if not lesson or here not in lesson:
        return {
            "part": "",
            "lesson": lesson[0] if lesson else "",
            "name": label(lesson[0], titles[lesson[0]]) if lesson else "",
            "kind": "exercise, in the notebook" if here.startswith("exercises/") else "beside the lesson",
        }
    return {
        "part": next(name for name, pages in GROUPS.items() if re.match(pages, here)),
        "number": number(here) if here.startswith("lessons/") else "",
        "minutes": about(here)[0],
        "near": near(here, titles),
    }


def near(here: str, titles: dict[str, str]) -> list[tuple[str, str, str]]:
    """The lessons before and after, for the right end of the line above the title: (page, name, sign)."""
    order = [page for page in titles if re.match(WAY, page)]
    at = order.index(here)
    short = {page: "checkpoint" if page.startswith("exercises/") else number(page) for page in order}
    ways = [(page, f"← {short[page]}") for page in order[max(at - 1, 0) : at]]
    ways += [(page, f"{short[page]} →") for page in order[at + 1 : at + 2]]
    return [(page, label(page, titles[page]), sign) for page, sign in ways]


def turns(here: str, titles: dict[str, str]) -> str:
    """The end of a page: the next lesson as a card, and the ways back and to the exercise."""
    if here in (GALLERY, "lessons/glossary.html"):  # progress.js names the lesson that one is at
        return (
            f'<a rel="next" href="{up(here)}index.html#lessons"><small>Next</small><b>All lessons →</b>'
            "<span>What you did is ticked off there.</span></a>"
        )
    order = [page for page in titles if re.match(WAY, page)]
    same = [i for i, page in enumerate(order) if number(page) == number(here)]
    if not same:
        return ""
    (at,) = same
    exercise = f"exercises/{Path(here).name}"
    return fill(
        "turns",
        up=up(here),
        after=[(p, label(p, titles[p]), *about(p), plate(number(p))) for p in order[at + 1 : at + 2]],
        before=[
            (p, label(p, titles[p])) for p in (order[max(at - 1, 0) : at] if here in order else order[at : at + 1])
        ],
        exercise=exercise if exercise in titles and exercise != here else "",
    )
