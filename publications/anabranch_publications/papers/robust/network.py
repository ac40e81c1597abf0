"""Scenarios of Fukushima et al. 2016: the parallel paths of section 4 and the NSFNET of section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SEGMENT_BYTES = 1000
"""The paper's 1 KB: 20 Mbps over it make 2,500 segments a second (section 4.1)."""
SCATTER = 0.01
"""What seeds and length change of a throughput here, at most: the figure ``scatter`` measures it."""
TOLERANCE = 0.05
"""Of a throughput in ns-2, relative to the printed one."""
WITHIN = (
    f"within {100 * TOLERANCE:.0f} %: the paper says neither the length nor the seeds of its runs, which "
    f"change ours by {100 * SCATTER:.0f} % at most (figure scatter); the rest is for ns-2"
)
APPLICATION_MBPS = 10.0
"""Of every connection on the NSFNET: 1 KB every 0.8 ms (section 6)."""
SOURCES = 5
SHORT_MS = 2.0
ROUTERS: Mapping[str, tuple[float, float]] = {
    "Seattle": (47.33, -122.24), "Palo-Alto": (37.25, -122.07), "San-Diego": (32.42, -117.08),
    "Salt-Lake-City": (40.39, -111.55), "Boulder": (40.0, -105.16), "Houston": (29.45, -95.21),
    "Lincoln": (40.47, -96.42), "Urbana-Champaign": (40.06, -88.14), "Pittsburgh": (40.26, -79.58),
    "Atlanta": (33.44, -84.23), "Ann-Arbor": (42.16, -83.43), "Ithaca": (42.26, -76.3),
    "Princeton": (40.21, -74.39), "Washington": (38.52, -77.02),
}  # fmt: skip
"""The 14 routers in the paper's order, 1 to 14; names and places are those of SNDlib's nobel-us."""
LINKS: tuple[tuple[int, int, float], ...] = (
    (1, 2, 4.7), (1, 3, 7.0), (1, 8, 11.2), (2, 3, 2.8), (2, 4, 3.5), (3, 6, 8.4), (4, 5, 2.8),
    (5, 6, 5.6), (5, 7, 3.5), (5, 11, 11.86), (6, 10, 4.41), (6, 14, 8.4), (7, 8, 3.5), (8, 9, 3.5),
    (9, 10, 3.85), (9, 12, 2.62), (9, 13, 1.4), (11, 12, 1.66), (11, 13, 3.5), (12, 14, 1.26), (13, 14, 0.42),
)  # fmt: skip
"""Both ends by number, and the delay in ms. Figure 8, where the paper has them, did not survive: this is the
usual NSFNET with one link moved, 5-11 in place of 4-11, and delays fitted to the printed loads.
``inference.py`` searches for both; what is fitted and what follows is in the figure ``network``."""

PUBLISHED_SENDER = "ns2-newreno"
"""The paper simulated with ns-2."""
WINDOW_SEGMENTS = 20
"""`window_` of ns-2, at its default, in section 4: the paper names no window, and 20 segments in a round trip
of 7.5 ms (d = 1.3 ms) are more than the 2,500 a second of a source. In section 6 it cannot be: 10 Mbps over a
round trip of 53 ms, which shortest paths by hops have there, take 66 of them, and with X = 100 the paper has
10 Mbps."""
PARALLEL_SENDER: Mapping[str, Any] = {
    "preset": PUBLISHED_SENDER,
    "congestion_control": {"algorithm": PUBLISHED_SENDER, "window_segments": WINDOW_SEGMENTS},
}
"""The same in section 4."""
RFC_SENDER: Mapping[str, Any] = {"preset": "newreno", "delayed_ack_segments": 1}
"""NewReno of the RFCs, with an ACK for each segment as ns-2's receiver sends them."""
_HEADER_BYTES = 40
_TIMESTAMP_BYTES = 12


def router(number: int) -> str:
    """The router that the paper calls by this number, from 1."""
    return list(ROUTERS)[number - 1]


def sender(transport: str | Mapping[str, Any]) -> dict[str, Any]:
    """A transport with segments of 1 KB of data."""
    chosen = {"preset": transport} if isinstance(transport, str) else dict(transport)
    # The option counts the 12 bytes of timestamps.
    return {"mss": f"{SEGMENT_BYTES + _option_bytes(transport)} B", **chosen}


def _option_bytes(transport: str | Mapping[str, Any]) -> int:
    """Bytes of timestamps in every segment; ns-2's NewReno alone has none."""
    name = transport if isinstance(transport, str) else str(transport["preset"])
    return 0 if name == "ns2-newreno" else _TIMESTAMP_BYTES


