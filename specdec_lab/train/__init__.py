"""Training drafts on what the target answers.

Read sources.py, requests.py, write.py, shards.py, distill.py and loop.py, then recipes.py, which uses all of them.
"""
