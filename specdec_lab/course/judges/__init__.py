"""Grading: one check for the notebook of a lone learner and for a class."""

from specdec_lab.course.judges.check import check

__all__ = ["check"]
