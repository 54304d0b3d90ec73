"""What exercises are judged on, where it is data: the files in data, each with a line about what it holds."""

import functools
import json
from collections.abc import Sequence
from importlib import resources


@functools.cache
def stored(name: str) -> dict:
    file = resources.files("specdec_grader") / "data" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def table(name: str, rows: Sequence[Sequence]) -> list[dict]:
    """Rows of the file `name`, each with the names of its fields."""
    return [dict(zip(stored(name)["fields"], row)) for row in rows]
