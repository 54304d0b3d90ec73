"""Exercise 7: load."""
