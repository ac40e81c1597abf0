"""The vocabulary of TopoHub's graphs, in its own JSON and in files that other programs write of them.

TopoHub (P. Jurkiewicz, SoftwareX 24, 2023) gives each node `pos` = (longitude, latitude) in degrees, and each
link `dist` in km. None of these says its unit. They are TopoHub's where all are there, and
where every `dist` is the great-circle distance of the places: a drawing with lengths of its own is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.gaps import great_circle_km

from .choices import entries_of
from .spelling import Meaning
from .units import measured, unit_named

NOTE: Final = "As in TopoHub's graphs, pos is (longitude, latitude) in degrees and dist a length in km."
POSITION: Final = "pos"
_DISTANCE: Final = "dist"
_WITHIN: Final = 0.05
"""A `dist` differs from the great circle by less than this share of it, and by `_ROUNDING_KM`."""
_ROUNDING_KM: Final = 3.0
"""Coordinates are rounded to 0.01 degrees, which moves each end of a link by up to 0.8 km."""


@dataclass(frozen=True, slots=True)
class TopoHubGraph:
    """The places of the nodes by id, (latitude, longitude) in degrees, and what links' attributes mean."""

    places: Mapping[str, tuple[float, float]]
    meanings: Mapping[str, Meaning]


def topohub_graph(draft: Draft) -> TopoHubGraph | None:
    """The places and meanings of one of TopoHub's graphs; None for a draft that is none."""
    places = {node.id: place for node in draft.nodes if (place := _place(node)) is not None}
    if not draft.links or len(places) < len(draft.nodes):
        return None
    if not all(isinstance(link, DraftLink) and _is_great_circle(link, places) for link in draft.links):
        return None
    return TopoHubGraph(places, {_DISTANCE: Meaning("length", unit_named("km", "length"))})


def _place(node: DraftNode) -> tuple[float, float] | None:
    """(latitude, longitude) of a node with a position in degrees."""
    values = [measured(entry) for entry in entries_of(node.attributes.get(POSITION, ""))]
    numbers = [float(value.number) for value in values if value is not None]
    if len(numbers) != 2:
        return None
    longitude, latitude = numbers
    return (latitude, longitude) if abs(longitude) <= 180.0 and abs(latitude) <= 90.0 else None


def _is_great_circle(link: DraftLink, places: Mapping[str, tuple[float, float]]) -> bool:
    stated = measured(link.attributes.get(_DISTANCE, ""))
    if stated is None or stated.unit_text or not {link.a, link.b} <= places.keys():
        return False
    true_km = great_circle_km(*places[link.a], *places[link.b])
    return abs(float(stated.number) - true_km) <= _WITHIN * true_km + _ROUNDING_KM
