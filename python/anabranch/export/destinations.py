"""Routes by destination with weights, as Linux and FRR have them; explicit paths where they must be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from anabranch import _core
from anabranch.export.forwarding import Conflict, by_destination
from anabranch.export.job import MOST_NAMED, ExportJob
from anabranch.plans.paths import Shares
from anabranch.plans.switch_rules import Weighted
from anabranch.routing.planned import Pair, link_ends


@dataclass
class RoutesByDestination:
    """The entries of each node: next hops by destination, or explicit paths to it."""

    next_hops: dict[tuple[int, int], dict[int, int]] = field(default_factory=dict)
    """Links with whole weights, by node and destination."""
    explicit: dict[Pair, Weighted] = field(default_factory=dict)
    """Paths with whole weights, of pairs whose destination needs them."""
    conflicts: list[Conflict] = field(default_factory=list)
    """Why they need them."""
    shares: dict[Pair, Shares] = field(default_factory=dict)
    """Share of each pair on each link with these weights."""

    @classmethod
    def of(cls, job: ExportJob) -> RoutesByDestination:
        """The routes of a plan; all pairs of a destination have explicit paths where one needs some."""
        routes = cls()
        layout, plan = job.layout, job.plan
        ends = link_ends(layout.links)
        pairs: dict[int, list[Pair]] = defaultdict(list)
        for pair in plan.pairs:
            pairs[pair[1]].append(pair)
        for to, forwarding in by_destination(layout, plan).items():
            if forwarding.conflicts:
                routes.conflicts += forwarding.conflicts
                for pair in pairs[to]:
                    routes.explicit[pair] = job.ways(pair)
                    routes.shares[pair] = job.rounded(routes.explicit[pair])
                continue
            weights = {node: job.weights(shares) for node, shares in forwarding.next_hops.items()}
            routes.next_hops |= {(node, to): counts for node, counts in weights.items()}
            next_hops = {node: list(counts.items()) for node, counts in weights.items()}
            for pair in pairs[to]:
                routes.shares[pair] = dict(_core.shares_by_weight(ends, next_hops, *pair))
        return routes

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

    def explained(self, job: ExportJob, how: str) -> str:
        """The pairs that have explicit paths and why, for a README; ``how`` says by what means."""
        if not self.explicit:
            return "All routes go by destination; no pair needs an explicit path."
        return (
            f"{len(self.explicit):,} pairs have explicit paths{how}, because packets to their destinations "
            "cannot go by it alone:\n\n" + "\n".join(f"- {line}" for line in self.reasons(job))
        )
