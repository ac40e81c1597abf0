"""Output of the generator Inet 3.0, as ns-3's InetTopologyReader takes it.

J. Winick, S. Jamin, "Inet-3.0: Internet Topology Generator", 2002: NODES LINKS, then ID X Y for each node,
then FROM TO WEIGHT for each link. X and Y are points of a plane, and the weight is the distance between them;
no unit is stated, so that it is no length here. Links go both ways.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_LINKS, MAX_NODES

from .attributes import NodeIds, draft_link
from .file_format import FileFormat
from .lines import lines_of
from .quantities import number, plain, whole
from .text import decode_text


def read_inet(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    lines = list(lines_of(text, where))
    if not lines or len(lines[0].words) != 2:
        raise TopologyError(where, "the first line has no numbers of nodes and links", _REMEDY)
    head = lines[0]
    node_count = whole(head.words[0], "the number of nodes", head.place, 0, MAX_NODES)
    link_count = whole(head.words[1], "the number of links", head.place, 0, MAX_LINKS)
    if len(lines) != 1 + node_count + link_count:
        raise TopologyError(
            head.place, f"{node_count} + {link_count} lines are due, and {len(lines) - 1} follow", _REMEDY
        )
    ids = NodeIds()
    nodes: list[DraftNode] = []
    links: list[DraftLink] = []
    for i, line in enumerate(lines[1:]):
        if len(line.words) != 3:
            raise TopologyError(line.place, f"the line has {len(line.words)} words", _REMEDY)
        if i < node_count:
            ids.declare(line.words[0], line.place)
            nodes.append(DraftNode(line.words[0]))
            continue
        a, b, weight = line.words
        ids.check_ends(a, b, line.place)
        attributes = {"weight": plain(number(weight, "a weight", line.place))}
        links.append(draft_link(a, b, attributes, False, line.place))
    notes.append("The coordinates are those of a plane, not of the Earth, and are left out.")
    return Draft(nodes, links, notes=notes)


READER: Final = FileFormat(
    "Inet",
    read_inet,
    lambda text: (
        re.match(r"\d+[ \t]+\d+[ \t]*\r?\n\s*\d+([ \t]+-?\d+(\.\d*)?){2}[ \t]*\r?\n", text) is not None
    ),
)
_REMEDY: Final = "the file is cut off, damaged or not Inet's: fetch it again, or mend it here"
