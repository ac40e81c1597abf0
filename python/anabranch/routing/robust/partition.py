"""A smaller network whose optimum is a lower bound: parts of the network as one node each.

A link of any capacity between two nodes loses nothing, hence neither does taking them for one node: a routing
of the network is one of its parts, with the same loads of the links between them. All traffic between two
parts then has the same choice, so that it may be summed up: a matrix of the parts is shared out to the pairs
of nodes in proportion to what their ends may send and receive, and the mean of the pairs' fractions in these
proportions is a routing of the parts with the same loads. It has to be within the bounds of the pairs, which
is what limits the traffic between two parts. So no routing over any paths of the whole network is better than
the best one of the parts.

Two parts are a cut. The dual values of (10) of a good routing say which links make a bound: the parts are
what is left connected without them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .link_traffic import finite_bounds
from .model import DemandBounds, Floats, FlowNetwork, Ints

_NO_WEIGHT = 1e-4
"""Links with up to this part of the highest weight are inside a part."""


@dataclass(frozen=True)
class Partition:
    """A network of parts, with what its nodes may exchange."""

    part: Ints
    """The part of each node, shape (nodes,)."""
    network: FlowNetwork
    bounds: DemandBounds

    @classmethod
    def find(cls, network: FlowNetwork, bounds: DemandBounds, weight: Floats, most: int) -> Partition | None:
        """The parts between which the links of most weight lie; None if none may exchange traffic.

        Args:
            network: the network.
            bounds: the demand bounds.
            weight: how much each arc matters, shape (arcs,).
            most: parts, at most.
        """
        part = _parts(network, weight, most)
        between = np.flatnonzero((part[network.tail] != part[network.head]) & (network.capacity_mbps > 0))
        limits = _gathered(bounds, part)
        if limits is None or not len(between):
            return None
        smaller = FlowNetwork(
            tuple(f"part {number + 1}" for number in range(int(part.max()) + 1)),
            part[network.tail[between]], part[network.head[between]],
            network.capacity_mbps[between], network.delay_ms[between],
        )  # fmt: skip
        return cls(part, smaller, limits)


def _parts(network: FlowNetwork, weight: Floats, most: int) -> Ints:
    """A number of a part for each node: links join their ends, those of least weight first."""
    part = np.arange(len(network.nodes))
    least = _NO_WEIGHT * float(weight.max(initial=0.0))
    edge_weight = np.zeros(int(network.edge.max()) + 1)
    np.maximum.at(edge_weight, network.edge, weight)
    parts = len(part)
    for arc in np.argsort(edge_weight[network.edge], kind="stable").tolist():
        if parts <= most and edge_weight[network.edge[arc]] > least:
            break
        a, b = part[network.tail[arc]], part[network.head[arc]]
        if a != b and parts > 2:
            part[part == b] = a
            parts -= 1
    return np.asarray(np.unique(part, return_inverse=True)[1], np.int64).ravel()


def _gathered(bounds: DemandBounds, part: Ints) -> DemandBounds | None:
    """What parts may send, receive and exchange, such that it can be shared out among their nodes.

    None if that is nothing.
    """
    finite = finite_bounds(bounds)
    parts = int(part.max()) + 1
    ingress: Floats = np.bincount(part, finite.ingress_mbps, parts).astype(np.float64)
    egress: Floats = np.bincount(part, finite.egress_mbps, parts).astype(np.float64)
    sends = np.flatnonzero(finite.ingress_mbps > 0)
    receives = np.flatnonzero(finite.egress_mbps > 0)
    sent = finite.ingress_mbps[sends] / ingress[part[sends]]
    received = finite.egress_mbps[receives] / egress[part[receives]]
    limit = finite.pair_mbps[np.ix_(sends, receives)] / np.outer(sent, received)
    pair = np.full((parts, parts), np.inf)
    np.minimum.at(pair, (part[sends][:, None], part[receives][None, :]), limit)
    np.fill_diagonal(pair, 0.0)
    pair[np.isinf(pair)] = 0.0
    return DemandBounds(ingress, egress, pair) if pair.any() else None
