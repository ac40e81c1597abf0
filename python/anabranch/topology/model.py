"""A network as its source gives it, with a record of every gap and of the rule that filled it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from anabranch.text.suggest import nearest_remedy

from .error import TopologyError

MAX_NODES: Final = 100_000
"""Most nodes taken from files and made by generators."""

MAX_LINKS: Final = 1_000_000
"""Most links taken from files and made by generators."""

MAX_CAPACITY_BPS: Final = 10**15
"""1 Pbps, more than any link has: a larger number is a mistake."""

PlaceSource = Literal["file", "filled"]
"""Where a place comes from: the source itself, or the rule in `gaps.py` for nodes without coordinates."""

NodeKind = Literal["router", "host", "switch"]
NODE_KINDS: Final[tuple[NodeKind, ...]] = ("router", "host", "switch")

LengthSource = Literal["file", "great-circle", "filled-place", "default", "none"]
"""Where a link's length comes from.

`file`: the source states it. `great-circle`: between two places of the source. `filled-place`: the same, but
at least one of the places was filled by rule. `default`: an end has no place, or filling put both at the
same point, see `gaps.py`. `none`: the
topology is not a geographic one (generators) and the link has no length.
"""


@dataclass(frozen=True, slots=True)
class DemandUnit:
    """A unit of traffic matrices, as a source states it."""

    name: str
    """For messages, such as ``MBITPERSEC``."""
    bps: float
    """Bits per second."""


@dataclass(frozen=True, slots=True)
class Place:
    """A point on the Earth in degrees, north and east positive."""

    latitude: float
    longitude: float
    source: PlaceSource


@dataclass(frozen=True, slots=True)
class TopologyNode:
    """A node. `aliases` are other names that find it, such as its id in the source."""

    name: str
    place: Place | None = None
    kind: NodeKind = "router"
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopologyLink:
    """A link between the nodes named `a` and `b`: both directions, or from `a` to `b` only where `directed`.

    Capacity (bits per second), one-way propagation delay (picoseconds) and loss (a probability) are None
    where the source says nothing; the scenario then decides.
    """

    a: str
    b: str
    length_km: float | None = None
    length_source: LengthSource = "none"
    capacity_bps: int | None = None
    delay_ps: int | None = None
    loss: float | None = None
    directed: bool = False
    label: str | None = None
    weight: float | None = None
    """Cost for routing, as the source has it: it need be no whole number."""
    risk_groups: tuple[str, ...] = ()
    """Names of the groups of links that share a risk with it, and so fail together."""


_LINK_KEYS: Final = (
    "a", "b", "directed", "label", "length_km", "length_source", "capacity_bps", "delay_ps", "loss", "weight",
    "risk_groups",
)  # fmt: skip
"""What JSON has of a link, in this order."""


@dataclass(frozen=True)
class Topology:
    """A network. Parallel links are separate entries of `links`; node names are unique.

    `provenance` holds plain sentences: the source and its licence, each gap and the rule that filled it.
    `demands` is the source's traffic matrix, in the source's own unit, by (from, to), or None.
    """

    name: str
    nodes: tuple[TopologyNode, ...]
    links: tuple[TopologyLink, ...]
    provenance: tuple[str, ...] = ()
    demands: Mapping[tuple[str, str], float] | None = field(default=None, hash=False)
    demand_unit: DemandUnit | None = None
    _by_name: Mapping[str, TopologyNode] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name: dict[str, TopologyNode] = {}
        for node in self.nodes:
            if node.name in by_name:
                raise TopologyError(
                    self.name, f'two nodes are named "{node.name}"', "node names must be unique"
                )
            by_name[node.name] = node
        for link in self.links:
            for end in (link.a, link.b):
                if end not in by_name:
                    raise TopologyError(self.name, f'a link ends at "{end}", which is no node')
            if link.a == link.b:
                raise TopologyError(self.name, f'a link joins "{link.a}" to itself')
        for pair in self.demands or ():
            for end in pair:
                if end not in by_name:
                    raise TopologyError(self.name, f'a demand names "{end}", which is no node')
        for node in self.nodes:  # after all names, because a name beats an alias
            for alias in node.aliases:
                by_name.setdefault(alias, node)
        object.__setattr__(self, "_by_name", MappingProxyType(by_name))
        if self.demands is not None:
            object.__setattr__(self, "demands", MappingProxyType(dict(self.demands)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the parts: the read-only views inside cannot be pickled."""
        demands = None if self.demands is None else dict(self.demands)
        return (Topology, (self.name, self.nodes, self.links, self.provenance, demands, self.demand_unit))

    def node(self, name: str) -> TopologyNode:
        """The node with this name, or else with this alias.

        Raises TopologyError with the nearest name when there is none.
        """
        entry = self._by_name.get(name)
        if entry is None:
            remedy = nearest_remedy(name, (node.name for node in self.nodes))
            raise TopologyError("", f'no node "{name}" in {self.name}', remedy)
        return entry

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The connected components, directions of links ignored.

        The largest comes first; each has its nodes in the order of `nodes`.
        """
        neighbours: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for link in self.links:
            neighbours[link.a].append(link.b)
            neighbours[link.b].append(link.a)
        component_of: dict[str, int] = {}
        members: list[list[str]] = []
        for start in neighbours:
            if start in component_of:
                continue
            component_of[start] = len(members)
            members.append([])
            stack = [start]
            while stack:
                for neighbour in neighbours[stack.pop()]:
                    if neighbour not in component_of:
                        component_of[neighbour] = component_of[start]
                        stack.append(neighbour)
        for name in neighbours:
            members[component_of[name]].append(name)
        return tuple(sorted((tuple(names) for names in members), key=len, reverse=True))

    def is_connected(self) -> bool:
        """Whether every node reaches every other one, directions of links ignored."""
        return len(self.components()) == 1

    def to_dict(self) -> dict[str, Any]:
        """The topology as plain lists and dictionaries, in the order of the source."""
        return {
            "name": self.name,
            "nodes": [_node_dict(node) for node in self.nodes],
            "links": [{name: getattr(link, name) for name in _LINK_KEYS} for link in self.links],
            "demands": None if self.demands is None else [[*pair, v] for pair, v in self.demands.items()],
            "demand_unit_bps": None if self.demand_unit is None else self.demand_unit.bps,
            "connected": self.is_connected(),
            "provenance": list(self.provenance),
        }

    def to_json(self) -> str:
        """The topology as one JSON document; the same topology gives the same text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)


def _node_dict(node: TopologyNode) -> dict[str, Any]:
    place = node.place
    return {
        "name": node.name,
        "kind": node.kind,
        "aliases": list(node.aliases),
        "latitude": None if place is None else place.latitude,
        "longitude": None if place is None else place.longitude,
        "place_source": None if place is None else place.source,
    }
