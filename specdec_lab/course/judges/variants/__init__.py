"""Exercise 6: prompt lookup, and a better one."""

from specdec_lab.course.judges.variants.improve import compare, texts, written  # noqa: F401  for the notebook
