"""Exercise 9: the checkpoint. Its six cases are fixed, so what is judged are answers, and not programs."""

from specdec_lab.course.judges.checkpoint import c1, c2, c3, c4, q1, q2  # noqa: F401  they register their parts
