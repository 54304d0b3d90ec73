"""Numbers as people read them."""

import math
from fractions import Fraction

import pytest

from specdec_lab.formats import percentile, rounded, short


@pytest.mark.parametrize("n", [1, 2, 3, 19, 20, 21, 100, 300])
def test_a_percentile_is_the_least_such_value(n):
    """By its definition, in fractions: a share such as 0.07 is a little off as a binary number, and must not count as more."""
    values = [(7 * i) % n * 1.5 for i in range(n)] if n % 7 else [float(-i) for i in range(n)]
    for hundredths in range(101):
        within = (v for v in sorted(values) if 100 * sum(x <= v for x in values) >= hundredths * n)
        assert percentile(iter(values), hundredths / 100) == next(within), hundredths


def test_three_digits_count_and_all_before_the_point():
    assert short(0.0) == "0"
    known = {0.12345: "0.123", 99.44: "99.4", 99.5: "99.5", 100.4: "100", 1234.7: "1235", 1e14: "1" + 14 * "0"}
    for value, text in known.items():
        assert short(value) == text and short(-value) == ("-" + text)
    assert short(999999999999999.0) == 15 * "9"  # the last one in full
    assert short(1e15) == "1e+15" and short(0.0001234) == "0.000123" and short(0.00001234) == "1.23e-05"
    for k in range(-60, 60):
        value = 1.3**k
        least = Fraction(10) ** (math.floor(math.log10(value)) - 2)  # the third digit
        assert abs(Fraction(short(value)) - Fraction(value)) <= max(least, 1 if value >= 100 else 0) / 2


def test_all_numbers_of_plain_data_are_rounded_and_nothing_else():
    data = {"a": [1 / 3, (2 / 3, 12345), {"b": 123456.0}], "c": True, "d": None, "e": "0.33333"}
    assert rounded(data, 2) == {"a": [0.33, [0.67, 12345], {"b": 120000.0}], "c": True, "d": None, "e": "0.33333"}
    assert rounded(math.pi, 4) == 3.142 and rounded([], 2) == [] and rounded(7, 1) == 7
