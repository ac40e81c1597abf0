"""containerlab: a topology of Linux containers with addresses and routes, and a script for the links."""

from __future__ import annotations

import json
from typing import Final

from anabranch.export import iproute2
from anabranch.export.emulated import blanks_in_names, cannot_express, link_attributes, parameters
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout
from anabranch.topology.readers.containerlab import DIRECTIONS, LABEL, VARIABLES

IMAGE: Final = "quay.io/frrouting/frr:8.4.4"
"""Image of the nodes: it has iproute2, and FRR for who wants it."""
_LAB: Final = "anabranch"
_FILE: Final = "anabranch.clab.yml"


def write(job: ExportJob) -> Export:
    """The topology file, the scripts of its nodes, and one for rates, delays and losses."""
    layout = job.layout
    notes = [
        *cannot_express(job, None),
        "containerlab sets no rates, delays and losses of a topology file: links.sh does, by its netem; "
        "Anabranch reads them from the variables of links",
        "room of queues, and rates above what one machine forwards",
        *blanks_in_names(layout),
    ]
    scripts = iproute2.write(job)
    export = Export(shares=scripts.shares, notes=notes)
    for name, text in scripts.files.items():
        if name.startswith(("addresses/", "routes/")):
            export.files[name] = text
    export.files[_FILE] = _topology(layout, notes)
    export.files["links.sh"] = _links(layout)
    readme = f"""
## To load

    containerlab deploy -t {_FILE}
    sh links.sh

The nodes run `{IMAGE}`; any image with iproute2 does.

## To undo

    containerlab destroy -t {_FILE} --cleanup
"""
    return export.with_readme(layout, "containerlab export", readme)


def _topology(layout: DeviceLayout, notes: list[str]) -> str:
    """The topology file: YAML, whose strings are written as those of JSON are."""
    said = ("Not expressed here:", *(f"- {note}" for note in notes))
    # A comment ends with its line, and YAML takes no control characters; names may have both.
    lines = [f"# {''.join(char if char.isprintable() else ' ' for char in line)}" for line in said]
    lines += [f"name: {_LAB}", "topology:", "  kinds:", "    linux:", f"      image: {json.dumps(IMAGE)}"]
    lines += ["  nodes:"]
    for node in range(len(layout.names)):
        file = layout.file(node, ".sh")
        lines += [
            f"    {layout.label(node)}:",
            "      kind: linux",
            "      labels:",
            *_labels(layout, node),
            "      binds:",
            f"        - {json.dumps(f'addresses/{file}:/anabranch/addresses.sh:ro')}",
            f"        - {json.dumps(f'routes/{file}:/anabranch/routes.sh:ro')}",
            "      exec:",
            '        - "sh /anabranch/addresses.sh"',
            '        - "sh /anabranch/routes.sh"',
        ]
    lines += ["  links:"]
    for edge in layout.edges():
        ends = [f"{layout.label(end.node)}:{end.name}" for end in edge]
        lines += [f"    - endpoints: {json.dumps(ends)}", "      vars:", f"        {VARIABLES}:"]
        for direction, end in zip(DIRECTIONS, edge, strict=True):
            if end.out is not None:
                values = link_attributes(layout.links[end.out])
                pairs = ", ".join(f"{key}: {value}" for key, value in values.items() if key != "name")
                lines.append(f"          {direction}: {{{pairs}}}")
    return "\n".join(lines) + "\n"


def _labels(layout: DeviceLayout, node: int) -> list[str]:
    """The labels of a node, from which Anabranch has its name, its place and whether it is a host."""
    values = {"name": layout.names[node]}
    if node in layout.hosts:
        values["kind"] = "host"
    if (place := layout.places[node]) is not None:
        values |= {"latitude": str(place[0]), "longitude": str(place[1])}
    return [f"        {LABEL}{key}: {_quoted(value)}" for key, value in values.items()]


def _quoted(text: str) -> str:
    """A text as a double-quoted scalar of YAML (section 7.3.1), with all but ASCII escaped."""
    return "".join(
        char if " " <= char <= "~" else f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


def _links(layout: DeviceLayout) -> str:
    lines = ["#!/bin/sh", "# Rate, delay and mean loss of each direction of each link.", "set -eu"]
    for number, link in enumerate(layout.links):
        entry, quantities = layout.sender[number], parameters(link)
        loss = f" --loss {quantities.loss_percent:.6g}" if quantities.loss_percent > 0 else ""
        lines.append(
            f"containerlab tools netem set -n clab-{_LAB}-{layout.label(entry.node)} -i {entry.name} "
            f"--delay {link.delay // 1_000_000}us --rate {max(1, round(link.capacity / 1000))}{loss}"
        )
    return "\n".join(lines) + "\n"
