"""Benchmark results that were saved once on some machine, for lessons to show beside the learner's own.

Each is what `specdec-lab bench --json` printed; `--record` puts it here. A result never stands
without its hardware.
"""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.measure.prompts import bootstrap_interval

Counts = Mapping[str, Sequence[int]]  # by prompt: new tokens, target passes


def folder() -> Path:
    """Where saved results are, in the package."""
    return Path(str(resources.files("specdec_lab"))) / "data" / "results"


def save_result(result: dict) -> Path:
    """Keep a benchmark's result, named after its hardware, number format, temperature and γ. It replaces an older one.

    Raises:
        LabError: when it cannot be written.
    """
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


def engine_run(name: str) -> dict:
    """A recorded run of a serving engine, as `specdec-lab traffic --endpoint --json` printed it, with a label that says
    where and how.

    Args:
        name: the file in data/engine.
    """
    return _recorded(f"engine/{name}.json")


def recorded_trees(temperature: float) -> dict[str, Counts]:
    """What `tools/record_trees.py` counted on the built-in suite, by arm, such as "eagle-tree 8"."""
    return _recorded(f"trees/t{temperature:g}.json")["arms"]


def recorded_designs() -> dict:
    """What `tools/record_designs.py` measured, {"runs": [{"design", "tokens", "held_out", "overlap" by place, "tokens_a_pass",
    …}]}; in "further" the same from long runs on a GPU, with its "hardware" and what they were "begun_with"; and in "blocks"
    short runs of blocks of layers on this GPU, on other held-out text, with what drafts and blocks would "cost".
    """
    return _recorded("designs.json")


def recorded_climbs() -> dict:
    """What `tools/record_climbs.py` measured: {"before": {file: counts}, "runs": {file: {"history", "after": {file:
    counts}}}, …}."""
    return _recorded("climbs.json")


def recorded_gpu() -> dict:
    """What `tools/record_gpu.py` measured on one card: {"hardware", "torch", "passes": {model: {k: seconds}}, "steps":
    {model: {(texts, γ): seconds}}, "texts" (greedy) and "sampled" (temperature 1): {model: {"texts",
    "tokens_per_second" by arm, and of greedy ones "same", how many are plain decoding's}}}.
    """
    found = _recorded("gpu.json")
    found["passes"] = {m: {int(k): seconds for k, seconds in T.items()} for m, T in found["passes"].items()}
    found["steps"] = {m: {(n, gamma): seconds for n, gamma, seconds in all_} for m, all_ in found["steps"].items()}
    return found


def _recorded(name: str) -> dict:
    return json.loads((folder().parent / name).read_text(encoding="utf-8"))


def tokens_per_pass(counts: Counts, other: Counts | None = None) -> tuple[float, tuple[float, float]]:
    """All new tokens / all passes; with `other`, how many times the same of `other`. And the 95 %
    interval of that, by bootstrap over prompts.
    """

    def value(prompts: Sequence[str]) -> float:
        found = [sum(of[p][0] for p in prompts) / sum(of[p][1] for p in prompts) for of in (counts, other) if of]
        return found[0] / found[1] if other else found[0]

    return value(list(counts)), bootstrap_interval(value, list(counts))  # pyright: ignore[reportReturnType] - each draw has a value
