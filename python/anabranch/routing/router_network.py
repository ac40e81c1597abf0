"""The routers of a setup and the bounds of their traffic, in the arrays of robust routing.

Traffic enters and leaves at routers; a host hangs on the router of its first link, in either direction. Hosts
forward nothing here, and the links at hosts are in no load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from anabranch.errors import Problem, ScenarioError
from anabranch.routing.path_limits import without_path
from anabranch.routing.planned import Pair
from anabranch.routing.robust import (
    BoundsError,
    Candidates,
    CapacityError,
    DemandBounds,
    FlowNetwork,
    RobustRoutingError,
    SolverError,
)
from anabranch.routing.robust.selection import SelectionError
from anabranch.scenario.leaves import PathLimitsSetup
from anabranch.setup.model import Setup
from anabranch.setup.reach import Access, access_links

_PS_PER_MS = 1e9
_BPS_PER_MBPS = 1e6
_PLACES: tuple[tuple[type[RobustRoutingError], str], ...] = (
    (BoundsError, "routing.demand"),
    (CapacityError, "network.links.capacity"),
    (SelectionError, "routing.scheme"),
    (SolverError, "routing.scheme.time_limit"),
)


@dataclass(frozen=True)
class RouterNetwork:
    """A setup as robust routing sees it; routers and arcs count from 0."""

    setup: Setup
    network: FlowNetwork
    bounds: DemandBounds
    routers: tuple[int, ...]
    """Node of each router."""
    links: tuple[int, ...]
    """Link of each arc."""
    index: dict[int, int]
    """Router by node."""
    access: dict[int, Access]
    """How hosts hang on routers."""

    @classmethod
    def of(cls, setup: Setup) -> RouterNetwork:
        """The routers of a setup whose ``demand`` is given.

        Raises:
            ScenarioError: bounds that allow no traffic, or any amount of it.
        """
        demand = setup.demand
        assert demand is not None  # noqa: S101 - robust schemes and scores demand it, the scenario checks it
        routers = demand.routers
        index = {node: number for number, node in enumerate(routers)}
        links = [
            number for number, link in enumerate(setup.links) if link.origin in index and link.to in index
        ]
        arcs = [setup.links[number] for number in links]
        try:
            network = FlowNetwork(
                tuple(setup.nodes[node].name for node in routers),
                np.array([index[arc.origin] for arc in arcs], np.int64),
                np.array([index[arc.to] for arc in arcs], np.int64),
                np.array([arc.capacity / _BPS_PER_MBPS for arc in arcs]),
                np.array([arc.delay / _PS_PER_MS for arc in arcs]),
            )
            bounds = DemandBounds(*(limits / _BPS_PER_MBPS for limits in demand.arrays()))
        except RobustRoutingError as error:
            raise as_scenario_error(error) from None
        access = access_links(setup.links, index.__contains__)
        return cls(setup, network, bounds, tuple(routers), tuple(links), index, access)

    def router_of(self, node: int) -> int | None:
        """The router where a node's traffic enters: itself, or the one that it hangs on; None without any."""
        if node in self.index:
            return self.index[node]
        return self.index[self.access[node].router] if node in self.access else None

    def whole_path(self, pair: Pair, arcs: Iterable[int]) -> tuple[int, ...]:
        """Links from end to end of a pair of nodes, for arcs between their routers."""
        out = [self.access[pair[0]].out] if pair[0] not in self.index else []
        back = [self.access[pair[1]].into] if pair[1] not in self.index else []
        return (*out, *(self.links[arc] for arc in arcs), *back)

    def paths(
        self, k: int, metric: str, pairs: Sequence[Pair], limits: PathLimitsSetup | None = None
    ) -> dict[Pair, tuple[tuple[int, ...], ...]]:
        """The k best paths of pairs of routers by a metric, as arcs, best first; ties go by node number.

        Raises:
            ScenarioError: a pair has no path within the limits.
        """
        between = [self.setup.links[number] for number in self.links]
        setup = self.setup.without_traffic().replace(links=between, controller=None)
        nodes = [(self.routers[a], self.routers[b]) for a, b in pairs]
        candidates = setup.core().candidate_paths(k, metric, nodes, **(limits.core() if limits else {}))
        if limits and (without := [(origin, to) for origin, to, paths in candidates if not paths]):
            raise ScenarioError(without_path(setup, limits, without))
        return {pair: paths for pair, (_, _, paths) in zip(pairs, candidates, strict=True)}

    def candidates(self, k: int, metric: str, limits: PathLimitsSetup | None = None) -> Candidates:
        """The k best paths of every pair of routers that may have traffic.

        Raises:
            CandidateError: a pair has none.
            ScenarioError: a pair has none within the limits.
        """
        source, target = self.bounds.pairs()
        pairs = list(zip(source.tolist(), target.tolist(), strict=True))
        return Candidates.from_paths(self.network, self.paths(k, metric, pairs, limits))


def as_scenario_error(error: RobustRoutingError, origin: str | None = None) -> ScenarioError:
    """The refusal of robust routing, as an error of the scenario."""
    place = next((where for kind, where in _PLACES if isinstance(error, kind)), "routing")
    return ScenarioError([Problem(place, str(error))], origin)
