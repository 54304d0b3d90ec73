"""A draft learns from the target's answers.

Read own.py, which does the whole for a learner's prompts; then write.py and answers.py (the target answers, its tokens are
kept, and its rows are computed from them), loop.py and distill.py (a draft learns).
"""
