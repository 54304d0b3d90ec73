"""Grade one notebook, in a process that may fail for itself: whatever a notebook does to its grader, the others are graded.

python -m specdec_grader '{"path": …, "exercise": …, "unlocked": …}'     the result of `grade` as JSON, and what was said
"""

import ctypes
import json
import signal
import sys
from contextlib import suppress

from specdec_grader.notebook import grade
from specdec_lab.errors import LabError

MEMORY = 4 * 2**30  # bytes of addresses; judges need a few hundred MB
DIES_WITH_PARENT = 1  # of prctl


def main() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)  # what it starts may ask for more
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))
    if sys.platform == "linux":  # and bubblewrap ends with it
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    said: list[str] = []
    try:
        found = grade(**json.loads(sys.argv[1]), say=said.append)
    except LabError as e:
        found = {"error": str(e)}
    print(json.dumps(found | {"said": said}))


if __name__ == "__main__":
    main()
