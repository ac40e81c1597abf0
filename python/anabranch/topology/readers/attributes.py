"""The meaning of the attributes of nodes and links in GraphML and GML files.

Topology Zoo: `label`, `Latitude`, `Longitude` of nodes; `LinkLabel`, `LinkSpeedRaw` (bits per second), or
else `LinkSpeed` with `LinkSpeedUnits` (K, M, G, T: decimal multiples of bits per second) of links. For files
of one's own, links also take `capacity_bps`, `delay_ms`, `length_km`, `loss` (a probability) and `weight` (a
cost for routing). Case does not count.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final

from anabranch.topology.draft import DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_CAPACITY_BPS, TopologyLink

_LATITUDE: Final = ("latitude", "lat")
_LONGITUDE: Final = ("longitude", "lon", "lng", "long")
_NODE_LABEL: Final = ("label", "name")
_LINK_LABEL: Final = ("linklabel", "label", "name")
_SPEED_UNIT: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNREAD: Final = "Not read:"
"""How the sentence begins that names attributes of links which sound like quantities and are not read."""
_SPEED: Final = ("linkspeedraw", "linkspeed", "linkspeedunits")
_READ: Final = (*_SPEED, "capacity_bps", "delay_ms", "length_km", "loss", "weight")
_SOUNDS: Final = ("capacity", "bandwidth", "delay", "latency", "length_", "loss", "linkspeed")
MAX_DELAY_MS: Final = Decimal(1_000_000)
MAX_LENGTH_KM: Final = 1e6


@dataclass(slots=True)
class SpeedCount:
    """The link attributes of a file that could not be read: speeds, and names that sound like quantities."""

    unreadable: int = 0
    weights: int = 0
    """Weights that are no number."""
    unread: dict[str, int] = field(default_factory=dict)
    """How many links have each attribute that is not read."""

    def notes(self) -> list[str]:
        """Sentences of provenance, if there is anything to say."""
        notes = []
        if self.unreadable:
            notes.append(
                f"{self.unreadable} link speeds were no number with a unit K, M, G or T and count as not "
                "given."
            )
        if self.weights:
            notes.append(f"{self.weights} link weights were no number and count as not given.")
        if self.unread:
            names = ", ".join(f"{name} ({count} links)" for name, count in list(self.unread.items())[:10])
            notes.append(f"{UNREAD} {names}; links take capacity_bps, delay_ms, length_km, loss and weight.")
        return notes


class NodeIds:
    """The ids of a file's nodes, and where each is declared."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def declare(self, node_id: str, place: str) -> None:
        """Raise TopologyError if an earlier node has this id."""
        if node_id in self._places:
            line = self._places[node_id].rpartition(" ")[2]
            raise TopologyError(
                place, f'node id "{node_id}" was already used on line {line}', "give every node its own id"
            )
        self._places[node_id] = place

    def check_ends(self, a: str, b: str, place: str) -> None:
        """Raise TopologyError if an edge ends at a node that is not there."""
        for end in (a, b):
            if end not in self._places:
                raise TopologyError(place, f'the edge ends at "{end}", which is no node', "declare the node")


def draft_node(node_id: str, attributes: Mapping[str, str], where: str) -> DraftNode:
    """The node that these attributes describe. Raises TopologyError for impossible coordinates."""
    by_key = _folded(attributes)
    latitude = _first(by_key, _LATITUDE)
    longitude = _first(by_key, _LONGITUDE)
    coordinates = None
    if latitude is not None and longitude is not None:
        coordinates = (
            _number(latitude, "latitude", -90.0, 90.0, where),
            _number(longitude, "longitude", -180.0, 180.0, where),
        )
    return DraftNode(node_id, _first(by_key, _NODE_LABEL), coordinates)


def draft_link(
    a: str, b: str, attributes: Mapping[str, str], directed: bool, where: str, speeds: SpeedCount
) -> TopologyLink:
    """The link that these attributes describe. Raises TopologyError for impossible quantities."""
    by_key = _folded(attributes)
    length = by_key.get("length_km")
    loss = by_key.get("loss")
    for name in by_key:
        if name.startswith(_SOUNDS) and name not in _READ:
            speeds.unread[name] = speeds.unread.get(name, 0) + 1
    label = " ".join((_first(by_key, _LINK_LABEL) or "").split())
    return TopologyLink(
        a=a,
        b=b,
        directed=directed,
        label=label or None,
        length_km=None if length is None else _number(length, "length_km", 0.0, MAX_LENGTH_KM, where),
        capacity_bps=_capacity_bps(by_key, where, speeds),
        delay_ps=_delay_ps(by_key, where),
        loss=None if loss is None else _number(loss, "loss", 0.0, 1.0, where),
        weight=_weight(by_key, speeds),
    )


def _weight(by_key: Mapping[str, str], speeds: SpeedCount) -> float | None:
    """The number that a weight is; whether routes can go by it matters only where they do."""
    text = by_key.get("weight")
    value = None if text is None else _decimal(text)
    if text is not None and value is None:
        speeds.weights += 1
    return None if value is None else float(value)


def _capacity_bps(by_key: Mapping[str, str], where: str, speeds: SpeedCount) -> int | None:
    own = by_key.get("capacity_bps")
    if own is not None:
        value = _decimal(own)
        if value is None or not 1 <= value <= MAX_CAPACITY_BPS:
            raise TopologyError(
                where, f'capacity_bps is "{own}"', f"give bits per second, 1 to {MAX_CAPACITY_BPS}"
            )
        return round(value)
    raw, speed = by_key.get("linkspeedraw"), by_key.get("linkspeed")
    if raw is None and speed is None:
        return None
    value = _decimal(raw) if raw is not None else None
    if value is None and speed is not None:
        number, factor = _decimal(speed), _SPEED_UNIT.get(by_key.get("linkspeedunits", "").strip().upper())
        value = None if number is None or factor is None else number * factor
    if value is None or not 1 <= value <= MAX_CAPACITY_BPS:
        speeds.unreadable += 1
        return None
    return round(value)


def _delay_ps(by_key: Mapping[str, str], where: str) -> int | None:
    text = by_key.get("delay_ms")
    if text is None:
        return None
    value = _decimal(text)
    if value is None or not 0 <= value <= MAX_DELAY_MS:
        raise TopologyError(where, f'delay_ms is "{text}"', f"give milliseconds, 0 to {MAX_DELAY_MS}")
    return round(value * 10**9)


def _folded(attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes by their names in lower case; the first of two that differ in case only wins."""
    by_key: dict[str, str] = {}
    for key, value in attributes.items():
        by_key.setdefault(key.strip().lower(), value)
    return by_key


def _first(by_key: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((by_key[key] for key in keys if key in by_key), None)


def _decimal(text: str) -> Decimal | None:
    """The finite number a text states, exactly, or None; bounded exponents keep integers small."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and (value == 0 or abs(value.adjusted()) <= 30) else None


def _number(text: str, what: str, low: float, high: float, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:  # false for NaN, too
        raise TopologyError(where, f'{what} is "{text}"', f"give a number from {low:g} to {high:g}")
    return value
