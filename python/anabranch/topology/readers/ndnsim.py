"""Annotated topologies with the sections `router` and `link`: those of ndnSIM, and the Abilene of Y. Zhang.

ndnSIM's AnnotatedTopologyReader (ndnsim.net, "Simulation scenario"): NAME COMMENT Y X for each router, FROM
TO BANDWIDTH METRIC [DELAY [QUEUE]] for each link, both ways; bandwidths and delays have units (`1Mbps`,
`10ms`). Zhang's Abilene, which FNSS's `parse_abilene` reads, too: NAME CITY LATITUDE LONGITUDE, and FROM TO
CAPACITY WEIGHT one way, with capacities in kbps, as its comment says.
"""

import re
from dataclasses import replace
from typing import Final

from anabranch.topology.draft import Draft, DraftLink
from anabranch.topology.error import TopologyError

from .attributes import draft_link, draft_node
from .file_format import FileFormat
from .lines import TextLine, lines_of
from .quantities import number, plain, rate_bps, time_ms
from .sndlib_common import finite, nodes_from
from .text import decode_text, without_comments

_SECTIONS: Final = ("router", "link")
_KBPS: Final = re.compile(r"^\s*#.*capacity\s*\(kbps\)", re.MULTILINE)


def read_ndnsim(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    in_kbps = _KBPS.search(text) is not None
    coordinates: dict[str, tuple[float, float] | None] = {}
    comments: dict[str, tuple[dict[str, str], str]] = {}
    links: list[DraftLink] = []
    section = None
    for line in lines_of(text, where):
        words, place = line
        if len(words) == 1 and words[0] in _SECTIONS:
            section = words[0]
        elif section == "router":
            if len(words) < 4:
                raise TopologyError(place, f"the router has {len(words)} words", "write NAME COMMENT Y X")
            if words[0] in coordinates:
                raise TopologyError(place, f'the router "{words[0]}" is declared twice', "leave out one")
            y, x = (finite(word, "a coordinate", place) for word in words[2:4])
            coordinates[words[0]] = (x, y)
            comments[words[0]] = ({"city" if in_kbps else "comment": words[1]}, place)
        else:
            links.append(_link(line, in_kbps, coordinates))
    if not in_kbps:
        notes.append("The coordinates are those of a drawing on a plane, not of the Earth, and are left out.")
    placed, _ = nodes_from(coordinates, None if in_kbps else True)
    nodes = [
        replace(draft_node(node.id, *comments[node.id]), coordinates=node.coordinates) for node in placed
    ]
    return Draft(nodes, links, notes=notes)


def _link(line: TextLine, in_kbps: bool, coordinates: dict[str, tuple[float, float] | None]) -> DraftLink:
    words, place = line
    if not 4 <= len(words) <= 7:
        raise TopologyError(
            place, f"the link has {len(words)} words", "write FROM TO BANDWIDTH METRIC DELAY QUEUE"
        )
    for end in words[:2]:
        if end not in coordinates:
            raise TopologyError(place, f'the link ends at "{end}", which is no router', "declare the router")
    capacity = (
        number(words[2], "a capacity", place) * 1000 if in_kbps else rate_bps(words[2], "a bandwidth", place)
    )
    attributes = {
        "capacity_bps": plain(capacity),
        "weight": plain(number(words[3], "a metric", place)),
    }
    if len(words) > 4:
        attributes["delay_ms"] = plain(time_ms(words[4], "a delay", place))
    if len(words) > 5:
        attributes["queue"] = " ".join(words[5:])
    return draft_link(words[0], words[1], attributes, in_kbps, place)


READER: Final = FileFormat(
    "ndnSIM", read_ndnsim, lambda text: re.match(r"router\s", without_comments(text)) is not None
)
