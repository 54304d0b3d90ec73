"""Exercise 2: one round, what stays in the cache, and the loop."""
