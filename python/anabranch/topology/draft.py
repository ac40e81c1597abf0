"""What a reader hands over: nodes and links as the source has them, before names and gaps are settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .model import NodeKind


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
class DraftLink:
    """A link between two node ids; units as in `TopologyLink`."""

    a: str
    b: str
    directed: bool = False
    label: str | None = None
    length_km: float | None = None
    capacity_bps: int | None = None
    delay_ps: int | None = None
    loss: float | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A graph as read. `notes` are the reader's own sentences of provenance; demands are by node id."""

    nodes: list[DraftNode]
    links: list[DraftLink]
    demands: Mapping[tuple[str, str], float] | None = None
    notes: list[str] = field(default_factory=list)
