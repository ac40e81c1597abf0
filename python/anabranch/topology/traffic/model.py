"""Traffic as a file lists it, before its nodes are looked for in a network."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.topology.model import DemandUnit

Numbering = Literal["names", "nodes", "hosts"]
"""How a file names nodes: as the network does, by their numbers among its nodes, or by those among its hosts.

Numbers begin with 0.
"""

NAMING_NOTE: Final[dict[Numbering, str]] = {
    "names": "Nodes are found by the names and ids of the network.",
    "nodes": "The format numbers nodes: 0 is the first node of the network, and so on.",
    "hosts": "The format numbers hosts: 0 is the first host of the network, and so on; where the network "
    "marks no host, its first node.",
}
"""What a user has to know of each numbering, in a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class TrafficMatrix:
    """A traffic matrix; its columns have one value for each entry that is not zero."""

    origin: NDArray[np.uint32]
    """Place of the sender in :attr:`TrafficFile.nodes`."""
    to: NDArray[np.uint32]
    """Place of the receiver."""
    value: NDArray[np.float64]
    """Traffic, in the unit of the file."""
    label: str = ""
    """What the file calls the matrix, such as its time."""
    start_s: float | None = None
    """From the first matrix of the file to this one, in seconds; None where nobody says."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedFlows:
    """Single flows; its columns have one value for each of them."""

    origin: NDArray[np.uint32]
    """Place of the sender in :attr:`TrafficFile.nodes`."""
    to: NDArray[np.uint32]
    """Place of the receiver."""
    bytes: NDArray[np.uint64]
    """What it sends."""
    start_ps: NDArray[np.uint64]
    """When it begins, in picoseconds."""

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[int, int, int, int]]) -> "ListedFlows":
        """The flows of rows (sender, receiver, bytes, start in picoseconds)."""
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        kinds = (np.uint32, np.uint32, np.uint64, np.uint64)
        return cls(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))


class SizePoint(NamedTuple):
    """A point of the distribution function of sizes."""

    bytes: float
    probability: float
    """Of a size of at most so many bytes."""


def _no_flows() -> ListedFlows:
    return ListedFlows.of_rows(())


@dataclass(frozen=True, slots=True, eq=False)
class TrafficFile:
    """Everything that was read from one file, or from several of a series."""

    format: str
    """Name of the format."""
    nodes: tuple[str, ...] = ()
    """The nodes as the file writes them, once each."""
    numbering: Numbering = "names"
    unit: DemandUnit | None = None
    """What 1 means in the matrices; None where neither the file nor its format says so."""
    matrices: tuple[TrafficMatrix, ...] = ()
    flows: ListedFlows = field(default_factory=_no_flows)
    sizes: tuple[SizePoint, ...] = ()
    notes: tuple[str, ...] = ()
    """What was read from where, left out or assumed, in sentences."""


class NodeList:
    """The nodes of a file, numbered in the order in which they come."""

    def __init__(self) -> None:
        """Nobody has come yet."""
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """The number of a node; a new one if it is new."""
        return self._places.setdefault(name, len(self._places))

    def names(self) -> tuple[str, ...]:
        """All nodes in their order."""
        return tuple(self._places)
