"""The network as GraphML, and with its routes as node-link JSON of networkx."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from anabranch.export.emulated import blanks_in_names, link_attributes, not_in_a_network_file
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout

_NODE_KEYS: Final = {"label": "string", "Latitude": "double", "Longitude": "double", "kind": "string"}
_EDGE_KEYS: Final = {
    "name": "string",
    "capacity_bps": "long",
    "delay_ms": "double",
    "loss": "double",
    "weight": "int",
}
_KIND: Final = (
    "which nodes are hosts is the attribute `kind` of a node, which Anabranch itself does not read from "
    "GraphML"
)
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"
_CONTROL: Final = "characters of names that XML does not have; they are U+FFFD here"
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters outside of XML 1.0, section 2.2."""
_LINE_ENDS: Final = "\t\n\r\x85\u2028\u2029"
_REFERENCES: Final = {end: f"&#{ord(end)};" for end in _LINE_ENDS}
"""A reader of XML would make line feeds of carriage returns (section 2.11), and people see two lines."""
_ESCAPES: Final = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})
"""JSON lets these stand as they are, and editors end a line with them."""
_GRAPHML_README: Final = """
## To load

In a scenario: `topology = "file:network.graphml"`; in Python: `networkx.read_graphml("network.graphml")`.
Edges have `capacity_bps`, `delay_ms`, `loss` (a probability) and, where there are some, `weight`.

## To undo

Delete the file: it changes nothing.
"""
_NETWORKX_README: Final = """
## To load

    import json, networkx
    with open("network.json") as file:
        graph = networkx.node_link_graph(json.load(file), edges="edges")   # networkx 3.4 or newer
    graph.graph["routes"]      # pairs with their paths, as node names, links and weights
    graph.graph["next_hops"]   # by destination and node, where forwarding goes hop by hop

## To undo

Delete the file: it changes nothing.
"""


def graphml(job: ExportJob) -> Export:
    """One GraphML file, of an edge for each direction of each link."""
    layout = job.layout
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(_key("node", name, kind) for name, kind in _NODE_KEYS.items()),
        *(_key("edge", name, kind) for name, kind in _EDGE_KEYS.items()),
        '  <graph edgedefault="directed">',
    ]
    for node, name in enumerate(layout.names):
        values: dict[str, object] = {"label": name, "kind": "host" if node in layout.hosts else "router"}
        if (place := layout.places[node]) is not None:
            values |= {"Latitude": place[0], "Longitude": place[1]}
        data = "".join(_data("node", key, value) for key, value in values.items())
        lines.append(f'    <node id="{layout.label(node)}">{data}</node>')
    for link in layout.links:
        data = "".join(_data("edge", key, value) for key, value in link_attributes(link).items())
        ends = f'source="{layout.label(link.origin)}" target="{layout.label(link.to)}"'
        lines.append(f"    <edge {ends}>{data}</edge>")
    lines += ["  </graph>", "</graphml>", ""]
    kinds = [_KIND] if layout.hosts else []
    control = [_CONTROL] if any(_NOT_IN_XML.search(name) for name in layout.names) else []
    notes = [*not_in_a_network_file(layout), *kinds, *blanks_in_names(layout), *control]
    export = Export({"network.graphml": "\n".join(lines)}, notes=notes)
    return export.with_readme(layout, "GraphML export", _GRAPHML_README, interfaces=False)


def _key(domain: str, name: str, kind: str) -> str:
    return f'  <key id="{domain[0]}_{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>'


def _data(domain: str, name: str, value: object) -> str:
    text = escape(_NOT_IN_XML.sub(_REPLACED, str(value)), _REFERENCES)
    return f"<data key={quoteattr(f'{domain[0]}_{name}')}>{text}</data>"


def networkx(job: ExportJob) -> Export:
    """Node-link JSON of a directed multigraph, with the routes as an attribute of the graph."""
    layout = job.layout
    nodes: list[dict[str, Any]] = []
    for node, name in enumerate(layout.names):
        entry: dict[str, Any] = {"id": name, "kind": "host" if node in layout.hosts else "router"}
        if (place := layout.places[node]) is not None:
            entry |= {"latitude_deg": place[0], "longitude_deg": place[1]}
        nodes.append(entry)
    edges = [
        {
            "source": layout.names[link.origin],
            "target": layout.names[link.to],
            "key": link.name,
            **{key: value for key, value in link_attributes(link).items() if key not in ("name", "delay_ms")},
            "delay_s": link.delay / 1e12,
        }
        for link in layout.links
    ]
    content = {
        "directed": True,
        "multigraph": True,
        "graph": {"title": layout.title, "routes": _routes(job), "next_hops": _tables(job)},
        "nodes": nodes,
        "edges": edges,
    }
    text = json.dumps(content, ensure_ascii=False, indent=1).translate(_ESCAPES) + "\n"
    export = Export({"network.json": text}, notes=not_in_a_network_file(layout))
    return export.with_readme(layout, "networkx export", _NETWORKX_README, interfaces=False)


def _routes(job: ExportJob) -> list[dict[str, Any]]:
    layout = job.layout
    return [
        {
            "from": layout.names[pair[0]],
            "to": layout.names[pair[1]],
            "paths": [
                {
                    "nodes": _node_names(layout, links),
                    "links": [layout.links[link].name for link in links],
                    "weight": share,
                }
                for links, share in ways
            ],
        }
        for pair in job.plan.pairs
        if (ways := job.plan.plan.paths(*pair))
    ]


def _node_names(layout: DeviceLayout, links: Sequence[int]) -> list[str]:
    nodes = [layout.links[links[0]].origin, *(layout.links[link].to for link in links)]
    return [layout.names[node] for node in nodes]


def _tables(job: ExportJob) -> dict[str, dict[str, list[str]]]:
    layout = job.layout
    return {
        layout.names[to]: {
            layout.names[node]: [layout.links[link].name for link in links] for node, links in table.items()
        }
        for to, table in job.plan.next_hops().items()
    }
