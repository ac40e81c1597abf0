"""A path from a log without packets: rate and round-trip time in closed form, the rest with wide ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anabranch.errors import CaptureError, Problem
from anabranch.fitting.exchange import Numbers
from anabranch.fitting.measured import Logged
from anabranch.fitting.outcome import Fit, InferredRange, Rival
from anabranch.fitting.path import PathModel

_WIRE = 1500 / 1448
"""Bytes of packets for each byte of data in full segments of Ethernet."""
_LEAST_INTERVALS_RTT = 5
_LOCAL_MS = 0.5
_RATE_ERROR = 0.05
_ACK_MS = 0.2
NAME, TITLE = "coarse", "rate and round-trip time alone"
_UNKNOWN = (
    "random loss, jitter, the queue's discipline, cross traffic and a slow way back: all of them need "
    "packets; capture at the sender (tcpdump -s 128 -w FILE tcp)",
)


def fit_log(log: Logged, notes: Sequence[str]) -> Fit:
    """A bottleneck of the usual interval's goodput, with a queue as long as the round-trip times say.

    Raises:
        CaptureError: if the log has no round-trip times, or such as no path has.
    """
    if not log.rtt_ms.size:
        raise CaptureError(
            [Problem(log.name, "has no round-trip times; log ss -ti beside it, or capture at the sender")]
        )
    rate_mbps = float(np.percentile(_settled_mbps(log), 90)) * _WIRE
    least_ms, most_ms = float(log.rtt_ms.min()), float(np.percentile(log.rtt_ms, 99))
    if least_ms < _LOCAL_MS:
        message = (
            f"its least round-trip time is {least_ms * 1e3:.0f} us: the other end of the connection is near, "
            "as a proxy is, and the path behind it is not seen"
        )
        raise CaptureError([Problem(log.name, message)])
    sending_ms = (1500 + 52) * 8 / rate_mbps / 1e3
    rtt_ms = max(0.1, least_ms - sending_ms)
    waited_ms = most_ms - least_ms
    bdp_bytes = rate_mbps * 1e3 / 8 * rtt_ms
    has_queue = log.rtt_ms.size >= _LEAST_INTERVALS_RTT and waited_ms > sending_ms
    buffer_bytes = waited_ms * rate_mbps * 1e3 / 8 if has_queue else bdp_bytes
    model = PathModel(rate_mbps, rtt_ms, max(3000.0, buffer_bytes))
    room_bytes = model.buffer_bytes
    room_source = "the RTT's range" if has_queue else "nothing: one bandwidth-delay product is assumed"
    least_rtt_ms = max(0.1, rtt_ms - waited_ms - _ACK_MS)
    ranges = (
        InferredRange("rate_mbps", rate_mbps, rate_mbps * (1 - _RATE_ERROR), rate_mbps * 2, _RATE_SOURCE),
        # The least may be of the handshake, which sends no full packet.
        InferredRange("rtt_ms", rtt_ms, least_rtt_ms, least_ms + _ACK_MS, f"least of {log.tool}"),
        InferredRange(
            "buffer_bytes", room_bytes, room_bytes / 2, max(room_bytes, bdp_bytes) * 4, room_source
        ),
    )
    return Fit(
        names=(log.name,),
        transport="linux-cubic",
        duration_s=log.duration_s,
        kind=NAME,
        title=TITLE,
        model=model,
        score=None,
        ranges=ranges,
        rivals=(Rival(NAME, TITLE, float("nan"), float("nan"), False, "", model),),
        residuals=(),
        verdict=f"not checked: {log.tool} has no packets, and no model can be held against them",
        unknown=_UNKNOWN,
        notes=tuple(notes),
        held_out=(),
        runs=0,
        wall_s=0.0,
        traffic=({"name": "flow1", "from": "src", "to": "dst", "transport": "linux-cubic"},),
    )


def _settled_mbps(log: Logged) -> Numbers:
    """The goodput over some intervals each, without the first one, in which buffers of the sender fill.

    iperf3 counts what its application has written, in blocks of 128 kB: of one interval that is too coarse.
    """
    goodput_mbps = log.goodput_mbps
    if goodput_mbps.size <= _LEAST_INTERVALS_RTT:
        return goodput_mbps
    settled = goodput_mbps[1:]
    interval_s = log.duration_s / goodput_mbps.size
    together = max(1, min(settled.size // 3, round(_TOGETHER_S / max(interval_s, 1e-3))))
    return np.convolve(settled, np.full(together, 1 / together), "valid")


_TOGETHER_S = 5.0
_RATE_SOURCE = "the goodput of the better intervals; behind cross traffic or loss the link has more"
