"""A line FROM TO for each link: output of Orbis, and what many programs call an edge list.

Mahadevan, Hubble, Krioukov, Huffaker, Vahdat, "Orbis: Rescaling Degree Correlations to Generate Annotated
Internet Topologies", SIGCOMM 2007; ns-3's OrbisTopologyReader. A file that has each link in both directions
has a line for each direction; in any other one a line is a link both ways.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import TopologyLink

from .file_format import FileFormat
from .lines import lines_of
from .text import decode_text, without_comments


def read_orbis(data: bytes, where: str) -> Draft:
    """The links of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    pairs: list[tuple[str, str]] = []
    for line in lines_of(text, where):
        if len(line.words) != 2:
            raise TopologyError(line.place, f"the line has {len(line.words)} words", "write FROM TO")
        pairs.append((line.words[0], line.words[1]))
    distinct = set(pairs)
    directed = bool(pairs) and all((b, a) in distinct for a, b in pairs)
    if directed:
        notes.append("Each link stands here in both directions, so that a line is one direction.")
    ends = dict.fromkeys(end for pair in pairs for end in pair)
    links = [TopologyLink(a, b, directed=directed) for a, b in pairs]
    return Draft([DraftNode(end) for end in ends], links, notes=notes)


_LINES: Final = re.compile(
    r"(?:\s*(?:[^\W\d][\w.:-]*[ \t]+[^\W\d][\w.:-]*|\d+[ \t]+\d+)[ \t]*(?:\r?\n|\Z)){1,3}"
)


def _recognises(text: str) -> bool:
    """Whether the first three lines have two names of letters and digits each."""
    match = _LINES.match(plain := without_comments(text))
    return match is not None and (match.group().count("\n") >= 3 or not plain[match.end() :].strip())


READER: Final = FileFormat("Orbis", read_orbis, _recognises)
