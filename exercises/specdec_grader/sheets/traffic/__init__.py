"""Exercise 8: an engine's counts, the time of a whole answer, and a decision from a report."""
