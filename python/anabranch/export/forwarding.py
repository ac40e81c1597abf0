"""The entries that a plan asks of devices: next hops by destination where they do, else explicit paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from anabranch.export.layout import DeviceLayout
from anabranch.plans.paths import PlanPaths, Shares
from anabranch.routing.planned import Pair

_SAME: Final = 1e-9
"""Shares that differ by less are the same."""


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


def by_destination(layout: DeviceLayout, plan: PlanPaths) -> dict[int, DestinationRoutes]:
    """For each destination the next hops that give every pair its shares, or the pairs that need paths.

    Packets to a destination can go by it alone where, at every node, those of all sources split alike, and no
    source's paths lead round in a circle when they are joined.
    """
    by_end: dict[int, DestinationRoutes] = defaultdict(DestinationRoutes)
    first: dict[tuple[int, int], Pair] = {}
    shares = plan.shares()
    # Pairs without a choice of their own come last: a table is whatever the others say.
    for pair in plan.pairs:
        forwarding = by_end[pair[1]]
        splits = _splits(layout, shares[pair])
        if _goes_round(layout, splits, pair):
            forwarding.conflicts.append(Conflict(pair, pair[0], pair))
            continue
        for node, split in splits.items():
            earlier = forwarding.next_hops.setdefault(node, split)
            other = first.setdefault((pair[1], node), pair)
            if earlier is not split and not _same(earlier, split):
                forwarding.conflicts.append(Conflict(pair, node, other))
                break
    return dict(by_end)


def _splits(layout: DeviceLayout, shares: Shares) -> dict[int, Shares]:
    """Shares of the next hops at each node."""
    out: dict[int, dict[int, float]] = defaultdict(dict)
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
