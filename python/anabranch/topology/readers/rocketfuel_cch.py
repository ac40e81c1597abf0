"""Rocketfuel's router-level maps in `.cch` files (the README of rocketfuel_maps_cch.tar.gz).

    UID @LOCATION [+] [bb] (NEIGHBOURS) [&EXTERNAL] -> <NUID> <NUID> ... {-EUID} ... =NAME[!] rN
    -EUID =ADDRESS rN

Each line has the links from a router: <...> to routers of the map, {...} to addresses outside. The map has no
capacities, delays or weights. A link is listed at both of its ends.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import TopologyLink

from .attributes import NodeIds, draft_node
from .file_format import FileFormat
from .text import decode_text, without_comments

_ROUTER: Final = re.compile(
    r"\s*(?P<id>\d+)\s+@(?P<place>\S*)\s+(?:\+\s+)?(?:bb\s+)?\(\d+\)\s+(?:&\d+\s+)?->"
    r"(?P<links>(?:\s*<\d+>|\s*\{-\d+\})*)\s*=(?P<name>\S+?)!?\s+r\d+\s*",
    re.ASCII,
)
_OUTSIDE: Final = re.compile(r"\s*(?P<id>-\d+)\s+=(?P<name>\S+?)!?\s+r\d+\s*", re.ASCII)
_END: Final = re.compile(r"-?\d+")


def read_rocketfuel_cch(data: bytes, where: str) -> Draft:
    """The routers of a map and their links. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    ids = NodeIds()
    nodes: list[DraftNode] = []
    listed: dict[tuple[str, str], str] = {}
    for count, line in enumerate(text.splitlines(), start=1):
        place = f"{where}, line {count}"
        content = line.partition("#")[0]
        if not content.strip():
            continue
        match = _ROUTER.fullmatch(content) or _OUTSIDE.fullmatch(content)
        if match is None:
            raise TopologyError(place, "this is neither a router nor an address outside", _REMEDY)
        ids.declare(match["id"], place)
        location = (match.groupdict().get("place") or "").replace("+", " ")
        attributes = {"name": match["name"]} | ({"location": location} if location else {})
        nodes.append(draft_node(match["id"], attributes, place))
        for end in _END.findall(match.groupdict().get("links") or ""):
            listed.setdefault((match["id"], end), place)
    for (a, b), place in listed.items():
        ids.check_ends(a, b, place)
    joined = dict.fromkeys((a, b) for a, b in listed if (b, a) not in listed or a <= b)
    lone = sum(1 for a, b in joined if (b, a) not in listed and not b.startswith("-"))
    if lone:
        notes.append(f"Links that only one of their two routers lists, kept as links both ways: {lone}.")
    return Draft(nodes, [TopologyLink(a, b) for a, b in joined], notes=notes)


def _recognises(text: str) -> bool:
    first = without_comments(text).partition("\n")[0]
    return _ROUTER.fullmatch(first) is not None or _OUTSIDE.fullmatch(first) is not None


READER: Final = FileFormat("Rocketfuel cch", read_rocketfuel_cch, _recognises)
_REMEDY: Final = "the file is cut off, damaged or not a map of Rocketfuel: fetch it again, or mend it here"
