"""Numbers as people read them. (As they type them: show/forms.js.)"""

import re
from collections.abc import Iterable


def drop_leading_zeros(text: str) -> str:
    """Without the zeros before a point, as the lessons write chances and ratios: .75."""
    return re.sub(r"\b0(?=\.\d)", "", text)


def short(value: float) -> str:
    """Three digits that count; whole numbers from 100 on in full."""
    return f"{value:.0f}" if 100 <= abs(value) < 1e15 else f"{value:.3g}"


def percentile(values: Iterable[float], share: float) -> float:
    """The value that `share` of all stay within, such as .95."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
