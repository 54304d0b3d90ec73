"""Exercise 4: the overlap of two distributions, tokens per pass, and α of a trace with its interval."""
