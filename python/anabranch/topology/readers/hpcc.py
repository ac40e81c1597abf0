"""Topologies of HPCC's simulator and of those that follow it, SimAI among them.

HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019; `simulation/README` of its
repository): NODES SWITCHES LINKS, then the ids of the switches, then `SRC DST RATE DELAY ERROR_RATE` for each
link. SimAI has NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU_TYPE first, and the ids of NVSwitches
before those of switches (its "Quick Start Guide"). Rates and delays are ns-3's: `100Gbps`, `0.001ms`,
`1000ns`. The error rate is the probability that a packet is lost. Nodes count from 0, links go both ways, and
what is no switch is a host.
"""

import re
from collections.abc import Iterator
from typing import Final

from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_LINKS, MAX_NODES

from .attributes import draft_link
from .file_format import FileFormat
from .lines import TextLine, lines_of
from .quantities import number, plain, rate_bps, time_ms, whole
from .text import decode_text


def read_hpcc(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    lines = lines_of(text, where)
    head = next(lines, None)
    if head is None or len(head.words) not in (3, 6, 7):
        raise TopologyError(where, "the first line has no numbers of nodes, switches and links", _REMEDY)
    is_simai = len(head.words) > 3
    node_words, switch_words, link_word = (
        (head.words[0], head.words[2:4], head.words[4])
        if is_simai
        else (head.words[0], head.words[1:2], head.words[2])
    )
    count = whole(node_words, "the number of nodes", head.place, 1, MAX_NODES)
    switch_count = sum(whole(word, "a number of switches", head.place, 0, count) for word in switch_words)
    link_count = whole(link_word, "the number of links", head.place, 0, MAX_LINKS)
    switches = _switches(lines, switch_count, count, where)
    links = []
    for line in lines:
        if len(line.words) != 5:
            raise TopologyError(
                line.place, f"the link has {len(line.words)} words", "write SRC DST RATE DELAY ERROR_RATE"
            )
        src, dst, rate, delay, loss = line.words
        a, b = (str(whole(end, "an end", line.place, 0, count - 1)) for end in (src, dst))
        attributes = {
            "capacity_bps": plain(rate_bps(rate, "a rate", line.place)),
            "delay_ms": plain(time_ms(delay, "a delay", line.place)),
            "loss": plain(number(loss, "an error rate", line.place)),
        }
        links.append(draft_link(a, b, attributes, False, line.place))
    if len(links) != link_count:
        raise TopologyError(where, f"the file has {len(links)} links, and says {link_count}", _REMEDY)
    if is_simai:
        notes.append(f"A file of SimAI, GPUs {head.words[5]}, {head.words[1]} in each server.")
    nodes = [DraftNode(str(i), kind="switch" if str(i) in switches else "host") for i in range(count)]
    return Draft(nodes, links, notes=notes)


def _switches(lines: Iterator[TextLine], wanted: int, nodes: int, where: str) -> set[str]:
    """The ids of the switches, which may stand in several lines."""
    ids: list[str] = []
    while len(ids) < wanted:
        line = next(lines, None)
        if line is None:
            raise TopologyError(where, f"the file ends after {len(ids)} of {wanted} switches", _REMEDY)
        ids += [str(whole(word, "a switch", line.place, 0, nodes - 1)) for word in line.words]
    if len(ids) != wanted or len(set(ids)) != wanted:
        raise TopologyError(where, f"{len(set(ids))} ids stand where {wanted} switches were due", _REMEDY)
    return set(ids)


_START: Final = re.compile(
    r"\d+[ \t]+\d+[ \t]+\d+[ \t]*\r?\n(?:[\d \t\r]*+\n)*+[ \t]*\d+[ \t]+\d+[ \t]+\S*[bB](?:ps|/s)[ \t]"
    r"|\d+([ \t]+\d+){4}[ \t]+\w+([ \t]+\d+)?[ \t]*\r?\n"
)
"""The head, and the first link behind lines of numbers, none of which is tried twice."""
READER: Final = FileFormat("HPCC", read_hpcc, lambda text: _START.match(text) is not None)
_REMEDY: Final = "the file is cut off, damaged or not of HPCC's form: fetch it again, or mend it here"
