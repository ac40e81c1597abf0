"""The names and places of nodes, from their attributes."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from anabranch.topology.draft import DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import NODE_KINDS, NodeKind

from .choices import AttributeChoice, text_of
from .topohub import POSITION, TopoHubGraph
from .unread import Tally

_LATITUDE: Final = ("latitude", "lat")
_LONGITUDE: Final = ("longitude", "lon", "lng", "long")
_NAMES: Final = ("label", "name")
_LABEL_IS_ID: Final = ("name", "label")
"""The order where labels are ids, as in GML files that networkx writes."""
_NEUTRAL: Final = frozenset(
    ("node", "geo", "gps", "deg", "degrees", "in", "location", "loc", "coordinates", "coordinate", "coords",
    "position", "properties", "attributes")
)  # fmt: skip
"""Also what documents call a table of the attributes of a node."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+?(?=[A-Za-z]|\b|_)")
_DRAWN: Final = (("x", "y"), (f"{POSITION}[0]", f"{POSITION}[1]"))
"""Attributes that may be longitude and latitude, or points of a drawing."""


def read_nodes(
    nodes: Sequence[DraftNode],
    choices: Mapping[str, AttributeChoice],
    topohub: TopoHubGraph | None,
    tally: Tally,
) -> list[DraftNode]:
    """The nodes with their labels and coordinates. Raises TopologyError for impossible coordinates."""
    with_attributes = [node for node in nodes if node.attributes]
    names = _LABEL_IS_ID if _labels_are_ids(with_attributes) else _NAMES
    read = []
    for node in nodes:
        tally.nodes.update(node.attributes.keys())
        label = _label(node, choices, names, tally) if node.label is None else node.label
        coordinates = node.coordinates
        if coordinates is None and topohub is not None:
            coordinates = topohub.places[node.id]
            tally.settled_nodes[POSITION] += 1
        elif coordinates is None:
            coordinates = _coordinates(node, choices, tally)
        kind = _kind(node, tally) if node.kind == "router" else node.kind
        read.append(replace(node, label=label, coordinates=coordinates, kind=kind))
    if not any(node.coordinates for node in read):
        _note_drawn(with_attributes, tally)
    return read


def _labels_are_ids(nodes: Sequence[DraftNode]) -> bool:
    """Whether every label is a number or the id, beside names: networkx writes ids as labels."""
    labels = [(_value(node.attributes, ("label",)), node.id) for node in nodes]
    return any(_value(node.attributes, ("name",)) for node in nodes) and all(
        label is None or label == node_id or label.isdecimal() for label, node_id in labels
    )


def _label(
    node: DraftNode, choices: Mapping[str, AttributeChoice], names: Iterable[str], tally: Tally
) -> str | None:
    choice = choices.get("name")
    if choice is not None:
        if choice.name in node.attributes:
            tally.settled_nodes[choice.name] += 1
        return node.attributes.get(choice.name)
    label = None
    for name in names:
        for key in _keys(node.attributes, (name,)):
            text = node.attributes[key]
            if label is None or not text.strip() or text in (label, node.id):
                tally.settled_nodes[key] += 1
                label = label or text
    return label


def _kind(node: DraftNode, tally: Tally) -> NodeKind:
    """The kind that an attribute `kind` or `type` names; another text is none."""
    for key in _keys(node.attributes, ("kind", "type")):
        kind = next((kind for kind in NODE_KINDS if kind == node.attributes[key].strip().lower()), None)
        if kind is not None:
            tally.settled_nodes[key] += 1
            return kind
    return "router"


def _coordinates(
    node: DraftNode, choices: Mapping[str, AttributeChoice], tally: Tally
) -> tuple[float, float] | None:
    keys: list[str] = []
    for axis, names in (("latitude", _LATITUDE), ("longitude", _LONGITUDE)):
        choice = choices.get(axis)
        stated = _keys(node.attributes, names) if choice is None else [choice.name]
        keys += [key for key in stated if (text_of(node.attributes, key) or "").strip()][:1]
    if len(keys) < 2:
        return None
    for key in keys:
        tally.settled_nodes[key if key in node.attributes else key.rpartition("[")[0]] += 1
    latitude, longitude = (text_of(node.attributes, key) or "" for key in keys)
    return (
        _degrees(latitude, "latitude", 90.0, node.where),
        _degrees(longitude, "longitude", 180.0, node.where),
    )


def _note_drawn(nodes: Sequence[DraftNode], tally: Tally) -> None:
    """Note attributes that may be places: two numbers of each node that could be degrees."""
    for longitude, latitude in _DRAWN:
        points = [(text_of(node.attributes, longitude), text_of(node.attributes, latitude)) for node in nodes]
        if points and all(_is_within(x, 180.0) and _is_within(y, 90.0) for x, y in points):
            tally.maybe_places = (longitude, latitude, len(points))
            for name in {longitude.partition("[")[0], latitude.partition("[")[0]}:
                tally.settled_nodes[name] += len(points)
            return


def _is_within(text: str | None, limit: float) -> bool:
    try:
        return text is not None and abs(float(text)) <= limit
    except ValueError:
        return False


def _keys(attributes: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """The attributes of these names, in the order of the names; case and words of `_NEUTRAL` do not count."""
    plain = [(_plain(key), key) for key in attributes]
    return [key for name in names for word, key in plain if word == name]


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A name in lower case without neutral words: `lat` of `geo_lat`, `nodeLat` or `Lat (deg)`."""
    spelled = name.strip().lower()
    words = [word.lower() for word in _WORDS.findall(name) if word.lower() not in _NEUTRAL]
    return words[0] if len(words) == 1 else spelled


def _value(attributes: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((attributes[key] for key in _keys(attributes, names)), None)


def _degrees(text: str, what: str, limit: float, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not -limit <= value <= limit:  # false for NaN, too
        raise TopologyError(where, f'{what} is "{text}"', f"give a number from {-limit:g} to {limit:g}")
    return value
