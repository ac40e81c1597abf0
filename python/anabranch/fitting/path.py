"""The path that a measurement is explained by: its parameters, and the scenario that has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

ACCESS = {"new": True, "capacity": "1 Gbps", "delay": "0 ms", "queue": "10000 packets"}
"""Links of hosts, which hold nothing back."""
BY_SUBFLOW = "subflow-round-robin"
"""Balancing of paths that subflows of Multipath TCP showed."""
AQM_LIMIT = "1000 packets"
LEAST_BUFFER_BYTES = 1600
_CROSS_PACKET = "1500 B"


@dataclass(frozen=True)
class Sprayed:
    """One of several paths over which packets are spread."""

    rate_mbps: float
    rtt_ms: float
    buffer_bytes: float

    @property
    def bdp_bytes(self) -> float:
        """The bytes that fill the propagation delay."""
        return self.rate_mbps * 1e3 / 8 * self.rtt_ms


@dataclass(frozen=True)
class PathModel:
    """A bottleneck and what happens on it; what is None is not there."""

    rate_mbps: float
    rtt_ms: float
    """Propagation there and back."""
    buffer_bytes: float
    discipline: str | None = None
    """``codel`` or ``fq-codel`` in place of a queue that drops at its tail."""
    loss: float | None = None
    """Share of packets with data that are lost by chance."""
    burst: float = 1.0
    """Packets that are lost in a row, in the mean."""
    lost_packets: tuple[int, ...] = ()
    """Numbers of the packets with data that were lost by chance: they are replayed while fitting."""
    jitter_ms: float | None = None
    """Mean of an exponential variate on the delay there."""
    policer_mbps: float | None = None
    policer_bytes: float | None = None
    bucket_bytes: float | None = None
    """Burst of a token bucket that shapes, as the kernel's tbf: the rate is the bucket's then."""
    line_mbps: float | None = None
    """Rate at which the bucket's savings pass."""
    udp_mbps: float | None = None
    """Constant cross traffic."""
    udp_spans: tuple[tuple[float, float, float], ...] = ()
    """Cross traffic: from, to (seconds) and Mbps."""
    capacity_steps: tuple[tuple[float, float], ...] = ()
    """Capacity over time: from (seconds) and Mbps."""
    uplink_mbps: float | None = None
    uplink_packets: float | None = None
    elastic_flows: int = 0
    """TCP CUBIC across."""
    paths: tuple[Sprayed, ...] = ()
    balancing: str | None = None

    def with_values(self, values: dict[str, float]) -> PathModel:
        """The model with other values; ``rate_mbps.1`` is a field of the second of its paths."""
        path_values: dict[str, Any] = {name: value for name, value in values.items() if "." not in name}
        paths = [dict(vars(path)) for path in self.paths]
        for name, value in values.items():
            if "." in name:
                key, number = name.split(".")
                paths[int(number)][key] = value
        return replace(self, **path_values, paths=tuple(Sprayed(**path) for path in paths))

    def value(self, name: str) -> float:
        """A parameter by its name, as :meth:`with_values` has it."""
        key, _, number = name.partition(".")
        return float(getattr(self.paths[int(number)] if number else self, key))

    @property
    def first_path(self) -> PathModel:
        """The first of its paths alone."""
        first = self.paths[0]
        return PathModel(first.rate_mbps, first.rtt_ms, first.buffer_bytes)

    @property
    def total_mbps(self) -> float:
        """The rate of all paths together."""
        return sum(path.rate_mbps for path in self.paths) if self.paths else self.rate_mbps

    @property
    def bdp_bytes(self) -> float:
        """The bytes that fill the propagation delay at the rate that lasts."""
        return min(self.rate_mbps, self.policer_mbps or self.rate_mbps) * 1e3 / 8 * self.rtt_ms


def rate(mbps: float) -> str:
    """A rate as a scenario has it, in whole bits per second."""
    return f"{max(1000, round(mbps * 1e6))} bps"


def span(ms: float) -> str:
    """A time as a scenario has it, in whole nanoseconds."""
    return f"{max(1, round(ms * 1e6))} ns"


