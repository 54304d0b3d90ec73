"""Say what this machine has, what is missing, and the command that mends it."""

import argparse
import importlib.metadata
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
    if args.target != EMBEDDED:
        raise LabError("doctor looks for the course's own target: demo says itself what another --target lacks.")
    versions, missing = packages()
    found = dict.fromkeys(("device", "hardware", "dtype", "memory_gb", "speed", "pair"))
    try:
        found = machine(args, missing)
    except (ImportError, OSError) as e:  # OSError: a library that torch needs does not load
        missing[f"torch that works ({e})"] = install("torch")
    named = [{"what": what, "mend": mend} for what, mend in missing.items()]
    result = {"schema": 1, **found, "versions": versions, "missing": named}
    reply(args, result, as_text(result))
    return 1 if missing else 0


def packages() -> tuple[dict[str, str | None], Missing]:
    """The version of every package that the project needs, and those that are absent or too old."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    missing: Missing = {}
    try:
        needs = importlib.metadata.requires("specdec-lab") or []
    except importlib.metadata.PackageNotFoundError:  # it runs from its folder
        needs = ["specdec-lab"]
    for needed in map(Requirement, needs):
        if needed.marker and not needed.marker.evaluate({"extra": "lab"}):
            continue  # for teachers or developers
        try:
            found = importlib.metadata.version(needed.name)
        except importlib.metadata.PackageNotFoundError:
            found = None
        versions[needed.name] = found
        if found is None or not needed.specifier.contains(found, prereleases=True):
            what = needed.name if found is None else f"{needed.name} {needed.specifier} (here is {found})"
            missing[what] = install()
    return versions, missing


def install(package: str | None = None) -> str:
    """The command that installs the project, or one of its packages anew."""
    if not (Path(__file__).parents[2] / "pyproject.toml").is_file():
        return f"pip install --force-reinstall {package}" if package else 'pip install "specdec-lab[lab]"'
    wanted = f"--force-reinstall {package}" if package else '-e ".[lab]"'
    return f"python install.py -c constraints.txt {wanted}  (in the clone)"  # it knows which build of torch fits


def machine(args: argparse.Namespace, missing: Missing) -> dict:
    """The device and the target; what they lack is added to `missing`."""
    from specdec_lab.models import loops
    from specdec_lab.models.embedded import DOWNLOAD_MB, FOLDER, NAME, cache_dir
    from specdec_lab.models.hardware import describe, memory_gb
    from specdec_lab.models.load import pick_device, pick_dtype

    device = pick_device(args.device)
    dtype = str(pick_dtype(args.dtype, device)).removeprefix("torch.")
    free, total = memory_gb(device)
    if free < TARGET_GB:
        missing[f"memory ({free:.1f} GB free, {TARGET_GB} needed)"] = "(close some programs)"
    cached = (cache_dir() / FOLDER).is_dir()
    if not cached:
        missing[f"the target, {NAME} ({DOWNLOAD_MB} MB download)"] = "specdec-lab fetch"
    return {
        "device": str(device), "hardware": describe(device), "dtype": "int4" if args.dtype == "int4" else dtype,
        "memory_gb": {"free": round(free, 1), "total": round(total, 1)},
        "speed": {"numba": loops.HERE} if device.type == "cpu" else None,
        "pair": {"target": NAME, "cached": cached, "cache": str(cache_dir())},
    }  # fmt: skip


def as_text(result: dict) -> str:
    lines = ["versions  " + ", ".join(f"{name} {v or 'missing'}" for name, v in result["versions"].items())]
    if result["device"]:
        memory, pair = result["memory_gb"], result["pair"]
        lines.insert(0, f"device    {result['device']}: {result['hardware']}, {result['dtype']}")
        lines.insert(1, f"memory    {memory['free']} GB free of {memory['total']} GB")
        if speed := result["speed"]:
            numba = WITH_NUMBA if speed["numba"] else f"{WITHOUT_NUMBA}  {install('numba')}"
            lines += [f"speed     {numba}"]
        lines += [f"target    {pair['target']}: {'ready' if pair['cached'] else 'not fetched yet'}, in {pair['cache']}"]
    if sys.platform == "linux" and not shutil.which("bwrap"):
        lines += ["grading   bubblewrap, which locks notebooks' code in, is missing:  apt install bubblewrap"]
    lines += [f"missing   {m['what']}. To mend it:  {m['mend']}" for m in result["missing"]]
    return "\n".join(lines if result["missing"] else [*lines, "Everything is here."])
