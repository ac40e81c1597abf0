"""Networks, routings and loss of Chang 2024."""

from __future__ import annotations

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
}
"""Networks, and who sends to whom. The thesis has the delays of topohub's rounded places, and says
San Fernando where the archive has San Francisco, SNFN."""

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
    ("AttMpls", "single path"): 10.0,
    ("AttMpls", "ECMP"): 10.0,
    ("AttMpls", "disjoint"): 30.0,
}
"""What the links let through: hop-by-hop shares overload Houston - Atlanta and Dallas - San Francisco."""

PAPER: Final = ("newreno", "cubic", "bbr", "mprc")
"""The thesis's transports."""

TODAY: Final = ("linux-reno", "linux-cubic", "linux-bbr", "tcp-pr", "rr-tcp", "tcp-ncr")
"""What a user would compare with as well."""

CRITICAL: Final = ("Los Angeles", "Houston")
"""A link of the shortest path of Abilene, which ECMP and the disjoint paths use, too."""

FAILING: Final = ("Denver", "Kansas City")
"""A link of the other disjoint path."""

PAYLOAD: Final = 1448 / 1500
"""Share of a packet that is data, with segments of 1448 bytes."""

LOSS: Final = 1e-4
"""On the critical path (section 5.3)."""
RTT_S: Final = 2 * 28.88e-3
"""Of the shortest path by hops, Seattle - Sunnyvale - Los Angeles - Houston - Atlanta, without queues."""

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
    """Tables ``[transport]`` of the thesis's transports."""
    segment, sack = CHOICES[choice]
    # The MSS option counts the 12 bytes of timestamps.
    return {name: {"mss": f"{segment + 12} B", "sack": sack} for name in PAPER}


def scenario(network: str, routing: str, *, loss: float = 0.0, queue: str = "100 packets") -> dict[str, Any]:
    """One transfer of 30 s.

    Args:
        network: of :data:`NETWORKS`.
        routing: of :data:`ROUTINGS`.
        loss: on the critical link of Abilene, both ways.
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
    if loss:
        document["network"]["link"] = [{"between": list(CRITICAL), "loss": loss}]
    return document