def scenario_data(
    model: PathModel,
    traffic: Sequence[dict[str, Any]],
    duration_s: float,
    *,
    seed: int = 1,
    replay: bool = False,
    capture: str | None = None,
) -> dict[str, Any]:
    """A scenario over the path, as plain data.

    Args:
        model: the path.
        traffic: entries from ``src`` to ``dst``.
        duration_s: of the run.
        seed: of chance.
        replay: lose the packets that were lost, and none by chance.
        capture: name of a file for what ``src`` sees.
    """
    data = _ends(traffic, duration_s, seed)
    if model.paths:
        _sprayed(model, data)
    else:
        _bottleneck(model, data, duration_s, replay=replay)
    if capture is not None:
        data["capture"] = [{"file": capture, "host": "src", "snap_length": "128 B"}]
    return data


def joined_data(
    models: Sequence[PathModel], traffic: Sequence[dict[str, Any]], duration_s: float, *, seed: int = 1
) -> dict[str, Any]:
    """A scenario over bottlenecks side by side, each with all that happens on it, for Multipath TCP.

    Args:
        models: the bottlenecks; none of them is of several paths.
        traffic: entries from ``src`` to ``dst``.
        duration_s: of the run.
        seed: of chance.
    """
    data = _ends(traffic, duration_s, seed)
    for number, model in enumerate(models, 1):
        _bottleneck(model, data, duration_s, replay=False, mark=str(number))
    routing = data.setdefault("routing", {})
    data["routing"] = {**routing, "scheme": "disjoint", "load_balancing": BY_SUBFLOW}
    return data


def _ends(traffic: Sequence[dict[str, Any]], duration_s: float, seed: int) -> dict[str, Any]:
    """A scenario that has no path yet."""
    nodes = [{"name": "src", "kind": "host"}, {"name": "dst", "kind": "host"}]
    return {
        "network": {"node": nodes, "link": []},
        "traffic": [dict(entry) for entry in traffic],
        "run": {"duration": f"{duration_s:.6f} s", "seed": seed},
    }


def _sprayed(model: PathModel, data: dict[str, Any]) -> None:
    network = data["network"]
    for number, path in enumerate(model.paths):
        name = f"p{number + 1}"
        network["node"].append({"name": name})
        network["link"] += [
            {"between": ["src", name], **ACCESS},
            {
                "between": [name, "dst"],
                "new": True,
                "capacity": rate(path.rate_mbps),
                "delay": span(path.rtt_ms / 2),
                "queue": f"{round(max(LEAST_BUFFER_BYTES, path.buffer_bytes))} B",
            },
        ]
    data["routing"] = {"scheme": "disjoint"}
    if model.balancing is not None:
        data["routing"]["load_balancing"] = model.balancing


def _bottleneck(
    model: PathModel, data: dict[str, Any], duration_s: float, *, replay: bool, mark: str = ""
) -> None:
    network = data["network"]
    crossed = model.udp_mbps or model.udp_spans or model.elastic_flows
    near, far = f"a{mark}", f"b{mark}"
    hosts = [("src", near), (far, "dst")]
    network["node"] += [{"name": near}, {"name": far}]
    if crossed:
        crossing = (f"xs{mark}", f"xd{mark}")
        network["node"] += [{"name": name, "kind": "host"} for name in crossing]
        hosts += [(crossing[0], near), (far, crossing[1])]
    network["link"] += [{"between": list(ends), **ACCESS} for ends in hosts]
    network["link"].append(
        {
            "between": [near, far],
            "new": True,
            "capacity": rate(model.rate_mbps if model.bucket_bytes is None else _line_mbps(model)),
            "delay": span(model.rtt_ms / 2),
            "queue": _queue(model),
        }
    )
    forward = _forward(model, replay=replay)
    if forward:
        network["link"].append({"between": [near, far], "direction": "forward", **forward})
    if replay and model.lost_packets:
        # Where no other packets with data pass, so that numbers are those of the sender.
        lost = {"algorithm": "trace", "packets": list(model.lost_packets)}
        network["link"].append({"between": ["src", near], "direction": "forward", "loss": lost})
    if model.uplink_mbps is not None:
        uplink = {
            "capacity": rate(model.uplink_mbps),
            "queue": f"{max(1, round(model.uplink_packets or 1))} packets",
        }
        network["link"].append({"between": [near, far], "direction": "backward", **uplink})
    _vary(model, data, duration_s, [near, far])
    _cross(model, data, duration_s, mark)


