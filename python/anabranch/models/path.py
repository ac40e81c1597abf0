"""The path that a throughput model is told, and its prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anabranch.models.errors import ModelError

_LEAST_TIMEOUT_S = 0.2
"""Smallest RTO of every TCP preset, as in Linux (RFC 6298 section 2.4 recommends 1 s)."""


@dataclass(frozen=True, slots=True)
class PathConditions:
    """A path, and what of a flow's configuration the models take account of.

    Raises:
        ModelError: if a value is not a number or cannot be.
    """

    rtt_s: float
    """Round-trip time in seconds, waiting in queues included. Above 0."""
    loss: float
    """Probability that a data segment is lost, from 0 to 1."""
    mss_bytes: float = 1448.0
    """Payload of a full segment. Above 0; the default is that of Ethernet with TCP timestamps."""
    capacity_mbps: float | None = None
    """Payload that the path can carry in all, in Mbps: a link's rate less its headers. None: not known."""
    flows: float = 1
    """Flows that share the capacity, this one included. At least 1; not whole where it is an expectation."""
    window_bytes: float | None = None
    """Largest window: that of the receiver or of the send buffer. At least one MSS. None: no limit."""
    timeout_s: float | None = None
    """First retransmission timeout (T0), not below the RTT. None: the larger of 200 ms and the RTT, which is
    what RFC 6298 comes to where the RTT is steady.
    """
    segments_per_increase: float = 1.0
    """b: segments acknowledged for each step by which the window grows. 1 where the sender counts bytes
    (RFC 3465), as in Anabranch and Linux; 2 where it counts delayed ACKs.
    """

    def __post_init__(self) -> None:
        _check("rtt_s", self.rtt_s, "seconds above 0", self.rtt_s > 0)
        _check("loss", self.loss, "a probability from 0 to 1", 0 <= self.loss <= 1)
        _check("mss_bytes", self.mss_bytes, "bytes above 0", self.mss_bytes > 0)
        _check("flows", self.flows, "a number from 1", self.flows >= 1)
        b = self.segments_per_increase
        _check("segments_per_increase", b, "a number of segments from 1", b >= 1)
        if (capacity := self.capacity_mbps) is not None:
            _check("capacity_mbps", capacity, "Mbps above 0, or None if not known", capacity > 0)
        if (window := self.window_bytes) is not None:
            right = f"at least one MSS ({self.mss_bytes:g} bytes), or None for no limit"
            _check("window_bytes", window, right, window >= self.mss_bytes)
        if (timeout := self.timeout_s) is not None:
            right = f"at least the RTT ({self.rtt_s:g} s), or None for the usual one"
            _check("timeout_s", timeout, right, timeout >= self.rtt_s)

    @property
    def share_mbps(self) -> float:
        """The part of the capacity for this flow; infinite where that is not known."""
        return math.inf if self.capacity_mbps is None else self.capacity_mbps / self.flows

    @property
    def largest_window(self) -> float:
        """Largest window in segments; infinite without a limit."""
        return math.inf if self.window_bytes is None else self.window_bytes / self.mss_bytes

    @property
    def first_timeout_s(self) -> float:
        """T0: as given, or the larger of 200 ms and the RTT."""
        return max(_LEAST_TIMEOUT_S, self.rtt_s) if self.timeout_s is None else self.timeout_s

    def window_at(self, mbps: float) -> float:
        """Mean window in segments of a flow with this throughput in Mbps."""
        return mbps * 1e6 / 8 / self.mss_bytes * self.rtt_s

    def mbps_of(self, window: float) -> float:
        """Throughput in Mbps of a flow with this mean window in segments."""
        return window * self.mss_bytes * 8 / 1e6 / self.rtt_s


@dataclass(frozen=True, slots=True)
class Prediction:
    """The throughput of a flow on a path by a model."""

    mbps: float
    """Throughput of one flow in Mbps of payload; infinite where nothing that is known bounds it."""
    model: str
    """Name of the model."""
    warnings: tuple[str, ...] = ()
    """Why the number may not hold, each with the range in which it would."""


def _check(place: str, value: float, right: str, holds: bool) -> None:
    if not (math.isfinite(value) and holds):
        raise ModelError(place, f"{value!r} is not {right}")
