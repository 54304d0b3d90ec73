"""Quiz questions with numbers, a file for each lesson."""

from specdec_lab.course.problems import acceptance, designs, exactness, idle_math, load, rounds, speed, traffic, trees  # noqa: F401  they register
from specdec_lab.course.problems.base import PROBLEMS, Judged, Problem, pose_problem, variants

__all__ = ["PROBLEMS", "Judged", "Problem", "pose_problem", "variants"]
