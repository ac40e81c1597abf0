"""The edge that fails: the one that most flows cross by fewest hops, the same for every system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.plans.routes import plan
from anabranch.setup import Setup
from anabranch.setup.reach import Reach


@dataclass(frozen=True, slots=True)
class Edge:
    """All links between two nodes, both ways."""

    ends: tuple[str, str]
    flows: float
    """Flows that cross it, on the mean over replications."""

    @property
    def name(self) -> str:
        """The names of the two ends."""
        return " - ".join(self.ends)


def busiest_edge(setups: Sequence[Setup]) -> Edge | None:
    """The edge that most flows cross, among those whose loss cuts off no flow.

    Of equals the first in the order of the network's links. None if there is no such edge.

    Args:
        setups: replications over one network, with routes of fewest hops.
    """
    crossing: Counter[frozenset[int]] = Counter()
    for setup in setups:
        crossing.update(_crossings(setup))
    links, names = setups[0].links, [node.name for node in setups[0].nodes]
    first = {frozenset((link.origin, link.to)): number for number, link in reversed(list(enumerate(links)))}
    for edge in sorted(crossing, key=lambda edge: (-crossing[edge], first[edge])):
        if all(_spared(setup, edge) for setup in setups):
            link = links[first[edge]]
            return Edge((names[link.origin], names[link.to]), crossing[edge] / len(setups))
    return None


def _crossings(setup: Setup) -> Counter[frozenset[int]]:
    """Flows over each edge, by its two nodes."""
    routes = plan(setup, None).plan.data()
    links: dict[tuple[int, int], list[int]] = {
        (route["from"], route["to"]): route["paths"][0]["links"] for route in routes["routes"]
    }
    crossing: Counter[frozenset[int]] = Counter()
    for flow in setup.flows:
        crossing.update(
            frozenset((setup.links[link].origin, setup.links[link].to))
            for link in links[flow.origin, flow.to]
        )
    return crossing


def _spared(setup: Setup, edge: frozenset[int]) -> bool:
    """Whether every flow still has a way there and back without the edge."""
    reach = Reach([link for link in setup.links if {link.origin, link.to} != edge])
    return all(
        reach.connected(flow.origin, flow.to) and reach.connected(flow.to, flow.origin)
        for flow in setup.flows
    )
