"""The class that routing schemes in Python derive from, and the network that they see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anabranch.own.network import NetworkArrays

Pair = tuple[int, int]
"""Two nodes, by their places in ``nodes``: where packets come from, and where they go."""
WeightedLinks = tuple[Sequence[int], float]
"""A path as the places of its links, and its weight beside the other paths of its pair."""


@dataclass(frozen=True, eq=False)
class RoutingNetwork(NetworkArrays):
    """The network of a routing scheme, and the pairs that need paths."""

    pairs: Sequence[Pair]
    """Every pair that sends data, acknowledgments or datagrams: each needs a path."""


class RoutingScheme:
    """A routing scheme: which paths each pair has, and how much of its traffic each of them takes.

    A class defines ``paths``, which is asked for each pair, or ``routes``, which answers for all at once.
    Parameters are the fields of a dataclass.
    """

    def paths(self, network: RoutingNetwork, source: int, target: int) -> Sequence[WeightedLinks]:
        """The paths of a pair, each with its weight; weights are brought to a sum of one."""
        raise NotImplementedError

    def routes(self, network: RoutingNetwork) -> Mapping[Pair, Sequence[WeightedLinks]]:
        """The paths of every pair."""
        return {pair: self.paths(network, *pair) for pair in network.pairs}
