"""Numbers as people type them and read them."""

import math
import re
from collections.abc import Iterable

from specdec_lab.errors import LabError

NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def read_number(typed: str, unit: str = "") -> float:
    """The number that was typed, with a point or a comma before the decimals; its unit may stand behind it.

    Raises:
        LabError: for anything that is not one finite number, and for "1,500", which has two readings.
    """
    text = typed.strip().removesuffix(unit).strip()
    if not text:
        raise LabError("The number is still missing: write something like 1.8.")
    if THOUSANDS.fullmatch(text):
        whole = text.replace(",", "")
        raise LabError(f"“{text}” has two readings: write {whole} or {text.replace(',', '.')}.")
    if not NUMBER.fullmatch(text) or not math.isfinite(value := float(text.replace(",", "."))):
        raise LabError(f"“{text}” is not a number: write something like 1.8.")
    return value


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
