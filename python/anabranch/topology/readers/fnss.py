"""XML of FNSS.

L. Saino, C. Cocora, G. Pavlou, "A Toolchain for Simplifying Network Simulation Setup", SIMUTools 2013.

`write_topology` of FNSS writes a property for each attribute of the topology, of nodes and of links. The
topology's `capacity_unit`, `delay_unit` and `distance_unit` are the units of `capacity`, `delay` and `length`
of links; without them these are not read.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .attributes import NodeIds, draft_link, draft_node
from .file_format import FileFormat
from .quantities import number, plain, rate_bps, time_ms
from .xml_tree import Element, parse_xml

_KM_PER_UNIT: Final = {"km": Decimal(1), "m": Decimal("0.001")}


def read_fnss(data: bytes, where: str) -> Draft:
    """The topology of a document. Raises TopologyError with the line for anything else."""
    root = parse_xml(data, where, "topology")
    default = root.attributes.get("linkdefault", "undirected")
    if default not in ("directed", "undirected"):
        raise TopologyError(root.place, f'linkdefault is "{default}"', "write directed or undirected")
    about = _properties(root)
    ids = NodeIds()
    nodes: list[DraftNode] = []
    for element in root.all("node"):
        node_id = element.required("id")
        ids.declare(node_id, element.place)
        attributes = _properties(element)
        for inner in ("stack", "application"):
            if (child := element.child(inner)) is not None:
                attributes[inner] = child.attributes.get("name", "")
        nodes.append(draft_node(node_id, attributes, element.place))
    links: list[DraftLink] = []
    for element in root.all("link"):
        a, b = element.inner("from").text, element.inner("to").text
        ids.check_ends(a, b, element.place)
        attributes = _in_our_units(_properties(element), about, element.place)
        links.append(draft_link(a, b, attributes, default == "directed", element.place))
    return Draft(nodes, links)


READER: Final = FileFormat(
    "FNSS",
    read_fnss,
    lambda text: text.startswith("<") and re.search(r"<topology\b[^>]*\blinkdefault=", text) is not None,
)


def _properties(element: Element) -> dict[str, str]:
    return {each.required("name"): each.text for each in element.all("property")}


def _in_our_units(attributes: dict[str, str], about: Mapping[str, str], place: str) -> dict[str, str]:
    """The attributes with quantities of known units under the names that say them."""
    conversions: tuple[tuple[str, str, str, Callable[[str, str], Decimal]], ...] = (
        (
            "capacity",
            "capacity_unit",
            "capacity_bps",
            lambda text, unit: rate_bps(text + unit, "capacity", place),
        ),
        ("delay", "delay_unit", "delay_ms", lambda text, unit: time_ms(text + unit, "delay", place)),
        (
            "length",
            "distance_unit",
            "length_km",
            lambda text, unit: number(text, "length", place) * _KM_PER_UNIT[unit.lower()],
        ),
    )
    for name, unit_name, ours, converted in conversions:
        unit = about.get(unit_name, "").strip()
        if name not in attributes or not unit or (name == "length" and unit.lower() not in _KM_PER_UNIT):
            continue
        attributes[ours] = plain(converted(attributes.pop(name), unit))
    return attributes
