"""BRITE's output (its user manual, "The BRITE Output Format").

A. Medina, A. Lakhina, I. Matta, J. Byers, "BRITE: An Approach to Universal
Topology Generation", MASCOTS 2001:

    Nodes: a line ID X Y INDEGREE OUTDEGREE AS TYPE for each
    Edges: a line ID FROM TO LENGTH DELAY BANDWIDTH ASFROM ASTO TYPE [U or D] for each

X and Y are points of a plane. A delay is the length divided by 299.79, the speed of light in km per ms, so
that lengths are kilometres and delays milliseconds. The manual calls bandwidths unitless, "users interpret
the meaning"; ns-3's helper and FNSS take them for Mbps, and so does this reader, which says it. Edges with a
D go one way; without the letter, and with a U, they go both ways.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import NodeIds, draft_link, draft_node
from .file_format import FileFormat
from .lines import TextLine, lines_of
from .quantities import number, plain
from .text import decode_text

_NODE_COLUMNS: Final = ("indegree", "outdegree", "ASid", "type")
_EDGE_COLUMNS: Final = ("ASfrom", "ASto", "type")
_HEADS: Final = {"Nodes:": "node", "Edges:": "edge"}
_LETTERS: Final = {"U": False, "D": True}


def read_brite(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    ids = NodeIds()
    nodes: list[DraftNode] = []
    links: list[DraftLink] = []
    counts: dict[str, tuple[int, str]] = {}
    section = None
    for line in lines_of(text, where, comment=""):
        first = line.words[0]
        if first in _HEADS:
            section = _HEADS[first]
            counts[section] = (_count(line), line.place)
        elif section == "node":
            if len(line.words) < 3:
                raise TopologyError(line.place, f"the node has {len(line.words)} words", _REMEDY)
            ids.declare(first, line.place)
            attributes = dict(zip(_NODE_COLUMNS, line.words[3:], strict=False))
            nodes.append(draft_node(first, attributes, line.place))
        elif section == "edge":
            links.append(_link(line, ids))
    for what, count in (("node", len(nodes)), ("edge", len(links))):
        stated, place = counts.get(what, (0, where))
        if stated != count:
            raise TopologyError(place, f"the file says {stated} {what}s, and has {count}", _REMEDY)
    if nodes:
        notes.append("The coordinates are those of a plane, not of the Earth, and are left out.")
    if links:
        notes.append(
            "Lengths are in km, delays in ms. BRITE gives bandwidths no unit: they are read as Mbps."
        )
    return Draft(nodes, links, notes=notes)


READER: Final = FileFormat(
    "BRITE", read_brite, lambda text: re.match(r"Topology:\s*\(\s*\d+\s+Nodes,", text) is not None
)


def _count(line: TextLine) -> int:
    match = re.search(r"\(\s*(\d{1,9})\s*\)", " ".join(line.words))
    if match is None:
        raise TopologyError(line.place, f"{line.words[0]} has no number behind it", _REMEDY)
    return int(match[1])


def _link(line: TextLine, ids: NodeIds) -> DraftLink:
    if len(line.words) < 6:
        raise TopologyError(line.place, f"the edge has {len(line.words)} words", _REMEDY)
    a, b, length, delay, bandwidth = line.words[1:6]
    ids.check_ends(a, b, line.place)
    attributes = {
        "length_km": plain(number(length, "a length", line.place)),
        "delay_ms": plain(number(delay, "a delay", line.place)),
        **dict(zip(_EDGE_COLUMNS, line.words[6:9], strict=False)),
    }
    mbps = number(bandwidth, "a bandwidth", line.place)
    if mbps > 0:  # -1 stands for none
        attributes["capacity_bps"] = plain(mbps * 1_000_000)
    directed = _LETTERS.get(line.words[-1], False)
    return draft_link(a, b, attributes, directed, line.place)


_REMEDY: Final = "the file is cut off, damaged or not BRITE's: fetch it again, or mend it here"
