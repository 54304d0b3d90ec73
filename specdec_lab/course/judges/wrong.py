"""What a judge raises: a mistake in a sentence, or nothing there yet."""


class Wrong(Exception):
    """A mistake, in one sentence for the learner.

    Args:
        earned: the share of the points that is earned all the same, 0 to 1.
        misconception: its number, where a common belief is behind it.
    """

    def __init__(self, message: str, earned: float = 0.0, misconception: int | None = None):
        super().__init__(message)
        self.earned, self.misconception = earned, misconception


class StillOpen(Exception):
    """The learner has not begun: a stub returned nothing."""
