"""The formats in which plans and networks are written: one line each.

The help of the command, docs/export.md, the attack and the tests take the names from here. A format is
imported when it is used, so that the command line starts without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anabranch.export.job import Export, ExportJob


class Format(NamedTuple):
    """A form in which plans and networks are written."""

    writer: str
    """Module in this folder and its function, as ``module:function``."""
    writes: str
    """The files, for docs/export.md."""
    loaded_by: str
    """The program that loads them in tests, for docs/export.md."""
    by_flow: bool = False
    """Whether it tells flows apart, so that some may have routes of their own."""
    has_interfaces: bool = False
    """Whether it takes names and addresses of an operator's own interfaces."""
    has_costs: bool = False
    """Whether routers find their routes by costs, which may be changed from present ones."""

    def write(self, job: ExportJob) -> Export:
        """The files of a job in this format.

        Raises:
            ExportError: if the format cannot express the plan.
        """
        module, _, function = self.writer.partition(":")
        write: Callable[[ExportJob], Export] = getattr(import_module(f"{__package__}.{module}"), function)
        return write(job)


FORMATS: Final[Mapping[str, Format]] = {
    "openflow": Format(
        "openflow:write",
        "flows and select groups for each switch (`ovs-ofctl`), and JSON for a REST controller "
        "(`ofctl_rest`)",
        "Open vSwitch 3.1, userspace datapath, in a namespace",
        by_flow=True,
    ),
    "iproute2": Format(
        "iproute2:write",
        "nexthop groups and routes for each node, and `try.sh`, which lays the network out in namespaces",
        "Linux 6.18 in namespaces, routes and SRv6",
    ),
    "frr": Format(
        "frr:write",
        "`frr.conf` and `daemons` for each router: static routes, and rules with weighted groups for "
        "unequal shares",
        "FRR 8.4 in namespaces, groups with their weights in the kernel; label stacks by `vtysh -C`",
        has_interfaces=True,
    ),
    "frr-ospf": Format(
        "igp:write_ospf",
        "the same with OSPF: the cost of each interface; with `--present` the changes in a safe order, and "
        "back",
        "FRR 8.4 in namespaces, loads measured",
        has_interfaces=True,
        has_costs=True,
    ),
    "frr-isis": Format(
        "igp:write_isis",
        "the same with IS-IS and wide metrics",
        "FRR 8.4 in namespaces",
        has_interfaces=True,
        has_costs=True,
    ),
    "frr-sr": Format(
        "sr_policies:write",
        "policies of segment routing for each pair (FRR's `pathd`), one path each, over static labels",
        "FRR 8.4's `pathd`, which shows the policies; no packets, where the kernel has no MPLS",
        has_interfaces=True,
    ),
    "mininet": Format(
        "mininet:write",
        "`topology.py` with rates, delays, losses and queues, addresses and routes",
        "Mininet's own classes where it is installed, else Python's parser",
    ),
    "containerlab": Format(
        "containerlab:write",
        "`anabranch.clab.yml`, addresses and routes, `links.sh` for rates, delays and losses",
        "our own description of its form, and containerlab's schema where Go's module cache has it; its "
        "files; Anabranch itself (`file:anabranch.clab.yml`)",
    ),
    "graphml": Format(
        "graph_files:graphml", "the network, an edge for each direction", "networkx, and Anabranch itself"
    ),
    "networkx": Format(
        "graph_files:networkx",
        "the network and its routes as node-link JSON",
        "networkx, and Anabranch itself",
    ),
    "mahimahi": Format(
        "mahimahi:write",
        "a trace of packet-delivery opportunities for `mm-link` for each direction of a link whose capacity "
        "changes, as by a `[[profile]]`",
        'Anabranch itself (`format = "mahimahi"`)',
    ),
    "csv": Format(
        "csv_tables:write",
        "links, routes, whole weights, next hops",
        'Anabranch itself (`scheme = "given"`, `file:links.csv`)',
    ),
}
"""Formats by name."""
