"""Nodes that a path without a loop between ends can cross."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from anabranch.setup.model import Setup

Ints = NDArray[np.int64]

_OUTSIDE = -1
"""A node beside all ends."""


def nodes_between(tail: Ints, head: Ints, ends: Iterable[int], nodes: int) -> NDArray[np.bool_]:
    """Whether a path between ends can cross each node, shape (nodes,). Links count in both directions.

    It can cross none of those that a single node cuts off from every end: it would cross that one twice. The
    others share a biconnected component with a node that is linked to all ends.

    Args:
        tail: where each link begins, shape (links,).
        head: where it ends.
        ends: the nodes that send and receive.
        nodes: how many there are.
    """
    import networkx  # noqa: PLC0415 - slower than a small run

    graph = networkx.Graph(zip(tail.tolist(), head.tolist(), strict=True))
    graph.add_edges_from((_OUTSIDE, end) for end in ends)
    between = np.zeros(nodes, np.bool_)
    for component in networkx.biconnected_components(graph):
        if _OUTSIDE in component:
            between[[node for node in component if node != _OUTSIDE]] = True
    return between


def links_between_ends(setup: Setup) -> list[int]:
    """Numbers of the links that a path without a loop between ends of the setup's traffic can cross.

    Those of the controller, if there is one, carry no data.
    """
    control = None if setup.controller is None else setup.controller.node
    number = np.array(
        [place for place, link in enumerate(setup.links) if control not in (link.origin, link.to)], np.int64
    )
    tail = np.array([setup.links[place].origin for place in number], np.int64)
    head = np.array([setup.links[place].to for place in number], np.int64)
    ends = {*setup.flows.origin.tolist(), *setup.flows.to.tolist()}
    ends |= {end for flow in setup.datagrams for end in (flow.origin, flow.to)}
    between = nodes_between(tail, head, ends, len(setup.nodes))
    crossable: list[int] = number[between[tail] & between[head]].tolist()
    return crossable
