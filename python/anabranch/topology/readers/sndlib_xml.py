"""SNDlib's XML format (SNDlib 1.0, network.xsd): networkStructure with nodes and links, and demands."""

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError

from .sndlib_common import add_demand, capacity_bps, capacity_note, coordinate_notes, finite, nodes_from
from .xml_tree import Element, parse_xml


def read_sndlib_xml(data: bytes, where: str) -> Draft:
    """The network of an SNDlib XML file. Raises TopologyError with the line for anything else."""
    root = parse_xml(data, where)
    if root.tag != "network":
        raise TopologyError(
            f"{where}, line {root.line}", f"the root element is <{root.tag}>", "expected <network>"
        )
    meta = root.child("meta")
    stated = None if meta is None else meta.child("unit")
    unit = None if stated is None else stated.text
    structure = _inner(root, "networkStructure", where)
    nodes_element = _inner(structure, "nodes", where)
    coordinates: dict[str, tuple[float, float] | None] = {}
    for element in nodes_element.all("node"):
        node = _id(element, where)
        if node in coordinates:
            raise TopologyError(
                f"{where}, line {element.line}", f'node "{node}" is declared twice', "give each its own id"
            )
        coordinates[node] = _coordinates(element, where)
    kind = nodes_element.attributes.get("coordinatesType")
    nodes, plane = nodes_from(coordinates, {"pixel": True, "geographical": False}.get(kind or ""))
    _check_geographic(nodes_element, nodes, where)
    links_element = structure.child("links")
    links = [_link(element, unit, where) for element in (links_element.all("link") if links_element else [])]
    demands: dict[tuple[str, str], float] = {}
    demands_element = root.child("demands")
    for element in demands_element.all("demand") if demands_element else []:
        value = _inner(element, "demandValue", where)
        place = f"{where}, line {value.line}"
        pair = (_inner(element, "source", where).text, _inner(element, "target", where).text)
        add_demand(demands, pair, finite(value.text, "a demand value", place), place)
    notes = coordinate_notes(coordinates, plane) + capacity_note(unit)
    return Draft(nodes, links, demands or None, notes)


def _check_geographic(element: Element, nodes: list[DraftNode], where: str) -> None:
    for node in nodes:
        if node.coordinates is not None and not (
            abs(node.coordinates[0]) <= 90 and abs(node.coordinates[1]) <= 180
        ):
            raise TopologyError(
                f"{where}, line {element.line}",
                f'node "{node.id}" lies at {node.coordinates}, which is not on the Earth',
                'use coordinatesType="pixel" for a drawing',
            )


def _coordinates(element: Element, where: str) -> tuple[float, float] | None:
    coordinates = element.child("coordinates")
    if coordinates is None:
        return None
    x, y = _inner(coordinates, "x", where), _inner(coordinates, "y", where)
    return (
        finite(x.text, "a coordinate", f"{where}, line {x.line}"),
        finite(y.text, "a coordinate", f"{where}, line {y.line}"),
    )


def _link(element: Element, unit: str | None, where: str) -> DraftLink:
    source, target = _inner(element, "source", where), _inner(element, "target", where)
    module = element.child("preInstalledModule")
    capacity = None
    if module is not None:
        stated = _inner(module, "capacity", where)
        place = f"{where}, line {stated.line}"
        capacity = capacity_bps(finite(stated.text, "a capacity", place), unit, place)
    return DraftLink(source.text, target.text, label=_id(element, where), capacity_bps=capacity)


def _id(element: Element, where: str) -> str:
    value = element.attributes.get("id")
    if not value:
        raise TopologyError(f"{where}, line {element.line}", f"<{element.tag}> has no id", "add it")
    return value


def _inner(element: Element, tag: str, where: str) -> Element:
    child = element.child(tag)
    if child is None:
        raise TopologyError(
            f"{where}, line {element.line}", f"<{element.tag}> has no <{tag}> inside", "add it"
        )
    return child
