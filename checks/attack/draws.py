"""Random scenarios over transports, queues, schemes, controllers, failures, offload, Multipath TCP."""

from __future__ import annotations

import json
import random
from typing import Any

from anabranch import _core

Data = dict[str, Any]

PRESETS = tuple(name for name in _core.transport_preset_names() if name != "sdn-paced")
"""Every preset that needs no controller."""
WITHOUT_HANDSHAKE = tuple(
    name
    for name in PRESETS
    if json.loads(_core.transport_preset(name))["algorithm"] in ("sliding-window", "spray")
)
"""Transports whose first packet has data, and whose last one ends them: they open and close nothing."""
QUEUES: tuple[Any, ...] = (
    "5 packets",
    "50 packets",
    "20 kB",
    "20 ms",
    {"bdp": 1, "rtt": "20 ms"},
    "unlimited",
    ["30 packets", "40 kB"],
    {"algorithm": "threshold", "mark_at": "10 packets"},
    {"algorithm": "codel", "ecn": True},
    "codel",
    "fq-codel",
    "pie",
    "red",
    {"algorithm": "red", "ecn": True},
)
SCHEMES: tuple[Any, ...] = (
    "shortest",
    "shortest",
    "ecmp",
    "disjoint",
    {"algorithm": "disjoint", "k": 2},
    {"algorithm": "k-shortest", "k": 3},
    {"algorithm": "near-shortest", "within_percent": 40},
    "max-flow",
    "concurrent-flow",
    {"algorithm": "concurrent-flow", "k": 3},
    "semper",
    {"algorithm": "tcpbp", "k": 2},
    "tcpbp-exact",
    {"algorithm": "robust", "k": 2},
    {"algorithm": "igp-weights", "time_limit": "50 ms"},
)
METRICS = (
    "hops",
    "delay",
    "hops-then-delay",
    "inverse-capacity",
    "loss",
    "capacity",
    "tcpbp",
    "smm",
    "argaq",
    "b-over-dl",
)
BALANCERS: tuple[Any, ...] = (
    "flow",
    {"algorithm": "flowlet", "gap": "5 ms"},
    "packet",
    "packet-round-robin",
    "hash",
    "weighted-hash",
    "resilient-hash",
    "subflow-round-robin",
)
CONTROL = {"capacity": "1 Gbps", "delay": "1 ms"}


def scenario(draw: random.Random) -> Data:
    """Plain data of a scenario; some are refused, for what was drawn need not go together."""
    routers = [f"r{number}" for number in range(draw.randint(2, 7))]
    hosts = [f"h{number}" for number in range(draw.randint(2, 5))]
    edges = [(draw.choice(routers[:place]), name) for place, name in enumerate(routers) if place]
    for _ in range(draw.randint(0, 6)):
        one, other = draw.sample(routers, 2)
        if (one, other) not in edges and (other, one) not in edges:
            edges.append((one, other))
    for host in hosts:
        edges += [(host, router) for router in draw.sample(routers, draw.choice((1, 1, 1, 2)))]
    nodes = [{"name": name, "kind": "router"} for name in routers]
    nodes += [{"name": name, "kind": "host"} for name in hosts]
    duration_ms = draw.choice((300, 600, 1200))
    data: Data = {
        "network": {"node": nodes, "link": [_link(draw, *edge) for edge in edges]},
        "traffic": [_traffic(draw, hosts) for _ in range(draw.randint(1, 5))],
        "run": {"duration": f"{duration_ms} ms", "seed": draw.randrange(10**6), "sample_interval": "100 ms"},
    }
    if draw.random() < 0.2:
        data["network"]["hosts"] = _hosts(draw)
    if draw.random() < 0.25:
        data["controller"] = {
            "links": CONTROL,
            "application": draw.choice(("forwarding", "window-clamp", "tcpbp")),
        }
        data["controller"]["channel"] = "apart"
    else:
        data["routing"] = _routing(draw)
    if draw.random() < 0.3:
        data["transport"] = {"tuned": _tuned(draw)}
        draw.choice(data["traffic"])["transport"] = "tuned"
    if draw.random() < 0.35:
        data["event"] = [
            event for _ in range(draw.randint(1, 3)) for event in _events(draw, edges, routers, duration_ms)
        ]
    if data.get("transport", {}).get("tuned", {}).get("path_manager") == "fullmesh" and draw.random() < 0.7:
        data.setdefault("event", []).extend(_address_events(draw, data["traffic"], edges, duration_ms))
    if "event" in data:
        data["event"].sort(key=lambda event: float(event["at"].split()[0]))
    return data


def with_idle_host(data: Data) -> Data:
    """The same scenario with one more host at the first router, with which nobody talks.

    Its link is unlike others in what schemes look at: it loses packets and has a large capacity.
    """
    network = data["network"]
    link = {
        "between": [network["node"][0]["name"], "idle"],
        "new": True,
        "capacity": "1 Gbps",
        "loss": 0.01,
        "delay": "1 ms",
    }
    more = {"node": [*network["node"], {"name": "idle", "kind": "host"}], "link": [*network["link"], link]}
    return {**data, "network": {**network, **more}}


def _hosts(draw: random.Random) -> Data:
    hosts: Data = {}
    if draw.random() < 0.7:
        hosts["offload"] = f"{draw.choice((2, 6, 44))} segments"
    if not hosts or draw.random() < 0.3:
        mean = f"{draw.choice((0.02, 0.2, 5))} ms"
        hosts["processing_delay"] = {"distribution": "exponential", "mean": mean}
    return hosts


