"""A weighted scheduler of Multipath TCP: the first subflow takes so many segments for each of another's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.own import Subflow, SubflowScheduler, WaitingData


@dataclass
class Weighted(SubflowScheduler):
    first: float = 2.0
    strict: bool = False
    """Wait for a subflow whose turn it is, rather than take one that has room."""

    def __post_init__(self) -> None:
        if self.first <= 0:
            raise ValueError("first must be above 0")

    def start(self) -> None:
        self.taken: Counter[int] = Counter()
        self.known: set[int] = set()

    def pick(self, data: WaitingData, ready: Sequence[Subflow]) -> Subflow | None:
        self.known |= {subflow.number for subflow in ready}
        subflow = min(ready, key=lambda subflow: self.due(subflow.number))
        if self.strict and self.due(subflow.number) > min(map(self.due, self.known)):
            return None
        self.taken[subflow.number] += 1
        return subflow

    def due(self, number: int) -> float:
        """Segments that a subflow has taken, by its weight: the least is next."""
        return (self.taken[number] + 1) / (self.first if number == 0 else 1.0)
