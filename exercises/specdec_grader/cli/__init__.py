"""The commands that grade, and tell how far one is."""
