"""Scenarios of Garcia-Aviles 2017: hosts, an edge router, disjoint paths, an edge router, a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

PATH_MBPS: Final = 50
"""Capacity of each path (section V-D)."""

PATHS_MOST: Final = 8
"""Paths of figures 7 and 10."""

SUBFLOWS: Final = 32
"""K of SEMPER (section IV)."""

ONE_WAY_DELAY: Final = "10 ms"
QUEUE: Final = "100 packets"
"""What the thesis leaves open: it sets a "queue size and delay" of the paths and prints neither."""

PAYLOAD: Final = 1428 / 1500
"""Share of a packet that is data: 1500 bytes less 40 of headers, 12 of timestamps and 20 of the mapping."""

SINGLE_PAYLOAD: Final = 1448 / 1500
"""The same of a packet of TCP, which has no mapping."""

EDGES: Final = ("branch", "headquarters")
"""The edge routers; the default router before the first one would change nothing and is left out."""

SERVER: Final = "server"

STATELESS: Final = "hash"
STATEFUL: Final = "subflow-round-robin"


def hosts(number: int) -> list[str]:
    """Names of so many hosts."""
    return [f"host{index + 1}" for index in range(number)]


def scenario(
    paths: int | Sequence[Mapping[str, Any]],
    senders: int,
    subflows: int,
    *,
    spread: str = STATELESS,
    transport: Mapping[str, Any] | None = None,
    duration_s: float,
    sample_s: float = 1.0,
    reaction: str = "never",
) -> dict[str, Any]:
    """Hosts that each send to the server over one connection of Multipath TCP.

    Args:
        paths: how many of them, alike; or the settings of each.
        senders: N, hosts that send.
        subflows: K, of each host.
        spread: how the edge routers choose the path of a subflow.
        transport: fields of the transport beyond the number of subflows.
        duration_s: T in seconds.
        sample_s: seconds between samples.
        reaction: from a failure until other routes are in force; the thesis's routers do not notice one.
    """
    alike: dict[str, Any] = {"capacity": f"{PATH_MBPS} Mbps", "delay": ONE_WAY_DELAY, "queue": QUEUE}
    each = [{}] * paths if isinstance(paths, int) else list(paths)
    names = hosts(senders)
    access = {"new": True, "capacity": "10 Gbps", "delay": "10 us", "queue": "unlimited"}
    return {
        "network": {
            "node": [
                *({"name": name, "kind": "switch"} for name in EDGES),
                *({"name": name, "kind": "host"} for name in (*names, SERVER)),
            ],
            "link": [
                *({"between": list(EDGES), "new": True, **alike, **settings} for settings in each),
                *({"between": [name, EDGES[0]], **access} for name in names),
                {"between": [EDGES[1], SERVER], **access},
            ],
        },
        "routing": {
            "scheme": {"algorithm": "semper", "k": len(each)},
            "load_balancing": spread,
            "reaction": reaction,
        },
        "transport": {
            "mptcp": {
                "path_manager": {"algorithm": "ndiffports", "subflows": subflows},
                **(transport or {}),
            },
        },
        "traffic": [
            {
                "name": "host",
                "from": names,
                "to": SERVER,
                "size": "unlimited",
                "transport": "mptcp",
                # The thesis starts them one after the other, by hand of a program.
                "start": {"distribution": "uniform", "low": "0 s", "high": "1 s"},
            }
        ],
        "run": {
            "duration": f"{duration_s:g} s",
            "sample_interval": f"{sample_s:g} s",
            "link_series": False,
        },
    }


def single_tcps(
    paths: int | Sequence[Mapping[str, Any]], *, duration_s: float, sample_s: float = 1.0
) -> dict[str, Any]:
    """The baseline of figure 7: as many single TCP flows as paths, each on a path of its own.

    They leave one host, whose flows the stateful balancer sends along the paths in turn.
    """
    document = scenario(paths, 1, 1, spread=STATEFUL, duration_s=duration_s, sample_s=sample_s)
    del document["transport"]
    # What Linux 3.18 has by default: CUBIC, losses found by duplicate ACKs.
    document["traffic"][0] |= {"flows": paths if isinstance(paths, int) else len(paths), "transport": "cubic"}
    return document


def down(path: int, at_s: float) -> dict[str, Any]:
    """A path's failure, as an event; paths are counted from 1."""
    return {"at": f"{at_s:g} s", "link": list(EDGES), "index": path, "state": "down"}
