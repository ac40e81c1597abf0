"""FRR: policies of segment routing for each pair, by its daemon pathd, over labels that are set by hand.

A policy (RFC 9256) has a colour and an endpoint. FRR's explicit candidate path has one list of segments,
and no weights: a pair with several paths gets the one with the greatest share, and the others as policies
of further colours, which routes may ask for.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Final

from anabranch.export.frr import FIRST_LABEL, check_labels, label_entry
from anabranch.export.frr_files import RouterLines, configuration, daemons, to_load
from anabranch.export.job import MOST_NAMED, Export, ExportJob
from anabranch.export.layout import Interface
from anabranch.plans.paths import Shares, shares_along
from anabranch.routing.planned import Pair, WeightedPath
from anabranch.text.csv_cells import csv_text

_FIRST_COLOR: Final = 100
_BINDING: Final = 500_000
"""First label that stands for a policy at its router."""


def write(job: ExportJob) -> Export:
    """A configuration for each node.

    Raises:
        ExportError: if a pair has too many paths to list, or there are more links than labels.
    """
    layout = job.layout
    check_labels(layout)
    lists: dict[int, list[str]] = defaultdict(list)
    policies: dict[int, list[str]] = defaultdict(list)
    shares, rows, split = dict[Pair, Shares](), list[tuple[object, ...]](), list[Pair]()
    for pair in job.plan.pairs:
        ways = sorted(job.exact_ways(pair), key=lambda path: -path.weight)
        for number, path in enumerate(ways):
            _policy(job, pair, number, path, lists, policies)
            nodes = [layout.names[pair[0]], *(layout.names[layout.links[link].to] for link in path.links)]
            rows.append(
                (*map(layout.names.__getitem__, pair), _FIRST_COLOR + number, path.weight, " > ".join(nodes))
            )
        shares[pair] = shares_along([(ways[0].links, 1.0)])
        if len(ways) > 1:
            split.append(pair)
    export = Export(shares=[shares], changed_by="one path for each pair")
    labels: dict[int, list[str]] = defaultdict(list)
    for number, link in enumerate(layout.links):
        if not {link.origin, link.to} & layout.hosts:
            labels[link.origin].append(label_entry(layout, number))
    for node in range(len(layout.names)):
        folder = layout.file(node, "")
        of_policies = [*lists[node], *policies[node]]
        traffic = ["segment-routing", " traffic-eng", *of_policies, " exit", "exit"] if of_policies else []
        lines = RouterLines(partial(_mpls), [], [*labels[node], *traffic], "static")
        export.files[f"{folder}/frr.conf"] = configuration(layout, node, lines)
        export.files[f"{folder}/daemons"] = daemons("staticd", "pathd")
    export.files["policies.csv"] = csv_text(("from", "to", "color", "planned_share", "path"), rows)
    export.notes = _notes(job, split)
    return export.with_readme(
        layout, "FRR export with policies of segment routing", _README, to_load(layout), _UNDO
    )


def _mpls(_: Interface) -> list[str]:
    return ["mpls enable"]


def _policy(
    job: ExportJob,
    pair: Pair,
    number: int,
    path: WeightedPath,
    lists: dict[int, list[str]],
    policies: dict[int, list[str]],
) -> None:
    """Adds the segments and the policy of a path to those of its source."""
    origin, to = pair
    name, color = f"{job.layout.label(to)}-{number + 1}", _FIRST_COLOR + number
    binding = _BINDING + len(lists[origin])
    lists[origin].append(f"  segment-list {name}")
    segments = enumerate(path.links, start=1)
    lists[origin] += [f"   index {10 * place} mpls label {FIRST_LABEL + link}" for place, link in segments]
    lists[origin].append("  exit")
    policies[origin] += [
        f"  policy color {color} endpoint {job.layout.address(to)}",
        f"   name {name}",
        f"   binding-sid {binding}",
        f"   candidate-path preference 100 name {name} explicit segment-list {name}",
        "  exit",
    ]


def _notes(job: ExportJob, split: list[Pair]) -> list[str]:
    notes = [
        "which traffic takes a policy: routes with its colour do, of BGP (set sr-te color) or static ones"
    ]
    if split:
        more = f" and {len(split) - MOST_NAMED} more" if len(split) > MOST_NAMED else ""
        named = ", ".join(job.layout.pair(*pair) for pair in split[:MOST_NAMED])
        notes.append(
            f"shares of {len(split)} pairs with several paths: a policy of FRR has one list of segments "
            "and no weights. "
            f"Colour {_FIRST_COLOR} is the path with the greatest share, the next colours are the others, "
            "line by line in "
            f"policies.csv: {named}{more}"
        )
    return notes


_README: Final = """
Each router has a policy for each path to each other router: segments are labels of links, which every router
takes away at its own links (`mpls lsp`). `policies.csv` lists them with their colours. A route takes a policy
by its colour: `ip route PREFIX ENDPOINT color 100`, or `set sr-te color 100` in a route-map of BGP.

Load the kernel modules `mpls_router` and `mpls_iptunnel`, and set `net.mpls.platform_labels=1048575` and
`net.mpls.conf.INTERFACE.input=1` on each router.
"""
_UNDO: Final = """
## To undo

    vtysh -c 'configure terminal' -c 'segment-routing' -c 'no traffic-eng'

and `no` before each line `mpls lsp`.
"""
