"""Exercise 1: idle math."""
