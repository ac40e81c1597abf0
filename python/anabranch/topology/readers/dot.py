r"""Graphs in DOT (Graphviz), among them those of YATES and Frenetic (`capacity`, `cost`, `type=host`).

Edges of a digraph go one way, but for those with `dir=both` and `dir=none`; `dir=back` turns one round. In a
strict graph a later edge between the same nodes changes the earlier one. A label that is markup or that of a
record is no name; `\N` in a label is the node's name. `pos` is that of a drawing.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftNode

from .attributes import NodeIds, draft_link, draft_node, one_way_entries
from .dot_syntax import DotEdge, DotGraph, parse_dot
from .file_format import FileFormat
from .text import decode_text

_BOTH_WAYS: Final = ("both", "none")


def read_dot(data: bytes, where: str) -> Draft:
    """The graph of a DOT file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    graph = parse_dot(text, where)
    ids = NodeIds()
    nodes: list[DraftNode] = []
    for name, (attributes, place) in graph.nodes.items():
        ids.declare(name, place)
        nodes.append(_node(name, dict(attributes), place))
    links = []
    for edge in _merged(graph) if graph.strict else graph.edges:
        attributes = dict(edge.attributes)
        direction = attributes.pop("dir", "forward")
        a, b = (edge.b, edge.a) if direction == "back" else (edge.a, edge.b)
        one_way = graph.directed and direction not in _BOTH_WAYS
        links.append(draft_link(a, b, attributes, one_way, edge.place))
    return Draft(nodes, one_way_entries(links, notes), notes=notes)


_START: Final = re.compile(
    r"(?:\s++|//[^\n]*+|/\*(?>.*?\*/)|\#[^\n]*+)*+(?:strict\s+)?(?:di)?graph"
    r'(?:\s+(?:"[^"]*+"|[^\s{"\[]++))?\s*\{',
    re.DOTALL | re.IGNORECASE,
)
"""Comments and the head of a graph. Nothing in it is tried twice, whatever a file begins with."""


READER: Final = FileFormat("DOT", read_dot, lambda text: _START.match(text) is not None)


def _node(name: str, attributes: dict[str, str], place: str) -> DraftNode:
    label = attributes.get("label", "")
    is_record = attributes.get("shape", "").lower() in ("record", "mrecord")
    if is_record or label.startswith("<"):
        attributes.pop("label", None)
    elif "label" in attributes:
        attributes["label"] = re.sub(r"\\[nlr]", " ", label.replace(r"\N", name))
    return draft_node(name, attributes, place)


def _merged(graph: DotGraph) -> list[DotEdge]:
    """The edges of a strict graph: one between two nodes, in each direction where it has directions."""
    edges: dict[tuple[str, str], DotEdge] = {}
    for edge in graph.edges:
        key = (edge.a, edge.b) if graph.directed else (min(edge.a, edge.b), max(edge.a, edge.b))
        if key in edges:
            edges[key].attributes.update(edge.attributes)
        else:
            edges[key] = edge
    return list(edges.values())
