"""Exercise 6: prompt lookup, and a better one."""

from specdec_lab.course.judges.variants import improve, propose  # noqa: F401  they register their parts
from specdec_lab.course.judges.variants.improve import compare, texts, written  # noqa: F401  for the notebook
