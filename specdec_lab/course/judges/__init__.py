"""Grading: one check for the notebook of a lone learner and for a class."""