def _link(draw: random.Random, a: str, b: str) -> Data:
    link: Data = {
        "between": [a, b],
        "new": True,
        "capacity": f"{draw.choice((1, 2, 5, 10, 20, 100))} Mbps",
        "delay": f"{draw.choice((0.01, 0.1, 1, 2, 5, 10, 20))} ms",
        "queue": draw.choice(QUEUES),
    }
    if draw.random() < 0.15:
        link["loss"] = draw.choice(
            (0.001, 0.02, {"algorithm": "gilbert-elliott", "to_bad": 0.001, "to_good": 0.3})
        )
    if draw.random() < 0.1:
        link["jitter"] = {"distribution": "uniform", "low": "0 ms", "high": "2 ms"}
    return link | _conditions(draw)


def _conditions(draw: random.Random) -> Data:
    """Token buckets, and what happens to single packets; trains of segments fit into the buckets."""
    conditions: Data = {}
    for kind in ("shaper", "policer"):
        if draw.random() < 0.08:
            conditions[kind] = {
                "rate": f"{draw.choice((1, 3, 8))} Mbps",
                "burst": f"{draw.choice((70, 200))} kB",
            }
    if draw.random() < 0.08:
        conditions["reorder"] = {"probability": draw.choice((0.01, 0.3)), "gap": draw.choice((1, 4))}
    for kind in ("duplicate", "corrupt"):
        if draw.random() < 0.08:
            conditions[kind] = draw.choice((0.01, {"probability": 0.1, "correlation": 0.3}))
    return conditions


def _traffic(draw: random.Random, hosts: list[str]) -> Data:
    source, destination = draw.sample(hosts, 2)
    entry: Data = {
        "from": source,
        "to": destination,
        "flows": draw.choice((1, 1, 2, 4)),
        "transport": draw.choice(PRESETS),
        "start": f"{draw.choice((0, 0, 10, 100))} ms",
    }
    kind = draw.randrange(5)
    if kind == 0:
        entry["size"] = "unlimited"
    elif kind == 1:
        entry["size"] = {"distribution": "exponential", "mean": "30 kB"}
    elif kind == 2:
        entry["application"] = {"kind": "poisson", "message": "2 kB", "rate": "1 Mbps"}
    else:
        entry["size"] = f"{draw.choice((1, 10, 100, 1000))} kB"
    return entry


def _routing(draw: random.Random) -> Data:
    routing: Data = {"scheme": draw.choice(SCHEMES)}
    if draw.random() < 0.5:
        routing["metric"] = draw.choice(METRICS)
    if draw.random() < 0.6:
        routing["load_balancing"] = draw.choice(BALANCERS)
    if draw.random() < 0.5:
        routing["reaction"] = draw.choice(("20 ms", "never", "200 ms"))
    if isinstance(scheme := routing["scheme"], dict) and scheme["algorithm"] in ("robust", "igp-weights"):
        routing["demand"] = {"pair": "100 kbps"}
    return routing


def _tuned(draw: random.Random) -> Data:
    if draw.random() < 0.5:
        manager = draw.choice(("fullmesh", "default", {"algorithm": "ndiffports", "subflows": 3}))
        scheduler = draw.choice(("lowest-rtt", "round-robin", "redundant", "blest", "ecf", "linux"))
        return {
            "preset": "mptcp",
            "path_manager": manager,
            "scheduler": scheduler,
            "receive_buffer": "200 kB",
        }
    preset = draw.choice(("newreno", "linux-cubic", "cubic", "bbr3"))
    transport: Data = {"preset": preset, "ecn": draw.random() < 0.5}
    if draw.random() < 0.5:
        transport["mss"] = draw.choice(("536 B", "1000 B"))
    if draw.random() < 0.3:
        transport["timestamps"] = False
    return transport


def _address_events(
    draw: random.Random, traffic: list[Data], edges: list[tuple[str, str]], duration_ms: int
) -> list[Data]:
    """Addresses of the ends of a full mesh go and come back, and are backups."""
    flow = next(entry for entry in traffic if entry["transport"] == "tuned")
    host = draw.choice((flow["from"], flow["to"]))
    events: list[Data] = []
    for edge in [edge for edge in edges if host in edge]:
        place = {"address": [host, edge[0] if edge[1] == host else edge[1]]}
        first, second = sorted(draw.sample(range(10, duration_ms), 2))
        events.append({"at": f"{draw.choice((0, first))} ms", **place, "backup": draw.random() < 0.7})
        if draw.random() < 0.7:
            events.append({"at": f"{first} ms", **place, "state": "down"})
            events.append({"at": f"{second} ms", **place, "state": "up"})
    return events


def _events(
    draw: random.Random, edges: list[tuple[str, str]], routers: list[str], duration_ms: int
) -> list[Data]:
    first, second = sorted(draw.sample(range(10, duration_ms), 2))
    edge = list(draw.choice(edges))
    kind = draw.randrange(6)
    if kind == 0:
        return [{"at": f"{first} ms", "link": edge, "capacity": f"{draw.choice((1, 3, 50))} Mbps"}]
    if kind == 1:
        return [{"at": f"{first} ms", "link": edge, "delay": f"{draw.choice((0.5, 30))} ms"}]
    if kind == 2:
        return [{"at": f"{first} ms", "link": edge, "loss": 0.05}]
    place: Data = {"node": draw.choice(routers)} if kind == 3 else {"link": edge}
    return [{"at": f"{first} ms", **place, "state": "down"}, {"at": f"{second} ms", **place, "state": "up"}]
