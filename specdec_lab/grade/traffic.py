"""Exercise 8: your traffic."""
