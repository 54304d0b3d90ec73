"""Training drafts on text that the target writes: write.py, shards.py, distill.py, loop.py, and recipes.py that ties them together."""
