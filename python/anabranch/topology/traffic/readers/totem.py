"""Matrices of the TOTEM toolbox (Uhlig et al. 2006), as those of GEANT of 2005 are published.

::

    <TrafficMatrixFile> <info> <date>...</date> </info>
      <IntraTM ASID="20965"> <src id="12"> <dst id="13">25871.3956</dst> </src> </IntraTM>
    </TrafficMatrixFile>

Numbers are in kbps, unless ``<unit type="bandwidth" value="...">`` says otherwise.
"""

import re
from typing import Final

from anabranch.topology.model import DemandUnit
from anabranch.topology.readers.xml_tree import Element, parse_xml
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NodeList, TrafficFile
from anabranch.topology.traffic.numbers import amount, loops_note
from anabranch.topology.traffic.readers.entries import matrix_of

_BPS: Final = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "tbps": 1e12}
_NAME: Final = "TOTEM"


def read_matrix(source: FileSource) -> TrafficFile:
    """The traffic between the nodes of one domain."""
    root = parse_xml(source.data, source.where, "TrafficMatrixFile")
    inside = root.all("IntraTM")
    if not inside:
        raise TrafficError(source.where, "the file has no <IntraTM>", "traffic between domains is not read")
    nodes, rows = NodeList(), []
    for origin in inside[0].all("src"):
        place = nodes.place(origin.required("id"))
        for to in origin.all("dst"):
            value = amount(to.text, "the traffic", to.place)
            rows.append((place, nodes.place(to.required("id")), value))
    if not rows:
        raise TrafficError(source.where, "its <IntraTM> has no traffic", "name a file that has some")
    info = root.child("info")
    date = None if info is None else info.child("date")
    matrix, loops = matrix_of(rows, "" if date is None else date.text)
    notes = [f"{len(rows)} entries.", *loops_note(loops)]
    if len(inside) > 1:
        notes.append(f"{len(inside) - 1} further domains are left out.")
    return TrafficFile(_NAME, nodes.names(), "names", _unit(info), (matrix,), notes=tuple(notes))


def _unit(info: Element | None) -> DemandUnit:
    """The unit that the file states, kbps where it states none."""
    units = None if info is None else info.child("units")
    for element in [] if units is None else units.all("unit"):
        said = element.attributes.get("value", "")
        if element.attributes.get("type") == "bandwidth":
            factor = _BPS.get(said.casefold())
            if factor is None:
                raise TrafficError(element.place, f'"{said[:20]}" is no unit', "known: bps, kbps, Mbps, Gbps")
            return DemandUnit(said, factor)
    return DemandUnit("kbps", 1e3)


READER: Final = TrafficFormat(
    _NAME,
    "a matrix",
    "kbps, or as the file states it",
    read_matrix,
    lambda text: text.startswith("<") and re.search(r"<(\w+:)?TrafficMatrixFile\b", text) is not None,
)
