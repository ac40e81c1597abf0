"""The fields of a line of ``ss -ti`` in our units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from anabranch.runs.measurements.model import Doubts

_PAIR = re.compile(r"\b([a-z_]+):([^\s(]\S*)")
_RATE = re.compile(r"\b(pacing_rate|delivery_rate) ([\d.]+)([KMGT]?)bps")
_BBR = re.compile(r"\bbbr:\(bw:([\d.]+)([KMGT]?)bps,mrtt:([\d.]+)")
_OPTIONS = re.compile(r"(?:^|\s)(?=(?:ts|sack|ecn|[a-z][a-z0-9_-]+ (?:wscale|rto)):?)")
_UNITS: Final[Mapping[str, float]] = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}
_FLAGS: Final = frozenset(("ts", "sack", "ecn", "ecnseen", "fastopen"))
_NAME = re.compile(r"[a-z][a-z0-9_-]{1,15}")
_WHOLE: Final = (
    "cwnd", "mss", "bytes_acked", "bytes_received", "bytes_sent", "bytes_retrans", "segs_out",
    "data_segs_out", "reordering", "reord_seen",
)  # fmt: skip

COUNTERS: Final = ("bytes_acked", "bytes_received", "bytes_sent", "segs_out", "retransmissions")
"""None of them goes back while a connection lasts."""
MOMENTARY: Final = ("srtt_ms", "cwnd_bytes", "cwnd_packets", "delivery_rate_mbps", "pacing_rate_mbps")
"""What a socket has at a moment."""
TOTALS: Final[Mapping[str, str]] = {
    "retransmissions": "retransmissions", "bytes_retrans": "retransmitted_bytes",
    "bytes_sent": "payload_bytes", "data_segs_out": "data_packets", "minrtt_ms": "rtt_min_ms",
    "bbr_bandwidth_mbps": "bbr_bandwidth_mbps", "bbr_rtt_min_ms": "bbr_rtt_min_ms",
    "reordering": "reordering_packets", "reord_seen": "reordering_events", "busy_s": "busy_s",
    "rwnd_limited_s": "rwnd_limited_s", "sndbuf_limited_s": "sndbuf_limited_s",
}  # fmt: skip
"""What becomes a column of subflows, of the direction that this end sends."""


def numbers(info: str, doubts: Doubts, place: str) -> dict[str, float]:
    """The numbers of a line, by the kernel's names or ours; what is no number is noted."""
    pairs = dict(_PAIR.findall(info))
    values: dict[str, float] = {}

    def put(name: str, text: str, factor: float = 1.0) -> None:
        value = doubts.number(text, f"{name} {place}")
        if value is not None:
            values[name] = value * factor

    for name in _WHOLE:
        if name in pairs:
            put(name, pairs[name])
    if "rtt" in pairs:
        put("srtt_ms", pairs["rtt"].partition("/")[0])
    if "minrtt" in pairs:
        put("minrtt_ms", pairs["minrtt"])
    # Those of the moment, and all; it is printed where there are some.
    put("retransmissions", pairs["retrans"].partition("/")[2] if "retrans" in pairs else "0")
    for name in ("busy", "rwnd_limited", "sndbuf_limited"):
        if name in pairs:
            put(f"{name}_s", pairs[name].partition("ms")[0], 1e-3)
    _complete(values)
    for name, digits, unit in _RATE.findall(info):
        put(f"{name}_mbps", digits, _UNITS[unit])
    if (bbr := _BBR.search(info)) is not None:
        put("bbr_bandwidth_mbps", bbr[1], _UNITS[bbr[2]])
        put("bbr_rtt_min_ms", bbr[3])
    return values


def _complete(values: dict[str, float]) -> None:
    """Adds what follows from the numbers of a line: counters not printed where they are 0, and windows.

    A kernel that counts ``segs_out`` (4.2) or ``bytes_sent`` (4.19) counts these, too.
    """
    for witness, counters in _ALSO_COUNTED.items():
        if witness in values:
            values |= {name: values.get(name, 0.0) for name in counters}
    if "cwnd" in values:
        values["cwnd_packets"] = values.pop("cwnd")
        if "mss" in values:
            values["cwnd_bytes"] = values["cwnd_packets"] * values["mss"]


_ALSO_COUNTED: Final = {
    "segs_out": ("bytes_acked", "bytes_received"),
    "bytes_sent": ("bytes_retrans", "reord_seen"),
}


def congestion_control(info: str) -> str | None:
    """The name of the congestion control: behind the options, before the first field with a value."""
    # On one line (ss -O) the socket and its timer come before.
    begin = _OPTIONS.search(info)
    for word in (info[begin.end() :] if begin else info).split():
        if ":" in word:
            return None
        if word not in _FLAGS and _NAME.fullmatch(word):
            return word
    return None
