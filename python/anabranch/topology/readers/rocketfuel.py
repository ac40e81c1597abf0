"""Rocketfuel's maps (Spring, Mahajan, Wetherall, "Measuring ISP Topologies with Rocketfuel", SIGCOMM 2002).

`.intra` files have a line `FROM TO NUMBER` for each direction of a link. In `ASN.weights.intra` the number is
an inferred weight, in `ASN.latencies.intra` a latency in milliseconds, one way (FNSS,
`parse_rocketfuel_isp_latency`, reads it so, too). Only the name of a file says which it is: with another name
the number is not read. A blank in a city's name is written as +. A file that has no link in both directions,
as edge lists of other programs, has a line for each link.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import draft_link
from .file_format import FileFormat
from .lines import lines_of
from .quantities import number, plain
from .text import decode_text, without_comments

_LINE: Final = re.compile(
    r"\s*(?:(?=\S*[A-Za-z])\S+[ \t]+(?=\S*[A-Za-z])\S+|\d+[ \t]+\d+)[ \t]+\d[\d.eE+-]*[ \t]*\r?(?:\n|\Z)"
)
_KINDS: Final = {"latenc": "delay_ms", "weight": "weight"}
"""What the number is, by a part of the file's name."""
_PAIR: Final = (
    "A pair of files becomes one table: (echo from,to,weight,delay_ms; paste -d ' ' weights.intra "
    'latencies.intra | awk \'{print "\\"" $1 "\\",\\"" $2 "\\"," $3 "," $6}\') > net.csv.'
)


def read_rocketfuel(data: bytes, where: str) -> Draft:
    """The links of an `.intra` file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    name = where.rpartition("/")[2].lower()
    quantity = next((key for part, key in _KINDS.items() if part in name), None)
    rows: list[tuple[str, str, dict[str, str], str]] = []
    for line in lines_of(text, where):
        if len(line.words) != 3:
            raise TopologyError(line.place, f"the line has {len(line.words)} words", "write FROM TO NUMBER")
        a, b = (end.replace("+", " ") for end in line.words[:2])
        value = plain(number(line.words[2], "the third word", line.place, low=0))
        rows.append((a, b, {quantity or "third_column": value}, line.place))
    pairs = {(a, b) for a, b, *_ in rows if a != b}
    one_way = any((b, a) in pairs for a, b in pairs)
    if not one_way:
        notes.append("No link stands here in both directions, so that each line is a link both ways.")
    links: list[DraftLink] = [draft_link(a, b, values, one_way, place) for a, b, values, place in rows]
    ends = dict.fromkeys(end for link in links for end in (link.a, link.b))
    if quantity is None:
        notes.append(
            "The numbers are not read: a name with latencies says that they are milliseconds, one with "
            "weights that they are weights."
        )
    else:
        other = "weights" if quantity == "delay_ms" else "latencies"
        notes.append(f"The {other} are in the other file of the pair. {_PAIR}")
    return Draft([DraftNode(end) for end in ends], links, notes=notes)


def _recognises(text: str) -> bool:
    lines = without_comments(text)
    first = _LINE.match(lines)
    if first is None:
        return False
    # Two lines at least, unless there is only one: a number of words of prose may match by chance.
    return lines[first.end() :].strip() == "" or _LINE.match(lines, first.end()) is not None


READER: Final = FileFormat("Rocketfuel intra", read_rocketfuel, _recognises)
