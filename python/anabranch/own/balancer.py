"""The class that load balancers in Python derive from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathChoice:
    """A route that packets may take: a path, or in a node that forwards hop by hop a next link."""

    weight: float
    """Its weight beside the others, above 0."""
    links: tuple[int, ...]
    """The places of its links in the table ``links``."""
    delay_s: float
    """Propagation delay of its links together, as the scenario begins."""
    capacity_bps: float
    """Capacity of the narrowest of them, as the scenario begins."""


class LoadBalancer:
    """A load balancer: one object for each pair of nodes with several paths, asked for each packet.

    Parameters are the fields of a dataclass; a scenario sets them. After a failure that leaves other paths, a
    pair has a new object.
    """

    paths: Sequence[PathChoice]
    """What there is to choose from, at least two."""
    random: random.Random
    """Random numbers of this pair: the same in every run of the same seed."""

    def start(self) -> None:
        """The paths are known: make here what the balancer keeps."""

    def choose(self, now_s: float, flow: int) -> int:
        """The place in ``paths`` for a packet; ``flow`` is the number of its subflow and direction."""
        raise NotImplementedError
