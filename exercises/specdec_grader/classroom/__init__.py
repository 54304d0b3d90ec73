"""A class: exercises collected and graded, and a report of them."""
