"""Exercise 4: the overlap of two distributions, tokens per pass, and α of a trace with its interval."""

from specdec_lab.course.judges.acceptance import claim, interval, overlap, rate, tokens  # noqa: F401  they register their parts
