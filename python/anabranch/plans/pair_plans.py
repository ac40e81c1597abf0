"""The plans of every pair of routers that may have traffic, and the shares of these pairs on links."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from anabranch.plans.link_cases import MatrixCase
from anabranch.plans.routes import plans
from anabranch.routing import Planned
from anabranch.routing.pair_shares import Pairs, ends_of, refuse_host, routes_of, sending, shares_of_pairs
from anabranch.routing.planned import link_ends
from anabranch.routing.router_network import RouterNetwork


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
        refuse_host(routers, pairs[pair], links[link])
    return case


def shares_by_any(routers: RouterNetwork, planned: list[Planned], pairs: Pairs) -> sparse.csr_array:
    """Highest share of each pair on each arc by any of several plans.

    Any part of a pair's traffic may be of the entries that go by either: a link has most if all of it goes by
    the plan that sends the greatest share over it.
    """
    first, *others = (shares_of_pairs(routers, plan, pairs) for plan in planned)
    for other in others:
        first = first.maximum(other)
    return first
