"""Files are written whole or not at all, and only plain files are replaced."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_plain(path: Path) -> None:
    """Raises OSError where something else than a plain file stands: a folder, a device such as /dev/null, a pipe.

    To read such a thing may never end, and to replace it would take it away from every program on the machine.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no plain file", str(path))


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Lends a name beside `path` to write to. If the block does not fail, what was written takes the place of `path`.

    Raises:
        OSError: as `check_plain`, before the block; or when what was written cannot be put there.
    """
    check_plain(path)
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
