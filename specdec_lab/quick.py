"""The quick setting: every lesson runs through in a fraction of its time, and its numbers mean nothing. For tests only.

It is on where the environment says SPECDEC_LAB_QUICK=1, as `make test` does for the notebooks, and nowhere else.
Whatever writes texts, takes times or goes through a long list asks here how much of that to do.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

ON = os.environ.get("SPECDEC_LAB_QUICK") == "1"


def tokens(asked: int) -> int:
    """New tokens of a text. A short text stays whole: lessons compare such texts, token for token, with their own."""
    return 8 if ON and asked > 22 else asked


def learned(asked: int) -> int:
    """Tokens that a draft learns from."""
    return min(asked, 300) if ON else asked


def repeats(asked: int) -> int:
    """How often whole texts are decoded for their times."""
    return min(asked, 1) if ON else asked


def samples(asked: int) -> int:
    """How often one pass or step is timed. Three, so that one slow moment does not decide which of two is longer."""
    return min(asked, 3) if ON else asked


def turns(items: Iterable) -> list:
    """Of a long loop: at most 24 turns, and nothing a second time."""
    items = list(items)
    return [item for i, item in enumerate(items) if item not in items[:i]][:24] if ON else items


def shortest(prompts: Sequence, length: Callable[[Any], int]) -> list:
    """Of all prompts the two shortest, in their order: to read a long one takes longer than its 8 new tokens."""
    kept = sorted(prompts, key=length)[:2]
    return [p for p in prompts if p in kept] if ON else list(prompts)


def texts(most: int) -> int:
    """In a batch at once; the others wait."""
    return min(most, 4) if ON else most


def requests(arrivals: list) -> list:
    """Of those that come to a real server, which waits for them by the clock: the first few."""
    return arrivals[:8] if ON else arrivals
