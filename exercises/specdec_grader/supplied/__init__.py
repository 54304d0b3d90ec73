"""What exercises lend to a learner's code. When a notebook is graded, this is in the learner's process, where no judge is:
nothing here may know an answer.
"""
