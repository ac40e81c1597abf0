"""REPETITA's `.graph` files (its wiki, "Adding Problem Instances").

S. Gay, P. Schaus, S. Vissicchio, "REPETITA: Repeatable Experiments for Performance Evaluation of
Traffic-Engineering Algorithms", 2017:

    NODES n, a line of column names, then LABEL X Y for each node
    EDGES m, a line of column names, then LABEL SRC DEST WEIGHT BW DELAY for each directed edge

X is the longitude and Y the latitude; edges count nodes from 0. The wiki says that bandwidths may be in any
unit, that the files of REPETITA have kilobits per second, and that delays are in microseconds: they are read
so, and the provenance says it.
"""

import re
from collections.abc import Iterator
from typing import Final

from anabranch.topology.draft import Draft, DraftLink
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_LINKS, MAX_NODES

from .attributes import draft_link
from .file_format import FileFormat
from .lines import TextLine, lines_of
from .quantities import number, plain, whole
from .sndlib_common import coordinate_notes, finite, nodes_from
from .text import decode_text


def read_repetita(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    lines = lines_of(text, where, comment="")
    coordinates: dict[str, tuple[float, float] | None] = {}
    labels: dict[str, str] = {}
    for i, line in enumerate(_section(lines, "NODES", 3, MAX_NODES, where)):
        label, x, y = line.words
        coordinates[str(i)] = (finite(x, "a longitude", line.place), finite(y, "a latitude", line.place))
        labels[str(i)] = label
    links: list[DraftLink] = []
    for line in _section(lines, "EDGES", 6, MAX_LINKS, where):
        label, src, dest, weight, bandwidth, delay = line.words
        a, b = (str(whole(end, "an end", line.place, 0, len(coordinates) - 1)) for end in (src, dest))
        attributes = {
            "label": label,
            "weight": plain(number(weight, "a weight", line.place)),
            "capacity_bps": plain(number(bandwidth, "a bandwidth", line.place, low=0) * 1000),
            "delay_ms": plain(number(delay, "a delay", line.place, low=0) / 1000),
        }
        links.append(draft_link(a, b, attributes, True, line.place))
    left = next(lines, None)
    if left is not None:
        raise TopologyError(left.place, f'found "{left.words[0][:40]}" behind the last edge', _REMEDY)
    nodes, plane = nodes_from(coordinates, None, labels)
    notes += coordinate_notes(coordinates, plane)
    notes.append("Bandwidths are in kbps and delays in microseconds, as in the files of REPETITA.")
    return Draft(nodes, links, notes=notes)


READER: Final = FileFormat(
    "REPETITA", read_repetita, lambda text: re.match(r"NODES[ \t]+\d+[ \t]*\r?\n\s*label\b", text) is not None
)


def _section(lines: Iterator[TextLine], name: str, columns: int, most: int, where: str) -> Iterator[TextLine]:
    """The lines of a section, whose first line has their number and whose second one names the columns."""
    head = next(lines, None)
    if head is None or head.words[0] != name or len(head.words) != 2:
        place, there = (where, "the file ends") if head is None else (head.place, f'"{head.words[0][:40]}"')
        raise TopologyError(place, f"{there} where {name} and a number were due", _REMEDY)
    count = whole(head.words[1], f"the number of {name}", head.place, 0, most)
    next(lines, None)
    for _ in range(count):
        line = next(lines, None)
        if line is None or len(line.words) != columns:
            place = where if line is None else line.place
            there = "the file ends" if line is None else f"found {len(line.words)} words"
            raise TopologyError(place, f"{there} where {columns} were due", _REMEDY)
        yield line


_REMEDY: Final = "the file is cut off, damaged or not REPETITA's: fetch it again, or mend it here"
