"""SNDlib's native text format (SNDlib 1.0, file format description "network, native").

    NODES ( id ( longitude latitude ) ... )
    LINKS ( id ( source target ) capacity cost routing_cost setup_cost ( {module_capacity cost}* ) ... )
    DEMANDS ( id ( source target ) routing_unit value max_path_length ... )

Other sections (META, ADMISSIBLE_PATHS) are skipped but for META's `unit`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from anabranch.topology.draft import Draft
from anabranch.topology.error import TopologyError

from .file_format import FileFormat
from .sndlib_common import (
    INSTALLED,
    SndlibLink,
    add_demand,
    amount,
    capacity_note,
    coordinate_notes,
    demand_unit,
    drafted_links,
    finite,
    link_meanings,
    nodes_from,
)
from .text import decode_text, without_comments

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
MAX_TOKENS: Final = 4_000_000
"""Most words and brackets taken, so that a hostile file cannot fill the memory."""
_SECTIONS: Final = ("NODES", "LINKS", "DEMANDS")


class _Token(NamedTuple):
    text: str
    line: int


class _Tokens:
    """The tokens of one section, with a position and messages that name the line."""

    def __init__(self, tokens: list[_Token], where: str, end_line: int) -> None:
        self._tokens = tokens
        self._where = where
        self._next = 0
        self._end_line = end_line

    def __bool__(self) -> bool:
        return self._next < len(self._tokens)

    @property
    def line(self) -> int:
        return self._tokens[self._next].line if self else self._end_line

    @property
    def place(self) -> str:
        return f"{self._where}, line {self.line}"

    def peek(self) -> str | None:
        return self._tokens[self._next].text if self else None

    def word(self, what: str) -> str:
        """The next token, which must be a word: `what` names it in the message."""
        text = self.peek()
        if text is None or text in "()":
            there = "the section ends" if text is None else f'found "{text}"'
            raise TopologyError(self.place, f"{there} where {what} was due", _REMEDY)
        self._next += 1
        return text

    def number(self, what: str) -> float:
        place = self.place
        return finite(self.word(what), what, place)

    def bracket(self, which: str) -> None:
        if self.peek() != which:
            raise TopologyError(
                self.place, f'expected "{which}", found "{self.peek() or "the end"}"', _REMEDY
            )
        self._next += 1


def read_sndlib_native(data: bytes, where: str) -> Draft:
    """The network of a native SNDlib file; no nodes of one with demands alone.

    Raises TopologyError with the line for anything else.
    """
    text, notes = decode_text(data)
    sections, unit = _sections(text, where)
    has_network = "NODES" in sections or "LINKS" in sections
    if "NODES" not in sections and (has_network or "DEMANDS" not in sections):
        raise TopologyError(
            where, "the file has no NODES section", "an SNDlib network file starts with NODES ( ... )"
        )
    coordinates = _nodes(sections["NODES"]) if has_network else {}
    links = drafted_links(_links(sections["LINKS"]) if "LINKS" in sections else [])
    demands: dict[tuple[str, str], float] = {}
    if "DEMANDS" in sections:
        _demands(sections["DEMANDS"], demands)
    nodes, plane = nodes_from(coordinates, planar=None)
    notes += coordinate_notes(coordinates, plane) + capacity_note(unit)
    return Draft(nodes, links, demands or None, notes, link_meanings(links, unit), demand_unit(unit))


def _recognises(text: str) -> bool:
    return (
        text.startswith("?SNDlib")
        or re.match(r"(META|NODES|LINKS|DEMANDS)\s*\(", without_comments(text)) is not None
    )


READER: Final = FileFormat("SNDlib native", read_sndlib_native, _recognises)


def _sections(text: str, where: str) -> tuple[dict[str, _Tokens], str | None]:
    """The token lists of the sections by name, and the unit of capacities and demands if META states it."""
    sections: dict[str, _Tokens] = {}
    unit: str | None = None
    tokens = _tokenise(text)
    for token in tokens:
        name = token.text
        if not re.fullmatch(r"[A-Z_]+", name):
            raise TopologyError(
                f"{where}, line {token.line}", f'found "{name[:40]}" where a section was due', _REMEDY
            )
        opening = next(tokens, None)
        if opening is None or opening.text != "(":
            raise TopologyError(f"{where}, line {token.line}", f'"{name}" is not followed by "("', _REMEDY)
        body, end_line = _body(tokens, f"{where}, line {token.line}", name)
        if name in _SECTIONS:
            if name in sections:
                raise TopologyError(
                    f"{where}, line {token.line}", f"there are two {name} sections", "merge them"
                )
            sections[name] = _Tokens(body, where, end_line)
        elif name == "META":
            words = [t.text for t in body]
            stated = [words[i + 2] for i in range(len(words) - 2) if words[i : i + 2] == ["unit", "="]]
            unit = stated[0] if stated else None
    return sections, unit


def _tokenise(text: str) -> Iterator[_Token]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("?SNDlib"):
            continue
        for match in _TOKEN.finditer(line.partition("#")[0]):
            yield _Token(match.group(), number)


def _body(tokens: Iterator[_Token], where: str, name: str) -> tuple[list[_Token], int]:
    """The tokens up to the bracket that closes the section, and that bracket's line."""
    depth = 1
    body: list[_Token] = []
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0:
            return body, token.line
        body.append(token)
        if len(body) > MAX_TOKENS:
            raise TopologyError(
                where, f"the section {name} has more than {MAX_TOKENS} words", "split the network"
            )
    raise TopologyError(where, f"the section {name} is never closed", _REMEDY)


