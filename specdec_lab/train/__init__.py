"""Training drafts on what the target answers: sources.py, requests.py, write.py, shards.py, distill.py, loop.py, and recipes.py that ties them together."""
