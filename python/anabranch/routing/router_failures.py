"""Links and routers that are down together, as loads and searches look at them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch.routing.router_network import RouterNetwork


@dataclass(frozen=True, slots=True)
class Failure:
    """Links and nodes that are down together."""

    kind: str
    """As it is asked for: ``links``, or ``maintenance+links``."""
    name: str
    links: frozenset[int]
    """All directed links that are down, by their places in the setup; those at the nodes are among them."""
    nodes: frozenset[int]
    """Nodes that are down."""

    def together(self, other: Failure) -> Failure:
        """One failure of all that is down in either."""
        return Failure(
            f"{self.kind}+{other.kind}",
            f"{self.name} + {other.name}",
            self.links | other.links,
            self.nodes | other.nodes,
        )


NORMAL: Final = Failure("", "", frozenset(), frozenset())
"""Nothing is down."""


def single_links(routers: RouterNetwork) -> list[Failure]:
    """Each link between routers, both directions."""
    edge, links = routers.network.edge, routers.setup.links
    by_edge: dict[int, list[int]] = defaultdict(list)
    for arc in np.argsort(edge, kind="stable").tolist():
        by_edge[int(edge[arc])].append(routers.links[arc])
    return [
        Failure("links", links[down[0]].name, frozenset(down), frozenset())
        for _, down in sorted(by_edge.items())
    ]


def arcs_down(routers: RouterNetwork, failure: Failure) -> NDArray[np.int64]:
    """The arcs of the links that are down."""
    return np.flatnonzero(np.isin(np.array(routers.links), list(failure.links))).astype(np.int64)
