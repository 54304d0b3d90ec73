"""Quiz questions with numbers, a file for each lesson."""

# They register.
from specdec_lab.course.problems import acceptance, designs, exactness, idle_math, load, own, rounds, speed, today, traffic, trees  # noqa: F401, I001  # fmt: skip
from specdec_lab.course.problems.base import PROBLEMS, Problem, variants

__all__ = ["PROBLEMS", "Problem", "variants"]
