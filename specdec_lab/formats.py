"""Numbers, and some of them in a sentence, as people read them. (As they type them: show/forms.js.)"""

import math
from collections.abc import Iterable, Sequence
from typing import Any


def short(value: float) -> str:
    """Three digits that count; whole numbers from 100 on in full."""
    return f"{value:.0f}" if 100 <= abs(value) < 1e15 else f"{value:.3g}"


def joined(words: Sequence[str]) -> str:
    """Words in a sentence, with "and" before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def pace(done: int, wanted: int, seconds: float) -> str:
    """How far long work is: tokens done of those wanted, how many a second, and the time left."""
    left = max(0, wanted - done) * seconds / max(done, 1)
    soon = "nothing left" if done >= wanted else f"{left / 60:.0f} min left" if left > 90 else f"{left:.0f} s left"
    return f"{done:,} of {wanted:,} tokens, {done / max(seconds, 1e-9):,.0f} a second, {soon}"


def percentile(values: Iterable[float], share: float) -> float:
    """The least of the values that `share` of all, such as 0.95, stay within."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]  # 0.07 * 100 is a little more than 7


def rounded(value: object, digits: int) -> Any:
    """All numbers in plain data to so many digits: what a picture can show, and a diff can be read."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {k: rounded(v, digits) for k, v in value.items()}
    return [rounded(v, digits) for v in value] if isinstance(value, list | tuple) else value


def escaped(text: str, keep: str = "") -> str:
    """Text that a terminal only shows: signs that it would obey, or that reverse a line, as Python writes them.

    Args:
        keep: signs that stay as they are, such as line breaks.
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape", "replace").decode() for c in text)


def cut(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[:most] + "…"


def printable(text: str, most: int = 2000) -> str:
    """Somebody else's text on one line of a report."""
    return escaped(cut(text, most))


def first_line(e: BaseException, most: int = 150) -> str:
    """The beginning of another library's message; a heading that ends in a colon brings the line behind it. Its kind stands
    in front where it says a word or nothing, such as the key that was not found.
    """
    lines = [line.strip() for line in str(e).splitlines() if line.strip()] or [""]
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return (said if " " in said else f"{type(e).__name__} {said}")[:most].rstrip(".: ")


def in_digits(number: int) -> str:
    """A whole number that somebody typed, cut where it has many digits."""
    text = str(number)
    return text if len(text) <= 20 else f"{text[:10]}… ({len(text)} digits)"
