"""Demands of REPETITA (Gay et al. 2017), ``NAME.0000.demands``.

::

    DEMANDS 110
    label src dest bw
    demand_0 0 1 300632

Nodes are numbers in the order of the ``.graph`` file; bandwidth is in kbps.
"""

from typing import Final

from anabranch.topology.model import DemandUnit
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NodeList, TrafficFile
from anabranch.topology.traffic.numbers import CUT, amount, loops_note, whole
from anabranch.topology.traffic.readers.entries import matrix_of

UNIT: Final = DemandUnit("kbps", 1e3)


def read_demands(source: FileSource) -> TrafficFile:
    """The demands of a file."""
    lines = source.text().splitlines()
    first = lines[0].split()
    if len(first) != 2:
        raise TrafficError(f"{source.where}, line 1", "expected DEMANDS and their number", CUT)
    count = whole(first[1], "the number of demands", f"{source.where}, line 1")
    nodes = NodeList()
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        words, where = line.split(), f"{source.where}, line {number}"
        if not words or words == ["label", "src", "dest", "bw"]:
            continue
        if len(words) != 4:
            raise TrafficError(where, f"found {len(words)} words where label, src, dest and bw were due", CUT)
        ends = [str(whole(word, "the number of a node", where)) for word in words[1:3]]
        rows.append((nodes.place(ends[0]), nodes.place(ends[1]), amount(words[3], "a bandwidth", where)))
    if len(rows) != count:
        raise TrafficError(source.where, f"the first line says {count} demands, and {len(rows)} follow", CUT)
    matrix, loops = matrix_of(rows)
    notes = (f"{count} demands.", *loops_note(loops))
    return TrafficFile("REPETITA demands", nodes.names(), "nodes", UNIT, (matrix,), notes=notes)


READER: Final = TrafficFormat(
    "REPETITA demands", "a matrix", "kbps", read_demands, lambda text: text.split(None, 2)[:1] == ["DEMANDS"]
)
