"""Mine: a scheduler of Multipath TCP of your own. docs/own.md of Anabranch explains what it sees."""

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.own import Subflow, SubflowScheduler, WaitingData


@dataclass
class MineScheduler(SubflowScheduler):
    """A scheduler: write down what it does, and after which paper."""

    patience: float = 2.0
    """Wait for the fastest subflow rather than take one whose round trip is longer by this factor."""

    def start(self) -> None:
        """The connection begins: make here what the scheduler keeps."""
        self.srtt_s: dict[int, float] = {}

    def pick(self, data: WaitingData, ready: Sequence[Subflow]) -> Subflow | None:
        """The subflow that takes the next segment, one of those with room; None to wait for the next ACK."""
        self.srtt_s |= {subflow.number: subflow.srtt_s for subflow in ready}
        subflow = min(ready, key=lambda subflow: subflow.srtt_s)
        waits = subflow.srtt_s > self.patience * min(self.srtt_s.values())
        return None if waits and data.unacknowledged_bytes > 0 else subflow
