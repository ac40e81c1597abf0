"""The parts that SNDlib's two file formats and topohub's SNDlib graphs share."""

import math
from collections.abc import Mapping
from typing import Final

from anabranch.topology.draft import DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_CAPACITY_BPS, DemandUnit

_BPS_PER_UNIT: Final = {"MBITPERSEC": 10**6, "GBITPERSEC": 10**9}
"""Units that SNDlib's META section states (Abilene, GEANT, ...); most instances state none."""


def nodes_from(
    coordinates: Mapping[str, tuple[float, float] | None],
    planar: bool | None,
    labels: Mapping[str, str] | None = None,
) -> tuple[list[DraftNode], bool]:
    """The nodes with (x, y) coordinates by id, and whether the coordinates are those of a plane drawing.

    `planar` is what the source says; None means it says nothing, and then coordinates beyond -180..180,
    -90..90 show a drawing. Plane coordinates are no places.
    """
    if planar is None:
        planar = any(xy is not None and not _is_geographic(xy) for xy in coordinates.values())
    nodes = []
    for node, xy in coordinates.items():
        place = None if planar or xy is None else (xy[1], xy[0])
        nodes.append(DraftNode(node, None if labels is None else labels[node], place))
    return nodes, planar


def coordinate_notes(coordinates: Mapping[str, tuple[float, float] | None], planar: bool) -> list[str]:
    """Notes on unusual coordinates, in sentences."""
    if planar:
        return ["The coordinates are those of a drawing on a plane, not of the Earth, and are left out."]
    values = [abs(value) for xy in coordinates.values() if xy is not None for value in xy]
    fractional = [value for value in values if value != int(value)]
    # Of 20 true decimal fractions all lie below 0.60 with probability 0.6^20 < 1e-4.
    if len(fractional) >= 20 and all(value - int(value) < 0.6 for value in fractional):
        return [
            "No fraction of a coordinate is 0.60 or more, so they are probably degrees and minutes (40.21 "
            "for 40 degrees 21 minutes); they are read as decimal degrees, which can be off by 0.4 degrees "
            "(45 km)."
        ]
    return []


def capacity_bps(capacity: float, unit: str | None, where: str) -> int | None:
    """The installed capacity of a link in bits per second; None where it is 0 or its unit is not known."""
    if capacity < 0:
        raise TopologyError(where, f"the capacity is {capacity:g}", "give 0 or more")
    factor = None if unit is None else _BPS_PER_UNIT.get(unit)
    if factor is None or capacity == 0:
        return None
    bps = round(capacity * factor)
    if not 1 <= bps <= MAX_CAPACITY_BPS:
        raise TopologyError(
            where, f"the capacity is {capacity:g} {unit}", f"at most {MAX_CAPACITY_BPS} bits per second"
        )
    return bps


def demand_unit(unit: str | None) -> DemandUnit | None:
    """The unit of the demands; None where the file does not say."""
    factor = None if unit is None else _BPS_PER_UNIT.get(unit)
    return None if unit is None or factor is None else DemandUnit(unit, float(factor))


def capacity_note(unit: str | None) -> list[str]:
    """How capacities were taken, in a sentence."""
    if unit in _BPS_PER_UNIT:
        return [f"Capacities and demands are in {unit}."]
    return [
        "SNDlib states no unit for capacities and demands here; capacities are left out, demands keep their "
        "values."
    ]


def add_demand(
    demands: dict[tuple[str, str], float], pair: tuple[str, str], value: float, where: str
) -> None:
    """Add a demand from pair[0] to pair[1]; several between the same nodes are added up."""
    if value < 0:
        raise TopologyError(where, f"the demand is {value:g}", "give 0 or more")
    demands[pair] = demands.get(pair, 0.0) + value


def finite(text: str, what: str, where: str) -> float:
    """The finite number that a text states; `what` names it in the message."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TopologyError(where, f'"{text[:40]}" is not {what}', "give a finite number")
    return value


def _is_geographic(xy: tuple[float, float]) -> bool:
    return abs(xy[0]) <= 180.0 and abs(xy[1]) <= 90.0
