"""The class that schedulers of Multipath TCP in Python derive from."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch._core import Subflow, WaitingData


class SubflowScheduler:
    """A scheduler of Multipath TCP: one object for each connection, asked for each segment of new data.

    Parameters are the fields of a dataclass; a scenario sets them.
    """

    def start(self) -> None:
        """The connection begins: make here what the scheduler keeps."""

    def pick(self, data: WaitingData, ready: Sequence[Subflow]) -> Subflow | None:
        """The subflow that takes the next segment, one of those with room; None to wait for the next ACK."""
        raise NotImplementedError
