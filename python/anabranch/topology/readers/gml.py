"""GML files (Himsolt, "GML: A portable Graph File Format", 1997), in particular those of the Topology Zoo.

Read by our own code rather than networkx.read_gml, which refuses parallel edges without a `multigraph 1` line
and nodes that share a label; both are common in the Topology Zoo.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import NodeIds, draft_link, draft_node, one_way_entries
from .file_format import FileFormat
from .text import decode_text, without_comments
from .yed import DrawnEdges, arrow_of_gml

MAX_DEPTH: Final = 32
"""Deepest nesting of lists taken. Topology files need three levels."""
MAX_LISTS: Final = 1_000_000
"""Most lists taken, so that a small hostile file cannot fill the memory."""

_TOKEN: Final = re.compile(
    r"""(?P<blank>[\s\ufeff]+|\#[^\n]*)
      | (?P<open>\[) | (?P<close>\])
      | (?P<string>"[^"]*")
      | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])|[+-]?INF\b|NAN\b)
      | (?P<key>[A-Za-z_]\w*)""",
    re.VERBOSE | re.ASCII,
)


@dataclass(slots=True)
class _List:
    """A GML list `[ key value ... ]`: plain values and inner lists, each by key in order."""

    place: str
    """File and line, for messages."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """By key. One that is there several times is a list, as networkx writes it."""
    lists: list[tuple[str, "_List"]] = field(default_factory=list)

    def all(self, key: str) -> list["_List"]:
        return [inner for name, inner in self.lists if name == key]

    def required(self, kind: str, key: str) -> str:
        value = self.single(key)
        if not value:
            raise TopologyError(self.place, f'the {kind} has no "{key}"', "add it")
        return value

    def single(self, key: str) -> str | None:
        """The value of a key that may be there once. Raises TopologyError for two that differ."""
        values = self.values.get(key, [])
        if len(set(values)) > 1:
            raise TopologyError(self.place, f'"{key}" is there {len(values)} times', "leave one of them")
        return values[0] if values else None

    def attributes(self, but: tuple[str, ...], path: str = "") -> dict[str, str]:
        """Everything in the list by name but for some keys; what is in inner lists as `graphics.x`."""
        texts = {
            f"{path}{key}": values[0] if len(values) == 1 else f"[{', '.join(values)}]"
            for key, values in self.values.items()
            if key not in but
        }
        for key, inner in self.lists:
            for name, value in inner.attributes((), f"{path}{key}.").items():
                texts.setdefault(name, value)
        return texts


def read_gml(data: bytes, where: str) -> Draft:
    """The graph of a GML file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    root = _parse(text, where)
    graphs = root.all("graph")
    if len(graphs) != 1:
        raise TopologyError(
            where, f"the file holds {len(graphs)} graphs", "give a file with exactly one graph [ ... ]"
        )
    graph = graphs[0]
    directed = graph.single("directed") or "0"
    if directed not in ("0", "1"):
        raise TopologyError(graph.place, f'directed is "{directed}"', "write 0 or 1")
    nodes: list[DraftNode] = []
    ids = NodeIds()
    for item in graph.all("node"):
        node_id = item.required("node", "id")
        ids.declare(node_id, item.place)
        for key in ("label", "name"):
            item.single(key)
        nodes.append(draft_node(node_id, item.attributes(("id",)), item.place))
    links: list[DraftLink] = []
    is_drawn, drawn = "yFiles" in (root.single("Creator") or ""), DrawnEdges()
    for item in graph.all("edge"):
        a, b = item.required("edge", "source"), item.required("edge", "target")
        ids.check_ends(a, b, item.place)
        attributes = item.attributes(("source", "target"))
        one_way = directed == "1"
        if one_way and is_drawn:
            a, b, one_way = drawn.directed(a, b, arrow_of_gml(attributes))
        links.append(draft_link(a, b, attributes, one_way, item.place))
    if graph.single("multigraph") != "1":
        links = one_way_entries(links, notes)
    return Draft(nodes, links, notes=notes + drawn.notes())


def _recognises(text: str) -> bool:
    plain = without_comments(text)
    return re.match(r"[A-Za-z_]", plain) is not None and re.search(r"(?m)(^|\s)graph\s*\[", plain) is not None


READER: Final = FileFormat("GML", read_gml, _recognises)


def _parse(text: str, where: str) -> _List:
    """The whole file as a list. Iterative, so that nesting cannot exhaust the stack."""
    root = _List(where)
    stack = [root]
    key: str | None = None
    line = 1
    count = 0
    for kind, token, line in _tokens(text, where):
        if key is None:
            if kind == "key":
                key = token
            elif kind == "close" and len(stack) > 1:
                stack.pop()
            else:
                raise TopologyError(
                    f"{where}, line {line}", f"found {token[:40]} where a key was due", _REMEDY
                )
        elif kind == "open":
            if len(stack) > MAX_DEPTH:
                raise TopologyError(
                    f"{where}, line {line}", f"lists are nested deeper than {MAX_DEPTH}", _REMEDY
                )
            count += 1
            if count > MAX_LISTS:
                raise TopologyError(
                    where, f"the file has more than {MAX_LISTS} lists", "leave out what is not needed"
                )
            inner = _List(f"{where}, line {line}")
            stack[-1].lists.append((key, inner))
            stack.append(inner)
            key = None
        elif kind in ("string", "number"):
            value = html.unescape(token[1:-1]) if kind == "string" else token
            stack[-1].values.setdefault(key, []).append(value)
            key = None
        else:
            raise TopologyError(
                f"{where}, line {line}",
                f'"{key}" has no value',
                "write a number, a string in quotes or a list after it",
            )
    if key is not None or len(stack) > 1:
        raise TopologyError(f"{where}, line {line}", "the file ends inside a list", _REMEDY)
    return root


def _tokens(text: str, where: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise TopologyError(
                f"{where}, line {line}", f"cannot read {text[position : position + 20]!r}", _REMEDY
            )
        kind = match.lastgroup
        token = match.group()
        if kind is not None and kind != "blank":
            yield kind, token, line
        line += token.count("\n")
        position = match.end()


_REMEDY: Final = "the file is cut off, damaged or not GML: fetch it again, or mend it here"
