"""Grade one notebook, in a process that may fail for itself: whatever a notebook does to its grader, the others are graded.

python -m specdec_grader '{"path": …, "exercise": …, "unlocked": …}'     the result of `grade` as JSON
"""

import ctypes
import json
import signal
import sys
from contextlib import suppress

from specdec_grader.learner.jail import DIES_WITH_PARENT
from specdec_grader.notebook import grade
from specdec_lab.errors import LabError

MEMORY = 4 * 2**30  # bytes of addresses; judges need a few hundred MB


def main() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)  # what it starts may ask for more
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # which lets it end what it has started
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM, 0, 0, 0)
    asked = json.loads(sys.argv[1])
    try:
        found = grade(asked.pop("path"), lambda line: print(line, file=sys.stderr, flush=True), **asked)
    except LabError as e:
        found = {"error": str(e)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
