"""Shares as whole numbers of buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.routing.rounding import reduced, rounded_weights


@pytest.mark.parametrize(
    ("shares", "buckets", "weights"),
    [
        ([0.75, 0.25], 4, [3, 1]),
        ([1 / 3] * 3, 64, [22, 21, 21]),
        ([0.7, 0.2, 0.1], 10, [7, 2, 1]),
        # Quotas 2.4, 1.3 and 0.3: the bucket that is left goes to the largest remainder.
        ([0.6, 0.325, 0.075], 4, [3, 1, 0]),
        ([3, 1], 2, [2, 0]),
        ([0.1] * 10, 10, [1] * 10),
    ],
)
def test_by_hand(shares: list[float], buckets: int, weights: list[int]) -> None:
    assert rounded_weights(shares, buckets) == weights


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20), st.integers(1, 300))
def test_every_bucket_goes_to_a_share_within_one_of_its_quota(shares: list[float], buckets: int) -> None:
    weights = rounded_weights(shares, buckets)
    assert sum(weights) == buckets
    quotas = [share / sum(shares) * buckets for share in shares]
    assert all(abs(weight - quota) < 1 + 1e-6 for weight, quota in zip(weights, quotas, strict=True))


@pytest.mark.parametrize(
    ("shares", "buckets"), [([1.0], 0), ([0.0, 0.0], 4), ([1.0, -1.0], 4), ([1.0, -0.5], 4)]
)
def test_what_cannot_be_rounded_is_refused(shares: list[float], buckets: int) -> None:
    with pytest.raises(ValueError, match="at least one bucket"):
        rounded_weights(shares, buckets)


def test_common_divisors_go() -> None:
    assert reduced([48, 16]) == [3, 1]
    assert reduced([5, 0]) == [1, 0]
