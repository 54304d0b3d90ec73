"""Exercise 5: the speed-up, the best γ, the least α that pays, and a choice from measured tables."""
