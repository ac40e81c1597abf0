"""The points that are measured anew, and the section about them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from live_grid import PART, document
from live_page import PAGE, errors, groups, rows, section
from points import points

from anabranch import Scenario


def test_the_part_has_points_of_each_group() -> None:
    chosen = [point for point in points() if point.name in PART]
    # Reno, CUBIC and BBR sprayed and alone have names of their own; transfers are those with four numbers.
    assert {point.group for point in chosen} == {"single", "spray", "compete", "mptcp"}
    assert len(chosen) == len(set(PART))


@pytest.mark.parametrize("name", PART)
def test_every_point_of_the_part_is_a_scenario(name: str) -> None:
    (point,) = [point for point in points() if point.name == name]
    one, other = (Scenario.from_data(document(point, run)) for run in (0, 1))
    lossy = point.matched or point.group == "spray"
    assert (one.fingerprint() != other.fingerprint()) == lossy


def test_runs_that_are_not_valid_make_no_error() -> None:
    rows = [
        {"group": "single", "live": "10", "simulated": "11", "not_valid": ""},
        {"group": "single", "live": "10", "simulated": "20", "not_valid": "late"},
    ]
    assert errors(rows, "single") == [pytest.approx(0.1)]
    assert list(groups(rows))[2:] == ["| one flow, goodput (Mbps) | 2 | 1 | 10.00 % | 10.00 % |"]


def test_the_page_has_the_section_of_the_measured_runs() -> None:
    assert PAGE.read_text(encoding="utf-8").endswith(section())
    assert all(row["kernel"] and row["day"] for row in rows())
