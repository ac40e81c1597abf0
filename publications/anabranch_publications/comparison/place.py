"""The place of a controller, and how far each switch is from it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from anabranch.setup import Setup, resolve
from anabranch_publications.comparison.subjects import SENDER, Subject

_PS_PER_NS = 1000
CAPACITY = "1 Gbps"
"""Of control links: messages of 40 bytes hardly ever wait there."""


def controller_table(subject: Subject, application: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``[controller]`` of an application, placed where the delays to all routers sum up to least.

    Of equal places it is the first. Control messages take as long as the shortest way over the network's own
    edges, in links of their own, so that data do not delay them: a management network along the same routes.
    """
    setup = resolve(subject.scenario(None, {"transport": {SENDER: {"preset": "cubic"}}}))
    switches = _switches(setup, subject)
    delays = {switch: _delays_ps(setup, switch) for switch in switches}
    centre = min(switches, key=lambda switch: sum(delays[switch].get(other, 0) for other in switches))
    names = [node.name for node in setup.nodes]
    return {
        **application,
        "links": {"capacity": CAPACITY, "delay": "0 ns", "loss": 0.0},
        "link": [
            {"switch": names[switch], "delay": f"{delays[centre].get(switch, 0) // _PS_PER_NS} ns"}
            for switch in switches
        ],
    }


def _switches(setup: Setup, subject: Subject) -> list[int]:
    """Routers; every node where none is known to be one."""
    ends = {node for link in setup.links if link.name in subject.links for node in (link.origin, link.to)}
    return sorted(ends) or list(range(len(setup.nodes)))


def _delays_ps(setup: Setup, source: int) -> dict[int, int]:
    """Least delay from a node to each that it reaches (Dijkstra)."""
    after: dict[int, list[tuple[int, int]]] = {}
    for link in setup.links:
        after.setdefault(link.origin, []).append((link.delay, link.to))
    delays: dict[int, int] = {}
    waiting = [(0, source)]
    while waiting:
        delay, node = heapq.heappop(waiting)
        if node in delays:
            continue
        delays[node] = delay
        for step, end in after.get(node, ()):
            if end not in delays:
                heapq.heappush(waiting, (delay + step, end))
    return delays
