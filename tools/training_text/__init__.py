"""The text that the shipped drafters learned from: what is asked, and about which passages.

`python tools/passages.py` fetches the passages, `python tools/write_training_text.py` has the target answer, `python
tools/train_drafter.py` trains on the answers.
"""
