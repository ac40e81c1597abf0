"""The plans of every pair of routers that may have traffic, and the shares of these pairs on links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.link_cases import MatrixCase
from anabranch.plans.paths import link_ends
from anabranch.plans.routes import plans
from anabranch.routing import Planned
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup import Setup
from anabranch.setup.flow_columns import FlowColumns, pair_code
from anabranch.setup.model import LinkSetup

Pairs = NDArray[np.int64]
"""Pairs of routers by their places, a row for each."""


def plan_of_all_pairs(routers: RouterNetwork, origin: str | None) -> Planned:
    """The plan of every pair of routers that may have traffic, whether it sends or not.

    Raises:
        ScenarioError: if there is something wrong with the setup that only routing can find.
    """
    return plans_of_pairs(routers, origin, np.stack(routers.bounds.pairs(), axis=1))[0]


def plans_of_pairs(routers: RouterNetwork, origin: str | None, pairs: Pairs) -> list[Planned]:
    """The plan of these pairs of routers by ``[routing]``, and by the routes that traffic has of its own."""
    setup = routers.setup
    return [
        plans(sending(routers, setup, pairs, place), origin)[place]
        for place in range(1 + len(setup.own_routes))
    ]


def is_one_matrix(routers: RouterNetwork, planned: list[Planned]) -> bool:
    """Whether the traffic is known, and goes by one plan."""
    demand = routers.setup.demand
    return len(planned) == 1 and demand is not None and demand.matrix is not None


def matrix_case(routers: RouterNetwork, planned: Planned, pairs: Pairs) -> MatrixCase:
    """The loads of the one matrix."""
    links, nodes = routers.setup.links, ends_of(routers, pairs)
    routes, count = routes_of(planned, nodes)
    case = MatrixCase.of(routers, planned.plan.over(link_ends(links)), (routes, count), pairs)
    if case.astray is not None:
        pair, link = case.astray
        _refuse_host(routers, pairs[pair], links[link])
    return case


def routes_of(planned: Planned, nodes: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """The route of each pair of nodes among those of a plan, and how many there are."""
    origins, to, _ = planned.plan.ends()
    return np.searchsorted(pair_code(origins, to), pair_code(*nodes.T)), len(origins)


def shares_by_any(routers: RouterNetwork, planned: list[Planned], pairs: Pairs) -> sparse.csr_array:
    """Highest share of each pair on each arc by any of several plans.

    Any part of a pair's traffic may be of the entries that go by either: a link has most if all of it goes by
    the plan that sends the greatest share over it.
    """
    first, *others = (shares_of_pairs(routers, plan, pairs) for plan in planned)
    for other in others:
        first = first.maximum(other)
    return first


def sending(routers: RouterNetwork, setup: Setup, pairs: Pairs, routing: int = 0) -> Setup:
    """The setup with a flow for each of these pairs of routers, and nothing that happens in it."""
    ends = ends_of(routers, pairs)
    quiet = setup.without_traffic()
    if not setup.flows and not setup.datagrams:
        return quiet.replace(flows=FlowColumns.of_pairs(ends, routing))
    if not setup.flows:
        ping = setup.datagrams[0]
        datagrams = [
            replace(ping, name=f"pair.{number}", origin=origin, to=to, routing=routing)
            for number, (origin, to) in enumerate(ends.tolist())
        ]
        return quiet.replace(datagrams=datagrams)
    return quiet.replace(flows=setup.flows.like_first(ends, routing))


def ends_of(routers: RouterNetwork, pairs: Pairs) -> NDArray[np.int64]:
    """The nodes of these pairs of routers."""
    return np.array(routers.routers, np.int64)[pairs]


def shares_of_pairs(routers: RouterNetwork, planned: Planned, pairs: Pairs) -> sparse.csr_array:
    """Share of each pair on each arc."""
    links = routers.setup.links
    routes, _ = routes_of(planned, ends_of(routers, pairs))
    share = sparse.coo_array(_on_links(planned.plan, links)[routes])
    arcs = np.array(routers.links)
    arc_of = np.full(len(links), -1)
    arc_of[arcs[arcs >= 0]] = np.flatnonzero(arcs >= 0)
    arc = arc_of[share.col]
    if len(astray := np.flatnonzero(arc < 0)):
        _refuse_host(routers, pairs[share.row[astray[0]]], links[share.col[astray[0]]])
    return sparse.csr_array((share.data, (share.row, arc)), shape=(len(pairs), routers.network.arc_count))


def _refuse_host(routers: RouterNetwork, pair: NDArray[np.int64], link: LinkSetup) -> NoReturn:
    """Refuses a route that leads through a host."""
    message = f"the route from {routers.network.pair_name(*pair)} leads through the host at the link"
    sentence = f"{message} {link.name}; loads are known between routers only"
    raise ScenarioError([Problem("routing", sentence)])


def _on_links(plan: _core.Plan, links: Sequence[LinkSetup]) -> sparse.csr_array:
    """Share of each route's packets on each link."""
    route, link, share = plan.over(link_ends(links)).link_shares()
    return sparse.csr_array((share, (route, link)), shape=(len(plan.ends()[0]), len(links)))
