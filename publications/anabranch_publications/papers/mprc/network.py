"""Networks, routings and errors of Chang 2024."""

from __future__ import annotations

import itertools
from typing import Any, Final

DURATION_S: Final = 30

NETWORKS: Final[dict[str, dict[str, Any]]] = {
    # Figure 2.2: the same delay and bandwidth on every link.
    "grid": {
        "network": {"topology": "grid", "links": {"capacity": "10 Mbps", "delay": "10 ms"}},
        "ends": ("router1.1", "router2.2"),
    },
    # Section 5: propagation at 5 us/km and 1 ms more for each link.
    "Abilene": {"network": {"topology": "topohub/Abilene"}, "ends": ("Seattle", "Atlanta")},
    "AttMpls": {"network": {"topology": "topohub/AttMpls"}, "ends": ("ORLD", "SNFN")},
    # Its figures: see SHORT_LINKS.
    "Abilene, short": {"network": {"topology": "topohub/Abilene"}, "ends": ("Seattle", "Atlanta")},
}
"""Networks, and who sends to whom. The thesis has the delays of topohub's rounded places, and says
San Fernando where the archive has San Francisco, SNFN."""

SHORT_LINKS: Final[dict[str, tuple[str, ...]]] = {
    "2 ms": ("Seattle", "Sunnyvale", "Los Angeles", "Houston", "Atlanta"),
    "1.75 ms": ("Seattle", "Denver", "Kansas City", "Indianapolis", "Atlanta"),
}
"""Delay of each link of Abilene's two disjoint paths, so that they have 8 and 7 ms. By the text they have 29
and 23 ms; then NewReno has 2 Mbps over both, in ns-3 as here (ns3.md), where figure 5.5 prints 10. Of the
base delays 5, 10, 20 and 29 ms with differences from 0 to 5 ms these come nearest to it."""

ROUTINGS: Final[dict[str, dict[str, Any]]] = {
    "single path": {"scheme": "shortest", "metric": "hops"},
    "ECMP": {"scheme": "ecmp", "metric": "hops", "load_balancing": "packet"},
    "disjoint": {"scheme": "disjoint", "metric": "hops", "load_balancing": "packet"},
}
"""OSPF with cost by bandwidth is one shortest path by hops, as all links are alike. Its equal-cost paths are
either taken hop by hop, in equal shares at every node, or replaced by link-disjoint paths, which is what the
thesis's 20 and 30 Mbps need."""

HOW: Final = {
    "single path": "one shortest path by hops",
    "ECMP": "hop by hop over all shortest paths by hops, in equal shares at every node, packet by packet",
    "disjoint": "link-disjoint paths of least hops in equal shares, packet by packet",
}
"""The routings in words."""

USABLE_MBPS: Final[dict[tuple[str, str], float]] = {
    ("grid", "single path"): 10.0,
    ("grid", "ECMP"): 20.0,
    ("grid", "disjoint"): 20.0,
    ("Abilene", "single path"): 10.0,
    ("Abilene", "ECMP"): 40 / 3,
    ("Abilene", "disjoint"): 20.0,
    ("Abilene, short", "single path"): 10.0,
    ("Abilene, short", "disjoint"): 20.0,
    ("AttMpls", "single path"): 10.0,
    ("AttMpls", "ECMP"): 10.0,
    ("AttMpls", "disjoint"): 30.0,
}
"""What the links let through: hop-by-hop shares overload Houston - Atlanta and Dallas - San Francisco."""

PAPER: Final = ("newreno", "cubic", "bbr", "mprc")
"""The thesis's transports; ``bbr`` is that of its simulator, see :func:`configured`."""

MENDED_BBR: Final = "bbr-mended"
"""BBR as it should be, which ns-3 has from 3.41 on."""

TODAY: Final = ("linux-reno", "linux-cubic", "linux-bbr", "tcp-pr", "rr-tcp", "tcp-ncr")
"""What a user would compare with as well."""

CRITICAL: Final = ("Los Angeles", "Houston")
"""A link of the shortest path of Abilene, which ECMP and the disjoint paths use, too."""

FAILING: Final = ("Denver", "Kansas City")
"""A link of the other disjoint path."""

PAYLOAD: Final = 1448 / 1500
"""Share of a packet that is data, with segments of 1448 bytes."""

