"""The class that path selectors in Python derive from."""

from __future__ import annotations

import random


class PathSelector:
    """A path selector of the transport ``spray``: one object for each flow, asked for each packet.

    Parameters are the fields of a dataclass; a scenario sets them.
    """

    planes: int
    """Links of the host, each into a plane; a value belongs to the plane that its remainder says."""
    random: random.Random
    """Random numbers of this flow: the same in every run of the same seed."""

    def start(self) -> None:
        """The flow is about to begin: make here what the selector keeps."""

    def next(self, now_s: float) -> int:
        """The entropy value of the next packet, from 0 to 65535."""
        raise NotImplementedError

    def on_feedback(self, now_s: float, value: int, feedback: str) -> None:
        """Hears what became of a packet with this value.

        ``clean``, ``marked``, ``trimmed``, ``trimmed-last-hop`` or ``lost``.
        """
