"""Demands of files of networks: SNDlib's two formats, or alone, as its series are, and Net2Plan's."""

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from anabranch.topology.draft import Draft
from anabranch.topology.readers import net2plan, sndlib_native, sndlib_xml
from anabranch.topology.readers.file_format import FileFormat
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NodeList, TrafficFile, TrafficMatrix
from anabranch.topology.traffic.numbers import loops_note

_SNDLIB_PARTS: Final = re.compile(r"<(\w+:)?(networkStructure|demands)\b")
"""What the document of an SNDlib file has and that of Net2Plan, which has the same name, has not."""
_TIME: Final = re.compile(r"<time>\s*([^<]{1,40}?)\s*</time>|\btime\s*=\s*([^\s()]{1,40})")
"""When the demands were measured, in META: ``20040302-1830``."""


def _read(network: FileFormat, source: FileSource) -> TrafficFile:
    """The demands of a file of this format of networks."""
    draft = network.read(source.data, source.where)
    if not draft.demands:
        raise TrafficError(source.where, "the file has no demands", "name a file that has some")
    names = _names(draft)
    nodes = NodeList()
    rows = [
        (nodes.place(names.get(a, a)), nodes.place(names.get(b, b)), value)
        for (a, b), value in draft.demands.items()
    ]
    kept = [row for row in rows if row[0] != row[1]]
    said = _TIME.search(source.text()[:65536])
    label = "" if said is None else said[1] or said[2]
    origin, to, value = zip(*kept, strict=True) if kept else ((), (), ())
    matrix = TrafficMatrix(
        np.array(origin, np.uint32), np.array(to, np.uint32), np.array(value, np.float64), label
    )
    at = f", measured at {label}" if label else ""
    notes = (f"{len(kept)} demands{at}.", *loops_note(len(rows) - len(kept)), *draft.demand_notes)
    return TrafficFile(network.name, nodes.names(), "names", draft.demand_unit, (matrix,), notes=notes)


def _names(draft: Draft) -> dict[str, str]:
    """What people call each node, by id; where that is not unique, the id itself."""
    count = Counter(node.label for node in draft.nodes)
    return {node.id: node.label for node in draft.nodes if node.label and count[node.label] == 1}


def _reader(network: FileFormat, unit: str, recognises: Callable[[str], bool]) -> TrafficFormat:
    return TrafficFormat(network.name, "a matrix", unit, partial(_read, network), recognises)


XML: Final = _reader(
    sndlib_xml.READER,
    "as META states it",
    lambda text: sndlib_xml.READER.recognises(text) and _SNDLIB_PARTS.search(text) is not None,
)
NATIVE: Final = _reader(sndlib_native.READER, "as META states it", sndlib_native.READER.recognises)
NET2PLAN: Final = _reader(net2plan.READER, "as demandTrafficUnitsName states it", net2plan.READER.recognises)
