"""Numbers for people: units of columns, intervals, and no exponents."""

import math
import random

import pytest

from anabranch.text import units


@pytest.mark.parametrize(
    ("most", "unit", "shown"),
    [
        (20_000, "Mbps", "20 Gbps"),
        (999.9, "Mbps", "999.9 Mbps"),
        (1000, "Mbps", "1 Gbps"),
        (0.4, "Mbps", "400 kbps"),
        (3e-6, "Mbps", "3 bps"),
        (2.5e-6, "s", "2.5 us"),
        (3600, "s", "3600 s"),
        (1500, "bytes", "1.5 kB"),
        (0, "Mbps", "0 Mbps"),
        (7, "packets", "7 packets"),
        (-2000, "Mbps", "-2 Gbps"),
    ],
)
def test_a_value_has_the_largest_unit_in_which_it_is_at_least_one(most: float, unit: str, shown: str) -> None:
    assert units.with_unit(most, unit) == shown


def test_a_column_has_one_unit_and_the_same_decimals() -> None:
    assert units.in_unit([9514.866, 1523.064, None, 0.0], "Mbps") == (
        ["9.515", "1.523", "-", "0.000"],
        "Gbps",
    )
    assert units.in_unit([500.0, 500.0], "Mbps") == (["500", "500"], "Mbps")
    # The smallest keeps a digit as long as the largest has no more than six.
    assert units.fixed([90.0, 80.0, 0.004]) == ["90.000", "80.000", "0.004"]
    assert units.fixed([90000.5, 80000.25, 0.004]) == ["90000.5", "80000.2", "0.0"]
    assert units.fixed([]) == []


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (1472.0, 4300.0, "1500 ± 4300"),
        (0.19123, 0.0541, "0.191 ± 0.054"),
        # 9.96 to two digits is 10, so that there is no place behind the point.
        (8.12, 9.96, "8 ± 10"),
        (67.2387, 54.0, "67 ± 54"),
        (-0.01, 12.0, "0 ± 12"),
        (79.8524, None, "79.852"),
        (1e-5, None, "0.00001"),
        (323.0, 0.0, "323"),
    ],
)
def test_a_mean_ends_where_the_second_digit_of_its_half_width_is(
    mean: float, half: float | None, shown: str
) -> None:
    assert units.estimate(mean, half) == shown


def test_intervals_of_a_column_are_aligned_and_in_one_unit() -> None:
    texts, label = units.estimates("goodput (Mbps)", [14720.0, 1520.0, None], [4300.0, 38.0, None])
    assert label == "goodput (Gbps)"
    assert texts == ["14.7   ± 4.3  ", " 1.520 ± 0.038", " -            "]
    assert units.estimates("goodput_mbps", [2000.0], [None]) == (["2"], "goodput (Gbps)")
    assert units.estimates("goodput_mbps", [2.0], [None]) == (["2"], "goodput_mbps")
    # A label that does not end with a unit says nothing of how values may be scaled.
    assert units.estimates("jobs", [20_000.0], [None]) == (["20000"], "jobs")


def test_no_number_has_an_exponent() -> None:
    draw = random.Random(1)  # noqa: S311 - numbers to print
    for _ in range(2000):
        value = draw.choice([-1, 1]) * 10 ** draw.uniform(-12, 17)
        half = 10 ** draw.uniform(-12, 17)
        texts = [
            units.plain(value),
            units.estimate(value, half),
            units.quantity(value),
            *units.fixed([value]),
        ]
        texts.append(units.measure(value, "ms"))
        assert not any("e" in text.removesuffix(" bytes") for text in texts), texts
        assert float(units.plain(value)) == pytest.approx(value, rel=1e-4)
    assert units.plain(math.nan) == units.NOTHING


def test_bounds_stand_beside_numbers_in_one_unit() -> None:
    assert units.in_unit([0.5, None, None], "s", [None, 0.25, None]) == (["500", "> 250", "-"], "ms")
    texts, label = units.estimates("time (s)", [2.0, None], [0.5, None], [None, 3.25])
    assert [text.split() for text in texts] == [["2.00", "±", "0.50"], [">", "3.25"]]
    assert label == "time (s)"


def test_a_column_without_rows_is_aligned() -> None:
    assert units.aligned([]) == []
