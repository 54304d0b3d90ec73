"""Benchmark results that were saved once on some machine, for lessons to show beside the learner's own.

Each is what `specdec-lab bench --json` printed; `--record` puts it here. A result never stands
without its hardware.
"""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.measure.prompts import bootstrap_interval

Counts = Mapping[str, Sequence[int]]  # by prompt: new tokens, target passes


def folder() -> Path:
    """Where saved results are, in the package."""
    return Path(str(resources.files("specdec_lab"))) / "data" / "results"


def save_result(result: dict) -> Path:
    """Keep a benchmark's result, named after its hardware, number format, temperature and γ. It replaces an older one."""
    meta = result["meta"]
    parts = [meta["hardware"], meta["dtype"], f"t{meta['temperature']:g}", f"gamma {meta['gamma']}"]
    name = re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")
    path = folder() / f"{name}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as unfinished:
            unfinished.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as e:
        raise LabError(f"The result, printed above, cannot be kept in {path} ({e.strerror}).") from e
    return path


def saved_results(**wanted: object) -> list[dict]:
    """All saved results whose `meta` has these values, such as `saved_results(temperature=0)`."""
    results = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder().glob("*.json")))
    return [r for r in results if all(r["meta"].get(key) == value for key, value in wanted.items())]


def recorded(name: str) -> Any:
    """What a script of tools/ recorded in data/NAME.json; what it holds is said where it was written.

    designs: `record_designs`, climbs: `record_climbs`, gpu: `record_gpu`, trees/t0 and trees/t1: `record_trees` by
    temperature, engine/draft and engine/ngram: an engine, by `traffic --endpoint`. Keys that are numbers, or pairs of
    them, are such again.
    """
    return json.loads((folder().parent / f"{name}.json").read_text(encoding="utf-8"), object_pairs_hook=_with_numbers)


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict:
    return {
        (tuple(json.loads(key)) if key[:1] == "[" else int(key) if key.isdecimal() else key): value
        for key, value in pairs
    }


def tokens_per_pass(counts: Counts, other: Counts | None = None) -> tuple[float, tuple[float, float]]:
    """All new tokens / all passes; with `other`, how many times the same of `other`. And the 95 %
    interval of that, by bootstrap over prompts.
    """

    def value(prompts: Sequence[str]) -> float:
        found = [sum(of[p][0] for p in prompts) / sum(of[p][1] for p in prompts) for of in (counts, other) if of]
        return found[0] / found[1] if other else found[0]

    return value(list(counts)), bootstrap_interval(value, list(counts))  # pyright: ignore[reportReturnType] - each draw has a value
