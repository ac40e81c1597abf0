"""Scenarios of Gholizadeh 2019: the network of figure 5.1 and its traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SEGMENT_BYTES = 1000
"""Bytes of a data packet, headers included."""

PAYLOAD_BYTES = 960
"""What of them is data: the thesis counts whole segments, so that its 1 MB is 1000 segments."""

FLOW = "flow"

FREE_QUEUE_PACKETS = 2
"""A queue of no more than that is transient: a SYN or FIN and a data packet beside the one being sent."""
FREE_QUEUE = "two packets may wait: a SYN or FIN and a data packet beside the one being sent"


def dumbbell(
    flows: int,
    segments: int,
    *,
    inter_arrival: str = "0 us",
    capacity: str = "10 Gbps",
    delay: str = "5 us",
    access_delays: Sequence[str] | None = None,
    queue: str = "unlimited",
    controller: Mapping[str, Any] | None = None,
    transport: str = "published",
    duration: str = "1 s",
    sequences: bool = False,
) -> dict[str, Any]:
    """Senders and receivers on two sides, each with its own host: four links from end to end.

    Args:
        flows: how many.
        segments: data segments of each.
        inter_arrival: from the start of one to the start of the next.
        capacity: of every link, control links included.
        delay: of every link, control links included.
        access_delays: of the senders' links, where they differ.
        queue: of the links that carry data.
        controller: table ``[controller]``; the published protocol with all factors 1 if None.
        transport: of all flows.
        duration: of the run; without traffic nothing happens, and that costs nothing.
        sequences: note the segments of all flows.
    """
    traffic = {
        "name": FLOW,
        **ends(flows),
        "pairs": "in-order",
        "size": size(segments),
        "stagger": inter_arrival,
        "transport": transport,
    }
    network: dict[str, Any] = {
        "topology": "dumbbell",
        "parameters": {"left_hosts": flows, "right_hosts": flows, "middle": 1},
        "links": {"capacity": capacity, "delay": delay, "queue": queue},
    }
    if access_delays is not None:
        network["link"] = [
            {"between": [f"left{index + 1}", "router-left"], "delay": access}
            for index, access in enumerate(access_delays)
        ]
    return {
        "network": network,
        "controller": {
            **(controller if controller is not None else published()),
            "links": {"capacity": capacity, "delay": delay},
        },
        "transport": {"published": {"preset": "sdn-paced", "reliable": False}},
        "traffic": [traffic],
        "run": {
            "duration": duration,
            "flow_series": False,
            "link_series": False,
            "sequences": "*" if sequences else [],
        },
    }


def ends(flows: int) -> dict[str, list[str]]:
    """Hosts of so many flows: each has a sender and a receiver of its own."""
    return {
        side: [f"{name}{index + 1}" for index in range(flows)]
        for side, name in (("from", "left"), ("to", "right"))
    }


def size(segments: int) -> str:
    """So many segments, as a scenario says it."""
    return f"{segments * PAYLOAD_BYTES} B"


def published(alpha: float = 1.0, beta: float = 1.0, gamma: float = 1.0) -> dict[str, Any]:
    """The protocol as published: no retransmission, entries removed at the FIN."""
    return {
        "application": {
            "algorithm": "sdn-paced",
            "schedule": "published",
            "alpha": alpha,
            "beta": beta,
            "gamma": gamma,
        },
        "linger": "0 s",
    }


def stretched(gamma: float = 1.0) -> dict[str, Any]:
    """The protocol with what the thesis lacks."""
    paced = {"algorithm": "sdn-paced", "schedule": "stretched", "beta": 1.0, "gamma": gamma}
    return {"application": paced}
