"""Mininet: the topology as a script for ``mn --custom`` or Python: nodes of Linux over TCLinks."""

from __future__ import annotations

import json
from typing import Any, Final

from anabranch.export import iproute2
from anabranch.export.emulated import cannot_express, parameters
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout
from anabranch.text.comments import one_line

_MOST_MBPS: Final = 1000.0
"""Largest ``bw`` of a TCLink (mininet/link.py, TCIntf.bwParamMax)."""

_SCRIPT: Final = '''#!/usr/bin/env python3
"""{title}

{nodes} nodes and {edges} links for Mininet. Not expressed here:
{notes}

Run it as root: python3 {file}, or: mn --custom {file} --topo anabranch
"""

from pathlib import Path

from mininet.cli import CLI
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Node
from mininet.topo import Topo

# Short name: name in the scenario, address, script of its routes.
NODES = {{
{node_lines}
}}
# Ends as (node, interface), and what each direction has: bw in Mbps, loss in percent, max_queue_size in
# packets.
LINKS = [
{link_lines}
]


class Router(Node):
    """A node of Linux that forwards, with addresses and routes by the scripts of the iproute2 export."""

    def config(self, script="", **params):
        super().config(**params)
        folder = Path(__file__).resolve().parent
        for part in ("addresses", "routes"):
            self.cmd(f"sh {{folder / part / script}}")


class Anabranch(Topo):
    """The network."""

    def build(self):
        for name, (title, address, script) in NODES.items():
            self.addNode(name, cls=Router, ip=None, script=script)
        for (a, port_a), (b, port_b), forth, back in LINKS:
            self.addLink(
                a, b, cls=TCLink,
                intfName1=f"{{a}}-{{port_a}}", intfName2=f"{{b}}-{{port_b}}", params1=forth, params2=back,
            )


topos = {{"anabranch": Anabranch}}


def main():
    net = Mininet(topo=Anabranch(), link=TCLink, controller=None)
    net.start()
    CLI(net)
    net.stop()


if __name__ == "__main__":
    main()
'''
_FILE: Final = "topology.py"


def write(job: ExportJob) -> Export:
    """The script, and the addresses and routes of each node."""
    layout = job.layout
    notes = [
        *cannot_express(job, _MOST_MBPS),
        "a way back: Anabranch runs no programs; --to graphml, networkx, containerlab and csv are read again",
    ]
    scripts = iproute2.write(job)
    export = Export(shares=scripts.shares, notes=notes)
    for name, text in scripts.files.items():
        if name.startswith(("addresses/", "routes/")):
            export.files[name] = _renamed(layout, name, text)
    export.files[_FILE] = _SCRIPT.format(
        title=json.dumps(one_line(layout.title), ensure_ascii=False).strip('"') or "A network",
        nodes=len(layout.names),
        edges=len(layout.edges()),
        notes="\n".join(f"- {one_line(note)}" for note in notes).replace("\\", "/").replace('"""', "'''"),
        file=_FILE,
        node_lines="\n".join(
            f"    {layout.label(node)!r}: ({name!r}, {layout.address(node)!r}, {layout.file(node, '.sh')!r}),"
            for node, name in enumerate(layout.names)
        ),
        link_lines="\n".join(_link_lines(layout)),
    )
    readme = f"""
## To load

As root, with Mininet 2.3:

    python3 {_FILE}

`n1 ping {layout.address(min(1, len(layout.names) - 1))}` in its command line tries a route.

## To undo

`exit` in the command line removes everything; after a crash `mn -c` does.
"""
    return export.with_readme(layout, "Mininet export", readme)


def _renamed(layout: DeviceLayout, name: str, text: str) -> str:
    """A script of a node for interfaces as Mininet calls them, with the node's name in front."""
    label = name.partition("/")[2].removesuffix(".sh").partition("-")[0]
    node = int(label[1:]) - 1
    for entry in reversed(layout.interfaces[node]):
        for before in ("dev ", "conf.", "link set "):
            text = text.replace(f"{before}{entry.name}", f"{before}{label}-{entry.name}")
    return text


def _link_lines(layout: DeviceLayout) -> list[str]:
    lines = []
    for edge in layout.edges():
        ends = [(layout.label(end.node), end.name) for end in edge]
        settings = [_settings(layout, end.out) for end in edge]
        lines.append(f"    ({ends[0]!r}, {ends[1]!r}, {settings[0]!r}, {settings[1]!r}),")
    return lines


def _settings(layout: DeviceLayout, link: int | None) -> dict[str, Any]:
    """Parameters of an interface that sends over a link."""
    if link is None:
        return {}
    quantities = parameters(layout.links[link])
    settings: dict[str, Any] = {"delay": f"{quantities.delay_ms:.6f}ms"}
    if quantities.mbps <= _MOST_MBPS:
        settings["bw"] = quantities.mbps
    if quantities.loss_percent > 0:
        settings["loss"] = quantities.loss_percent
    if quantities.queue_packets is not None:
        settings["max_queue_size"] = quantities.queue_packets
    return settings
