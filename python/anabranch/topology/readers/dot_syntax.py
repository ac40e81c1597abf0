"""The DOT language (graphviz.org/doc/info/lang.html): nodes and edges of a graph with their attributes.

Read by our own code, because the packages that read DOT need Graphviz or give no lines for messages. Layout
means nothing here: ports, clusters and ranks are passed over.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_LINKS, MAX_NODES

MAX_DEPTH: Final = 64
"""Deepest nesting of subgraphs taken."""
REMEDY: Final = "the file is cut off, damaged or not DOT: fetch it again, or mend it here"

_TOKEN: Final = re.compile(
    r"""(?P<blank>[\s\ufeff]+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
      | (?P<arrow>--|->)
      | (?P<number>-?(?:\.\d+|\d+(?:\.\d*)?))
      | (?P<word>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<html><)
      | (?P<mark>[][{}=;,:+])""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS: Final = ("graph", "digraph", "node", "edge", "subgraph", "strict")


class _Token(NamedTuple):
    kind: str
    """`id`, `keyword`, `html`, or the mark itself."""
    text: str
    line: int


@dataclass(slots=True)
class DotEdge:
    """An edge from `a` to `b`, with its attributes and its place."""

    a: str
    b: str
    attributes: dict[str, str]
    place: str


@dataclass(slots=True)
class DotGraph:
    """The nodes by id, each with its attributes and its place, and the edges, in the order of the file."""

    directed: bool = False
    strict: bool = False
    nodes: dict[str, tuple[dict[str, str], str]] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)


@dataclass(slots=True)
class _Scope:
    """The defaults that hold inside a pair of braces, and the nodes named there."""

    node: dict[str, str]
    edge: dict[str, str]
    members: dict[str, None] = field(default_factory=dict)


def parse_dot(text: str, where: str) -> DotGraph:
    """The graph of a file. Raises TopologyError with the line for anything but exactly one graph."""
    return _Parser(text, where).graph()


