"""FRR: next hops that share unequally, as groups with weights of its policy-based routing (pbrd).

Static routes have no weights. A rule of ``pbr-map`` sends what comes in for a destination to a group of next
hops with weights, of 1 to 255 each (FRR's manual, "PBR": ``nexthop-group``, ``pbr-map``, ``pbr-policy``).
Rules look at packets that come in by an interface: those of the router itself go by its static routes,
evenly.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from anabranch import _core
from anabranch.errors import ExportError
from anabranch.export.destinations import RoutesByDestination
from anabranch.export.job import ExportJob
from anabranch.plans.paths import Shares, shares_along
from anabranch.routing.planned import Pair, link_ends

MOST_WEIGHT: Final = 255
_MOST_RULES: Final = 700
_MAP: Final = "ANABRANCH"
POLICY: Final = f"pbr-policy {_MAP}"
"""The line of an interface by which traffic comes in."""


@dataclass
class WeightedHops:
    """The rules of each node for destinations with unequal next hops or paths."""

    hops: dict[Pair, list[tuple[str, int]]] = field(default_factory=dict)
    """By node and destination the next hops as FRR writes them, with their weights."""

    def add(self, node: int, to: int, hop: str, weight: int) -> None:
        """Adds a next hop."""
        self.hops.setdefault((node, to), []).append((hop, weight))

    def nodes(self) -> set[int]:
        """Nodes that have rules."""
        return {node for node, _ in self.hops}

    def lines(self, job: ExportJob) -> dict[int, list[str]]:
        """Groups and rules of each node.

        Raises:
            ExportError: if there are more rules than FRR has numbers.
        """
        lines: dict[int, list[str]] = defaultdict(list)
        rules: dict[int, int] = defaultdict(int)
        for (node, to), hops in sorted(self.hops.items()):
            rules[node] += 1
            if rules[node] > _MOST_RULES:
                raise ExportError(
                    f"{job.layout.names[node]} has more than {_MOST_RULES} destinations with unequal "
                    "shares, and a "
                    "pbr-map of FRR has no more rules; take --to iproute2, or fewer --buckets"
                )
            group = f"TO-{job.layout.address(to)}"
            lines[node] += [
                f"nexthop-group {group}",
                *(f" nexthop {hop} weight {n}" for hop, n in hops),
                "exit",
            ]
            lines[node] += [
                f"pbr-map {_MAP} seq {rules[node]}", f" match dst-ip {job.layout.address(to)}/32",
                f" set nexthop-group {group}", "exit",
            ]  # fmt: skip
        return lines


def shares_written(job: ExportJob, routes: RoutesByDestination) -> tuple[dict[Pair, Shares], list[int]]:
    """Share of each pair on each link as FRR sends it, and nodes whose own packets go evenly after all.

    Where a router has no interface that leads out of the network, its traffic is its own, and its first hop
    is an even one.
    """
    layout = job.layout
    ends = link_ends(layout.links)
    shares, evenly = dict(routes.shares), set[int]()
    tables: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(dict)
    for (node, to), counts in routes.next_hops.items():
        tables[to][node] = list(counts.items())
    for pair in job.plan.pairs:
        origin, to = pair
        if layout.outside(origin):
            continue
        weights = routes.next_hops.get(pair)
        if weights is not None and len(set(weights.values())) > 1:
            evenly.add(origin)
            total: dict[int, float] = defaultdict(float)
            for link in weights:
                total[link] += 1 / len(weights)
                behind = layout.links[link].to
                if behind != to:
                    for other, share in dict(_core.shares_by_weight(ends, tables[to], behind, to)).items():
                        total[other] += share / len(weights)
            shares[pair] = dict(total)
        ways = routes.explicit.get(pair)
        if ways is not None and len({weight for _, weight in ways}) > 1:
            evenly.add(origin)
            shares[pair] = shares_along((links, 1 / len(ways)) for links, _ in ways)
    return shares, sorted(evenly)
