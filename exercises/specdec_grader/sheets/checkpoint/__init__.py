"""Exercise 9: the checkpoint. Its six cases are fixed, so what is judged are answers, and not programs."""
