"""Exercise 6: variants."""