BYTE_ERRORS: Final = 1e-5
"""Errors for each byte on the critical link (section 5.3). The thesis has "an error rate of 0.01 %". Of
packets that changes nothing, in ns-3 as here (ns3.md); its error model counts bytes unless it is told
otherwise. A rate of 1e-4 for each byte loses 14 % of the packets, which leaves NewReno, CUBIC and MPRC less
than a tenth of the path; with 1e-5 the curves of BBR and NewReno have the printed shapes."""
_DATA_BYTES, _ACK_BYTES = 1500, 64


def lost(packet_bytes: int) -> float:
    """Share of packets of a size that have an error on the critical link."""
    return 1.0 - (1.0 - BYTE_ERRORS) ** packet_bytes


DATA_LOSS: Final = lost(_DATA_BYTES)
RTT_S: Final[dict[str, float]] = {"single path": 0.016, "disjoint": 0.015}
"""Between Seattle and Atlanta without queues, with :data:`SHORT_LINKS`; mean over the paths."""

TODAY_CHOICE: Final = "1448 B, SACK"
CHOICES: Final[dict[str, tuple[int, bool]]] = {
    TODAY_CHOICE: (1448, True),
    "536 B, no SACK": (536, False),
    "536 B, SACK": (536, True),
    "1448 B, no SACK": (1448, False),
}
"""Bytes of a segment, and whether there is SACK. The thesis says neither. The public ns-3 code of its
author's group (github.com/puyanguvic/ddr) sets 1448 bytes and leaves SACK as it is in ns-3, on: claims are
held to the first. ns-3 has segments of 536 bytes unless it is told otherwise; without SACK they fill not even
one path, in ns-3 either. The others are beside it in a table."""


def configured(choice: str) -> dict[str, dict[str, Any]]:
    """Tables ``[transport]`` of the thesis's transports, and of BBR as it should be.

    The thesis is of 2024, and its author's public code for ns-3.37 and 3.38: BBR has the error that delivery
    rates have there up to 3.40 (its issue 1026), and CUBIC no region in which it is as fast as Reno (3.39 has
    none, 3.44 has one: ``TcpFriendliness``; docs/reproductions/ns3.md).
    """
    segment, sack = CHOICES[choice]
    # The MSS option counts the 12 bytes of timestamps.
    common: dict[str, Any] = {"mss": f"{segment + 12} B", "sack": sack}
    mistaken = {"algorithm": "bbr", "delivery_rate": "ns-3.37"}
    return {name: dict(common) for name in PAPER} | {
        "bbr": {**common, "congestion_control": mistaken},
        "cubic": {**common, "congestion_control": {"algorithm": "cubic", "reno_friendly": False}},
        MENDED_BBR: {**common, "preset": "bbr"},
    }


def scenario(
    network: str, routing: str, *, errors: bool = False, queue: str = "100 packets"
) -> dict[str, Any]:
    """One transfer of 30 s.

    Args:
        network: of :data:`NETWORKS`.
        routing: of :data:`ROUTINGS`.
        errors: bytes of the critical link of Abilene have errors, both ways.
        queue: of every link.
    """
    chosen = NETWORKS[network]
    sender, receiver = chosen["ends"]
    links = {
        "capacity": "10 Mbps",
        "delay": {"from": "distance", "speed": "200 km/ms", "plus": "1 ms"},
        "queue": queue,
        **chosen["network"].get("links", {}),
    }
    document: dict[str, Any] = {
        "network": {**chosen["network"], "links": links},
        "routing": dict(ROUTINGS[routing]),
        "traffic": [
            {
                "from": sender,
                "to": receiver,
                "size": "unlimited",
                "transport": "newreno",
                # Where nothing else is random, replications still differ.
                "start": {"distribution": "uniform", "low": "0 ms", "high": "100 ms"},
            }
        ],
        "run": {"duration": f"{DURATION_S} s", "sample_interval": "500 ms"},
    }
    changed: list[dict[str, Any]] = (
        [
            {"between": [a, b], "delay": delay}
            for delay, path in SHORT_LINKS.items()
            for a, b in itertools.pairwise(path)
        ]
        if network == "Abilene, short"
        else []
    )
    if errors:
        changed += [
            {"between": list(CRITICAL), "direction": direction, "loss": lost(packet_bytes)}
            for direction, packet_bytes in (("forward", _DATA_BYTES), ("backward", _ACK_BYTES))
        ]
    if changed:
        document["network"]["link"] = changed
    return document
