"""Say what this machine has, what is missing, and the command that mends it."""

import argparse
import importlib.metadata
import json
import os
import platform
import shutil

PACKAGES = {
    "torch": "",
    "transformers": "",
    "accelerate": "",
    "gguf": "",
    "jupyterlab": "[lab]",
    "ipywidgets": "[lab]",
    "anywidget": "[lab]",
    "plotly": "[lab]",
}
TARGET_GB = 0.6  # weights in float32 and a short cache


def arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(args: argparse.Namespace) -> int:
    from specdec_lab.hardware import describe, memory_gb
    from specdec_lab.models.embedded import DISK_MB, DOWNLOAD_MB, FOLDER, NAME, cache_dir
    from specdec_lab.models.load import pick_device, pick_dtype

    device = pick_device(args.device)
    free, total = memory_gb(device)
    cache = cache_dir()
    ready = (cache / FOLDER).is_dir()
    versions, missing = {"python": platform.python_version()}, []
    for package, extra in PACKAGES.items():
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
            missing.append({"what": package, "mend": f'pip install "specdec-lab{extra}"'})
    if not ready:
        missing.append({"what": f"the target, {NAME} ({DOWNLOAD_MB} MB download)", "mend": "specdec-lab fetch"})
        parent = next(p for p in (cache, *cache.parents) if p.exists())
        if not os.access(parent, os.W_OK):
            missing.append(
                {"what": f"a writable cache ({cache} is not)", "mend": "export SPECDEC_LAB_CACHE=/some/folder"}
            )
        elif shutil.disk_usage(parent).free / 1e6 < DISK_MB + 2 * DOWNLOAD_MB:
            missing.append(
                {"what": f"disk space for the target in {cache}", "mend": "export SPECDEC_LAB_CACHE=/a/larger/disk"}
            )
    if free < TARGET_GB:
        missing.append({"what": f"memory ({free:.1f} GB free, {TARGET_GB} needed)", "mend": "close other programs"})

    result = {
        "schema": 1,
        "device": str(device),
        "hardware": describe(device),
        "dtype": str(pick_dtype(device)).removeprefix("torch."),
        "memory_gb": {"free": round(free, 1), "total": round(total, 1)},
        "versions": versions,
        "pair": {"target": NAME, "cached": ready, "cache": str(cache)},
        "missing": missing,
    }
    if args.json:
        print(json.dumps(result, ensure_ascii=False))
        return 1 if missing else 0
    print(f"device    {result['device']}: {result['hardware']}, {result['dtype']}")
    print(f"memory    {free:.1f} GB free of {total:.1f} GB")
    print("versions  " + ", ".join(f"{name} {v or 'missing'}" for name, v in versions.items()))
    print(f"target    {NAME}: {'ready' if ready else 'not fetched yet'}, in {cache}")
    for m in missing:
        print(f"missing   {m['what']}: run  {m['mend']}")
    if not missing:
        print("Everything is here.")
    return 1 if missing else 0
