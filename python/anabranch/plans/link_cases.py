"""Cases of load: the worst of all matrices within bounds, or the one matrix that there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch import _core
from anabranch.routing.robust import CapacityError, WorstCase
from anabranch.routing.router_network import RouterNetwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CrossingTraffic:
    """The traffic over one arc; its columns have one value for each pair that has some."""

    source: Ints
    """Router."""
    target: Ints
    mbps: Floats
    """Traffic of the whole pair."""
    share: Floats
    """Share of it that crosses the arc."""


class LinkCase(Protocol):
    """The loads of arcs, and the traffic behind each."""

    @property
    def load(self) -> Floats:
        """Load of each arc, a ratio to its capacity."""

    @property
    def worst_arc(self) -> int:
        """The arc with the highest load; of several the first."""

    @property
    def max_load(self) -> float:
        """The highest load of all arcs."""

    @property
    def proved_load(self) -> float:
        """A load that none is above, whoever computes it."""

    def crossing(self, arc: int) -> CrossingTraffic:
        """The traffic that gives an arc its load."""


@dataclass(frozen=True, eq=False)
class BoundsCase:
    """The worst case over bounds."""

    worst: WorstCase
    share: sparse.csc_array
    """Share of each pair on each arc."""

    @property
    def load(self) -> Floats:
        """Highest load of each arc."""
        return self.worst.load

    @property
    def worst_arc(self) -> int:
        """The arc with the highest load."""
        return self.worst.worst_arc

    @property
    def max_load(self) -> float:
        """The highest load of all arcs."""
        return self.worst.max_load

    @property
    def proved_load(self) -> float:
        """As the evaluator has proved it."""
        return self.worst.proved_load

    def crossing(self, arc: int) -> CrossingTraffic:
        """A matrix that gives an arc its highest load."""
        row = self.worst.traffic_mbps[[arc], :].tocoo()
        share = self.share[:, [arc]].toarray()[row.col, 0]
        return CrossingTraffic(self.worst.source[row.col], self.worst.target[row.col], row.data, share)


@dataclass(frozen=True, eq=False)
class MatrixCase:
    """The loads of one matrix: the core walks along the plan once for each destination."""

    load: Floats
    _paths: _core.PlannedPaths
    _routes: NDArray[np.intp]
    """The route of each pair."""
    _source: Ints
    _target: Ints
    _mbps: Floats
    """Traffic of each pair."""
    _links: tuple[int, ...]
    """Link of each arc; -1 for one that is down."""
    astray: tuple[int, int] | None
    """A pair whose traffic crosses a link at a host, and the link; None where there is none."""

    @classmethod
    def of(
        cls,
        routers: RouterNetwork,
        paths: _core.PlannedPaths,
        routes: tuple[NDArray[np.intp], int],
        pairs: Ints,
    ) -> MatrixCase:
        """The loads of the matrix of a setup.

        Args:
            routers: its routers, whose bounds of pairs are the matrix.
            paths: the plan on its links.
            routes: the route of each pair among those of the plan, and how many it has.
            pairs: pairs of routers, shape (pairs, 2).

        Raises:
            CapacityError: a link without capacity is used.
        """
        source, target = pairs[:, 0], pairs[:, 1]
        mbps = routers.bounds.pair_mbps[source, target]
        places, count = routes
        amounts = np.asarray(np.bincount(places, mbps, count), np.float64)
        # An arc that is down has the number -1, and so the last entry.
        on_links = np.append(paths.link_loads(amounts), 0.0)
        links = np.array(routers.links, np.int64)
        traffic, capacity = on_links[links], routers.network.capacity_mbps
        if len(empty := np.flatnonzero((capacity == 0) & (traffic > 0))):
            name = routers.network.arc_name(int(empty[0]))
            raise CapacityError(
                f"link {name}", "has no capacity, and traffic uses it", "give it one, or route around it"
            )
        load = np.divide(traffic, capacity, out=np.zeros(len(traffic)), where=capacity > 0)
        between = np.zeros(len(on_links), np.bool_)
        between[links] = True
        astray = None
        if len(at_hosts := np.flatnonzero((on_links > 0) & ~between)):
            share = paths.shares_on(int(at_hosts[0]))[places]
            astray = int(np.flatnonzero((share > 0) & (mbps > 0))[0]), int(at_hosts[0])
        return cls(load, paths, places, source, target, mbps, routers.links, astray)

    @property
    def worst_arc(self) -> int:
        """The arc with the highest load."""
        return int(self.load.argmax())

    @property
    def max_load(self) -> float:
        """The highest load of all arcs."""
        return float(self.load.max())

    @property
    def proved_load(self) -> float:
        """The highest load itself: nothing is left open."""
        return self.max_load

    def share_on(self, arc: int) -> Floats:
        """The share of each pair that crosses an arc."""
        link = self._links[arc]
        return np.zeros(len(self._routes)) if link < 0 else self._paths.shares_on(link)[self._routes]

    def crossing(self, arc: int) -> CrossingTraffic:
        """The part of the matrix that crosses an arc."""
        share = self.share_on(arc)
        used = np.flatnonzero((share > 0) & (self._mbps > 0))
        return CrossingTraffic(self._source[used], self._target[used], self._mbps[used], share[used])
