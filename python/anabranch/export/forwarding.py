"""What a plan asks of devices: next hops by destination where they do, and explicit paths otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from anabranch.export.layout import DeviceLayout

Pair = tuple[int, int]
Shares = dict[int, float]
"""Share of a pair's packets on each link."""
_SAME: Final = 1e-9
"""Shares that differ by less are the same."""


@dataclass(frozen=True, slots=True)
class WeightedWay:
    """A path with its share, as links."""

    links: tuple[int, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair whose packets cannot go by their destination alone."""

    pair: Pair
    node: int
    """Where they would have to go another way than packets to the same destination that come from
    elsewhere."""
    other: Pair
    """Whose packets those are."""


@dataclass
class DestinationRoutes:
    """A plan for one destination: shares of next hops at each node, or paths."""

    next_hops: dict[int, Shares] = field(default_factory=dict)
    """For each node its links, with the share of the packets that come by."""
    conflicts: list[Conflict] = field(default_factory=list)
    """Pairs that need explicit paths; empty where next hops do."""


@dataclass(frozen=True)
class ExportPlan:
    """A plan in link numbers."""

    paths: dict[Pair, tuple[WeightedWay, ...]]
    """Pairs with explicit paths."""
    by_table: tuple[Pair, ...]
    """Pairs that are forwarded hop by hop."""
    tables: dict[int, dict[int, tuple[int, ...]]]
    """Links that share equally, by destination and node."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ExportPlan:
        """A plan as ``_core.Plan.data`` has it."""
        paths, by_table = dict[Pair, tuple[WeightedWay, ...]](), list[Pair]()
        for route in data["routes"]:
            pair = (route["from"], route["to"])
            if route["paths"]:
                ways = (WeightedWay(tuple(path["links"]), path["weight"]) for path in route["paths"])
                paths[pair] = tuple(ways)
            else:
                by_table.append(pair)
        tables = {
            table["to"]: {
                node: tuple(links) for node, links in table["next"] if links and node != table["to"]
            }
            for table in data["tables"]
        }
        return cls(paths, tuple(by_table), tables)

    @property
    def pairs(self) -> list[Pair]:
        """All pairs, in order."""
        return sorted([*self.paths, *self.by_table])

    def shares(self, layout: DeviceLayout) -> dict[Pair, Shares]:
        """Share of each pair's packets on each link."""
        found = {}
        for pair in self.pairs:
            if pair in self.paths:
                shares: Shares = defaultdict(float)
                for way in self.paths[pair]:
                    for link in way.links:
                        shares[link] += way.weight
                found[pair] = dict(shares)
            else:
                table = self.tables[pair[1]]
                equal = {node: dict.fromkeys(links, 1 / len(links)) for node, links in table.items()}
                found[pair] = walked(layout, equal, pair)
        return found


def in_buckets(ways: tuple[tuple[WeightedWay, int], ...]) -> tuple[WeightedWay, ...]:
    """Paths with the shares of their whole weights."""
    total = sum(count for _, count in ways)
    return tuple(WeightedWay(way.links, count / total) for way, count in ways)


def walked(layout: DeviceLayout, next_hops: Mapping[int, Shares], pair: Pair) -> Shares:
    """Share of a pair's packets on each link where every node goes by its next hops, which have no loop."""
    links = layout.links
    reached, stack = {pair[0]}, [pair[0]]
    before: dict[int, int] = defaultdict(int)
    while stack:
        node = stack.pop()
        for link in next_hops.get(node, {}) if node != pair[1] else ():
            before[links[link].to] += 1
            if links[link].to not in reached:
                reached.add(links[link].to)
                stack.append(links[link].to)
    found: Shares = {}
    through = {pair[0]: 1.0}
    ready = [pair[0]]
    while ready:
        node = ready.pop()
        for link, share in next_hops.get(node, {}).items() if node != pair[1] else ():
            found[link] = through[node] * share
            to = links[link].to
            through[to] = through.get(to, 0.0) + found[link]
            before[to] -= 1
            if before[to] == 0:
                ready.append(to)
    return found


def by_destination(layout: DeviceLayout, plan: ExportPlan) -> dict[int, DestinationRoutes]:
    """For each destination the next hops that give every pair its shares, or the pairs that need paths.

    Packets to a destination can go by it alone where, at every node, those of all sources split alike, and no
    source's paths lead round in a circle when they are joined.
    """
    found: dict[int, DestinationRoutes] = defaultdict(DestinationRoutes)
    first: dict[tuple[int, int], Pair] = {}
    shares = plan.shares(layout)
    # Pairs without a choice of their own come last: a table is whatever the others say.
    for pair in plan.pairs:
        forwarding = found[pair[1]]
        splits = _splits(layout, shares[pair])
        if _goes_round(layout, splits, pair):
            forwarding.conflicts.append(Conflict(pair, pair[0], pair))
            continue
        for node, split in splits.items():
            known = forwarding.next_hops.setdefault(node, split)
            other = first.setdefault((pair[1], node), pair)
            if known is not split and not _same(known, split):
                forwarding.conflicts.append(Conflict(pair, node, other))
                break
    return dict(found)


def _splits(layout: DeviceLayout, shares: Shares) -> dict[int, Shares]:
    """Shares of the next hops at each node."""
    out: dict[int, Shares] = defaultdict(dict)
    for link, share in shares.items():
        out[layout.links[link].origin][link] = share
    return {
        node: {link: share / sum(split.values()) for link, share in split.items()}
        for node, split in out.items()
    }


def _same(one: Shares, other: Shares) -> bool:
    return all(abs(one.get(link, 0.0) - other.get(link, 0.0)) <= _SAME for link in one.keys() | other.keys())


def _goes_round(layout: DeviceLayout, splits: Mapping[int, Shares], pair: Pair) -> bool:
    """Whether next hops lead in a circle, or on from the destination."""
    left = {node: {layout.links[link].to for link in split} for node, split in splits.items()}
    while done := [node for node, after in left.items() if not after & left.keys()]:
        for node in done:
            del left[node]
    return bool(left) or pair[1] in splits
