"""Exercise 2: one round, what stays in the cache, and the loop."""

from specdec_lab.course.judges.rounds.toy import ToyTarget  # noqa: F401  for the notebook
