"""Exercise 9: the checkpoint."""
