"""Run the code of a lesson on the pretended GPU, with the quick setting: `python tests/lesson_there.py 06 FOLDER`.

Exits with 1 if a cell raised.
"""

import os
import sys
from concurrent.futures import Future
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "lessons"), str(ROOT / "tests")]

import build  # noqa: E402
import pretended  # noqa: E402
import pytest  # noqa: E402
import quick  # noqa: E402
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402

import specdec_lab as sd  # noqa: E402
from specdec_lab.lab import load  # noqa: E402


def load_now(**settings) -> Future:
    """In the place of `load_soon`: the GPU is there in this thread alone."""
    done = Future()
    done.set_result(load(**settings))
    return done


def main(name: str, folder: Path) -> int:
    pretended.guard(folder)
    pretended.MEMORY = 1.2e9  # lesson 01 fills what is free
    quick.start()
    sd.load_soon = load_now
    os.chdir(ROOT / "lessons")
    (source,) = Path("src").glob(f"{name}*.md")
    shell, failed = InteractiveShell.instance(), 0
    with pretended.pretended_gpu(pytest.MonkeyPatch()):
        for cell in build.from_source(source).cells:
            if cell.cell_type == "code":
                failed += not shell.run_cell(cell.source).success
        assert shell.user_ns["lab"].target.device.type == "cuda"
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
