"""What the exercises ask, and what is said about an answer. A folder is an exercise, and a file in it is a part.

`check("4.rate", alpha_hat)` (check) runs the judge of this part (part), and stops it if it takes too long
(guard). Most judges compare the learner's results with a `Question` (question), which knows the right formula
and the wrong ones that learners write: each is a `Mistake` (course/mistake) with the sentence that is told.
"""
