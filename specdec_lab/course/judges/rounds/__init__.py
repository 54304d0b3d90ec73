"""Exercise 2: one round, what stays in the cache, and the loop."""

from specdec_lab.course.judges.rounds import cache, loop, one_round  # noqa: F401  they register their parts
from specdec_lab.course.judges.rounds.toy import ToyTarget  # noqa: F401  for the notebook
