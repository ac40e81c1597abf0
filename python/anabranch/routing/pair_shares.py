"""The shares of pairs of routers on links by a plan, and a setup in which these pairs send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.routing.planned import Planned, link_ends
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup.flow_columns import FlowColumns, pair_code
from anabranch.setup.model import LinkSetup, Setup

Pairs = NDArray[np.int64]
"""Pairs of routers by their places, a row for each."""


def routes_of(planned: Planned, nodes: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """The route of each pair of nodes among those of a plan, and how many there are."""
    origins, to, _ = planned.plan.ends()
    return np.searchsorted(pair_code(origins, to), pair_code(*nodes.T)), len(origins)


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
        refuse_host(routers, pairs[share.row[astray[0]]], links[share.col[astray[0]]])
    return sparse.csr_array((share.data, (share.row, arc)), shape=(len(pairs), routers.network.arc_count))


def refuse_host(routers: RouterNetwork, pair: NDArray[np.int64], link: LinkSetup) -> NoReturn:
    """Refuses a route that leads through a host."""
    message = f"the route from {routers.network.pair_name(*pair)} leads through the host at the link"
    sentence = f"{message} {link.name}; loads are known between routers only"
    raise ScenarioError([Problem("routing", sentence)])


def _on_links(plan: _core.Plan, links: Sequence[LinkSetup]) -> sparse.csr_array:
    """Share of each route's packets on each link."""
    route, link, share = plan.over(link_ends(links)).link_shares()
    return sparse.csr_array((share, (route, link)), shape=(len(plan.ends()[0]), len(links)))