def _nodes(tokens: _Tokens) -> dict[str, tuple[float, float] | None]:
    """(x, y) of each node by id, None where the file gives no coordinates."""
    places: dict[str, tuple[float, float] | None] = {}
    while tokens:
        place = tokens.place
        node = tokens.word("a node id")
        if node in places:
            raise TopologyError(place, f'node "{node}" is declared twice', "give every node its own id")
        places[node] = None
        if tokens.peek() == "(":
            tokens.bracket("(")
            if tokens.peek() != ")":
                places[node] = (tokens.number("a longitude"), tokens.number("a latitude"))
            tokens.bracket(")")
    return places


def _links(tokens: _Tokens) -> list[SndlibLink]:
    links: list[SndlibLink] = []
    while tokens:
        place = tokens.place
        label = tokens.word("a link id")
        a, b = _pair(tokens)
        stated = {
            name: amount(tokens.number(what), what.partition(" ")[2], place)
            for name, what in (
                (INSTALLED, "a capacity"),
                ("preInstalledModule.cost", "a capacity cost"),
                ("routingCost", "a routing cost"),
                ("setupCost", "a setup cost"),
            )
        }
        tokens.bracket("(")
        modules = []
        while tokens.peek() != ")":
            capacity = amount(tokens.number("a module capacity"), "module capacity", place)
            cost = amount(tokens.number("a module cost"), "module cost", place)
            modules.append(_given({"capacity": capacity, "cost": cost}))
        tokens.bracket(")")
        links.append(SndlibLink(label, a, b, _given(stated), modules, place))
    return links


def _given(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _demands(tokens: _Tokens, demands: dict[tuple[str, str], float]) -> None:
    while tokens:
        place = tokens.place
        tokens.word("a demand id")
        pair = _pair(tokens)
        tokens.number("a routing unit")
        add_demand(demands, pair, tokens.number("a demand value"), place)
        tokens.word("a maximum path length")


def _pair(tokens: _Tokens) -> tuple[str, str]:
    tokens.bracket("(")
    pair = (tokens.word("a source"), tokens.word("a target"))
    tokens.bracket(")")
    return pair


_REMEDY: Final = "the file is cut off, damaged or not SNDlib's native format: fetch it again, or mend it here"
