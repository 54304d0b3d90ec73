"""Install the course into the environment of the Python that runs this file: with uv, or else with pip.

    .venv/bin/python install.py                       the course, as `make lab` does
    .venv/bin/python install.py -c FILE PACKAGE …     whatever else `pip install` takes

Two reasons for uv. It picks the build of PyTorch that fits this machine, where pip takes the one of the default
index: on Linux that one needs CUDA libraries of several GB, also where there is no NVIDIA GPU. And it is faster.
UV_TORCH_BACKEND=cpu in the environment (or cu130, …) chooses the build instead.
"""

from __future__ import annotations  # so that an older Python, too, is told

import ast
import os
import platform
import re
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
UV = [sys.executable, "-m", "uv", "--quiet", "pip", "install", "--python", sys.executable]
AS_TEXT = {"encoding": "utf-8", "errors": "replace"}  # uv writes UTF-8, whatever the code page of Windows is
tell = partial(print, file=sys.stderr, flush=True)

# For these PyTorch has packages: from which version of macOS or glibc on.
LEAST = {"macosx-arm64": (14,), "linux-x86_64": (2, 28), "linux-aarch64": (2, 28), "win-amd64": ()}
UNFIT = (
    "The course needs Python 3.11 to 3.14 on Linux (x86-64 or arm, glibc 2.28 or newer), on macOS 14 or newer (arm), or on "
    "Windows (x86-64): for others there is no PyTorch. Here is Python {} on {}."
)

# Where pip is told to look for packages, and what uv calls it, which does not read pip's settings.
SAME_SETTING = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
}


def main(packages: list[str]) -> int:
    here = sysconfig.get_platform() if sys.platform != "darwin" else f"macosx-{platform.machine()}"
    system = platform.mac_ver()[0] or platform.libc_ver()[1]
    version = tuple(int(part) for part in system.split(".") if part.isdigit())
    if not (3, 11) <= sys.version_info < (3, 15) or here not in LEAST or version < LEAST[here]:
        tell(UNFIT.format(platform.python_version(), f"{here} {system}".strip()))
        return 1
    if os.name == "nt" and len(str(ROOT)) > 64:
        tell(f"{ROOT} is long: where Windows has no long paths switched on, a folder of at most 64 letters is needed.")
    if not packages:
        os.chdir(ROOT)  # the folder by a dot: an address with a sign such as # in it would end there
        packages = ["-c", str(ROOT / "constraints.txt"), "-e", ".[lab]"]
    environment = settings()
    if said := with_uv(packages, environment):
        first = re.search(r"^error: (.*)(?:\n +cause: (.*))?", said, re.M) or re.match("(.*)", said)
        tell(
            f"uv could not install ({'; '.join(filter(None, first.groups()))}), so pip does it now, from its own indexes: "
            "that is slower, and for Linux PyTorch may bring CUDA libraries of several GB."
        )
        if status := subprocess.run([*PIP, "install", "--quiet", *packages], env=environment).returncode:
            tell(f"pip could not install either: its message is above. Before that uv had failed:\n{said}")
            return status
    asked = [sys.executable, "-I", "-c", "import importlib.metadata as m; m.version('specdec-lab')"]
    if packages[-1].startswith(".") and subprocess.run(asked, capture_output=True).returncode:
        tell(f"No error was told, but the course is not in {sys.prefix}: a setting sends packages elsewhere.")
        return 1
    return 0


def with_uv(packages: list[str], environment: dict[str, str]) -> str:
    """Install with uv; what it said if it could not, and nothing if it could."""
    get_uv = [*PIP, "install", "--quiet", "-c", str(ROOT / "constraints.txt"), "uv"]
    install = [*UV, "--torch-backend", os.environ.get("UV_TORCH_BACKEND", "auto"), *packages]
    for command, start in ((get_uv, "error: pip could not fetch uv\n"), (install, "")):
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, **AS_TEXT)
        if done.returncode:
            return start + done.stderr.strip() or f"error: it ended with status {done.returncode}"
    return ""


def settings() -> dict[str, str]:
    """The environment for pip and uv. Of pip's settings it has those that say where packages come from, for both, and no
    other: some would send the packages past this environment.
    """
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, **AS_TEXT).stdout.splitlines()
    # Of several indexes uv, too, is to take the best version.
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match", "PIP_CONFIG_FILE": os.devnull}
    for section in ("global.", "install.", ":env:."):  # a later one counts more
        for line in listed:
            name, _, value = line.removeprefix(section).partition("=")
            if line.startswith(section) and name in SAME_SETTING:
                variable, between = SAME_SETTING[name]
                words = ast.literal_eval(value).split()
                found |= {variable: between.join(words), f"PIP_{name.upper().replace('-', '_')}": " ".join(words)}
    return found | {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}  # what is said to uv counts more


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
