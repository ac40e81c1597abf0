"""How well a live run kept what it promises, in every result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

LATEST_US = 1000.0
"""Lateness of the 99th percentile above which a run is not valid, in microseconds."""
_FELL_BEHIND = 20
"""A packet that comes so many times later than that: a thread that Linux holds up for 50 ms is seen."""
_FLOWS_BEHIND = 5
"""The thread of the flows may come so many times later than packets: its timer counts milliseconds."""
_BUSY = 0.85
_MOST_LOST = 1e-4


def invalid(check: Mapping[str, Any], *, latest_us: float = LATEST_US) -> str | None:
    """Why a run is not valid; None if it is.

    Args:
        check: the self-check of a run.
        latest_us: the 99th percentile of lateness that is allowed, in microseconds.
    """
    reasons = []
    late, latest = check["lateness_p99_us"], check["lateness_max_us"]
    if late is not None and late > latest_us:
        reasons.append(
            f"1 % of the packets came more than {late / 1e3:.3g} ms late (allowed {latest_us / 1e3:g} ms)"
        )
    if latest is not None and latest > _FELL_BEHIND * latest_us:
        reasons.append(f"the network fell behind the clock by {latest / 1e3:.3g} ms")
    behind = check["flows_lateness_p99_us"]
    if behind is not None and behind > _FLOWS_BEHIND * latest_us:
        reasons.append(f"hosts read and wrote up to {behind / 1e3:.3g} ms late (99th percentile)")
    lost = check["device_drops"]
    if lost > _MOST_LOST * max(check["packets_read"], 1):
        reasons.append(f"devices of hosts lost {lost} packets before the network saw them")
    if check["packets_refused"] > _MOST_LOST * max(check["packets_delivered"], 1):
        reasons.append(f"hosts could not take {check['packets_refused']} packets")
    return "; ".join(reasons) or None


def flows_lateness(late_s: Sequence[float]) -> dict[str, float | None]:
    """The 99th percentile and the most of how late flows were written and read, in microseconds."""
    ordered = sorted(late_s)
    if not ordered:
        return {"flows_lateness_p99_us": None, "flows_lateness_max_us": None}
    place = max(math.ceil(0.99 * len(ordered)) - 1, 0)
    return {"flows_lateness_p99_us": 1e6 * ordered[place], "flows_lateness_max_us": 1e6 * ordered[-1]}


def realised_loss(links: pl.DataFrame) -> float | None:
    """Share of the packets that links lost at random, of all that they sent; None if they sent none."""
    sent, lost = links["packets"].sum(), links["drops_random"].sum()
    return float(lost) / float(sent) if sent else None


def is_busy(check: Mapping[str, Any]) -> bool:
    """Whether the network's thread came near to a whole core, where real-time threads are held up."""
    return float(check["cpu_share_max"]) > _BUSY
