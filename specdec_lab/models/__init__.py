"""Models that remember: weights once, and any number of caches that extend and rewind."""
