"""The formats of an export: the registry, what a format gets, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from anabranch.export import containerlab, csv_tables, frr, graph_files, iproute2, mininet, openflow
from anabranch.export.job import Export, ExportJob


@dataclass(frozen=True, slots=True)
class Format:
    """A form in which plans and networks are written."""

    name: str
    text: str
    """What it is, in a line."""
    write: Callable[[ExportJob], Export] = field(repr=False)
    by_flow: bool = False
    """Whether it tells flows apart, so that some may have routes of their own."""


_ALL: Final = (
    Format(
        "openflow",
        "flows and select groups for each switch, and JSON for a REST controller",
        openflow.write,
        by_flow=True,
    ),
    Format("iproute2", "nexthop groups and routes of Linux, SRv6 for explicit paths", iproute2.write),
    Format("frr", "static routes of FRR, MPLS label stacks for explicit paths", frr.write),
    Format("mininet", "the topology as a Mininet script", mininet.write),
    Format("containerlab", "the topology as a containerlab file", containerlab.write),
    Format(
        "graphml", "the network as GraphML, with capacities, delays, losses and weights", graph_files.graphml
    ),
    Format("networkx", "the network and its routes as node-link JSON of networkx", graph_files.networkx),
    Format("csv", "links, routes and weights as tables", csv_tables.write),
)

FORMATS: Final[Mapping[str, Format]] = {entry.name: entry for entry in _ALL}
"""Formats by name."""
