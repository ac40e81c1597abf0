"""Net2Plan's `.n2p` files, of versions with and without layers.

P. Pavon-Marino, J. Izquierdo-Zaragoza, "Net2Plan: An Open Source Network Planning Tool for Bridging the Gap
between Academia and Industry", IEEE Network 29(5), 2015; the attributes are those that Net2Plan writes. Links
go one way. With layers, `capacity` and `offeredTraffic` are in the units that the layer names
(`linkCapacityUnitsName`), `lengthInKm` and `propagationSpeedInKmPerSecond` give the delay; of several layers
the default one is read, or else the first with links, and where it has no demands, the demands of the first
layer that has some. Without layers, capacities are in Erlangs, which are no
rate, so that none is taken. `xCoord` and `yCoord` are longitude and latitude, unless they lie beyond.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Final

from anabranch.topology.draft import Draft, DraftLink
from anabranch.topology.error import TopologyError
from anabranch.topology.model import DemandUnit

from .attributes import draft_link, draft_node
from .file_format import FileFormat
from .quantities import number, plain, rate_bps
from .sndlib_common import add_demand, coordinate_notes, finite, nodes_from
from .xml_tree import Element, parse_xml

_ENDS: Final = ("originNodeId", "destinationNodeId")
_STRUCTURE: Final = ("id", "name", "xCoord", "yCoord", *_ENDS)
_PAIR: Final = ("ingressNodeId", "egressNodeId")


def read_net2plan(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    root = parse_xml(data, where, "network")
    old = root.child("physicalTopology")
    structure = root if old is None else old
    coordinates: dict[str, tuple[float, float] | None] = {}
    labels: dict[str, str] = {}
    for i, element in enumerate(structure.all("node")):
        # Old files have no ids: links count the nodes from 0.
        node_id = str(i) if old is not None else element.required("id")
        if node_id in coordinates:
            raise TopologyError(element.place, f'node id "{node_id}" was already used', "give each its own")
        coordinates[node_id] = (
            finite(element.attributes.get("xCoord", "0"), "a coordinate", element.place),
            finite(element.attributes.get("yCoord", "0"), "a coordinate", element.place),
        )
        labels[node_id] = element.attributes.get("name") or f"Node {node_id}"
    layer, notes = (old, []) if old is not None else _layer(root)
    unit = layer.attributes.get("linkCapacityUnitsName", "")
    links = [_link(element, unit, coordinates) for element in layer.all("link")]
    holder, demand_notes = _demand_holder(root, layer)
    demands = _demands(_demand_elements(holder), coordinates)
    placed, plane = nodes_from(coordinates, None, labels)
    nodes = [
        replace(
            draft_node(node.id, _rest(element), element.place), label=node.label, coordinates=node.coordinates
        )
        for node, element in zip(placed, structure.all("node"), strict=True)
    ]
    notes += coordinate_notes(coordinates, plane) + _capacity_notes(layer, old is not None)
    if demands:
        demand_notes.append(_demand_unit_note(holder, old is not None))
    # An Erlang is no rate.
    meanings = {"linkCapacityInErlangs": None}
    unit = holder.attributes.get("demandTrafficUnitsName", "")
    return Draft(nodes, links, demands or None, notes, meanings, _demand_unit(unit), demand_notes)


_START: Final = re.compile(
    r"<(\w+:)?network\b(?=[^>]{0,9999}>\s*(<physicalTopology|<node|<layer|</?(\w+:)?attribute|</network))"
)

READER: Final = FileFormat(
    "Net2Plan", read_net2plan, lambda text: text.startswith("<") and _START.search(text) is not None
)


def _layer(root: Element) -> tuple[Element, list[str]]:
    """The layer that is read, and what to say of the others."""
    layers = root.all("layer")
    if not layers:
        raise TopologyError(root.place, "<network> has no <layer> inside", "give a file that Net2Plan saved")
    if len(layers) == 1:
        return layers[0], []
    default = [layer for layer in layers if layer.attributes.get("isDefaultLayer") == "true"]
    layer = next(iter(default or [layer for layer in layers if layer.all("link")]), layers[0])
    return layer, [
        f'Read is the layer "{_layer_name(layer)}", one of {len(layers)}; the others are left out.'
    ]


def _layer_name(layer: Element) -> str:
    return layer.attributes.get("name") or layer.attributes.get("id", "")


def _link(element: Element, unit: str, coordinates: dict[str, tuple[float, float] | None]) -> DraftLink:
    ends = [element.required(end) for end in _ENDS]
    _check_ends(element, ends, coordinates)
    attributes = _rest(element)
    length = attributes.pop("lengthInKm", attributes.pop("linkLengthInKm", None))
    if length is not None:
        kilometres = number(length, "a length", element.place, low=0)
        attributes["length_km"] = plain(kilometres)
        speed = attributes.pop("propagationSpeedInKmPerSecond", None)
        km_per_s = Decimal(0) if speed is None else number(speed, "a speed", element.place)
        if km_per_s > 0:
            attributes["delay_ms"] = plain(kilometres * 1000 / km_per_s)
    capacity = attributes.get("capacity")
    if capacity is not None and _is_rate(unit):
        del attributes["capacity"]
        bps = rate_bps(f"{capacity}{unit.replace(' ', '')}", "a capacity", element.place)
        if bps > 0:
            attributes["capacity_bps"] = plain(bps)
    return draft_link(ends[0], ends[1], attributes, True, element.place)


def _rest(element: Element) -> dict[str, str]:
    """The attributes of a node or a link and its <attribute> elements, without id, ends and place."""
    attributes = {key: text for key, text in element.attributes.items() if key not in _STRUCTURE}
    return attributes | {
        child.attributes["key"]: child.attributes.get("value", "")
        for child in element.all("attribute")
        if "key" in child.attributes
    }


def _is_rate(unit: str) -> bool:
    return _demand_unit(unit) is not None


def _demand_unit(unit: str) -> DemandUnit | None:
    """The unit of demands by its name in the file; None where it is no rate."""
    try:
        return DemandUnit(unit, float(rate_bps(f"1{unit.replace(' ', '')}", "a unit", "")))
    except TopologyError:
        return None


def _demand_holder(root: Element, layer: Element) -> tuple[Element, list[str]]:
    """What holds the demands, and what to say of others: the layer itself, or the first that has some."""
    old = root.child("demandSet")
    if old is not None:
        return old, []
    filled = [other for other in root.all("layer") if _demand_elements(other)]
    holder = layer if layer in filled else next(iter(filled), layer)
    notes = []
    if holder is not layer:
        notes.append(f'Demands are those of the layer "{_layer_name(holder)}".')
    if len(filled) > 1:
        notes.append(f"{len(filled) - 1} further layers with demands are left out.")
    return holder, notes


def _demand_elements(holder: Element) -> list[Element]:
    return holder.all("demandEntry" if holder.tag == "demandSet" else "demand")


def _demands(
    elements: Iterable[Element], coordinates: dict[str, tuple[float, float] | None]
) -> dict[tuple[str, str], float]:
    demands: dict[tuple[str, str], float] = {}
    for element in elements:
        a, b = (element.required(end) for end in _PAIR)
        _check_ends(element, (a, b), coordinates)
        value = element.attributes.get("offeredTraffic", element.attributes.get("offeredTrafficInErlangs"))
        if value is None:
            raise TopologyError(element.place, 'the demand has no "offeredTraffic"', "add it")
        add_demand(demands, (a, b), finite(value, "a demand", element.place), element.place)
    return demands


def _check_ends(element: Element, ends: Iterable[str], nodes: dict[str, tuple[float, float] | None]) -> None:
    for end in ends:
        if end not in nodes:
            raise TopologyError(
                element.place, f'<{element.tag}> ends at "{end}", which is no node', "declare the node"
            )


def _capacity_notes(layer: Element, old: bool) -> list[str]:
    """Why capacities are left out, in a sentence, where they are."""
    if old:
        return ["Capacities are in Erlangs, which are no rate, and are left out."]
    unit = layer.attributes.get("linkCapacityUnitsName", "")
    if _is_rate(unit):
        return []
    said = f'gives capacities in "{unit}"' if unit else "gives no unit of capacities"
    return [f"The file {said}: they are left out."]


def _demand_unit_note(holder: Element, old: bool) -> str:
    unit = holder.attributes.get("demandTrafficUnitsName", "")
    said = "Erlangs" if old else f'"{unit}"' if unit else "a unit that the file does not give"
    return f"Demands keep the values of the file; they are in {said}."
