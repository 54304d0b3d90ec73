"""Showing rounds to people: one set of marks, in the terminal, on a static page and in a widget."""
