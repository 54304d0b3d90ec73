"""What users ask about: a folder of texts and prompts, or else the installed Python's own sources."""

import json
import random
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.train.passages import HELD_OUT, WRITTEN, Document, read_documents
from specdec_lab.train.readers import plain_text, python_code

PYTHON = "python"  # the source of what is read from the installed Python
WEIGHTS = {PYTHON: 1.5, WRITTEN: 8}  # how often passages are drawn from a source; 1 for every other one
LIST = (
    "passages.json"  # of a folder from tools/passages.py: {source: {"weight": …}}, each with its documents in a .jsonl
)


@dataclass(frozen=True)
class Passages:
    """What users ask about, and a user's own prompts."""

    documents: Sequence[Document] = ()
    own_prompts: Sequence[Prompt] = ()
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)

    def side(self, held_out: bool) -> list[Document]:
        """The documents to train on, or those that are held out."""
        return [d for d in self.documents if d.held_out == held_out]

    def prompts(self, held_out: bool) -> list[Prompt]:
        """The user's own prompts to train on, or those that are held out."""
        return [p for i, p in enumerate(self.own_prompts) if (i % HELD_OUT == HELD_OUT - 1) == held_out]


def own_passages(folder: Path) -> Passages:
    """A user's own texts and prompts: .txt, .md and .rst are prose, .py is code, .jsonl are prompts as `bench` takes
    them. What tools/passages.py put there is taken with its weights.

    Raises:
        LabError: when there is no such folder, nothing in it can be used, or a line of a .jsonl file is no prompt.
    """
    if not folder.is_dir():
        raise LabError(f"There is no folder {folder}: --passages takes one with .txt, .md, .rst, .py or .jsonl files.")
    documents, weights = listed(folder)
    prompts: list[Prompt] = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.suffix in (".txt", ".md", ".rst"):
            documents += plain_text("own", path)
        elif path.suffix == ".py":
            documents += python_code("own", path)
        elif path.suffix == ".jsonl" and (path.parent != folder or path.stem not in weights):
            prompts += read_prompts(str(path))
    if not documents and not prompts:
        raise LabError(
            f"Nothing in {folder} can be asked about: --passages needs .txt, .md or .rst files with whole sentences, "
            ".py files with functions, or .jsonl files with prompts."
        )
    return Passages(documents, prompts, WEIGHTS | weights)


def listed(folder: Path) -> tuple[list[Document], dict[str, float]]:
    """The documents of the sources that the folder's LIST names, and their weights.

    Raises:
        LabError: when the list and the files do not fit.
    """
    path = folder / LIST
    if not path.exists():
        return [], {}
    try:
        weights = {name: float(about["weight"]) for name, about in json.loads(path.read_text(encoding="utf-8")).items()}
        return [d for name in weights for d in read_documents(folder / f"{name}.jsonl")], weights
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
        raise LabError(f"{path} and the files that it lists cannot be used ({e}): make them anew.") from e


def installed_python(most: int = 4000) -> Iterator[Document]:
    """Functions and docstrings of the standard library and of a few installed packages."""
    library, site = (Path(sysconfig.get_paths()[x]) for x in ("stdlib", "purelib"))
    paths = [p for p in sorted(library.rglob("*.py")) if "site-packages" not in p.parts]
    for name in ("numpy", "packaging", "psutil", "transformers/utils", "torch/utils"):
        paths += sorted((site / name).rglob("*.py"))
    paths = [p for p in paths if not {"test", "tests", "idlelib", "lib2to3"} & set(p.parts)]
    random.Random(0).shuffle(paths)
    for path in paths[:most]:
        yield from python_code(PYTHON, path)
