"""FRR with OSPF or IS-IS: the cost of each interface, and routers that find their routes by costs.

Costs of OSPF go to 65,535 (RFC 2328, appendix C.3: output cost), wide metrics of IS-IS to 2^24 - 2 (RFC 5305,
section 3.7: the largest value is left out of shortest paths). Costs that do not fit are scaled and rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from anabranch.errors import ExportError
from anabranch.export.cost_changes import add_changes
from anabranch.export.frr_files import RouterLines, configuration, daemons, to_load
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout, Interface
from anabranch.plans.igp import IgpGraph, flows_by_cost
from anabranch.plans.paths import Shares
from anabranch.routing.planned import Pair
from anabranch.scenario.quantity import quoted
from anabranch.text.csv_cells import csv_text

_MOST_OSPF: Final = 65_535
_MOST_ISIS: Final = 2**24 - 2
_BY_COST: Final = ("ecmp", "shortest")
"""Schemes whose routes go by sums of costs."""
_SUMS: Final = ("weight", "hops", "delay", "inverse-capacity")
"""Metrics that are sums of what each link costs."""
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Protocol:
    """A routing protocol of FRR."""

    name: str
    daemon: str
    most: int
    """The highest cost of a link."""
    command: str
    """Of an interface, before its cost."""
    router: str
    """What FRR calls it behind ``router``."""


OSPF: Final = Protocol("OSPF", "ospfd", _MOST_OSPF, "ip ospf cost", "ospf")
ISIS: Final = Protocol("IS-IS", "isisd", _MOST_ISIS, "isis metric", "isis anabranch")


@dataclass(frozen=True)
class LinkCosts:
    """The cost of each link, and how exact it is."""

    wanted: Sequence[float]
    """By the scenario."""
    written: Sequence[int]
    what: str
    """What the costs are: ``weight``, ``hops``, ``delay`` or ``inverse_capacity``."""
    is_exact: bool


def write_ospf(job: ExportJob) -> Export:
    """A configuration with OSPF for each node.

    Raises:
        ExportError: if the routes go by nothing that is a cost, or a link has one direction.
    """
    return _write(job, OSPF)


def write_isis(job: ExportJob) -> Export:
    """A configuration with IS-IS for each node; raises as :func:`write_ospf`."""
    return _write(job, ISIS)


def link_costs(job: ExportJob, most: int) -> LinkCosts:
    """The costs by which routers find the scenario's routes.

    Args:
        job: whose links and metric.
        most: the highest cost that the protocol has.

    Raises:
        ExportError: if links have none.
    """
    links, metric = job.layout.links, job.metric
    if all(link.weight is not None for link in links):
        what, wanted = "weight", [float(link.weight or 1) for link in links]
    elif metric == "hops":
        what, wanted = "hops", [1.0] * len(links)
    elif metric == "inverse-capacity":
        whole = math.lcm(*(link.capacity for link in links))
        divisor = math.gcd(*(whole // link.capacity for link in links))
        what, wanted = "inverse_capacity", [float(whole // link.capacity // divisor) for link in links]
    elif metric == "delay" and all(link.delay > 0 for link in links):
        divisor = math.gcd(*(link.delay for link in links))
        what, wanted = "delay", [float(link.delay // divisor) for link in links]
    else:
        lacking = next(link.name for link in links if link.weight is None)
        raise ExportError(
            f"routers find routes by costs of links, and {lacking} has none; give network.links.weight, a "
            "file "
            f'of them (network.weights), or metric = "hops" in place of {quoted(metric)}'
        )
    scale = min(1.0, most / max(wanted))
    written = [max(1, round(value * scale)) for value in wanted]
    is_exact = scale == 1.0 and all(value == cost for value, cost in zip(wanted, written, strict=True))
    return LinkCosts(wanted, written, what, is_exact)


def _write(job: ExportJob, protocol: Protocol) -> Export:
    layout = job.layout
    alone = [
        entry for entries in layout.interfaces for entry in entries if entry.out is None or entry.into is None
    ]
    if alone:
        entry = alone[0]
        raise ExportError(
            f"{protocol.name} takes links with both directions, and that between "
            f"{layout.names[entry.node]} and "
            f"{layout.names[entry.peer]} has one; add the other, or take --to frr"
        )
    costs = link_costs(job, protocol.most)
    export = Export(shares=[_shares(job, costs.written)], changed_by=f"whole costs of {protocol.name}")
    for node in range(len(layout.names)):
        folder = layout.file(node, "")
        export.files[f"{folder}/frr.conf"] = configuration(
            layout, node, _lines(layout, node, protocol, costs)
        )
        export.files[f"{folder}/daemons"] = daemons(protocol.daemon)
    export.files["costs.csv"] = _cost_table(layout, costs)
    export.notes = [
        *job.balancing_notes("the kernel"),
        *_cost_notes(layout, costs, protocol),
        *_scheme_notes(job, protocol),
    ]
    parts = [_README.format(protocol=protocol.name, command=protocol.command), to_load(layout)]
    if job.present is not None:
        parts.append(add_changes(job, protocol.command, costs.written, export))
    return export.with_readme(
        layout, f"FRR export with {protocol.name}", *parts, _UNDO.format(router=protocol.router)
    )


def _shares(job: ExportJob, costs: Sequence[int]) -> dict[Pair, Shares]:
    """The share of each pair on each link by equal-cost paths."""
    layout = job.layout
    graph = IgpGraph(
        np.array([link.origin for link in layout.links], np.int64),
        np.array([link.to for link in layout.links], np.int64),
        len(layout.names),
        np.array([node not in layout.hosts for node in range(len(layout.names))]),
    )
    by_end: dict[int, list[Pair]] = {}
    for pair in job.plan.pairs:
        by_end.setdefault(pair[1], []).append(pair)
    shares = dict[Pair, Shares]()
    for to, share in flows_by_cost(graph, np.array(costs, np.int64)):
        for pair in by_end.get(to, []):
            row = share[pair[0]]
            shares[pair] = {int(link): float(row[link]) for link in np.flatnonzero(row)}
    return {pair: shares[pair] for pair in job.plan.pairs}


def _lines(layout: DeviceLayout, node: int, protocol: Protocol, costs: LinkCosts) -> RouterLines:
    address = layout.address(node)
    if protocol is OSPF:
        behind = ["router ospf", f" ospf router-id {address}", " maximum-paths 64", "exit"]
        return RouterLines(
            partial(_of_ospf, costs),
            ["ip ospf area 0"],
            behind,
            "ospf",
            ("ip ospf area 0", "ip ospf passive"),
        )
    digits = "".join(f"{int(part):03}" for part in address.split("."))
    system = ".".join(digits[place : place + 4] for place in (0, 4, 8))
    behind = [
        "router isis anabranch", f" net 49.0001.{system}.00", " is-type level-2-only",
        " metric-style wide", "exit",
    ]  # fmt: skip
    passive = ("ip router isis anabranch", "isis passive")
    return RouterLines(partial(_of_isis, costs), list(passive), behind, "isis", passive)


def _of_ospf(costs: LinkCosts, entry: Interface) -> list[str]:
    return ["ip ospf area 0", "ip ospf network point-to-point", f"{OSPF.command} {_cost(costs, entry)}"]


def _of_isis(costs: LinkCosts, entry: Interface) -> list[str]:
    return [
        "ip router isis anabranch",
        "isis network point-to-point",
        f"{ISIS.command} {_cost(costs, entry)}",
    ]


def _cost(costs: LinkCosts, entry: Interface) -> int:
    assert entry.out is not None  # noqa: S101 - links of one direction are refused before
    return costs.written[entry.out]


def _cost_table(layout: DeviceLayout, costs: LinkCosts) -> str:
    scale = _scale(costs)
    rows = []
    for number, link in enumerate(layout.links):
        wanted, written, entry = costs.wanted[number], costs.written[number], layout.sender[number]
        off = 100 * (written / (wanted * scale) - 1)
        rows.append((link.name, layout.label(entry.node), entry.name, f"{wanted:g}", written, f"{off:.3g}"))
    return csv_text(("link", "router", "interface", costs.what, "cost", "off_percent"), rows)


def _scale(costs: LinkCosts) -> float:
    return max(costs.written) / max(costs.wanted)


def _cost_notes(layout: DeviceLayout, costs: LinkCosts, protocol: Protocol) -> list[str]:
    """The links whose cost is not the scenario's."""
    if costs.is_exact:
        return []
    scale = _scale(costs)
    off = [
        abs(written / (wanted * scale) - 1)
        for wanted, written in zip(costs.wanted, costs.written, strict=True)
    ]
    worst = sorted(range(len(off)), key=lambda link: -off[link])[:_MOST_NAMED]
    named = ", ".join(
        f"{layout.links[link].name} {costs.wanted[link] * scale:.6g} as {costs.written[link]}"
        for link in worst
    )
    return [
        f"costs above {protocol.most:,}: all are scaled by {scale:.4g} and rounded, furthest off: {named}; "
        "costs.csv has every link"
    ]


def _scheme_notes(job: ExportJob, protocol: Protocol) -> list[str]:
    scheme = job.scheme
    if scheme in _BY_COST and job.metric in _SUMS:
        if scheme == "shortest":
            return [
                f'scheme "shortest" takes one of several equal paths: {protocol.name} shares evenly over all'
            ]
        return []
    return [
        f"the routes of scheme {quoted(scheme)} by {quoted(job.metric)}: {protocol.name} sends by the "
        "costs of links "
        "alone, evenly over equal paths; --to iproute2, frr or frr-sr have routes themselves"
    ]


_README: Final = """
Each router has {protocol} on its links, as point-to-point links of one area, with the cost of each direction
(`{command}`); `costs.csv` lists them. Routes are those that the routers find, evenly over equal costs.
"""
_UNDO: Final = """
## To undo

Copy `/etc/frr/frr.conf` before you load another one. To go back, take the protocol away, and load the copy:

    vtysh -c 'configure terminal' -c 'no router {router}' && vtysh -f frr.conf.before
"""
