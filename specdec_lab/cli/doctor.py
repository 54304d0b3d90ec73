"""Say what this machine has, what is missing, and the command that mends it."""

import argparse
import importlib.metadata
import os
import platform
import shutil
import sys
from pathlib import Path

from packaging.requirements import Requirement

from specdec_lab.choices import EMBEDDED
from specdec_lab.cli import reply
from specdec_lab.errors import LabError

TARGET_GB = 1.2  # the embedded target in float32, its packed copy, and a short cache
WITH_NUMBA = "numba is here: passes are quick, and a row has the same bits in every pass"
WITHOUT_NUMBA = (
    "numba is not here: passes take longer, and greedy text with drafts may differ from plain decoding's where two tokens "
    "are nearly as likely. To mend it:"
)

Missing = dict[str, str]  # what is missing → the command that mends it


def run(args: argparse.Namespace) -> int:
    versions, missing = packages()
    device = hardware = dtype = memory = pair = speed = None
    try:
        from specdec_lab.models.hardware import describe, memory_gb
        from specdec_lab.models.load import pick_device, pick_dtype
    except (ImportError, OSError) as e:  # OSError: a library that torch needs does not load
        if all(what.partition(" ")[0] not in ("torch", "transformers") for what in missing):
            missing[f"torch that works ({e})"] = install("torch")
    else:
        device = pick_device(args.device)
        hardware, dtype = describe(device), str(pick_dtype(args.dtype, device)).removeprefix("torch.")
        dtype = args.dtype if args.dtype == "int4" else dtype
        if device.type == "cpu":
            from specdec_lab.models import loops

            speed = {"numba": loops.HERE}
        free, total = memory_gb(device)
        memory = {"free": round(free, 1), "total": round(total, 1)}
        if free < TARGET_GB:
            missing[f"memory ({free:.1f} GB free, {TARGET_GB} needed)"] = "(close some programs)"
        pair, lacking = embedded() if args.target == EMBEDDED else other(args.target)
        missing |= lacking
    result = {
        "schema": 1, "device": device and str(device), "hardware": hardware, "dtype": dtype, "memory_gb": memory, "speed": speed,
        "versions": versions, "pair": pair, "missing": [{"what": what, "mend": mend} for what, mend in missing.items()],
    }  # fmt: skip
    reply(args, result, as_text(result))
    return 1 if missing else 0


def packages() -> tuple[dict[str, str | None], Missing]:
    """The version of every package that the project needs, and those that are absent or too old."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    missing: Missing = {}
    try:
        needs = importlib.metadata.requires("specdec-lab") or ()
    except importlib.metadata.PackageNotFoundError:
        return versions, {"specdec-lab (it runs, but is not installed)": install(extra="lab")}
    for line in needs:
        needed = Requirement(line)
        if needed.marker and not needed.marker.evaluate({"extra": "lab"}):
            continue  # for teachers or developers
        try:
            found = importlib.metadata.version(needed.name)
        except importlib.metadata.PackageNotFoundError:
            found = None
        versions[needed.name] = found
        if found is None or not needed.specifier.contains(found, prereleases=True):
            what = needed.name if found is None else f"{needed.name} {needed.specifier} (here is {found})"
            missing[what] = install(extra="lab" if "extra" in str(needed.marker) else "")
    return versions, missing


def install(package: str = "", extra: str = "") -> str:
    """The command that installs a package of the project, or the project itself."""
    brackets = f"[{extra}]" if extra else ""
    clone = (Path(__file__).parents[2] / "pyproject.toml").is_file()
    if clone:  # install.py knows which build of torch fits this machine
        wanted = f"--force-reinstall {package}" if package else f'-e ".{brackets}"'
        return f"python install.py -c constraints.txt {wanted}  (in the clone)"
    return f"pip install --force-reinstall {package}" if package else f'pip install "specdec-lab{brackets}"'


def embedded() -> tuple[dict, Missing]:
    """The embedded target: whether it is here, or can be put here."""
    from specdec_lab.models.embedded import DISK_MB, DOWNLOAD_MB, FOLDER, NAME, cache_dir

    cache, missing = cache_dir(), {}
    pair = {"target": NAME, "cached": (cache / FOLDER).is_dir(), "cache": str(cache)}
    if not pair["cached"]:
        missing[f"the target, {NAME} ({DOWNLOAD_MB} MB download)"] = "specdec-lab fetch"
        parent = next(p for p in (cache, *cache.parents) if p.exists())
        if not os.access(parent, os.W_OK):
            missing[f"a writable cache ({cache} is not)"] = "export SPECDEC_LAB_CACHE=/some/folder"
        elif shutil.disk_usage(parent).free / 1e6 < DISK_MB + 2 * DOWNLOAD_MB:
            missing[f"disk space for the target in {cache}"] = "export SPECDEC_LAB_CACHE=/a/larger/disk"
    return pair, missing


def other(target: str) -> tuple[dict, Missing]:
    """A target by path or hub name: whether it is on this machine."""
    if Path(target).is_dir():
        return {"target": target, "cached": True, "cache": target}, {}
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        here = isinstance(try_to_load_from_cache(target, "config.json"), str)
    except HFValidationError as e:
        raise LabError(f"There is no folder “{target}”, and it cannot be a hub name: check --target.") from e
    missing = {} if here else {f"the target, {target}": f"hf download {target}"}
    return {"target": target, "cached": here, "cache": constants.HF_HUB_CACHE}, missing


def as_text(result: dict) -> str:
    memory, pair = result["memory_gb"], result["pair"]
    lines = ["versions  " + ", ".join(f"{name} {v or 'missing'}" for name, v in result["versions"].items())]
    if result["device"]:
        lines.insert(0, f"device    {result['device']}: {result['hardware']}, {result['dtype']}")
        lines.insert(1, f"memory    {memory['free']} GB free of {memory['total']} GB")
        if speed := result["speed"]:
            numba = WITH_NUMBA if speed["numba"] else f"{WITHOUT_NUMBA}  {install('numba')}"
            lines += [f"speed     {numba}"]
        lines += [f"target    {pair['target']}: {'ready' if pair['cached'] else 'not fetched yet'}, in {pair['cache']}"]
    if sys.platform == "linux" and not shutil.which("bwrap"):
        lines += [
            "grading   bubblewrap, which locks in the code of notebooks, is not here. Who grades:  apt install bubblewrap"
        ]
    lines += [f"missing   {m['what']}. To mend it:  {m['mend']}" for m in result["missing"]]
    return "\n".join(lines if result["missing"] else [*lines, "Everything is here."])
