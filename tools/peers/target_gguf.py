"""The GGUF file that the course's target was made from, which other engines read."""

from pathlib import Path

from specdec_lab.errors import Say, silent
from specdec_lab.models.embedded import DOWNLOAD_MB, GGUF, cache_dir, download, work_folder


def gguf(say: Say = silent) -> Path:
    """The file in the cache, which is fetched on the first call.

    Raises:
        LabError: as `target_dir`.
    """
    kept = cache_dir() / GGUF
    if not kept.is_file():
        with work_folder() as work:
            say(f"Fetching {GGUF} ({DOWNLOAD_MB} MB) …")
            download(work, say).rename(kept)
            kept.chmod(0o644)
    return kept
