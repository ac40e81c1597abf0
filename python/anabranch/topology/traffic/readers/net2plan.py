"""Demands of Net2Plan's files, ``.n2p``: of version 1, which numbers nodes, and of those since, with ids."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from anabranch.topology.model import DemandUnit
from anabranch.topology.readers.xml_tree import Element, parse_xml
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NodeList, TrafficFile
from anabranch.topology.traffic.numbers import amount, loops_note
from anabranch.topology.traffic.readers.entries import matrix_of

_BPS: Final = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "tbps": 1e12}
"""The units among the words that people write into ``demandTrafficUnitsName``."""
_NAME: Final = "Net2Plan"
_TAGS: Final = ("demand", "demandEntry")
_VALUES: Final = ("offeredTraffic", "offeredTrafficInErlangs")


def read_plan(source: FileSource) -> TrafficFile:
    """The demands of a file's first layer that has some."""
    root = parse_xml(source.data, source.where, "network")
    names = _names(root)
    layers = [(layer, list(_demands(layer))) for layer in (*root.all("layer"), *root.all("demandSet"))]
    filled = [entry for entry in layers if entry[1]]
    if not filled:
        raise TrafficError(source.where, "the file has no demands", "name a file that has some")
    layer, demands = filled[0]
    nodes, rows = NodeList(), []
    for element in demands:
        ends = [_node(element, key, names) for key in ("ingressNodeId", "egressNodeId")]
        stated = next((element.attributes[key] for key in _VALUES if key in element.attributes), "")
        value = amount(stated, "the offered traffic", element.place)
        rows.append((nodes.place(ends[0]), nodes.place(ends[1]), value))
    matrix, loops = matrix_of(rows)
    notes = [f"{len(rows)} demands.", *loops_note(loops)]
    if len(filled) > 1:
        notes.append(f"{len(filled) - 1} further layers with demands are left out.")
    unit = _unit(layer)
    return TrafficFile(_NAME, nodes.names(), "names", unit, (matrix,), notes=tuple(notes))


def _names(root: Element) -> dict[str, str]:
    """The name of each node by its id or place; where names are not unique, the id itself."""
    holder = root.child("physicalTopology") or root
    names = {
        element.attributes.get("id", str(place)): element.attributes.get("name", "").strip()
        for place, element in enumerate(holder.all("node"))
    }
    count = Counter(names.values())
    return {key: name if name and count[name] == 1 else key for key, name in names.items()}


def _demands(layer: Element) -> Iterator[Element]:
    for tag in _TAGS:
        yield from layer.all(tag)


def _node(element: Element, key: str, names: dict[str, str]) -> str:
    stated = element.required(key)
    if stated not in names:
        raise TrafficError(
            element.place, f'the demand names node "{stated}", which is not there', "declare it"
        )
    return names[stated]


def _unit(layer: Element) -> DemandUnit | None:
    said = layer.attributes.get("demandTrafficUnitsName", "").strip()
    factor = _BPS.get(said.casefold())
    return None if factor is None else DemandUnit(said, factor)


READER: Final = TrafficFormat(
    _NAME,
    "a matrix",
    "as demandTrafficUnitsName states it",
    read_plan,
    lambda text: (
        text.startswith("<")
        and re.search(r"<network\b", text) is not None
        and re.search(r"<(layer|physicalTopology|demandSet)\b|<node\b[^>]*\bxCoord=", text) is not None
    ),
)
