"""The draft that a reader hands over, as the source has it, before names and gaps are settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .model import DemandUnit, NodeKind, TopologyLink


@dataclass(frozen=True, slots=True)
class DraftNode:
    """A node by its id in the source; `label` is what people call it, not necessarily unique.

    `coordinates` are (latitude, longitude) in degrees, or None.
    """

    id: str
    label: str | None = None
    coordinates: tuple[float, float] | None = None
    kind: NodeKind = "router"


@dataclass(frozen=True, slots=True)
class Draft:
    """A graph as read: links and demands by node id. `notes` are the reader's own sentences of provenance.

    `demand_unit` is what 1 means in the demands; None where the source does not say.
    """

    nodes: list[DraftNode]
    links: list[TopologyLink]
    demands: Mapping[tuple[str, str], float] | None = None
    notes: list[str] = field(default_factory=list)
    demand_unit: DemandUnit | None = None
