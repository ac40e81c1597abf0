"""The draft that a reader hands over, as the source has it, before attributes, names and gaps are settled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .attributes.spelling import Meaning
from .model import DemandUnit, NodeKind, TopologyLink


@dataclass(frozen=True, slots=True)
class DraftNode:
    """A node by its id in the source; `label` is what people call it, not necessarily unique.

    `coordinates` are (latitude, longitude) in degrees, or None. Of the `attributes` both are read where the
    reader leaves them out. `where` is the place for messages.
    """

    id: str
    label: str | None = None
    coordinates: tuple[float, float] | None = None
    kind: NodeKind = "router"
    attributes: Mapping[str, str] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True)
class DraftLink:
    """A link with attributes by the names of the source, of which its quantities are read.

    It leads both ways, or from `a` to `b` only where `directed`. `where` is the place for messages.
    """

    a: str
    b: str
    attributes: Mapping[str, str]
    directed: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A graph as read: links and demands by node id. `notes` are the reader's own sentences of provenance.

    A link whose quantities the reader knows is a TopologyLink. `meanings` has the attributes of links whose
    name says too little or the wrong thing outside of the format: what it defines them to be, or None for one
    that is no quantity of a link. `demand_unit` is what 1 means in the demands; None where the source does
    not say. `demand_notes` say of the demands what who reads these alone must know, too.
    """

    nodes: Sequence[DraftNode]
    links: Sequence[TopologyLink | DraftLink]
    demands: Mapping[tuple[str, str], float] | None = None
    notes: list[str] = field(default_factory=list)
    meanings: Mapping[str, Meaning | None] = field(default_factory=dict)
    demand_unit: DemandUnit | None = None
    demand_notes: Sequence[str] = ()
