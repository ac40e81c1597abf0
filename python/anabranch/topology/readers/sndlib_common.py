"""The parts that SNDlib's two file formats and topohub's SNDlib graphs share."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch.topology.attributes.spelling import Meaning
from anabranch.topology.attributes.units import unit_named
from anabranch.topology.directions import lists_both_directions
from anabranch.topology.draft import DraftLink, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import DemandUnit

INSTALLED: Final = "preInstalledModule.capacity"
"""The attribute that has the capacity which a link has from the start, by its name in SNDlib's XML."""
_SINGLE_MODULE: Final = "addModule.capacity"
_DOUBT: Final = "a module that may be installed there"


@dataclass(frozen=True, slots=True)
class SndlibLink:
    """A link of an SNDlib file; each of its modules has a capacity and a cost. `where` is for messages."""

    id: str
    a: str
    b: str
    attributes: Mapping[str, str]
    modules: Sequence[Mapping[str, str]]
    where: str


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


def drafted_links(links: Sequence[SndlibLink]) -> list[DraftLink]:
    """The links with their attributes, by their names in SNDlib's XML.

    They are one-way where the file lists each from both ends, as the directed instances do.
    """
    directed = lists_both_directions((link.a, link.b) for link in links)
    is_choice = any(len(link.modules) > 1 for link in links)
    return [
        DraftLink(link.a, link.b, {"label": link.id, **_attributes(link, is_choice)}, directed, link.where)
        for link in links
    ]


def link_meanings(links: Sequence[DraftLink], unit: str | None) -> dict[str, Meaning | None]:
    """Meanings of the links' attributes in SNDlib: capacities in `unit`, and costs that are no weights.

    A module is a capacity that may be installed. It is that of the link where each link has one module and
    none has a capacity from the start: there is nothing else to install.
    """
    rate_unit = None if unit is None else unit_named(unit, "capacity")
    names = dict.fromkeys(name for link in links for name in link.attributes if name != "label")
    meanings: dict[str, Meaning | None] = dict.fromkeys(names)
    modules = [name for name in names if re.fullmatch(r"addModule(\[\d+\])?\.capacity", name)]
    is_sure = INSTALLED not in names and all(_SINGLE_MODULE in link.attributes for link in links)
    for name in modules:
        meanings[name] = Meaning("capacity", rate_unit, is_sure=is_sure, doubt="" if is_sure else _DOUBT)
    if INSTALLED in names:
        meanings[INSTALLED] = Meaning("capacity", rate_unit)
    return meanings


def demand_unit(unit: str | None) -> DemandUnit | None:
    """The unit of the demands; None where the file does not say."""
    rate = None if unit is None else unit_named(unit, "capacity")
    return None if unit is None or rate is None else DemandUnit(unit, float(rate.factor))


def capacity_note(unit: str | None) -> list[str]:
    """In which unit capacities and demands are, in a sentence."""
    if unit is not None and unit_named(unit, "capacity") is not None:
        return [f"Capacities and demands are in {unit}."]
    stated = "no unit" if unit is None else f'the unit "{unit}", which is not known,'
    return [f"SNDlib states {stated} for capacities and demands here; demands keep their values."]


def _attributes(link: SndlibLink, is_choice: bool) -> dict[str, str]:
    """What a link has besides its ends; modules are numbered where some link has several."""
    attributes = dict(link.attributes)
    for number, module in enumerate(link.modules, start=1):
        name = f"addModule[{number}]" if is_choice else "addModule"
        attributes |= {f"{name}.{key}": value for key, value in module.items()}
    return attributes


def add_demand(
    demands: dict[tuple[str, str], float], pair: tuple[str, str], value: float, where: str
) -> None:
    """Add a demand from pair[0] to pair[1]; several between the same nodes are added up."""
    if value < 0:
        raise TopologyError(where, f"the demand is {value:g}", "give 0 or more")
    demands[pair] = demands.get(pair, 0.0) + value


def amount(value: float, what: str, where: str) -> str | None:
    """A number of 0 or more as an attribute has it; None for 0, which stands for nothing in SNDlib."""
    if value < 0:
        raise TopologyError(where, f"the {what} is {value:g}", "give 0 or more")
    return f"{value:.15g}" if value else None


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
