"""Exercise 8: an engine's counts, the time of a whole answer, and a decision from a report."""

from specdec_lab.course.judges.traffic import decide, survival, whole  # noqa: F401  they register their parts
