"""Exercise 11: places that are filled at once, a smaller head, when to stop, and a rule that is known by its output."""