def _line(mbps: float, transport: str | Mapping[str, Any]) -> str:
    """Capacity of a line that takes as long for a segment as its source for the next one."""
    frame = SEGMENT_BYTES + _HEADER_BYTES + _option_bytes(transport)
    return f"{round(mbps * 1e6 * frame / SEGMENT_BYTES)} bps"


def parallel(
    combination: str,
    difference_ms: float,
    *,
    spaced: bool = True,
    transport: str | Mapping[str, Any] = PARALLEL_SENDER,
    duration_s: float = 10.0,
) -> dict[str, Any]:
    """Section 4.1: five connections over parallel paths between two routers, packets at random.

    Args:
        combination: a letter for each path: S, M or L.
        difference_ms: d.
        spaced: segments leave a source 0.4 ms apart at least, which is what section 4.2 reckons with; else
            as fast as its access link of 50 Mbps takes them, as section 4.1 has it.
        transport: of all connections.
        duration_s: of the run.
    """
    delay = {"S": SHORT_MS, "M": SHORT_MS + difference_ms / 2, "L": SHORT_MS + difference_ms}
    senders, receivers = ([f"{side}{n}" for n in range(1, SOURCES + 1)] for side in "SD")
    access = [
        {
            "between": [host, end],
            "new": True,
            "capacity": _line(20.0, transport) if spaced and host[0] == "S" else "50 Mbps",
            "delay": "0.2 ms",
        }
        for hosts, end in ((senders, "R1"), (receivers, "R2"))
        for host in hosts
    ]
    paths = [
        {"between": ["R1", "R2"], "new": True, "delay": f"{round(delay[letter] * 1e6)} ns"}
        for letter in combination
    ]
    return {
        "network": {
            "links": {"capacity": "100 Mbps", "queue": "1000 packets"},
            "node": [{"name": name} for name in ("R1", "R2")]
            + [{"name": name, "kind": "host"} for name in (*senders, *receivers)],
            "link": [*access, *paths],
        },
        # All of them, in equal shares.
        "routing": {"scheme": {"algorithm": "k-shortest", "k": len(combination)}, "load_balancing": "packet"},
        "traffic": [
            {
                "from": senders,
                "to": receivers,
                "pairs": "in-order",
                "application": {"kind": "poisson", "message": f"{SEGMENT_BYTES} B", "rate": "20 Mbps"},
                "transport": "sender",
            }
        ],
        "transport": {"sender": sender(transport)},
        "run": {"duration": f"{duration_s:g} s", "flow_series": False, "link_series": False},
    }


def nsfnet(
    scheme: Mapping[str, Any],
    *,
    spaced: bool = True,
    transport: str | Mapping[str, Any] = PUBLISHED_SENDER,
    duration_s: float = 10.0,
) -> dict[str, Any]:
    """Section 6, table 1: one connection for each ordered pair of the NSFNET, up to 10 Mbps each.

    Args:
        scheme: fields of ``[routing]``.
        spaced: segments leave a source 0.8 ms apart at least, over a line of its own; else it is at the
            router.
        transport: of all connections.
        duration_s: of the run.
    """
    pairs = [(a, b) for a in ROUTERS for b in ROUTERS if a != b]
    hosts = [f"{a} to {b}" for a, b in pairs] if spaced else []
    lines = [
        {"between": [host, a], "new": True, "capacity": _line(APPLICATION_MBPS, transport), "delay": "0 ms"}
        for host, (a, _) in zip(hosts, pairs, strict=False)
    ]
    return {
        "network": {
            "links": {"capacity": "500 Mbps", "queue": "1000 packets"},
            "node": [
                {"name": name, "latitude": latitude, "longitude": longitude}
                for name, (latitude, longitude) in ROUTERS.items()
            ]
            + [{"name": host, "kind": "host"} for host in hosts],
            "link": [
                {"between": [router(a), router(b)], "new": True, "delay": f"{delay_ms} ms"}
                for a, b, delay_ms in LINKS
            ]
            + lines,
        },
        "routing": {
            "demand": {"ingress": "130 Mbps", "egress": "130 Mbps", "pair": "50 Mbps"},
            "load_balancing": "packet",
            **scheme,
        },
        "traffic": [
            {
                "from": hosts or [a for a, _ in pairs],
                "to": [b for _, b in pairs],
                "pairs": "in-order",
                "application": {"kind": "poisson", "message": f"{SEGMENT_BYTES} B", "gap": "0.8 ms"},
                "transport": "sender",
            }
        ],
        "transport": {"sender": sender(transport)},
        "run": {"duration": f"{duration_s:g} s", "flow_series": False, "link_series": False},
    }
