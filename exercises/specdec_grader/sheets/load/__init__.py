"""Exercise 7: what drafts are worth in a batch, where they begin to lose, and a policy."""

from specdec_grader.sheets.load import crossover  # noqa: F401  whose parts come before the policy