def _line_mbps(model: PathModel) -> float:
    """The line's rate behind a bucket, which is faster than that: otherwise the bucket does nothing."""
    return max(model.line_mbps or 0.0, _LEAST_FASTER * model.rate_mbps)


def _queue(model: PathModel) -> str | dict[str, Any]:
    if model.discipline is None:
        return f"{round(max(LEAST_BUFFER_BYTES, model.buffer_bytes))} B"
    queue: dict[str, Any] = {"algorithm": model.discipline, "limit": AQM_LIMIT}
    if model.discipline == "fq-codel":
        # Linux has ECN on here, and hosts do not ask for it by default.
        queue["ecn"] = False
    return queue


def _forward(model: PathModel, *, replay: bool) -> dict[str, Any]:
    forward: dict[str, Any] = {}
    if model.loss and not (replay and model.lost_packets):
        forward["loss"] = loss_of(model.loss, model.burst)
    if model.jitter_ms:
        forward["jitter"] = {"distribution": "exponential", "mean": span(model.jitter_ms)}
    if model.policer_mbps is not None:
        burst = f"{round(max(2 * LEAST_BUFFER_BYTES, model.policer_bytes or 0))} B"
        forward["policer"] = {"rate": rate(model.policer_mbps), "burst": burst}
    if model.bucket_bytes is not None:
        burst = f"{round(max(LEAST_BUFFER_BYTES, model.bucket_bytes))} B"
        forward["shaper"] = {"rate": rate(model.rate_mbps), "burst": burst}
    return forward


def loss_of(share: float, burst: float) -> float | dict[str, Any]:
    """Loss of a link: each packet for itself, or in bursts of a mean length (Gilbert 1960)."""
    if burst <= _SINGLE:
        return share
    to_good = 1 / burst
    return {
        "algorithm": "gilbert-elliott",
        "to_bad": round(share * to_good / (1 - share), 12),
        "to_good": round(to_good, 9),
    }


_LEAST_FASTER = 1.2
_SINGLE = 1.15
"""Mean bursts up to this length are those of chance."""


def _vary(model: PathModel, data: dict[str, Any], duration_s: float, link: list[str]) -> None:
    steps = [step for step in model.capacity_steps if 0 < step[0] < duration_s]
    if steps:
        data.setdefault("event", []).extend(
            {"at": f"{at_s:.3f} s", "link": link, "capacity": rate(mbps)} for at_s, mbps in steps
        )
        # Routes do not follow a changing rate: there is one way.
        data["routing"] = {"reaction": "never"}


def _cross(model: PathModel, data: dict[str, Any], duration_s: float, mark: str) -> None:
    ends = {"from": f"xs{mark}", "to": f"xd{mark}"}
    name = f"cross{mark}." if mark else "cross"
    spans = [(0.0, duration_s, model.udp_mbps)] if model.udp_mbps else list(model.udp_spans)
    for number, (from_s, to_s, mbps) in enumerate(spans):
        if to_s - from_s < _SHORTEST_S or from_s >= duration_s or mbps < _LEAST_MBPS:
            continue
        entry: dict[str, Any] = {
            "name": f"{name}{number + 1}",
            **ends,
            "application": {"kind": "udp", "rate": rate(mbps), "packet": _CROSS_PACKET},
        }
        if model.udp_spans:
            entry |= {"start": f"{from_s:.3f} s", "stop": f"{min(to_s, duration_s):.3f} s"}
        data["traffic"].append(entry)
    if model.elastic_flows:
        data["traffic"].append(
            {
                "name": f"cross{mark}",
                **ends,
                "flows": model.elastic_flows,
                "transport": "linux-cubic",
            }
        )


_SHORTEST_S = 0.01
_LEAST_MBPS = 0.05
