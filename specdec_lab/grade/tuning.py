"""Exercise 5: choosing γ."""
