"""The standard workload: what every network gets that is named, and not a scenario of the user's.

A router has one host, over a link so fast that nothing waits there. Long flows and transfers go from each
host to another one, drawn anew for each replication by names that no system has a part in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anabranch import topology

CAPACITY_MBPS = 20
"""Of every link between routers: as much as runs in seconds, and still some hundred packets a round trip."""
ACCESS = {"capacity": "1 Gbps", "delay": "0.1 ms", "queue": "unlimited", "loss": 0.0}
QUEUE_PACKETS = 100
"""60 ms at full rate, somewhat more than the round trip of a route across the United States."""
FLOWS_PER_HOST = 2
OFFERED_SHARE = 0.15
"""What each host offers in transfers, over the capacity of a link."""
TRANSFER_KB = 150
_GAP_S = TRANSFER_KB * 8e-3 / (OFFERED_SHARE * CAPACITY_MBPS)
LEAST_LOSS, MOST_LOSS = 1e-5, 1e-3
"""Ends of the random losses. With one loss for all, or losses that follow the length, d sqrt(p) would put
paths in the order of hops or of delay, and TCPBP could not differ from them. At 1e-3 and 30 ms the law of
Mathis et al. 1997 allows a flow 15 Mbps, so that losses weigh on long routes, and congestion decides
elsewhere."""
SAMPLE_INTERVAL_S = 0.2

NETWORKS: Mapping[str, str] = {
    "NSFNET": "sndlib/nobel-us",
    "zoo/Abilene": "topohub/Abilene",
    "zoo/AttMpls": "topohub/AttMpls",
    "sndlib/germany50": "sndlib/germany50",
}
"""The networks of a comparison that names none, each with its topology; SNDlib's nobel-us has the routers and
links of the NSFNET, and the two graphs of the Topology Zoo are the simplified ones that the MPRC publication
takes, too."""


@dataclass(frozen=True, slots=True)
class Times:
    """When what happens, in seconds."""

    warm_s: float
    """Measuring of long flows begins."""
    long_s: float
    """It ends; in the run with a failure, the link goes down."""
    after_s: float
    """How long is looked at what a failure costs."""
    lasting_s: float
    """The last part of it, which counts as lasting."""
    transfers_s: float
    """Transfers that begin until then count."""
    grace_s: float
    """So long all of them have to end."""


FULL = Times(warm_s=8, long_s=20, after_s=18, lasting_s=8, transfers_s=22, grace_s=8)
QUICK = Times(warm_s=4, long_s=9, after_s=8, lasting_s=4, transfers_s=8, grace_s=4)


def link_loss(a: str, b: str) -> float:
    """The random loss of the link between two routers, both ways: log-uniform, drawn by their names.

    By a digest and not by a generator, so that a link keeps its loss whatever else there is in the network.
    """
    digest = hashlib.sha256("\0".join(sorted((a, b))).encode()).digest()
    part = int.from_bytes(digest[:8], "big") / 2**64
    return float(f"{LEAST_LOSS * (MOST_LOSS / LEAST_LOSS) ** part:.3g}")


def standard_network(spec: str) -> dict[str, Any]:
    """The table ``[network]`` of a topology by name, with a host at each router.

    Raises:
        TopologyError: if there is no such topology, with the nearest.
    """
    network = topology.load(spec)
    hosts = [node.name for node in network.nodes if node.kind == "host"]
    at = [] if hosts else [node.name for node in network.nodes]
    ends = dict.fromkeys((link.a, link.b) for link in network.links if not {link.a, link.b} & set(hosts))
    return {
        "topology": spec,
        "links": {
            "capacity": f"{CAPACITY_MBPS} Mbps",
            "delay": {"from": "distance", "speed": "200 km/ms"},
            "queue": f"{QUEUE_PACKETS} packets",
        },
        "access": ACCESS,
        "node": [{"name": f"host at {name}", "kind": "host"} for name in at],
        "link": [{"between": [a, b], "loss": link_loss(a, b)} for a, b in ends]
        + [{"between": [f"host at {name}", name], "new": True} for name in at],
    }


def long_flows() -> dict[str, Any]:
    """The traffic entry of long flows: two from each host to one other."""
    return {
        "name": "long",
        "from": "*",
        "pairs": "permutation",
        "flows": FLOWS_PER_HOST,
        "start": {"distribution": "uniform", "low": "0 s", "high": "1 s"},
    }


def transfers() -> dict[str, Any]:
    """The traffic entry of short transfers: from each host to one other, as a Poisson process."""
    gap = {"distribution": "exponential", "mean": f"{_GAP_S * 1000:g} ms"}
    return {
        "name": "transfers",
        "from": "*",
        "pairs": "permutation",
        "flows": "unlimited",
        # The time to the first arrival of a Poisson process is that between two.
        "start": gap,
        "inter_arrival": gap,
        "size": {
            "distribution": "log-normal",
            "mean": f"{TRANSFER_KB} kB",
            "standard_deviation": f"{2 * TRANSFER_KB} kB",
        },
    }


def described() -> tuple[str, ...]:
    """The workload in plain words, a paragraph for each part of it."""
    return (
        f"Links of {CAPACITY_MBPS} Mbps with drop-tail queues of {QUEUE_PACKETS} packets, delays of "
        f"their length at 200 km/ms, and a random loss between {LEAST_LOSS:g} and {MOST_LOSS:g}, "
        "log-uniform, drawn by names and so the same in every replication. A host at each router, over "
        "1 Gbps and 0.1 ms, where nothing is lost.",
        f"Long flows: {FLOWS_PER_HOST} from each host to one other at random, and each host receives "
        "those of one other; they start within the first second and never end. Transfers: from each "
        f"host to one other in the same way, Poisson arrivals, {TRANSFER_KB} kB on the mean "
        f"(log-normal, standard deviation twice that), {OFFERED_SHARE:.0%} of a link's capacity from "
        "each host.",
        "Failure: with the long flows, the edge that most of them cross by fewest hops, on the mean "
        "over ten replications, goes down for good; routers that react have new routes after 1 s.",
        f"{_times(FULL).capitalize()} With --quick: {_times(QUICK)}",
        "Bounds of traffic for worst-case loads: half of a link's capacity into and out of each router "
        "(hose model).",
        "Seed 1, replications from 0 on. What is not named has its default. The study.toml in each "
        "folder below studies/ is all of it, and anabranch study runs it again.",
    )


def _times(times: Times) -> str:
    """When what happens, in words."""
    return (
        f"long flows count from {times.warm_s:g} to {times.long_s:g} s; the failure is at "
        f"{times.long_s:g} s, and counts until {times.long_s + times.after_s:g} s beside the level from "
        f"{times.warm_s:g} s on, its last {times.lasting_s:g} s as lasting; transfers count that begin "
        f"within {times.transfers_s:g} s, and have {times.grace_s:g} s more."
    )
