"""The networks and the traffic of an evaluation as plain data of scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Table = dict[str, Any]

_SPREAD = 0.05
"""Round-trip times are drawn within 5 %: with fixed ones, drop-tail queues share by phase alone
(Floyd and Jacobson 1992)."""
_ACCESS = "1 Gbps"
BOTTLENECK_ENDS = ["router-left", "router-right"]


def dumbbell(
    capacity: str, rtts_ms: Sequence[float], queue: Any, *, both: Mapping[str, Any] | None = None, **link: Any
) -> Table:
    """A dumbbell with a pair of hosts for each round-trip time, drawn within 5 % of it.

    Args:
        capacity: of the bottleneck.
        rtts_ms: the round-trip times without queues.
        queue: in front of the bottleneck, as a scenario writes it.
        both: settings of both directions of the bottleneck.
        link: further settings of its forward direction.
    """
    bottleneck_ms = min(rtts_ms) / 8
    drawn = [
        {
            "between": [f"left{number}", "router-left"],
            "delay": {
                "distribution": "uniform",
                "low": _ms(rtt * (1 - _SPREAD) / 2 - bottleneck_ms),
                "high": _ms(rtt * (1 + _SPREAD) / 2 - bottleneck_ms),
            },
        }
        for number, rtt in enumerate(rtts_ms, 1)
    ]
    return {
        "topology": "dumbbell",
        "parameters": {
            "hosts": len(rtts_ms),
            "bottleneck_capacity": capacity,
            "bottleneck_delay": _ms(bottleneck_ms),
            "access_capacity": _ACCESS,
            "access_delay": "1 us",
        },
        # Queues on the way back and at hosts lose nothing.
        "links": {"queue": "100000 packets"},
        "link": [
            *drawn,
            *([{"between": BOTTLENECK_ENDS, **both}] if both else []),
            {"between": BOTTLENECK_ENDS, "direction": "forward", "queue": queue, **link},
        ],
    }


def bdp(products: float, rtt_ms: float) -> Table:
    """The room of a queue in bandwidth-delay products."""
    return {"bdp": products, "rtt": _ms(rtt_ms)}


def flows(name: str, host: int, transport: str, count: int = 1, **more: Any) -> Table:
    """Flows of one name between a pair of hosts; they begin within the first half second."""
    start = {"distribution": "uniform", "low": "0 s", "high": "500 ms"}
    return {
        "name": name,
        "from": f"left{host}",
        "to": f"right{host}",
        "transport": transport,
        "flows": count,
        "start": start,
    } | more


def transfers(name: str, host: int, transport: str, size: str, gap: str, stop: str) -> Table:
    """Transfers of a size that arrive as a Poisson process."""
    arrivals = {"distribution": "exponential", "mean": gap}
    return flows(name, host, transport, size=size, start="2 s", stop=stop) | {
        "flows": "unlimited",
        "inter_arrival": arrivals,
    }


def stream(
    name: str, host: int, rate: str, packet: str, start: str = "0 s", stop: str | None = None
) -> Table:
    """Packets at a constant rate, without congestion control."""
    entry: Table = {
        "name": name,
        "from": f"left{host}",
        "to": f"right{host}",
        "application": {"kind": "udp", "rate": rate, "packet": packet},
        "start": start,
    }
    return entry if stop is None else entry | {"stop": stop}


def at(time: str, ends: Sequence[str] = BOTTLENECK_ENDS, **change: Any) -> Table:
    """A change of a link in both directions."""
    return {"at": time, "link": list(ends), **change}


def scenario(network: Table, traffic: Sequence[Table], duration_s: float, **more: Any) -> Table:
    """A scenario without its transports."""
    run = {"duration": f"{duration_s:g} s", "sample_interval": more.pop("sample_interval", "100 ms")}
    return {"network": network, "traffic": list(traffic), "run": run, **more}


def two_paths(first: tuple[str, str], second: tuple[str, str]) -> Table:
    """Two hosts that disjoint paths join, each of a capacity and a delay one way."""
    paths = [{"capacity": capacity, "delay": delay} for capacity, delay in (first, second)]
    return {"topology": "parallel", "parameters": {"paths": paths}, "links": {"queue": "60 packets"}}


def _ms(value: float) -> str:
    return f"{value * 1000:.0f} us"
