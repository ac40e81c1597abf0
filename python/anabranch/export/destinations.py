"""Routes by destination with weights, as Linux and FRR have them; explicit paths where they must be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from anabranch.export.forwarding import Conflict, by_destination, in_buckets
from anabranch.export.job import MOST_NAMED, ExportJob
from anabranch.plan_paths import Pair, Shares, WeightedPath, on_links, walked


@dataclass
class RoutesByDestination:
    """What each node has: next hops by destination, or explicit paths to it."""

    next_hops: dict[tuple[int, int], dict[int, int]] = field(default_factory=dict)
    """Links with whole weights, by node and destination."""
    explicit: dict[Pair, tuple[tuple[WeightedPath, int], ...]] = field(default_factory=dict)
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
            weights = {node: job.weights(shares) for node, shares in forwarding.next_hops.items()}
            found.next_hops |= {(node, to): counts for node, counts in weights.items()}
            for pair in pairs[to]:
                _, found.shares[pair] = walked(layout.links, weights, pair)
        return found

    def _take_paths(self, job: ExportJob, pairs: list[Pair]) -> None:
        for pair in pairs:
            ways = self.explicit[pair] = job.ways(pair)
            self.shares[pair] = on_links(in_buckets(ways))

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
