"""Exercise 4: acceptance rate."""
