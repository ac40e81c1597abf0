"""Routes that routers find by costs of links, as OSPF and IS-IS do, and what they do while a cost changes.

Each router sends to a destination by all links on a shortest path, evenly over links (RFC 2328, section 16.1;
equal-cost multipath). While a change spreads, each router follows the old costs or the new ones, whatever the
others do: every mix of both is looked at. Packets can go round if and only if, for some destination, the old
and the new next hops together have a circle. Without one, the highest share of a pair's traffic that any mix
sends over a link follows by recursion from the destination, since routers choose independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from anabranch.routing.robust.worst_case import load_of_shares
from anabranch.routing.router_network import RouterNetwork

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Part: TypeAlias = "Floats | sparse.csr_array"


@dataclass(frozen=True, eq=False)
class IgpGraph:
    """Directed links between nodes, of which some pass nothing on."""

    origin: Ints
    """Node where each link begins."""
    to: Ints
    nodes: int
    forwards: Flags
    """Whether each node passes packets on."""

    def next_hops(self, cost: Ints) -> Flags:
        """Whether packets to a destination leave by a link, shape (links, nodes).

        Args:
            cost: of each link, from 1 on.
        """
        passes = self.forwards[self.origin]
        least = np.full((self.nodes, self.nodes), np.inf)
        np.minimum.at(least, (self.origin[passes], self.to[passes]), cost[passes].astype(np.float64))
        # From the destinations backwards; 0 stands for no link.
        least[np.isinf(least)] = 0.0
        to_go = dijkstra(sparse.csr_array(least.T)).T
        # A node that passes nothing on may still be the destination, or send for itself.
        behind = to_go[self.to]
        through = cost[:, None] + np.where(self.forwards[self.to, None], behind, np.inf)
        last = self.to[:, None] == np.arange(self.nodes)[None, :]
        through = np.where(last, cost[:, None], through)
        best = np.full((self.nodes, self.nodes), np.inf)
        np.minimum.at(best, self.origin, through)
        away = self.origin[:, None] != np.arange(self.nodes)[None, :]
        hops: Flags = (through == best[self.origin]) & np.isfinite(through) & away
        return hops

    def order(self, uses: Flags) -> list[int] | None:
        """Nodes in an order in which those come first to which the others send; None where packets go round.

        Args:
            uses: whether a link is used, for one destination.
        """
        links = np.flatnonzero(uses).tolist()
        ahead = [0] * self.nodes
        behind: list[list[int]] = [[] for _ in range(self.nodes)]
        for link in links:
            ahead[self.origin[link]] += 1
            behind[self.to[link]].append(int(self.origin[link]))
        ready = [node for node in range(self.nodes) if not ahead[node]]
        for node in ready:  # grows as nodes become ready
            for before in behind[node]:
                ahead[before] -= 1
                if not ahead[before]:
                    ready.append(before)
        return ready if len(ready) == self.nodes else None

    def traffic(self, uses: Flags, sent: Floats) -> Floats:
        """The traffic on each link to one destination, in the unit of what each node sends there.

        Args:
            uses: whether a link is used; without a circle.
            sent: by each node.
        """
        ready = self.order(uses)
        assert ready is not None  # noqa: S101 - as the caller promises
        on_links = np.zeros(len(self.origin))
        waiting = sent.tolist()
        leaving, ends = self._leaving(uses), self.to.tolist()
        for node in reversed(ready):
            links = leaving.get(node, [])
            if links and (part := waiting[node] / len(links)):
                on_links[links] = part
                for link in links:
                    waiting[ends[link]] += part
        return on_links

    def highest_shares(self, choices: tuple[Flags, ...]) -> Floats | None:
        """The highest share of each node's packets on each link by any mix of next hops.

        Args:
            choices: next hops of one destination, of which each node follows one.

        Returns:
            Shape (nodes, links), with one choice the shares themselves; None where packets may go round.
        """
        ready = self.order(np.logical_or.reduce(choices))
        if ready is None:
            return None
        share = np.zeros((self.nodes, len(self.origin)))
        out = [[self._leaving(choice).get(node, []) for choice in choices] for node in range(self.nodes)]
        for node in ready:
            for links in out[node]:
                if links:
                    by_links = share[self.to[links]].mean(axis=0)
                    by_links[links] += 1 / len(links)
                    np.maximum(share[node], by_links, out=share[node])
        return share

    def _leaving(self, choice: Flags) -> dict[int, list[int]]:
        leaving: dict[int, list[int]] = {}
        for link in np.flatnonzero(choice).tolist():
            leaving.setdefault(int(self.origin[link]), []).append(link)
        return leaving


@dataclass(frozen=True, eq=False)
class CostLoads:
    """The loads of links by costs, with all traffic of a scenario's demand."""

    routers: RouterNetwork
    has_matrix: bool
    """Whether the traffic is one matrix, and not all within bounds."""
    graph: IgpGraph = field(init=False)

    def __post_init__(self) -> None:
        network = self.routers.network
        forwards = np.ones(len(network.nodes), np.bool_)
        graph = IgpGraph(network.tail, network.head, len(network.nodes), forwards)
        object.__setattr__(self, "graph", graph)

    def state(self, cost: Ints, near: CostState | None = None) -> CostState:
        """The next hops and the loads by costs of all links.

        Args:
            cost: of each link, from 1 on.
            near: a state with similar costs, from which unchanged destinations are taken.
        """
        hops = self.graph.next_hops(cost)
        parts = list[Part]()
        for to in range(self.graph.nodes):
            if near is not None and np.array_equal(hops[:, to], near.hops[:, to]):
                parts.append(near.parts[to])
                continue
            parts.append(self._sent(to, hops[:, to]))
        return CostState(cost, hops, parts, self._load(parts))

    def transition(self, before: CostState, after: CostState) -> Transition:
        """The loops and the loads that are possible while routers change from one state to another."""
        parts, loops = list(before.parts), list[int]()
        for to in np.flatnonzero((before.hops != after.hops).any(axis=0)).tolist():
            shares = self.graph.highest_shares((before.hops[:, to], after.hops[:, to]))
            if shares is None:
                loops.append(to)
            elif not loops:
                parts[to] = self._part(to, shares)
        return Transition(tuple(loops), None if loops else self._load(parts))

    def _sent(self, to: int, uses: Flags) -> Part:
        """What the traffic to a destination adds to loads when all routers know the same costs."""
        if self.has_matrix:
            return self.graph.traffic(uses, self.routers.bounds.pair_mbps[:, to])
        shares = self.graph.highest_shares((uses,))
        assert shares is not None  # noqa: S101 - costs from 1 on leave no circle
        return sparse.csr_array(shares)

    def _part(self, to: int, shares: Floats) -> Part:
        """What the traffic to a destination adds to loads: Mbps on each link, or with bounds the shares."""
        if self.has_matrix:
            mbps: Floats = self.routers.bounds.pair_mbps[:, to] @ shares
            return mbps
        return sparse.csr_array(shares)

    def _load(self, parts: Sequence[Part]) -> Floats:
        """The load of each link, a ratio to its capacity."""
        bounds, capacity = self.routers.bounds, self.routers.network.capacity_mbps
        if self.has_matrix:
            traffic = np.asarray(np.sum(parts, axis=0), np.float64)
            return np.divide(traffic, capacity, out=np.zeros(len(capacity)), where=capacity > 0)
        source, target = bounds.pairs()
        # All shares below each other, by destination and then by node, and of these the pairs' rows.
        rows = target * self.graph.nodes + source
        share = sparse.csr_array(sparse.vstack(parts, format="csr"))[rows]
        loads: Floats = load_of_shares(self.routers.network, bounds, source, target, share).load
        return loads


@dataclass(frozen=True, eq=False)
class CostState:
    """Next hops and loads when all routers know the same costs."""

    cost: Ints
    hops: Flags
    """As of :meth:`IgpGraph.next_hops`."""
    parts: list[Part]
    """For each destination what its traffic adds to loads."""
    load: Floats
    """Of each link."""

    @property
    def max_load(self) -> float:
        """The highest load of all links."""
        return float(self.load.max())


@dataclass(frozen=True, eq=False)
class Transition:
    """The loops and the loads that are possible while routers change from one state to another."""

    loops: tuple[int, ...]
    """Destinations to which packets may go round."""
    load: Floats | None
    """The highest load of each link by any mix of old and new routes; None with loops."""

    @property
    def max_load(self) -> float:
        """The highest load of all links; infinite with loops."""
        return float("inf") if self.load is None else float(self.load.max())


def flows_by_cost(graph: IgpGraph, cost: Ints) -> Iterator[tuple[int, Floats]]:
    """For each destination the share of each node's packets on each link, shape (nodes, links)."""
    hops = graph.next_hops(cost)
    for to in range(graph.nodes):
        shares = graph.highest_shares((hops[:, to],))
        assert shares is not None  # noqa: S101 - costs from 1 on leave no circle
        yield to, shares
