"""Splits of section 6 that the library does not make: routes of solvers that the paper describes.

Many splits have the least load, and a connection's throughput depends on which one is taken. The library
takes the one with the fewest split pairs, or leaves what its own solver ends with.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from anabranch import Scenario
from anabranch.routing.planned import LEAST_WEIGHT
from anabranch.routing.robust import Solution
from anabranch.routing.robust.selection import hybrid as with_single_paths
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup import resolve
from anabranch_publications.papers.robust.network import nsfnet
from anabranch_publications.papers.robust.solvers import exchange, link_flow


@cache
def over_all_paths() -> Mapping[str, Any]:
    """``[routing]`` of ALL: of the splits with the least load over all paths the one in their middle.

    An interior point method ends there, and NUOPT, which the paper solved with, is one.
    """
    routers = _routers()
    return _as_given(routers, link_flow(routers.network, routers.bounds))


@cache
def by_exchange(metric: str, percent: int) -> Mapping[str, Any]:
    """``[routing]`` of HYBRID-HOP or HYBRID-DELAY with K = 2, split by the exchange method of section 3.2.

    Args:
        metric: ``hop`` or ``delay``.
        percent: X.
    """
    routers = _routers()
    several = routers.candidates(2, {"hop": "hops", "delay": "delay"}[metric])
    candidates = with_single_paths(routers.network, several, percent)
    return _as_given(routers, exchange(routers.network, routers.bounds, candidates))


def _routers() -> RouterNetwork:
    """The NSFNET within the bounds of table 1."""
    return RouterNetwork.of(resolve(Scenario.from_data(nsfnet({"scheme": "shortest"}, spaced=False))))


def _as_given(routers: RouterNetwork, solution: Solution) -> Mapping[str, Any]:
    """A solution as ``[routing]``: its paths, named by their nodes, each with its share."""
    network = routers.network
    candidates, fraction = solution.routing.by_paths
    paths = []
    for path, share in enumerate(fraction.tolist()):
        if share >= LEAST_WEIGHT:
            arcs = candidates.path(path)
            nodes = [network.tail[arcs[0]], *(network.head[arc] for arc in arcs)]
            paths.append({"nodes": [network.nodes[node] for node in nodes], "weight": share})
    return {"scheme": "given", "paths": paths}
