"""Fairness of random placements, against cases that can be counted."""

import pytest

from anabranch_publications.papers.semper.placement import placed_fairness


def test_one_path_is_shared_fairly() -> None:
    assert placed_fairness(4, 3, 1) == pytest.approx(1)


def test_two_hosts_with_a_subflow_each_are_equal_wherever_they_are() -> None:
    # On one path each has half of it, on two each has one.
    assert placed_fairness(2, 1, 2) == pytest.approx(1)


def test_three_hosts_on_two_paths() -> None:
    # Three times of four two of them share a path: (1 + 1/2 + 1/2)^2 / (3 (1 + 1/4 + 1/4)) = 8/9.
    assert placed_fairness(3, 1, 2) == pytest.approx(8 / 9)
