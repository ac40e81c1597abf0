"""SNDlib's XML format (SNDlib 1.0, network.xsd): networkStructure with nodes and links, and demands."""

import re
from dataclasses import replace
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .file_format import FileFormat
from .sndlib_common import (
    INSTALLED,
    SndlibLink,
    add_demand,
    amount,
    capacity_note,
    coordinate_notes,
    demand_unit,
    drafted_links,
    finite,
    link_meanings,
    nodes_from,
)
from .xml_tree import Element, parse_xml


def read_sndlib_xml(data: bytes, where: str) -> Draft:
    """The network of an SNDlib XML file; no nodes of one with demands alone.

    Raises TopologyError with the line for anything else.
    """
    root = parse_xml(data, where, "network")
    meta = root.child("meta")
    stated = None if meta is None else meta.child("unit")
    unit = None if stated is None else stated.text
    has_demands = root.child("demands") is not None
    structure = root.child("networkStructure") if has_demands else root.inner("networkStructure")
    nodes, links, notes = ([], [], []) if structure is None else _structure(structure)
    demands = _demands(root)
    return Draft(
        nodes,
        links,
        demands or None,
        notes + capacity_note(unit),
        link_meanings(links, unit),
        demand_unit(unit),
    )


def _structure(structure: Element) -> tuple[list[DraftNode], list[DraftLink], list[str]]:
    """Nodes and links, and notes on them."""
    nodes_element = structure.inner("nodes")
    coordinates: dict[str, tuple[float, float] | None] = {}
    attributes: dict[str, dict[str, str]] = {}
    for element in nodes_element.all("node"):
        node = element.required("id")
        if node in coordinates:
            raise TopologyError(element.place, f'node "{node}" is declared twice', "give each its own id")
        coordinates[node] = _coordinates(element)
        attributes[node] = _attributes(element, ("coordinates",))
    kind = nodes_element.attributes.get("coordinatesType")
    nodes, plane = nodes_from(coordinates, {"pixel": True, "geographical": False}.get(kind or ""))
    _check_geographic(nodes_element, nodes)
    nodes = [replace(node, attributes=attributes[node.id]) for node in nodes]
    links_element = structure.child("links")
    links = drafted_links(
        [_link(element) for element in (links_element.all("link") if links_element else [])]
    )
    return nodes, links, coordinate_notes(coordinates, plane)


def _demands(root: Element) -> dict[tuple[str, str], float]:
    demands: dict[tuple[str, str], float] = {}
    demands_element = root.child("demands")
    for element in demands_element.all("demand") if demands_element else []:
        value = element.inner("demandValue")
        pair = (element.inner("source").text, element.inner("target").text)
        add_demand(demands, pair, finite(value.text, "a demand value", value.place), value.place)
    return demands


READER: Final = FileFormat(
    "SNDlib XML",
    read_sndlib_xml,
    lambda text: text.startswith("<") and re.search(r"<(\w+:)?network\b", text) is not None,
)


def _check_geographic(element: Element, nodes: list[DraftNode]) -> None:
    for node in nodes:
        if node.coordinates is not None and not (
            abs(node.coordinates[0]) <= 90 and abs(node.coordinates[1]) <= 180
        ):
            raise TopologyError(
                element.place,
                f'node "{node.id}" lies at {node.coordinates}, which is not on the Earth',
                'use coordinatesType="pixel" for a drawing',
            )


def _coordinates(element: Element) -> tuple[float, float] | None:
    coordinates = element.child("coordinates")
    if coordinates is None:
        return None
    x, y = coordinates.inner("x"), coordinates.inner("y")
    return finite(x.text, "a coordinate", x.place), finite(y.text, "a coordinate", y.place)


def _link(element: Element) -> SndlibLink:
    source, target = element.inner("source"), element.inner("target")
    attributes = _attributes(element, ("source", "target", "additionalModules"))
    installed = attributes.get(INSTALLED)
    if (
        installed is not None
        and amount(finite(installed, "a capacity", element.place), "capacity", element.place) is None
    ):
        del attributes[INSTALLED]
    group = element.child("additionalModules")
    modules = [_attributes(module, ()) for module in ([] if group is None else group.all("addModule"))]
    return SndlibLink(element.required("id"), source.text, target.text, attributes, modules, element.place)


def _attributes(element: Element, but: tuple[str, ...]) -> dict[str, str]:
    """What stands in an element, by name: its attributes but for the id, and its parts but for some."""
    attributes = {name: value for name, value in element.attributes.items() if name != "id"}
    for part in element.children:
        if part.tag in but:
            continue
        if not part.children:
            attributes[part.tag] = part.text
        attributes |= {f"{part.tag}.{name}": value for name, value in _attributes(part, ()).items()}
    return attributes
