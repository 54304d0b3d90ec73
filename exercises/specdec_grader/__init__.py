"""The grader: what the exercises ask, what is said about an answer, and the marks of a class.

`check("4.rate", alpha_hat)` (checks) runs the judge of this part (part), and stops it if it takes too long (guard). What
an exercise asks stands in `sheets`. Most judges compare the learner's results with a `Question` (question), which knows
the right formula and the wrong ones that learners write, each with the sentence that is told. `notebook` grades a
notebook whose code runs in a locked process (learner); `classroom` does it for a class. It stands on `specdec_lab`,
which never imports it.
"""

import importlib

_MODULE_OF = {"check": "specdec_grader.checks", "progress": "specdec_grader.progress_table"}
__all__ = [*_MODULE_OF]


def __getattr__(name: str):
    """What exercises and lessons say, imported when it is first used: a learner's process has no sheets to check with."""
    if name not in _MODULE_OF:
        raise AttributeError(f"specdec_grader has no {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
