"""Exercise 10: what a draft of a tree sees, which way is kept, several drafts for one place, and chain or tree."""
