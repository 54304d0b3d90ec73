"""A draft learns from the target's answers.

Read own.py, which does the whole for a learner's prompts; then write.py and answers.py (the target answers, and its
tokens are kept), batches.py (its rows are computed from them), and recipes.py, loop.py and distill.py (a draft learns).
"""
