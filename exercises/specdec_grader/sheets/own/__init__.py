"""Exercise 12: which prompts to put aside, which look to keep, whether a gain is one, and when it has paid."""
