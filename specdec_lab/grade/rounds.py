"""Exercise 2: draft, then verify."""
