"""Install the course into the environment of the Python that runs this file: with uv, or else with pip.

    .venv/bin/python install.py                       the course, as `make lab` does
    .venv/bin/python install.py -c FILE PACKAGE …     whatever else `pip install` takes

Two reasons for uv. It picks the build of PyTorch that fits this machine, where pip takes the one of the default
index: on Linux that one needs CUDA libraries of several GB, also where there is no NVIDIA GPU. And it is faster.
UV_TORCH_BACKEND=cpu in the environment (or cu130, …) chooses the build instead.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
UV = [sys.executable, "-m", "uv", "--quiet", "pip", "install", "--python", sys.executable]

# Some machines tell pip to install beside the environments, for each user. Into an environment it then installs nothing.
HERE = {"PIP_USER": "0"}

AS_TEXT = {"encoding": "utf-8", "errors": "replace"}  # uv writes UTF-8, whatever the code page of Windows is

# Where pip is told to look for packages, and what uv calls it. uv does not read pip's settings.
SAME_SETTING = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
}


def main(packages: list[str]) -> int:
    if not packages:
        os.chdir(ROOT)  # the folder by a dot: an address with a sign such as # in it would end there
        packages = ["-c", str(ROOT / "constraints.txt"), "-e", ".[lab]"]
    said = with_uv(packages)
    if not said:
        return 0
    tell(
        f"uv could not install ({in_short(said)}), so pip does it now, from its own indexes: "
        "that is slower, and for Linux PyTorch may bring CUDA libraries of several GB."
    )
    status = subprocess.run([*PIP, "install", "--quiet", *packages], env=os.environ | HERE).returncode
    if status:
        tell(f"pip could not install either: its message is above. Before that uv had failed:\n{said}")
    return status


def with_uv(packages: list[str]) -> str:
    """Install with uv; what it said if it could not, and nothing if it could."""
    get_uv = [*PIP, "install", "--quiet", "-c", str(ROOT / "constraints.txt"), "uv"]
    install = [*UV, "--torch-backend", os.environ.get("UV_TORCH_BACKEND", "auto"), *packages]
    environment = pip_settings() | os.environ | HERE  # what is said to uv itself counts more
    for command, start in ((get_uv, "error: pip could not fetch uv\n"), (install, "")):
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, **AS_TEXT)
        if done.returncode:
            return start + done.stderr.strip() or f"error: it ended with status {done.returncode}"
    return ""


def pip_settings() -> dict[str, str]:
    """The settings of pip that say where packages come from, as environment variables for uv."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, **AS_TEXT).stdout.splitlines()
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # of several indexes the best version, as pip does
    for section in ("global.", "install.", ":env:."):  # a later one counts more
        for line in listed:
            name, _, value = line.removeprefix(section).partition("=")
            if line.startswith(section) and name in SAME_SETTING:
                variable, between = SAME_SETTING[name]
                found[variable] = between.join(ast.literal_eval(value).split())
    return found


def in_short(said: str) -> str:
    """uv's error without the chain of causes: it says what went wrong, and on the next line where."""
    lines = [line.strip() for line in said.splitlines()]
    at = next((i for i, line in enumerate(lines) if line.startswith("error: ")), 0)
    where = [line for line in lines[at + 1 : at + 2] if line.startswith("cause: ")]
    return "; ".join([lines[at].removeprefix("error: "), *(line.removeprefix("cause: ") for line in where)])


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
