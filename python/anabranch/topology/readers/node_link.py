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

from .attributes import draft_link, draft_node, one_way_entries
from .ends import ends_of
from .file_format import FileFormat
from .json_text import parse_json, text_of, texts_of
from .quantities import number, plain
from .text import decode_text

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
    directed = _YES_NO.get(document.get("directed", False))
    if directed is None:
        raise TopologyError(
            where, f'directed is "{text_of(document["directed"])[:40]}"', "write true or false"
        )
    edges = [_edge(edge) for edge in document[links_key]]
    ends = [_ends(edge, f"{where}, {links_key}[{i}]") for i, edge in enumerate(edges)]
    entries = _entries(document.get("nodes"), ends, where)
    nodes = _Nodes(entries, where)
    by_position = nodes.are_positions(end for _, *pair in ends for end in pair)
    links: list[DraftLink] = []
    for i, (edge, (keys, *pair)) in enumerate(zip(edges, ends, strict=True)):
        place = f"{where}, {links_key}[{i}]"
        attributes = _link_attributes(texts_of(edge, (*keys, "key")), place)
        a, b = (nodes.end(end, by_position, place) for end in pair)
        links.append(draft_link(a, b, attributes, directed, place))
    if by_position:
        notes.append("The ends of links are positions in the list of nodes, from 0 on.")
    # Without it a graph has one link between two nodes.
    if document.get("multigraph") is not True:
        links = one_way_entries(links, notes)
    about = document.get("graph")
    demands = _demands(about, nodes, where) if isinstance(about, dict) else None
    return Draft([nodes.draft(i) for i in range(len(entries))], links, demands, notes)


_YES_NO: Final = {False: False, True: True, "0": False, "1": True}
"""What `directed` is; numbers are texts here."""


def _entries(stated: Any, ends: Sequence[tuple[tuple[str, str], str, str]], where: str) -> list[Any]:
    """The nodes as a list: an object has their ids as keys, and without either those of the links are all."""
    if isinstance(stated, dict):
        return [{"id": key, **(entry if isinstance(entry, dict) else {})} for key, entry in stated.items()]
    if stated is None and ends:
        return [{"id": end} for end in dict.fromkeys(end for _, *pair in ends for end in pair)]
    if not isinstance(stated, list):
        raise TopologyError(where, 'the JSON has no list "nodes"', _REMEDY)
    return stated


def _edge(edge: Any) -> Any:
    """An edge as an object: `[from, to]` and `[from, to, {...}]` are edges of networkx."""
    if not isinstance(edge, list) or not 2 <= len(edge) <= 3:
        return edge
    a, b, *rest = edge
    return {"source": a, "target": b, **(rest[0] if rest and isinstance(rest[0], dict) else {})}


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
        self._by_name: dict[str, int | None] = {}
        for i, entry in enumerate(entries):
            name = entry.get("name", entry.get("label")) if isinstance(entry, dict) else None
            if isinstance(name, str):
                # None for a name that several have.
                self._by_name[name] = None if name in self._by_name else i
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
        if end in self._known:
            return end
        named = self._by_name.get(end)
        if named is None:
            raise TopologyError(place, f'the edge ends at "{end}", which is no node', "declare the node")
        return self._ids[named]

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
    keys = ends_of(key for key, value in edge.items() if value is not None)
    if keys is not None:
        return keys, _end_text(edge[keys[0]]), _end_text(edge[keys[1]])
    raise TopologyError(place, 'the edge has no "source" and "target"', "add them")


def _end_text(end: Any) -> str:
    """The node that an end names, which may be an object with its id and what else the end has."""
    if isinstance(end, dict):
        stated = next((end[key] for key in ("id", "node", "name") if end.get(key) is not None), None)
        return text_of(end if stated is None else stated)
    return text_of(end)


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
