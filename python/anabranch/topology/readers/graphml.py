"""GraphML files (Brandes, Eiglsperger, Lerner, "GraphML Primer"), in particular those of the Topology Zoo.

Read by our own code rather than networkx.read_graphml, for messages that name the line; the tests hold it
against networkx on all Topology Zoo files. Left out, with an error rather than silently: hyperedges, nested
graphs, more than one graph. A link's ends are its nodes: ports are attributes like others.
"""

import re
from dataclasses import dataclass
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import NodeIds, draft_link, draft_node, one_way_entries
from .file_format import FileFormat
from .xml_tree import Element, parse_xml
from .yed import DRAWINGS, DrawnEdges, arrow, drawn_label

_STRUCTURE: Final = ("id", "source", "target", "directed")
"""The XML attributes of nodes and edges that make the graph."""
_PARTS: Final = ("node", "edge", "graph", "hyperedge", "key")
"""The elements within others that make the graph."""
MAX_KEYS: Final = 1000
"""Most declared attributes taken; Topology Zoo files declare about 40."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A declared attribute: which elements it is for, its name, and its default value if it has one."""

    domain: str
    name: str
    default: str | None
    drawing: str | None = None
    """`nodegraphics` or `edgegraphics` for yEd's drawing of a node or an edge."""


def read_graphml(data: bytes, where: str) -> Draft:
    """The graph of a GraphML document. Raises TopologyError with the line for anything else."""
    root = parse_xml(data, where, "graphml")
    keys = _keys(root, where)
    graphs = root.all("graph")
    if len(graphs) != 1:
        raise TopologyError(
            where, f"the file holds {len(graphs)} graphs", "give a file with exactly one <graph>"
        )
    graph = graphs[0]
    direction = graph.attributes.get("edgedefault", "undirected")
    if direction not in ("directed", "undirected"):
        raise TopologyError(graph.place, f'edgedefault is "{direction}"', 'write "directed" or "undirected"')
    ids = NodeIds()
    nodes = [_node(element, keys, ids) for element in graph.all("node")]
    drawn = DrawnEdges()
    links = _links(graph, keys, direction == "directed", ids, drawn)
    notes = _zoo_notes(graph, keys) + drawn.notes()
    links = one_way_entries(links, notes)
    return Draft(nodes, links, notes=notes)


READER: Final = FileFormat(
    "GraphML",
    read_graphml,
    lambda text: text.startswith("<") and re.search(r"<(\w+:)?graphml\b", text) is not None,
)


def _keys(root: Element, where: str) -> dict[str, _Key]:
    if len(root.all("key")) > MAX_KEYS:
        raise TopologyError(
            where, f"the file declares more than {MAX_KEYS} attributes", "leave out what is not needed"
        )
    keys: dict[str, _Key] = {}
    for element in root.all("key"):
        default = element.child("default")
        key_id = element.required("id")
        name = element.attributes.get("attr.name", key_id)
        domain = element.attributes.get("for", "all")
        drawing = element.attributes.get("yfiles.type")
        keys[key_id] = _Key(
            domain,
            name,
            None if default is None else default.text,
            drawing if drawing in DRAWINGS else None,
        )
    return keys


def _node(element: Element, keys: dict[str, _Key], ids: NodeIds) -> DraftNode:
    if element.child("graph") is not None:
        raise TopologyError(
            element.place, "the node holds a nested graph", "flatten the graph before reading it"
        )
    node_id = element.required("id")
    ids.declare(node_id, element.place)
    return draft_node(node_id, _attributes(element, "node", keys), element.place)


def _links(
    graph: Element, keys: dict[str, _Key], directed: bool, ids: NodeIds, drawn: DrawnEdges
) -> list[DraftLink]:
    hyperedge = graph.child("hyperedge")
    if hyperedge is not None:
        raise TopologyError(
            hyperedge.place, "hyperedges are not read", "replace it by a node with one edge to each end"
        )
    is_drawn = any(key.drawing == "edgegraphics" for key in keys.values())
    links: list[DraftLink] = []
    for element in graph.all("edge"):
        a, b = element.required("source"), element.required("target")
        ids.check_ends(a, b, element.place)
        direction = element.attributes.get("directed")
        if direction not in (None, "true", "false"):
            raise TopologyError(element.place, f'directed is "{direction}"', 'write "true" or "false"')
        one_way = directed if direction is None else direction == "true"
        if is_drawn and direction is None and directed:
            drawing = _drawing(element, keys)
            head = "none" if drawing is None else arrow(drawing)
            a, b, one_way = drawn.directed(a, b, head)
        links.append(draft_link(a, b, _attributes(element, "edge", keys), one_way, element.place))
    return links


def _drawing(element: Element, keys: dict[str, _Key]) -> Element | None:
    """The drawing of a node or an edge by yEd."""
    parts = (data for data in element.all("data") if (key := keys.get(data.required("key"))) and key.drawing)
    return next(parts, None)


def _attributes(element: Element, domain: str, keys: dict[str, _Key]) -> dict[str, str]:
    """The attributes of an element by their declared names; defaults stand in for what is missing.

    Further attributes and elements of XML count as well, though GraphML has none: programs write them. Raises
    TopologyError for a name that is there twice with unlike values.
    """
    values = dict(_stated(element, keys))
    defaults = {
        key.name: key.default
        for key in keys.values()
        if key.default is not None and key.domain in (domain, "all")
    }
    return defaults | values


def _stated(element: Element, keys: dict[str, _Key]) -> dict[str, str]:
    values: dict[str, str] = {}

    def add(name: str, value: str, place: str) -> None:
        if values.setdefault(name, value) != value:
            raise TopologyError(place, f'"{name}" is there twice with unlike values', "leave one of them")

    for name, value in element.attributes.items():
        if name not in _STRUCTURE:
            add(name, value, element.place)
    for part in element.children:
        if part.tag != "data":
            if part.tag not in _PARTS:
                add(part.tag, part.text, part.place)
            continue
        key_id = part.required("key")
        key = keys.get(key_id)
        if key is None:
            raise TopologyError(
                part.place, f'data has the key "{key_id}", which is not declared', "add its <key>"
            )
        if key.drawing is None:
            add(key.name, part.text, part.place)
    drawing = _drawing(element, keys)
    label = "" if drawing is None else drawn_label(drawing)
    if label:
        values["NodeLabel" if "label" in values else "label"] = label
    return values


def _zoo_notes(graph: Element, keys: dict[str, _Key]) -> list[str]:
    """What a Topology Zoo file says about itself: the network, its licence, its unusual nodes."""
    about = _attributes(graph, "graph", keys)
    notes = []
    network = " ".join(about.get("Network", "").split())
    if "Topology Zoo" in about.get("Creator", "") or "ToolsetVersion" in about:
        date = " ".join(about.get("NetworkDate", "").split())
        shown = f'"{network}"' + (f" as of {date}" if date and date != "?" else "")
        notes.append(
            f"An Internet Topology Zoo file, network {shown} (Knight, Nguyen, Falkner, Bowden, Roughan, "
            "IEEE JSAC 29(9), 2011; licence CC BY 4.0)."
        )
    per_node = [_attributes(element, "node", keys) for element in graph.all("node")]
    hyper = sum(1 for attributes in per_node if attributes.get("hyperedge") == "1")
    if hyper:
        notes.append(f"Nodes that stand for a link joining more than two nodes, kept as routers: {hyper}.")
    external = sum(1 for attributes in per_node if attributes.get("Internal") == "0")
    if external:
        notes.append(f"Nodes of neighbouring networks (Internal = 0), kept as routers: {external}.")
    return notes
