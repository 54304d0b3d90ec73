"""Measuring one's own traffic: prompts in, a report and a decision out."""
