"""Exercise 6: prompt lookup, and a better one."""
