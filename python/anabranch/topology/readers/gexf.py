"""GEXF files (gexf.net, versions 1.1 to 1.3), as Gephi and networkx write them.

Attributes have the titles that `attributes` declares, with their defaults. Edges of `type` `directed` go one
way. What is for drawing (`viz`) is passed over; graphs within nodes are refused.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import NodeIds, draft_link, draft_node, one_way_entries
from .file_format import FileFormat
from .xml_tree import Element, parse_xml

_TYPES: Final = ("directed", "undirected", "mutual")


def read_gexf(data: bytes, where: str) -> Draft:
    """The graph of a document. Raises TopologyError with the line for anything else."""
    graph = parse_xml(data, where, "gexf").inner("graph")
    default = graph.attributes.get("defaultedgetype", "undirected")
    if default not in _TYPES:
        raise TopologyError(graph.place, f'defaultedgetype is "{default}"', f"write {' or '.join(_TYPES)}")
    titles = {kind: _titles(graph, kind) for kind in ("node", "edge")}
    ids = NodeIds()
    nodes_element, edges_element = graph.inner("nodes"), graph.child("edges")
    nodes = [_node(element, titles["node"], ids) for element in nodes_element.all("node")]
    links: list[DraftLink] = []
    for element in edges_element.all("edge") if edges_element is not None else []:
        a, b = element.required("source"), element.required("target")
        ids.check_ends(a, b, element.place)
        kind = element.attributes.get("type", default)
        if kind not in _TYPES:
            raise TopologyError(element.place, f'type is "{kind}"', f"write {' or '.join(_TYPES)}")
        plain = {key: element.attributes[key] for key in ("weight", "label") if key in element.attributes}
        attributes = plain | _values(element, titles["edge"])
        links.append(draft_link(a, b, attributes, kind == "directed", element.place))
    notes: list[str] = []
    return Draft(nodes, one_way_entries(links, notes), notes=notes)


READER: Final = FileFormat(
    "GEXF", read_gexf, lambda text: text.startswith("<") and re.search(r"<(\w+:)?gexf\b", text) is not None
)


def _titles(graph: Element, kind: str) -> dict[str, tuple[str, str | None]]:
    """The title of each declared attribute by id, and its default."""
    titles: dict[str, tuple[str, str | None]] = {}
    for group in graph.all("attributes"):
        if group.attributes.get("class") != kind:
            continue
        for element in group.all("attribute"):
            default = element.child("default")
            name = element.required("id")
            title = element.attributes.get("title") or name
            titles[name] = (title, None if default is None else default.text)
    return titles


def _values(element: Element, titles: dict[str, tuple[str, str | None]]) -> dict[str, str]:
    values = {title: default for title, default in titles.values() if default is not None}
    group = element.child("attvalues")
    for value in group.all("attvalue") if group is not None else []:
        # Version 1.1 calls it "id".
        name = value.attributes.get("for") or value.required("id")
        if name not in titles:
            raise TopologyError(value.place, f'the attribute "{name}" is not declared', "declare it")
        values[titles[name][0]] = value.attributes.get("value", "")
    return values


def _node(element: Element, titles: dict[str, tuple[str, str | None]], ids: NodeIds) -> DraftNode:
    if element.child("nodes") is not None:
        raise TopologyError(element.place, "the node holds a graph", "flatten the graph before reading it")
    node_id = element.required("id")
    ids.declare(node_id, element.place)
    label = element.attributes.get("label")
    attributes = ({} if label is None else {"label": label}) | _values(element, titles)
    return draft_node(node_id, attributes, element.place)
