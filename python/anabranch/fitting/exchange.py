"""The exchange of data and acknowledgments of one flow, as the core reads it of a capture."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import CaptureError, Problem

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
Places = NDArray[np.intp]

HEADER_BYTES = 52
"""Headers of IPv4 and of TCP with timestamps: a bare acknowledgment."""
BARE_BYTES = 60
"""A SYN or SYN/ACK with its options."""
LEAST_SEGMENTS = 20
"""A flow with fewer is none of the measurement."""


@dataclass(frozen=True)
class Exchange:
    """One flow. Times are in seconds since its first packet; positions are bytes of the stream."""

    sender: str
    receiver: str
    began_unix_s: float
    mss_bytes: int
    option_bytes: int
    """Of TCP, on a segment with data: timestamps, and those of Multipath TCP."""
    handshake_s: float
    """From SYN to SYN/ACK where the capture was made; NaN if not seen."""
    completion_s: float
    """From SYN/ACK to the ACK behind it."""
    is_from_client: bool
    offloaded: int
    reordered: int
    duplicates: int
    is_finished: bool
    is_multipath: bool
    clock_steps: int
    sent_s: Numbers
    position: Counts
    bytes: Counts
    is_repeated: NDArray[np.bool_]
    timestamp: Counts
    is_lost: NDArray[np.bool_]
    ack_s: Numbers
    ack_position: Counts
    delivered_bytes: Counts
    rtt_s: Numbers
    """The sample of each acknowledgment; NaN without."""
    rtt_sent_s: Numbers
    in_flight_bytes: Counts
    window_bytes: Counts

    @classmethod
    def of_core(cls, plain: dict[str, Any]) -> Exchange:
        """The exchange of what the core says."""
        sent, acks = plain["segments"], plain["acknowledgments"]
        return cls(
            **{name: plain[name] for name in _SCALARS},
            sent_s=sent["time_s"],
            position=sent["position"],
            bytes=sent["bytes"],
            is_repeated=sent["is_repeated"].astype(bool),
            timestamp=sent["timestamp"],
            is_lost=sent["is_lost"].astype(bool),
            ack_s=acks["time_s"],
            ack_position=acks["position"],
            delivered_bytes=acks["delivered_bytes"],
            rtt_s=acks["rtt_s"],
            rtt_sent_s=acks["sent_s"],
            in_flight_bytes=acks["in_flight_bytes"],
            window_bytes=acks["window_bytes"],
        )

    @cached_property
    def duration_s(self) -> float:
        """From the first packet to the last one."""
        return float(max(self.ack_s[-1] if self.ack_s.size else 0.0, self.sent_s[-1]))

    @cached_property
    def total_bytes(self) -> int:
        """Bytes of the stream that were delivered."""
        return int(self.delivered_bytes.sum())

    @cached_property
    def is_at_receiver(self) -> bool:
        """Whether the capture was made where the data arrive: there the ACK follows the data at once."""
        handshake, completion = self.handshake_s, self.completion_s
        if np.isfinite(handshake) and np.isfinite(completion) and max(handshake, completion) > 0:
            at_client = completion < handshake
            return at_client != self.is_from_client
        samples = self.rtt_s[np.isfinite(self.rtt_s)]
        return samples.size > 0 and float(np.median(samples)) < _AT_ONCE_S

    @property
    def wire_factor(self) -> float:
        """Bytes of packets for each byte of data in full segments."""
        return self.packet_bytes / self.mss_bytes

    @property
    def packet_bytes(self) -> int:
        """A full packet."""
        is_version_6 = self.sender.count(":") > 1
        return self.mss_bytes + self.option_bytes + (60 if is_version_6 else 40)


_SCALARS = (
    "sender", "receiver", "began_unix_s", "mss_bytes", "option_bytes", "handshake_s", "completion_s",
    "is_from_client", "offloaded", "reordered", "duplicates", "is_finished", "is_multipath", "clock_steps",
)  # fmt: skip
_AT_ONCE_S = 1e-3
"""A receiver answers the second segment at once; no path that is worth a model is this short."""


def read_exchanges(
    file: Path | str, ports: Sequence[int] = (), progress: Callable[[], None] | None = None
) -> tuple[list[Exchange], list[str]]:
    """The flows of a capture with data of some segments, those with most data first, and notes on the file.

    Raises:
        CaptureError: if the file cannot be read, is no capture, or has no such flow.
    """
    try:
        plain, notes = _core.exchanges(os.fspath(file), list(ports), progress)
    except _core.CaptureFileError as error:
        raise CaptureError([Problem(place, message) for place, message in error.args[0]]) from None
    every = [Exchange.of_core(one) for one in plain]
    enough = [one for one in every if one.sent_s.size >= LEAST_SEGMENTS and one.ack_s.size > 1]
    if not enough:
        most = max(one.sent_s.size for one in every)
        message = (
            f"its largest TCP flow has {most} segments with data; a path is fitted to some hundred of them"
        )
        raise CaptureError([Problem(os.fspath(file), message)])
    return enough, notes
