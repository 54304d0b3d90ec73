"""The process that runs a learner's code, what it may do, and what is believed of it."""
