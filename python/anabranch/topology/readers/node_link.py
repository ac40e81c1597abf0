"""Node-link JSON: `node_link_data` of networkx, with its edges under "links" or "edges".

The same form has TopoHub (P. Jurkiewicz, SoftwareX 24, 2023; its attributes are read as in each format, its
demands are those of the graph), TEAL, NCFlow, d3 (whose links give positions in the list of nodes), and the
export `--to networkx` of Anabranch, whose `delay_s` and `latitude_deg` have their units in their names. Keys
of parallel edges only tell them apart. What the form does not say, such as the unit of TEAL's `capacity`, is
not read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import draft_link, draft_node
from .file_format import FileFormat
from .json_text import parse_json, text_of, texts_of
from .quantities import number, plain
from .text import decode_text

_ENDS: Final = (("source", "target"), ("from", "to"), ("src", "dst"))
_OTHER_FORMS: Final = {
    "adjacency": "networkx.adjacency_graph(json.load(open(FILE)))",
    "elements": "networkx.cytoscape_graph(json.load(open(FILE)))",
    "children": "networkx.tree_graph(json.load(open(FILE)))",
}
"""Other JSON of networkx by the key that shows it, and what reads it."""


def read_node_link(data: bytes, where: str) -> Draft:
    """The graph of a node-link document. Raises TopologyError with the entry for anything else."""
    text, notes = decode_text(data)
    document = parse_json(text, where)
    if not isinstance(document, dict):
        raise TopologyError(where, "this is JSON, but no graph", _REMEDY)
    links_key = _links_key(document, where)
    entries = document.get("nodes")
    if not isinstance(entries, list):
        raise TopologyError(where, 'the JSON has no list "nodes"', _REMEDY)
    directed = document.get("directed", False)
    if not isinstance(directed, bool):
        raise TopologyError(where, f'directed is "{text_of(directed)[:40]}"', "write true or false")
    nodes = _Nodes(entries, where)
    edges = document[links_key]
    ends = [_ends(edge, f"{where}, {links_key}[{i}]") for i, edge in enumerate(edges)]
    by_position = nodes.are_positions(end for _, *pair in ends for end in pair)
    links: list[DraftLink] = []
    for i, (edge, (keys, *pair)) in enumerate(zip(edges, ends, strict=True)):
        place = f"{where}, {links_key}[{i}]"
        attributes = _link_attributes(texts_of(edge, (*keys, "key")), place)
        a, b = (nodes.end(end, by_position, place) for end in pair)
        links.append(draft_link(a, b, attributes, directed, place))
    if by_position:
        notes.append("The ends of links are positions in the list of nodes, from 0 on.")
    about = document.get("graph")
    demands = _demands(about, nodes, where) if isinstance(about, dict) else None
    return Draft([nodes.draft(i) for i in range(len(entries))], links, demands, notes)


READER: Final = FileFormat("JSON node-link", read_node_link, lambda text: text.startswith(("{", "[")))


def _links_key(document: Mapping[str, Any], where: str) -> str:
    keys = [key for key in ("links", "edges") if isinstance(document.get(key), list)]
    for key, call in _OTHER_FORMS.items():
        if key in document and not keys:
            raise TopologyError(
                where,
                f'this is JSON with "{key}", not node-link JSON',
                f"convert it: graph = {call}; json.dump(networkx.node_link_data(graph), open(NEW, 'w'))",
            )
    if len(keys) != 1:
        lists = 'no list "links" or "edges"' if not keys else 'both "links" and "edges"'
        raise TopologyError(where, f"the JSON has {lists}", _REMEDY)
    return keys[0]


class _Nodes:
    """The nodes of a document: their ids as texts, and how ends of links name them."""

    def __init__(self, entries: Sequence[Any], where: str) -> None:
        self._entries = entries
        self._where = where
        self._ids = [self._id(i, entry) for i, entry in enumerate(entries)]
        self._known: dict[str, int] = {}
        for i, node_id in enumerate(self._ids):
            earlier = self._known.setdefault(node_id, i)
            if earlier != i:
                raise TopologyError(
                    f"{where}, nodes[{i}]",
                    f'node id "{node_id}" is that of nodes[{earlier}], too',
                    "give every node its own id",
                )

    def _id(self, i: int, entry: Any) -> str:
        stated = entry.get("id", entry.get("name")) if isinstance(entry, dict) else entry
        if stated is None:
            return str(i)
        return text_of(stated)

    def are_positions(self, ends: Any) -> bool:
        """Whether ends of links are positions in the list: none is an id, and all are in it."""
        ends = list(ends)
        count = len(self._ids)
        return bool(ends) and all(
            end not in self._known and end.isascii() and end.isdigit() and len(end) < 8 and int(end) < count
            for end in ends
        )

    def end(self, end: str, by_position: bool, place: str) -> str:
        if by_position:
            return self._ids[int(end)]
        if end not in self._known:
            raise TopologyError(place, f'the edge ends at "{end}", which is no node', "declare the node")
        return end

    def draft(self, i: int) -> DraftNode:
        entry = self._entries[i]
        attributes = texts_of(entry, ("id",)) if isinstance(entry, dict) else {}
        for name in ("latitude", "longitude"):
            if (value := attributes.pop(f"{name}_deg", None)) is not None:
                attributes[name] = value
        return draft_node(self._ids[i], attributes, f"{self._where}, nodes[{i}]")


def _ends(edge: Any, place: str) -> tuple[tuple[str, str], str, str]:
    if not isinstance(edge, dict):
        raise TopologyError(place, "the edge is no object", _REMEDY)
    for keys in _ENDS:
        a, b = (edge.get(key) for key in keys)
        if a is not None and b is not None:
            return keys, text_of(a), text_of(b)
    raise TopologyError(place, 'the edge has no "source" and "target"', "add them")


def _link_attributes(attributes: dict[str, str], place: str) -> dict[str, str]:
    """The attributes of a link by the names that links take."""
    if (delay := attributes.get("delay_s")) is not None and "delay_ms" not in attributes:
        attributes["delay_ms"] = plain(number(delay, "delay_s", place) * 1000)
        del attributes["delay_s"]
    return attributes


def _demands(about: Mapping[str, Any], nodes: _Nodes, where: str) -> dict[tuple[str, str], float] | None:
    """TopoHub's demands: an object for each origin, with a value for each destination."""
    rows = about.get("demands")
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        return None
    place = f"{where}, graph.demands"
    demands: dict[tuple[str, str], float] = {}
    for origin, row in rows.items():
        for to, value in row.items():
            pair = (nodes.end(origin, False, place), nodes.end(to, False, place))
            demands[pair] = float(number(text_of(value), "a demand", place, low=0))
    return demands or None


_REMEDY: Final = 'give what networkx.node_link_data writes: an object with "nodes" and "links" or "edges"'
