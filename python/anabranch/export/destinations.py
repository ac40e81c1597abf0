"""Routes by destination with weights, as Linux and FRR have them; explicit paths where they must be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from anabranch.errors import ExportError
from anabranch.export.forwarding import (
    Conflict,
    Pair,
    Shares,
    WeightedWay,
    by_destination,
    in_buckets,
    walked,
)
from anabranch.export.job import MOST_NAMED, ExportJob

_MOST_WAYS: Final = 1024
"""Most ways of a pair by hop-by-hop forwarding that are listed."""


@dataclass
class RoutesByDestination:
    """What each node has: next hops by destination, or explicit paths to it."""

    next_hops: dict[tuple[int, int], dict[int, int]] = field(default_factory=dict)
    """Links with whole weights, by node and destination."""
    explicit: dict[Pair, tuple[tuple[WeightedWay, int], ...]] = field(default_factory=dict)
    """Paths with whole weights, of pairs whose destination needs them."""
    conflicts: list[Conflict] = field(default_factory=list)
    """Why they need them."""
    shares: dict[Pair, Shares] = field(default_factory=dict)
    """Share of each pair on each link with these weights."""

    @classmethod
    def of(cls, job: ExportJob) -> RoutesByDestination:
        """The routes of a plan; all pairs of a destination have explicit paths where one needs some."""
        found = cls()
        layout, plan = job.layout, job.plan
        pairs: dict[int, list[Pair]] = defaultdict(list)
        for pair in plan.pairs:
            pairs[pair[1]].append(pair)
        for to, forwarding in by_destination(layout, plan).items():
            if forwarding.conflicts:
                found.conflicts += forwarding.conflicts
                found._take_paths(job, pairs[to])
                continue
            rounded: dict[int, Shares] = {}
            for node, shares in forwarding.next_hops.items():
                weights = job.weights(shares)
                found.next_hops[node, to] = weights
                rounded[node] = {link: count / sum(weights.values()) for link, count in weights.items()}
            for pair in pairs[to]:
                found.shares[pair] = walked(layout, rounded, pair)
        return found

    def _take_paths(self, job: ExportJob, pairs: list[Pair]) -> None:
        for pair in pairs:
            # Next hops of a pair without paths become its paths.
            ways = job.ways(pair) if pair in job.plan.paths else _counted(job, ways_of_table(job, pair))
            self.explicit[pair] = ways
            shares: Shares = defaultdict(float)
            for way in in_buckets(ways):
                for link in way.links:
                    shares[link] += way.weight
            self.shares[pair] = dict(shares)

    def reasons(self, job: ExportJob) -> list[str]:
        """The pairs that need explicit paths, and why, the first few."""
        layout = job.layout
        lines = []
        for conflict in self.conflicts[:MOST_NAMED]:
            name = layout.pair(*conflict.pair)
            if conflict.other == conflict.pair:
                lines.append(f"{name}: its paths joined lead round in a circle")
            else:
                lines.append(
                    f"{name}: at {layout.names[conflict.node]} it goes other ways than "
                    f"{layout.pair(*conflict.other)}"
                )
        if len(self.conflicts) > MOST_NAMED:
            lines.append(f"and {len(self.conflicts) - MOST_NAMED:,} more pairs")
        return lines


def _counted(
    job: ExportJob, ways: list[tuple[tuple[int, ...], float]]
) -> tuple[tuple[WeightedWay, int], ...]:
    counts = job.weights({number: share for number, (_, share) in enumerate(ways)})
    return tuple((WeightedWay(*ways[number]), count) for number, count in counts.items())


def ways_of_table(job: ExportJob, pair: Pair) -> list[tuple[tuple[int, ...], float]]:
    """All ways of a pair along its table, with their shares."""
    layout, table = job.layout, job.plan.tables[pair[1]]
    found: list[tuple[tuple[int, ...], float]] = []
    stack: list[tuple[int, tuple[int, ...], float]] = [(pair[0], (), 1.0)]
    while stack:
        node, links, share = stack.pop()
        if node == pair[1]:
            found.append((links, share))
            if len(found) > _MOST_WAYS:
                raise ExportError(
                    f"{layout.pair(*pair)} has more than {_MOST_WAYS:,} ways hop by hop, too many to list"
                )
            continue
        hops = table[node]
        stack += [(layout.links[link].to, (*links, link), share / len(hops)) for link in reversed(hops)]
    return found
