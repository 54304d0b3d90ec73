"""The grader: what the exercises ask, what is said about an answer, and the marks of a class.

`check("4.rate", alpha_hat)` (checks) runs the judge of this part (part), and stops it if it takes too long (guard). What
an exercise asks stands in `sheets`. Most judges compare the learner's results with a `Question` (question), which knows
the right formula and the wrong ones that learners write, each with the sentence that is told. `notebook` grades a
notebook whose code runs in a locked process (learner); `classroom` does it for a class. It stands on `specdec_lab`,
which never imports it.
"""
