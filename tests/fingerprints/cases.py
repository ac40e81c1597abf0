"""Small scenarios that together use every transport, scheme, queue, controller and kind of failure there is.

Each is plain data, as a TOML parser would return it, and runs in some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anabranch import _core

Data = dict[str, Any]

PLAIN_PRESETS = [name for name in _core.transport_preset_names() if name != "sdn-paced"]
"""Every preset that needs no controller."""


def merged(base: Data, changes: Data) -> Data:
    """``base`` with ``changes``, table by table."""
    result = dict(base)
    for key, value in changes.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return result


def dumbbell(**changes: Any) -> Data:
    """Three flows over one bottleneck of 10 Mbps, 20 ms, with some random loss."""
    base: Data = {
        "network": {
            "topology": "dumbbell",
            "parameters": {"left_hosts": 3, "right_hosts": 3, "bottleneck_capacity": "10 Mbps"},
            "links": {"capacity": "100 Mbps", "delay": "7 ms", "queue": "20 packets", "loss": 1e-3},
        },
        "traffic": [
            {
                "from": ["left1", "left2", "left3"],
                "to": ["right1", "right2", "right3"],
                "pairs": "in-order",
                "size": "unlimited",
                "transport": "newreno",
                "start": {"distribution": "uniform", "low": "0 ms", "high": "50 ms"},
            }
        ],
        "run": {"duration": "2 s", "seed": 7, "sample_interval": "100 ms"},
    }
    return merged(base, changes)


def branches(using: str = "newreno", **changes: Any) -> Data:
    """Two hosts behind routers with three paths between them of 10, 8 and 5 Mbps and 5, 10 and 20 ms."""
    ways = [("north", "10 Mbps", "5 ms"), ("middle", "8 Mbps", "10 ms"), ("south", "5 Mbps", "20 ms")]
    routers = ["west", *(name for name, _, _ in ways), "east"]
    nodes = [{"name": name, "kind": "router"} for name in routers]
    nodes += [{"name": name, "kind": "host"} for name in ("client", "server")]
    edges = [
        {"between": [end, name], "new": True, "capacity": capacity, "delay": delay}
        for name, capacity, delay in ways
        for end in ("west", "east")
    ]
    access = [("client", "west"), ("east", "server")]
    edges += [{"between": list(pair), "new": True} for pair in access]
    base: Data = {
        "network": {
            "node": nodes,
            "link": edges,
            "links": {"capacity": "100 Mbps", "delay": "1 ms", "queue": "30 packets"},
        },
        "traffic": [
            {"from": "client", "to": "server", "size": "unlimited", "transport": using},
            {"from": "server", "to": "client", "size": "300 kB", "start": "200 ms", "transport": using},
        ],
        "run": {"duration": "2 s", "seed": 3, "sample_interval": "100 ms"},
    }
    return merged(base, changes)


def mesh(**changes: Any) -> Data:
    """Five flows over Abilene."""
    base: Data = {
        "network": {"topology": "topohub/Abilene", "links": {"capacity": "10 Mbps", "queue": "50 packets"}},
        "traffic": [
            {"from": "Seattle", "to": "Atlanta", "flows": 2, "size": "unlimited", "transport": "linux-cubic"},
            {"from": "New York", "to": "Los Angeles", "flows": 2, "size": "500 kB", "transport": "newreno"},
            {"from": "Denver", "to": "Indianapolis", "size": "200 kB", "transport": "linux-bbr"},
        ],
        "run": {"duration": "2 s", "seed": 5, "sample_interval": "200 ms"},
    }
    return merged(base, changes)


def transports() -> Iterator[tuple[str, Data]]:
    """Every preset over one path and sprayed over three; parameters and choices apart from presets."""
    for name in PLAIN_PRESETS:
        yield (
            f"transport/{name}",
            merged(dumbbell(), {"traffic": [{**dumbbell()["traffic"][0], "transport": name}]}),
        )
        yield f"sprayed/{name}", branches(name, routing={"scheme": "disjoint", "load_balancing": "packet"})
    tuned: dict[str, Data] = {
        "cubic": {
            "preset": "cubic",
            "congestion_control": {
                "algorithm": "cubic",
                "beta": 0.8,
                "c": 0.6,
                "fast_convergence": False,
                "hystart": False,
            },
        },
        "reno": {
            "preset": "newreno",
            "congestion_control": {"algorithm": "newreno", "hystart": True},
            "loss_detection": {"algorithm": "dupack", "threshold": 5},
            "delayed_ack_segments": 1,
        },
        "paced": {
            "preset": "linux-cubic",
            "pacing": {"algorithm": "window", "slow_start_gain": 1.5},
            "loss_detection": {"algorithm": "rack", "tail_loss_probe": False},
        },
        "fastrto": {
            "preset": "mprc",
            "loss_detection": {
                "algorithm": "fastrto",
                "gamma": 1.2,
                "k": 2.0,
                "srtt_gain": 0.125,
                "fastrto_max": "300 ms",
            },
        },
        "pr": {
            "preset": "tcp-pr",
            "loss_detection": {"algorithm": "tcp-pr", "ewrtt_alpha": 0.9, "mxrtt_beta": 2.5},
            "congestion_control": "cubic",
        },
        "rr": {
            "preset": "rr-tcp",
            "loss_detection": {"algorithm": "rr-tcp", "fa_ratio": 0.8, "fa_step": 0.05, "timeout_cost": 5.0},
        },
        "bbr3": {
            "preset": "bbr3",
            "ecn": True,
            "congestion_control": {
                "algorithm": "bbr3",
                "startup_gain": 2.89,
                "loss_threshold": 0.01,
                "startup_losses": 3,
                "beta": 0.8,
                "headroom": 0.1,
                "probe_wait": "300 ms",
                "reno_rounds": 20,
                "min_rtt_window": "1 s",
                "probe_rtt_interval": "500 ms",
                "burst": "0 ms",
            },
        },
        "ncr": {
            "preset": "tcp-ncr",
            "loss_detection": {"algorithm": "tcp-ncr", "limited_transmit": "aggressive"},
        },
        "plain": {"preset": "newreno", "sack": False, "timestamps": False, "mss": "536 B", "min_rto": "1 s"},
        "window": {"preset": "sliding-window", "window_segments": 20, "segment": "500 B"},
        "coupled-alone": {"preset": "linux-reno", "congestion_control": "olia"},
        "small-buffer": {"preset": "linux-cubic", "receive_buffer": "64 kB", "initial_window_segments": 3},
    }
    for name, table in tuned.items():
        data = branches("tuned", routing={"scheme": "disjoint", "load_balancing": "packet-round-robin"})
        yield f"tuned/{name}", merged(data, {"transport": {"tuned": table}})


def sprayed() -> Iterator[tuple[str, Data]]:
    """Every path selector of spray over a fabric that trims, a collective and a silent link."""
    network = {
        "topology": "fat-tree",
        "parameters": {"k": 4},
        "links": {
            "capacity": "100 Gbps",
            "delay": "1 us",
            "queue": {"algorithm": "trim", "limit": "42 packets"},
        },
    }
    incast = {
        "from": ["host2.1.1", "host3.1.1", "host3.2.1", "host4.1.2"],
        "to": "host1.1.1",
        "size": "200 kB",
    }
    ring = {
        "name": "ring",
        "from": ["host1.1.1", "host2.1.1", "host3.1.1", "host1.2.1"],
        "collective": {"operation": "ring-all-reduce", "bytes": "400 kB", "compute": "1 us"},
        "after": "traffic[0]",
    }
    silent = {"at": "10 us", "link": ["core1.1", "aggregation1.1"], "state": "silent"}
    for selector in ("flow", "random", "oblivious", "bitmap", "reps", "mixed", "mrc"):
        window = (
            "constant" if selector == "oblivious" else {"algorithm": "nscc", "as_htsim": selector == "reps"}
        )
        yield (
            f"spray/{selector}",
            {
                "network": network,
                "routing": {"scheme": "ecmp"},
                "transport": {"x": {"preset": "uet", "path_selector": selector, "window": window}},
                "traffic": [{**entry, "transport": "x"} for entry in (incast, ring)],
                "event": [] if selector == "flow" else [silent],
                "run": {"duration": "2 ms", "until": "done"},
            },
        )
    turns = {"algorithm": "packet-round-robin", "shared": True}
    yield (
        "spray/shared turns of switches",
        {
            "network": network,
            "routing": {"scheme": "ecmp", "load_balancing": turns},
            "traffic": [{**entry, "transport": "uet"} for entry in (incast, ring)],
            "run": {"duration": "2 ms", "until": "done"},
        },
    )


def multipath() -> Iterator[tuple[str, Data]]:
    """Every path manager and scheduler of Multipath TCP."""
    hashed = {"scheme": "semper", "load_balancing": "hash"}
    for scheduler in ("lowest-rtt", "round-robin", "redundant", "blest"):
        manager = {"algorithm": "ndiffports", "subflows": 4}
        table = {
            "preset": "mptcp",
            "path_manager": manager,
            "scheduler": scheduler,
            "receive_buffer": "100 kB",
        }
        yield f"mptcp/{scheduler}", branches("many", routing=hashed, transport={"many": table})
    mesh_of = {"preset": "mptcp-cubic", "path_manager": "fullmesh", "penalisation": False}
    homes = [{"between": ["client", "south"], "new": True}, *branches()["network"]["link"]]
    data = branches("many", routing={"scheme": "disjoint"}, transport={"many": mesh_of})
    yield "mptcp/fullmesh", merged(data, {"network": {"link": homes}})
    single = {"preset": "mptcp-balia", "path_manager": "default", "opportunistic_retransmission": False}
    yield "mptcp/default", branches("many", routing=hashed, transport={"many": single})


def schemes() -> Iterator[tuple[str, Data]]:
    """Every routing scheme, and every way to balance load over its paths."""
    # Links differ, so that the metrics choose differently.
    uneven = [
        {"between": ["Seattle", "Denver"], "capacity": "6 Mbps", "loss": 5e-4},
        {"between": ["Denver", "Kansas City"], "loss": 0.01},
        {"between": ["Kansas City", "Houston"], "delay": "1 ms", "loss": 4e-3},
        {"between": ["Indianapolis", "Atlanta"], "capacity": "4 Mbps"},
        {"between": ["Sunnyvale", "Los Angeles"], "capacity": "20 Mbps", "delay": "25 ms"},
        {"between": ["Houston", "Atlanta"], "capacity": "15 Mbps"},
        {"between": ["Chicago", "New York"], "capacity": "5 Mbps"},
    ]
    lossy = {"links": {"loss": 1e-3}, "link": uneven}
    for name in ("shortest", "ecmp", "disjoint", "max-flow", "semper"):
        yield f"scheme/{name}", mesh(network=lossy, routing={"scheme": name})
    together = {"algorithm": "concurrent-flow", "k": 4}
    yield "scheme/concurrent-flow", mesh(network=lossy, routing={"scheme": together})
    near = {"algorithm": "near-shortest", "within_percent": 60}
    yield "scheme/near-shortest", mesh(network=lossy, routing={"scheme": near, "metric": "delay"})
    ours: tuple[Data, ...] = (
        {},
        {"routing": {"scheme": "ecmp", "metric": "delay"}},
        {"routing": {"scheme": "tcpbp"}},
    )
    flows = mesh()["traffic"]
    several = [{**flow, **routes} for routes in ours for flow in flows]
    yield "scheme/by-flow", mesh(network=lossy, routing={"scheme": "ecmp"}, traffic=several)
    between = (["Denver", "Kansas City"], ["Houston", "Atlanta"], ["Chicago", "New York"])
    weighted = {"links": {"weight": 2}, "link": [{"between": ends, "weight": 3} for ends in between]}
    yield "metric/weight", mesh(network=weighted, routing={"scheme": "ecmp", "metric": "weight"})
    ways = (
        ("Seattle->Denver->Kansas City->Indianapolis->Atlanta", 3),
        ("Seattle->Sunnyvale->Los Angeles->Houston->Atlanta", 1),
        ("New York->Washington DC->Atlanta->Houston->Los Angeles", 1),
        ("Denver->Kansas City->Indianapolis", 1),
    )
    given = [{"nodes": words.split("->"), "weight": weight} for words, weight in ways]
    yield "scheme/given", mesh(routing={"scheme": "given", "paths": given, "load_balancing": "packet"})
    metrics = (
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
    for metric in metrics:
        yield f"metric/{metric}", mesh(network=lossy, routing={"scheme": "shortest", "metric": metric})
    yield (
        "scheme/k-shortest",
        mesh(
            routing={
                "scheme": {"algorithm": "k-shortest", "k": 3},
                "metric": "delay",
                "load_balancing": "flow",
            }
        ),
    )
    yield (
        "scheme/tcpbp",
        mesh(network=lossy, routing={"scheme": {"algorithm": "tcpbp", "k": 2}, "load_balancing": "packet"}),
    )
    yield "scheme/tcpbp-exact", mesh(network=lossy, routing={"scheme": "tcpbp-exact"})
    limits = {"max_delay": "28 ms", "max_loss": 0.03}
    within = {"scheme": {"algorithm": "k-shortest", "k": 3}, "load_balancing": "packet", **limits}
    yield "scheme/limits", mesh(network=lossy, routing=within)
    shared = {"model": "pftk", "sharing": "all-pairs", "objective": "proportional"}
    modelled = {"scheme": {"algorithm": "tcpbp-exact", **shared}}
    yield "scheme/model", mesh(network=lossy, routing=modelled)
    yield (
        "scheme/semper-capacity",
        branches(
            routing={
                "scheme": {"algorithm": "semper", "shares": "capacity"},
                "load_balancing": "weighted-hash",
            }
        ),
    )
    demand = {"ingress": "3 Mbps", "egress": "3 Mbps", "pair": "1 Mbps"}
    for name, more in (
        ("robust", {"k": 2}),
        ("hybrid-hop", {"single_percent": 40}),
        ("hybrid-delay", {"failures": "single-link"}),
        ("robust-optimal", {"level": 0.9, "time_limit": "20 s", "k": 2}),
        ("robust-single", {"k": 2}),
        ("igp-weights", {"time_limit": "50 ms"}),
    ):
        routing = {"scheme": {"algorithm": name, **more}, "demand": demand}
        yield f"scheme/{name}", mesh(network={"links": {"capacity": "20 Mbps"}}, routing=routing)
    balancing: dict[str, Data] = {
        "flow": {},
        "flowlet": {"gap": "5 ms"},
        "packet": {},
        "packet-round-robin": {},
        "hash": {},
        "weighted-hash": {},
        "resilient-hash": {},
        "subflow-round-robin": {"idle_timeout": "1 s"},
    }
    for name, more in balancing.items():
        # The plain hash takes no paths of unequal shares.
        scheme = "semper" if name == "hash" else "max-flow"
        routing = {"scheme": scheme, "load_balancing": {"algorithm": name, **more}}
        event = [{"at": "1 s", "link": ["west", "north"], "state": "down"}]
        yield f"balancing/{name}", branches("mptcp", routing=routing, event=event)


def links() -> Iterator[tuple[str, Data]]:
    """Every queue, loss model and form of delay."""
    ecn = {"marked": {"preset": "newreno", "ecn": True}}
    flows = [{**dumbbell()["traffic"][0], "transport": "marked"}]
    for name, settings in {
        "bytes": {"queue": "20 kB"},
        "both": {"queue": ["20 packets", "25 kB"]},
        "unlimited": {"queue": "unlimited"},
        "mark": {"queue": {"algorithm": "threshold", "mark_at": "10 packets"}},
        "codel": {"queue": {"algorithm": "codel", "limit": "unlimited"}},
        "codel-ecn": {
            "queue": {
                "algorithm": "codel",
                "target": "3 ms",
                "interval": "50 ms",
                "ecn": True,
                "limit": "100 packets",
            }
        },
        "bursts": {"loss": {"algorithm": "gilbert-elliott", "to_bad": 1e-3, "to_good": 0.3}},
        "periodic": {"loss": {"algorithm": "periodic", "probability": 3e-3}},
        "jitter": {"jitter": {"distribution": "exponential", "mean": "1 ms"}},
        "shaper": {
            "shaper": {"rate": "8 Mbps", "burst": "15 kB", "peak_rate": "20 Mbps"},
            "queue": {"algorithm": "fq-codel", "limit": "100 packets"},
        },
        "policer": {"policer": {"rate": "6 Mbps", "burst": "30 kB"}},
        "impaired": {
            "reorder": {"probability": 0.05, "correlation": 0.2, "gap": 3},
            "duplicate": 0.02,
            "corrupt": {"probability": 0.01, "correlation": 0.1},
        },
        "random-delay": {"delay": {"distribution": "uniform", "low": "1 ms", "high": "9 ms"}},
    }.items():
        yield f"link/{name}", merged(dumbbell(network={"links": settings}, transport=ecn), {"traffic": flows})
    classes = {"delay_class": "WAN", "access": {"delay": "1 us", "capacity": "1 Gbps"}}
    yield "link/classes", dumbbell(network=classes, capture=[{"file": "packets.pcapng", "host": "left1"}])


CONTROL_LINKS = {"capacity": "1 Gbps", "delay": "1 ms"}


def controllers() -> Iterator[tuple[str, Data]]:
    """Every application of the SDN controller, its estimators, channels and flow tables."""
    yield "controller/forwarding", mesh(controller={"application": "forwarding", "metric": "hops"})
    by_subflow = {"application": {"algorithm": "subflow-round-robin", "k": 2}}
    yield "controller/subflow-round-robin", branches("mptcp", controller=by_subflow)
    yield "controller/in-band", mesh(controller={"channel": "in-band", "at": "Denver", "linger": "100 ms"})
    for full in ("refuse", "evict"):
        table = {"size": 4, "when_full": full, "idle_timeout": "300 ms", "hard_timeout": "5 s"}
        yield f"controller/{full}", mesh(controller={"table": table})
    clamp = {"application": {"algorithm": "window-clamp", "share": 0.9}}
    yield "controller/window-clamp", dumbbell(controller=clamp)
    incast: Data = {
        "network": {
            "topology": "dumbbell",
            "parameters": {"left_hosts": 6, "right_hosts": 1},
            "links": {"capacity": "1 Gbps", "delay": "10 us", "queue": "100 packets"},
        },
        "traffic": [{"from": "*", "to": "right1", "size": "200 kB", "transport": "sdn-paced"}],
        "run": {"duration": "50 ms", "seed": 2, "sample_interval": "1 ms", "sequences": ["traffic[0].1"]},
    }
    for schedule in ("published", "stretched"):
        factors = {"alpha": 0.95, "beta": 1.1, "gamma": 1.5}
        paced = {"algorithm": "sdn-paced", **factors, "schedule": schedule}
        yield f"controller/sdn-paced-{schedule}", merged(incast, {"controller": {"application": paced}})
    unreliable = {"sdn-paced": {"reliable": False, "segment": "800 B"}}
    yield (
        "controller/unreliable",
        merged(incast, {"controller": {"application": "sdn-paced"}, "transport": unreliable}),
    )
    tcpbp = {"algorithm": "tcpbp", "sample_packets": 50}
    choices: dict[str, Data] = {
        "sma": {"estimator": {"algorithm": "sma", "window": 4}},
        "ewma": {"estimator": {"algorithm": "ewma", "weight": 0.3}, "search": "exact", "threshold": 0.1},
        "hte": {
            "estimator": {"algorithm": "hte", "window": 5, "significance": 0.1},
            "hold_time": "300 ms",
        },
        "configured": {"delay": "configured", "delay_granularity": "1 ms", "loss_granularity": 0.0},
    }
    for name, more in choices.items():
        lossy = {"link": [{"between": ["Denver", "Kansas City"], "loss": 0.02}], "links": {"loss": 1e-3}}
        controller = {"application": {**tcpbp, **more}, "statistics_interval": "200 ms"}
        yield f"controller/tcpbp-{name}", mesh(network=lossy, controller=controller)


def changes() -> Iterator[tuple[str, Data]]:
    """Every change of the network, with routers that react and with routers that do not."""
    link = ["Denver", "Kansas City"]
    down = [{"at": "500 ms", "link": link, "state": "down"}, {"at": "1200 ms", "link": link, "state": "up"}]
    for name in ("ecmp", "disjoint"):
        yield f"failure/{name}", mesh(event=down, routing={"scheme": name, "reaction": "50 ms"})
    yield (
        "failure/never",
        mesh(event=down, routing={"scheme": "k-shortest", "reaction": "never", "load_balancing": "packet"}),
    )
    yield "failure/controller", mesh(event=down, controller={"application": "forwarding"})
    node = [
        {"at": "500 ms", "node": "Denver", "state": "down"},
        {"at": "1 s", "node": "Denver", "state": "up"},
    ]
    yield "failure/node", mesh(event=node, routing={"reaction": "20 ms"})
    settings = [
        {"at": "400 ms", "link": link, "capacity": "2 Mbps"},
        {"at": "800 ms", "link": link, "delay": "30 ms"},
        {"at": "1200 ms", "link": link, "loss": 0.05},
        {
            "at": "1500 ms",
            "link": link,
            "loss": {"algorithm": "gilbert-elliott", "to_bad": 0.01, "to_good": 0.2},
        },
    ]
    yield "failure/settings", mesh(event=settings)


def applications() -> Iterator[tuple[str, Data]]:
    """Every kind of source and of pairs."""
    hosts = {"from": "*", "transport": "linux-cubic"}
    sizes: dict[str, Any] = {
        "exponential": {"distribution": "exponential", "mean": "40 kB"},
        "pareto": {"distribution": "pareto", "scale": "5 kB", "shape": 1.3},
        "log-normal": {"distribution": "log-normal", "mean": "30 kB", "standard_deviation": "60 kB"},
        "gaussian": {"distribution": "gaussian", "mean": "30 kB", "standard_deviation": "10 kB"},
        "empirical": {"distribution": "empirical", "values": ["1 kB", "50 kB"], "weights": [3.0, 1.0]},
    }
    for name, size in sizes.items():
        arrivals = {
            "flows": 4,
            "size": size,
            "inter_arrival": {"distribution": "exponential", "mean": "100 ms"},
        }
        yield f"traffic/{name}", dumbbell(traffic=[{**hosts, "pairs": "permutation", **arrivals}])
    for name, application in {
        "poisson": {"kind": "poisson", "message": "2 kB", "rate": "1 Mbps"},
        "constant-rate": {"kind": "constant-rate", "message": "1 kB", "gap": "5 ms"},
        "messages": {"kind": "messages", "message": sizes["exponential"], "gap": "100 ms"},
    }.items():
        entry = {"from": "left1", "to": "right1", "application": application, "stop": "1500 ms"}
        yield f"traffic/{name}", dumbbell(traffic=[{**entry, "transport": "cubic"}])
    slow = {"rate": "500 kbps", "block": "8 kB", "pause": "500 ms", "resume": "1 s"}
    for name, preset in {"rfc": "newreno", "linux": "linux-cubic"}.items():
        entry = {"from": "left1", "to": "right1", "size": "unlimited", "transport": "held", "reads": slow}
        held = {"held": {"preset": preset, "receive_buffer": "30 kB"}}
        yield f"reads/{name}", dumbbell(traffic=[entry], transport=held)
    for name, preset in {"mptcp": "mptcp", "linux-mptcp": "linux-mptcp"}.items():
        table = {"preset": preset, "receive_buffer": "40 kB", "path_manager": "ndiffports"}
        data = branches("held", routing={"scheme": "disjoint"}, transport={"held": table})
        data["traffic"][0]["reads"] = slow
        yield f"reads/{name}", data
    noise = {"distribution": "exponential", "mean": "200 us"}
    mixed = {"hosts": {"processing_delay": noise}, "host": [{"name": "left1", "offload": "2 segments"}]}
    yield "hosts/processing", dumbbell(network=mixed)
    yield (
        "routers/hash-seeds",
        mesh(
            routing={"scheme": "ecmp"},
            network={"routers": {"hash_seed": 5}, "router": [{"name": "Denver", "hash_seed": "random"}]},
        ),
    )
    yield "routers/processing", dumbbell(network={"routers": {"processing_delay": noise}})
    there = {"from": "left1", "to": "right1", "both_directions": True}
    yield (
        "traffic/datagrams",
        dumbbell(
            traffic=[
                {**there, "flows": 2, "transport": "cubic"},
                {**there, "application": {"kind": "ping", "interval": "20 ms"}},
                {
                    **there,
                    "application": {"kind": "udp", "rate": "300 kbps", "packet": "300 B"},
                    "stop": "1 s",
                },
            ]
        ),
    )
    spread = branches(routing={"scheme": {"algorithm": "disjoint", "k": 3}, "load_balancing": "packet"})
    udp = {"kind": "udp", "rate": "2 Mbps", "packet": "500 B"}
    spread["traffic"].append({"from": "client", "to": "server", "application": udp})
    yield "traffic/datagrams-spread", spread
    sized = {**dumbbell()["traffic"][0], "size": "60 kB"}
    yield "run/until-done", dumbbell(traffic=[sized], run={"until": "done", "duration": "60 s"})


def every_scenario() -> dict[str, Data]:
    """All of them by name."""
    parts = (transports, sprayed, multipath, schemes, links, controllers, changes, applications)
    entries = {name: data for part in parts for name, data in part()}
    controlled = {name: data for name, data in entries.items() if "controller" in data}
    control = {"controller": {"links": CONTROL_LINKS}}
    return entries | {name: merged(data, control) for name, data in controlled.items()}
