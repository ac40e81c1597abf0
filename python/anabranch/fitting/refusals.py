"""Measurements that say nothing of a path, or only a part: told before anything is simulated."""

from __future__ import annotations

import math

import numpy as np

from anabranch.errors import Problem
from anabranch.fitting.exchange import Exchange
from anabranch.fitting.features import Features

LEAST_SEGMENTS = 300
"""Fewer fill no usual queue."""
_LIMITED_SHARE = 0.25
_IDLE_SHARE = 0.15
_NEAR_WINDOW = 0.95
_BIG_GAP_S = 0.05


def refusals(name: str, flow: Exchange, features: Features) -> list[Problem]:
    """Why no path can be fitted to a flow; empty if one can."""
    problems = []

    def refuse(message: str) -> None:
        problems.append(Problem(name, message))

    if flow.sent_s.size < LEAST_SEGMENTS:
        refuse(
            f"too short: {flow.sent_s.size} segments with data, and a fit needs {LEAST_SEGMENTS}; measure a "
            "transfer of 5 s or more"
        )
        return problems
    if not features.rtt_ms.size:
        refuse("no round-trip time: acknowledgments are missing; capture both directions at the sender")
        return problems
    if flow.clock_steps:
        refuse(
            f"the clock of the capture went back {flow.clock_steps} times by more than 1 ms; capture again "
            "without setting the clock"
        )
    limited = window_limited_share(flow)
    if limited > _LIMITED_SHARE:
        window = float(np.median(flow.window_bytes[flow.window_bytes > 0])) if flow.window_bytes.any() else 0
        refuse(
            f"the receiver limits it: for {limited:.0%} of the acknowledgments the sender had filled the "
            f"receiver's window ({window / 1e3:.0f} kB), so that the path is not seen; raise the receiver's "
            "buffer (net.ipv4.tcp_rmem) and measure again"
        )
    idle = idle_share(flow)
    if idle > _IDLE_SHARE:
        refuse(
            f"the application limits it: for {idle:.0%} of the time nothing was in flight though the "
            "transfer went on; measure a transfer that always has data, as iperf3 does"
        )
    return problems


def window_limited_share(flow: Exchange) -> float:
    """Share of the acknowledgments behind which the receiver's window had no room for a segment."""
    beyond = flow.ack_position + flow.window_bytes
    sent_until = np.maximum.accumulate(flow.position + flow.bytes)
    places = np.searchsorted(flow.sent_s, flow.ack_s + _SOON_S, side="right") - 1
    reached = sent_until[np.clip(places, 0, None)]
    full = (reached + flow.mss_bytes > beyond) & (flow.window_bytes >= 0)
    return float(np.mean(full)) if full.size else 0.0


_SOON_S = 1e-3
"""Within which a sender uses the window that an acknowledgment opens."""


def idle_share(flow: Exchange) -> float:
    """Share of the time in which nothing was in flight, and the sender could have sent."""
    if flow.ack_s.size < 2:
        return 0.0
    empty = flow.in_flight_bytes[:-1] <= 0
    next_sent = np.searchsorted(flow.sent_s, flow.ack_s[:-1], side="right")
    has_next = next_sent < flow.sent_s.size
    waited = np.where(has_next, flow.sent_s[np.clip(next_sent, 0, flow.sent_s.size - 1)] - flow.ack_s[:-1], 0)
    idle_s = float(waited[empty & (waited > _BIG_GAP_S)].sum())
    span_s = float(flow.sent_s[-1] - flow.sent_s[0])
    return idle_s / span_s if span_s > 0 and math.isfinite(idle_s) else 0.0
