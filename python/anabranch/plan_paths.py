"""The paths of a pair's packets by a plan, and their share on each node and link.

A pair has paths with shares, or goes hop by hop. Then a table has for each node the links that packets leave
it by, each with a weight, and the node splits all that comes through it in the proportion of the weights:
hop-by-hop ECMP where they are equal. Where a table leads in a circle, a path has no more links than the
network.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.setup.model import LinkSetup

Pair = tuple[int, int]
"""Origin and destination."""
NextHops = Mapping[int, Mapping[int, float]]
"""Weights of the links by which packets to one destination leave a node, by node."""
Shares = dict[int, float]
"""Share of a pair's packets on each link that has some."""


class WeightedPath(NamedTuple):
    """A path and the share of packets, or of flows, that takes it."""

    links: tuple[int, ...]
    """Ids of its links, first link first."""
    weight: float
    """Share, above 0 and at most 1."""


@dataclass(frozen=True, slots=True)
class PlanPaths:
    """The paths and the next hops of a plan."""

    paths: Mapping[Pair, Sequence[WeightedPath]]
    """Of each pair that has some."""
    hop_by_hop: Sequence[Pair] = ()
    """The other pairs."""
    tables: Mapping[int, NextHops] = field(default_factory=dict)
    """Next hops by destination."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> PlanPaths:
        """The paths of a plan as ``_core.Plan.data`` has it."""
        paths = {
            (route["from"], route["to"]): tuple(
                WeightedPath(tuple(path["links"]), path["weight"]) for path in route["paths"]
            )
            for route in data["routes"]
        }
        return cls(
            {pair: found for pair, found in paths.items() if found},
            [pair for pair, found in paths.items() if not found],
            tables_of(data["tables"]),
        )

    @property
    def pairs(self) -> list[Pair]:
        """All pairs, in order."""
        return sorted([*self.paths, *self.hop_by_hop])

    def splits(self) -> bool:
        """Whether any pair has several ways."""
        hops = (links for table in self.tables.values() for links in table.values())
        return any(len(ways) > 1 for ways in (*self.paths.values(), *hops))

    def of_pair(self, links: Sequence[LinkSetup], pair: Pair, most: int) -> Sequence[WeightedPath] | None:
        """The paths of a pair; None if it goes hop by hop, and by more than ``most`` of them."""
        if pair in self.paths:
            return self.paths[pair]
        return unrolled(links, self.tables.get(pair[1], {}), pair, most)

    def shares(self, links: Sequence[LinkSetup]) -> dict[Pair, Shares]:
        """Share of each pair's packets on each link, by pairs in order."""
        return {
            pair: on_links(self.paths[pair])
            if pair in self.paths
            else walked(links, self.tables[pair[1]], pair)[1]
            for pair in self.pairs
        }


def tables_of(tables: Iterable[_core.Table]) -> dict[int, NextHops]:
    """The next hops of a plan by destination, which share equally."""
    return {
        table["to"]: {
            node: dict.fromkeys(links, 1.0) for node, links in table["next"] if links and node != table["to"]
        }
        for table in tables
    }


def on_links(paths: Iterable[WeightedPath]) -> Shares:
    """Share on each link of the packets that take these paths."""
    found: Shares = defaultdict(float)
    for path in paths:
        for link in path.links:
            found[link] += path.weight
    return dict(found)


def walked(links: Sequence[LinkSetup], next_hops: NextHops, pair: Pair) -> tuple[dict[int, float], Shares]:
    """Share of a pair's packets that comes through each node, and share that crosses each link.

    Args:
        links: all links.
        next_hops: towards the destination.
        pair: from and to.

    Returns:
        Nodes and links that have some, each behind all that lead to it.
    """
    nodes, crossed = dict.fromkeys(_in_order(links, next_hops, pair[:1], pair[1]), 0.0), Shares()
    nodes[pair[0]] = 1.0
    for node, share in nodes.items():
        following = {} if node == pair[1] else next_hops.get(node, {})
        total = sum(following.values())
        for link, weight in following.items():
            crossed[link] = share * weight / total
            nodes[links[link].to] += crossed[link]
    return nodes, crossed


def walked_from(
    links: Sequence[LinkSetup], next_hops: NextHops, origins: Sequence[int], to: int
) -> NDArray[np.float64]:
    """The shares of `walked` for many origins: of the packets from each, a row, what crosses each link."""
    order = {node: place for place, node in enumerate(_in_order(links, next_hops, origins, to))}
    nodes, crossed = np.zeros((len(order), len(origins))), np.zeros((len(links), len(origins)))
    nodes[[order[origin] for origin in origins], np.arange(len(origins))] = 1.0
    for node, place in order.items():
        following = {} if node == to else next_hops.get(node, {})
        total = sum(following.values())
        for link, weight in following.items():
            crossed[link] = nodes[place] * weight / total
            if order[links[link].to] <= place:
                # In a circle, what is behind a node depends on where one begins.
                alone = (walked(links, next_hops, (origin, to))[1] for origin in origins)
                return np.array([[shares.get(link, 0.0) for link in range(len(links))] for shares in alone])
            nodes[order[links[link].to]] += crossed[link]
    return crossed.T


def _in_order(links: Sequence[LinkSetup], next_hops: NextHops, origins: Iterable[int], to: int) -> list[int]:
    """The nodes that packets from some nodes to one come through, each behind all that lead to it."""
    finished: list[int] = []
    seen: set[int] = set()
    stack = [(origin, False) for origin in origins]
    while stack:
        node, done = stack.pop()
        if done:
            finished.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            following = [] if node == to else [links[link].to for link in next_hops.get(node, ())]
            stack.extend((neighbour, False) for neighbour in reversed(following) if neighbour not in seen)
    return finished[::-1]


def unrolled(
    links: Sequence[LinkSetup], next_hops: NextHops, pair: Pair, most: int
) -> list[WeightedPath] | None:
    """The paths of a pair that goes hop by hop, each with its share; None if there are more than ``most``.

    Args:
        links: all links.
        next_hops: towards the destination.
        pair: from and to.
        most: how many paths there may be.
    """
    origin, to = pair
    found: list[WeightedPath] = []
    stack: list[tuple[int, tuple[int, ...], float]] = [(origin, (), 1.0)]
    while stack:
        node, path, share = stack.pop()
        if node == to:
            found.append(WeightedPath(path, share))
        elif len(path) < len(links):
            following = next_hops.get(node, {})
            total = sum(following.values())
            stack.extend(
                (links[link].to, (*path, link), share * weight / total)
                for link, weight in reversed([*following.items()])
            )
        if len(found) + len(stack) > most:
            return None
    return found