class _Parser:
    """A parser by recursive descent, whose depth is bounded by `MAX_DEPTH`."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        self._tokens = _tokens(text, where)
        self._line = 1
        self._next = next(self._tokens, None)
        self._graph = DotGraph()

    def graph(self) -> DotGraph:
        self._graph.strict = self._skip_keyword("strict")
        kind = self._take("keyword")
        if kind.text not in ("graph", "digraph"):
            raise self._unexpected(kind, "graph or digraph")
        self._graph.directed = kind.text == "digraph"
        if self._is("id"):
            self._id()
        self._braces(_Scope({}, {}), 0)
        if self._next is not None:
            raise TopologyError(self._place(), "another graph follows", "give a file with one graph")
        return self._graph

    def _braces(self, scope: _Scope, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise TopologyError(self._place(), f"subgraphs are nested deeper than {MAX_DEPTH}", REMEDY)
        self._take("{")
        while not self._is("}"):
            if self._is(";"):
                self._take(";")
                continue
            self._statement(scope, depth)
        self._take("}")

    def _statement(self, scope: _Scope, depth: int) -> None:
        if self._next is not None and self._next.kind == "keyword" and self._next.text != "subgraph":
            keyword = self._take("keyword")
            if keyword.text not in ("graph", "node", "edge"):
                raise self._unexpected(keyword, "a statement")
            defaults = self._attributes()
            if keyword.text == "node":
                scope.node.update(defaults)
            elif keyword.text == "edge":
                scope.edge.update(defaults)
            return
        place = self._place()
        if not self._is("{") and not self._is_keyword("subgraph"):
            name = self._id()
            if self._is("="):
                self._take("=")
                self._value()
                return
            first = self._node(name, scope, place)
        else:
            first = self._subgraph(scope, depth)
        ends = [first]
        while self._is("arrow"):
            arrow = self._take("arrow")
            if (arrow.text == "->") != self._graph.directed:
                wanted = "->" if self._graph.directed else "--"
                raise TopologyError(
                    self._place(), f'found "{arrow.text}"', f'edges of this graph have "{wanted}"'
                )
            ends.append(self._end(scope, depth))
        attributes = self._attributes() if self._is("[") else {}
        if len(ends) > 1:
            self._edges(ends, scope.edge | attributes, place)
        elif len(first) == 1:
            self._graph.nodes[first[0]][0].update(attributes)

    def _end(self, scope: _Scope, depth: int) -> list[str]:
        if self._is("{") or self._is_keyword("subgraph"):
            return self._subgraph(scope, depth)
        place = self._place()
        return self._node(self._id(), scope, place)

    def _subgraph(self, scope: _Scope, depth: int) -> list[str]:
        if self._skip_keyword("subgraph") and self._is("id"):
            self._id()
        inner = _Scope(dict(scope.node), dict(scope.edge))
        self._braces(inner, depth + 1)
        scope.members.update(inner.members)
        return list(inner.members)

    def _node(self, name: str, scope: _Scope, place: str) -> list[str]:
        """The node of this name, which has the defaults where it is named first; its port is skipped."""
        for _ in range(2):
            if self._is(":"):
                self._take(":")
                self._id()
        if name not in self._graph.nodes:
            self._graph.nodes[name] = (dict(scope.node), place)
            if len(self._graph.nodes) > MAX_NODES:
                raise TopologyError(place, f"the graph has more than {MAX_NODES} nodes", "leave some out")
        scope.members[name] = None
        return [name]

    def _edges(self, ends: list[list[str]], attributes: dict[str, str], place: str) -> None:
        count = sum(len(left) * len(right) for left, right in pairwise(ends))
        if len(self._graph.edges) + count > MAX_LINKS:
            raise TopologyError(place, f"the graph has more than {MAX_LINKS} edges", "leave some out")
        for left, right in pairwise(ends):
            self._graph.edges += [DotEdge(a, b, dict(attributes), place) for a in left for b in right]

    def _attributes(self) -> dict[str, str]:
        attributes: dict[str, str] = {}
        while self._is("["):
            self._take("[")
            while not self._is("]"):
                key = self._id()
                attributes[key] = "true"
                if self._is("="):
                    self._take("=")
                    attributes[key] = self._value()
                if self._is(";") or self._is(","):
                    self._take(self._next.kind if self._next is not None else "")
            self._take("]")
        return attributes

    def _value(self) -> str:
        """A value; markup, in angle brackets, keeps them."""
        return self._take("html").text if self._is("html") else self._id()

    def _id(self) -> str:
        parts = [self._take("id").text]
        while self._is("+"):
            self._take("+")
            parts.append(self._take("id").text)
        return "".join(parts)

    def _is(self, kind: str) -> bool:
        return self._next is not None and self._next.kind == kind

    def _is_keyword(self, text: str) -> bool:
        return self._next is not None and self._next.kind == "keyword" and self._next.text == text

    def _skip_keyword(self, text: str) -> bool:
        is_next = self._is_keyword(text)
        if is_next:
            self._take("keyword")
        return is_next

    def _take(self, kind: str) -> _Token:
        token = self._next
        if token is None:
            raise TopologyError(self._place(), "the file ends inside the graph", REMEDY)
        if token.kind != kind:
            raise self._unexpected(token, {"id": "a name"}.get(kind, kind))
        self._line = token.line
        self._next = next(self._tokens, None)
        return token

    def _unexpected(self, token: _Token, wanted: str) -> TopologyError:
        return TopologyError(
            f"{self._where}, line {token.line}", f'found "{token.text[:40]}" where {wanted} was due', REMEDY
        )

    def _place(self) -> str:
        return f"{self._where}, line {self._line if self._next is None else self._next.line}"


def _tokens(text: str, where: str) -> Iterator[_Token]:
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise TopologyError(
                f"{where}, line {line}", f"cannot read {text[position : position + 20]!r}", REMEDY
            )
        kind, token, position = str(match.lastgroup), match.group(), match.end()
        if kind == "html":
            position = _end_of_markup(text, match.start(), f"{where}, line {line}")
            token = text[match.start() : position]
            yield _Token("html", token, line)
        elif kind == "string":
            yield _Token("id", re.sub(r'\\(\n|")', lambda escape: escape[1].strip("\n"), token[1:-1]), line)
        elif kind == "word" and token.lower() in _KEYWORDS:
            yield _Token("keyword", token.lower(), line)
        elif kind in ("word", "number"):
            yield _Token("id", token, line)
        elif kind != "blank":
            yield _Token("arrow" if kind == "arrow" else token, token, line)
        line += token.count("\n")


def _end_of_markup(text: str, start: int, place: str) -> int:
    depth = 0
    for match in re.compile("[<>]").finditer(text, start):
        depth += 1 if match.group() == "<" else -1
        if depth == 0:
            return match.end()
    raise TopologyError(place, "the file ends inside markup", REMEDY)
