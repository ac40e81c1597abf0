"""The job that a format gets, and the export that it answers with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from anabranch.errors import ExportError
from anabranch.export.layout import DeviceLayout
from anabranch.export.present import PresentCosts
from anabranch.media.pieces import DataTable
from anabranch.plans.paths import PlanPaths, Shares, shares_along
from anabranch.plans.switch_rules import OwnTraffic, Weighted
from anabranch.routing.planned import Pair, WeightedPath
from anabranch.routing.rounding import fewest_weights, reduced, rounded_weights
from anabranch.scenario.quantity import quoted
from anabranch.setup import Setup
from anabranch.text.comments import one_line

MOST_NAMED = 5
"""Pairs that a message or a list names."""
_HASHES = ("hash", "weighted-hash", "resilient-hash")
"""Load balancing by a hash of addresses and ports that is the same for both directions."""
MOST_WAYS = 1024
"""Most ways of a pair by hop-by-hop forwarding that are listed."""


@dataclass(frozen=True, slots=True)
class OwnPlan:
    """Routes of flows that have some of their own."""

    plan: PlanPaths
    traffic: OwnTraffic
    entries: tuple[str, ...]
    """Names of the entries of traffic."""


@dataclass(frozen=True)
class ExportJob:
    """A network and its plan, and how shares are rounded."""

    setup: Setup
    layout: DeviceLayout
    plan: PlanPaths
    metric: str
    """Of the scenario's routing."""
    buckets: int
    """Most buckets of a group."""
    resilient: bool = False
    """Whether a group has all of its buckets, so that flows stay where they are when a path goes."""
    own_plans: tuple[OwnPlan, ...] = ()
    """Of flows with routes of their own, for formats that tell flows apart."""
    balancing: str = "flow"
    """Algorithm of the scenario's load balancing."""
    has_events: bool = False
    scheme: str = ""
    """Name of the scenario's scheme."""
    present: PresentCosts | None = None
    """The costs that links have now, where changes from them are wanted."""

    def jobs(self) -> list[ExportJob]:
        """The job of each plan: that of most flows, and those of flows with routes of their own."""
        return [self, *(replace(self, plan=added.plan) for added in self.own_plans)]

    def weights(self, shares: Mapping[int, float]) -> dict[int, int]:
        """Shares as whole weights; what gets none is left out."""
        rounding = rounded_weights if self.resilient else fewest_weights
        counts = reduced(rounding(list(shares.values()), self.buckets))
        return {key: count for key, count in zip(shares, counts, strict=True) if count}

    def exact_ways(self, pair: Pair) -> Sequence[WeightedPath]:
        """The paths of a pair with their shares; next hops become paths.

        Raises:
            ExportError: if there are too many of them.
        """
        ways = self.plan.of_pair(pair, MOST_WAYS)
        if ways is None:
            raise ExportError(
                f"{self.layout.pair(*pair)} has more than {MOST_WAYS:,} ways hop by hop, too many to list; "
                "take --to iproute2, whose routes go by next hops"
            )
        return ways

    def ways(self, pair: Pair) -> Weighted:
        """The paths of a pair with whole weights; what gets none is left out."""
        ways = self.exact_ways(pair)
        counts = self.weights({number: share for number, (_, share) in enumerate(ways)})
        return [(ways[number][0], count) for number, count in counts.items()]

    def balancing_notes(self, how: str) -> list[str]:
        """Notes for a format that chooses among several ways by a hash of each flow's addresses and ports.

        Args:
            how: what has the hash, such as ``a group``.
        """
        if self.balancing == "flow" or not any(one.plan.plan.splits() for one in self.jobs()):
            return []
        if self.balancing not in _HASHES:
            return [f"load balancing {quoted(self.balancing)}: {how} keeps a flow on one path by a hash"]
        lost = ["that both directions of a flow take the same path"]
        if self.balancing == "resilient-hash" and not self.resilient:
            lost.append(
                "that a failure moves the flows of its path alone (--resilient, where the format has it)"
            )
        return [
            f"load balancing {quoted(self.balancing)}: {how} keeps a flow on one path by a hash as well; not "
            f"expressed is {' and '.join(lost)}"
        ]

    def rounded(self, ways: Weighted) -> Shares:
        """Share on each link of the packets that take paths with whole weights."""
        total = sum(count for _, count in ways)
        return shares_along((links, count / total) for links, count in ways)

    def rounded_shares(self) -> dict[Pair, Shares]:
        """Share of each pair on each link with the paths' shares rounded."""
        return {pair: self.rounded(self.ways(pair)) for pair in self.plan.pairs}

    def pairs(self, pairs: Iterable[Pair]) -> str:
        """Pairs for a message, the first few."""
        names = [self.layout.pair(*pair) for pair in pairs]
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        return ", ".join(names[:MOST_NAMED]) + more


@dataclass
class Export:
    """The files of a format, and what is to be said of them."""

    files: dict[str, str] = field(default_factory=dict)
    """Texts by name, relative to the folder; scripts of a shell end in ``.sh``."""
    shares: list[dict[Pair, Shares]] | None = None
    """Of each plan, the share of each pair on each link with the weights that are written; None where there
    are none."""
    notes: list[str] = field(default_factory=list)
    """What the format cannot express, in plain sentences."""
    changed_by: str = ""
    """What makes loads differ from those of the plan, such as ``whole costs of OSPF``; rounding if empty."""
    tables: list[DataTable] = field(default_factory=list)
    """What else is shown, such as the steps of a change."""
    remarks: list[str] = field(default_factory=list)
    """What else is said, in plain sentences."""

    def with_readme(self, layout: DeviceLayout, title: str, *parts: str, interfaces: bool = True) -> Export:
        """The export with a README: what it cannot express, parts, and the tables of nodes and interfaces."""
        notes = (
            "\n".join(f"- {one_line(note)}" for note in self.notes) or "Nothing of these routes is left out."
        )
        cannot = f"## What it cannot express\n\n{notes}"
        tables = ["## Nodes", numbered_table(layout)]
        if interfaces:
            tables += ["## Interfaces", interface_table(layout)]
        heading = f"# {title} of {layout.title!r}" if layout.title else f"# {title}"
        whole = [part.strip() for part in (heading, cannot, *parts, *tables)]
        self.files["README.md"] = "\n\n".join(part for part in whole if part) + "\n"
        return self


def cell(name: str) -> str:
    """A name as a cell of a Markdown table."""
    return one_line(name).replace("|", "/")


def numbered_table(layout: DeviceLayout) -> str:
    """A Markdown table of the nodes with their short names and addresses."""
    rows = "\n".join(
        f"| {layout.label(node)} | {cell(name)} | {'host' if node in layout.hosts else 'router'} "
        f"| {layout.address(node)} |"
        for node, name in enumerate(layout.names)
    )
    return f"| short name | node | kind | address |\n|---|---|---|---|\n{rows}\n"


def interface_table(layout: DeviceLayout) -> str:
    """A Markdown table of the interfaces with their addresses."""
    rows = "\n".join(
        f"| {layout.label(entry.node)} | {entry.name} | {layout.label(entry.peer)} | {entry.address} "
        f"| {entry.address_6} |"
        for interfaces in layout.interfaces
        for entry in interfaces
    )
    return f"| node | interface | leads to | IPv4 | IPv6 |\n|---|---|---|---|---|\n{rows}\n"
