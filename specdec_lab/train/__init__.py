"""A draft learns from the target's answers.

Read own.py, which does the whole for a learner's prompts; then texts.py, write.py and shards.py (the target answers),
and recipes.py, loop.py and distill.py (a draft learns).
"""
