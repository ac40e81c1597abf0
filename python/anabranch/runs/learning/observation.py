"""The observation of a flow, and the smallest policy over it; a study needs no gymnasium for these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Interval(NamedTuple):
    """The events at the sender of a flow in an interval."""

    interval_s: float
    """Its length."""
    mss_bytes: int
    """Payload of a full segment."""
    delivered_bytes: int
    """Acknowledged in it, cumulatively or selectively."""
    lost_bytes: int
    """Judged lost in it."""
    cwnd_bytes: float
    """Congestion window at its end."""
    in_flight_bytes: int
    """In flight at its end."""
    srtt_s: float
    """Smoothed round-trip time at its end."""
    min_rtt_s: float
    """Smallest round-trip time of the connection."""


FEATURES = {
    "queueing": 10.0,
    "delivered": 10.0,
    "lost": 1.0,
    "in_flight": 10.0,
    "window": 4.0,
}
"""What is seen of a flow, each from 0 to this bound: :func:`observe` says what they are."""


def observe(interval: Interval) -> list[float]:
    """The features of an interval, in the order of :data:`FEATURES`; none of them has a unit.

    They are the smoothed round-trip time over the smallest, less one; the windows delivered in a smallest
    round-trip time; the share of lost bytes; windows in flight; and a tenth of the binary logarithm of the
    window in segments.
    """
    window = max(interval.cwnd_bytes, interval.mss_bytes)
    least = interval.min_rtt_s
    reported_bytes = interval.delivered_bytes + interval.lost_bytes
    queueing = interval.srtt_s / least - 1 if least > 0 else 0.0
    delivered = interval.delivered_bytes / window * least / interval.interval_s
    values = (
        queueing,
        delivered,
        interval.lost_bytes / reported_bytes if reported_bytes else 0.0,
        interval.in_flight_bytes / window,
        math.log2(window / interval.mss_bytes) / 10,
    )
    return [min(max(value, 0.0), bound) for value, bound in zip(values, FEATURES.values(), strict=True)]


@dataclass(frozen=True)
class LinearPolicy:
    """The hyperbolic tangent of a weighted sum of the features: doublings of the window in an interval."""

    weights: Sequence[float]
    """One for each of :data:`FEATURES`, and a constant.

    Raises:
        ValueError: if there are more or fewer, or one is no number.
    """

    def __post_init__(self) -> None:
        if len(self.weights) != len(FEATURES) + 1 or not all(map(math.isfinite, self.weights)):
            raise ValueError(f"weights are {len(FEATURES) + 1} finite numbers, not {list(self.weights)}")

    def act(self, features: Sequence[float]) -> float:
        """The action for what was observed, between -1 and 1."""
        *weights, constant = self.weights
        return math.tanh(sum(map(float.__mul__, map(float, weights), map(float, features))) + constant)
