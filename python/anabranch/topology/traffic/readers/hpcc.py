"""Flow lists of the simulator of HPCC (Li et al. 2019), which other simulators in ns-3 have taken over.

::

    2
    2 1 3 100 200000000 2
    3 1 3 100 200000000 2.001

The number of flows, then for each: sender, receiver, priority group, destination port, size in bytes and
start in seconds. Nodes are numbers in the order of the topology's file. What follows is no part of the list.
"""

from itertools import islice
from typing import Final

from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import ListedFlows, NodeList, TrafficFile
from anabranch.topology.traffic.numbers import CUT, amount, flow_bytes, start_ps, whole

_WORDS: Final = 6
_NAME: Final = "HPCC flows"


def read_flows(source: FileSource) -> TrafficFile:
    """The flows of a file."""
    lines = (
        (number, line) for number, line in enumerate(source.text().splitlines(), start=1) if line.strip()
    )
    number, first = next(lines, (1, ""))
    count = whole(first.strip(), "the number of flows", f"{source.where}, line {number}")
    nodes, rows = NodeList(), []
    for number, line in islice(lines, count):
        words, where = line.split(), f"{source.where}, line {number}"
        if len(words) != _WORDS:
            raise TrafficError(where, f"found {len(words)} words where {_WORDS} were due", CUT)
        ends = [nodes.place(str(whole(word, "the number of a node", where))) for word in words[:2]]
        size = flow_bytes(amount(words[4], "a size", where), where)
        rows.append((ends[0], ends[1], size, start_ps(amount(words[5], "a start", where), where)))
    if len(rows) != count:
        raise TrafficError(source.where, f"line 1 says {count} flows, and {len(rows)} follow", CUT)
    rest = sum(1 for _ in lines)
    notes = [f"{count} flows.", "Priority groups and ports are left out: there is one queue for all here."]
    if rest:
        notes.append(f"{rest} lines behind the last flow are left out, as HPCC does.")
    return TrafficFile(_NAME, nodes.names(), "nodes", flows=ListedFlows.of_rows(rows), notes=tuple(notes))


def _recognises(text: str) -> bool:
    lines = [line.split() for line in text.split("\n", 3)[:2]]
    if len(lines) < 2 or len(lines[0]) != 1 or not lines[0][0].isdecimal():
        return False
    return len(lines[1]) == _WORDS and all(word.isdecimal() for word in lines[1][:4])


READER: Final = TrafficFormat(_NAME, "flows", "bytes, seconds", read_flows, _recognises)
