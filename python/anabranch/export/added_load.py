"""The cost of rounding shares: the load of each link with the plan's shares, and with those written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from anabranch.plans.paths import Shares
from anabranch.routing.planned import Pair
from anabranch.routing.robust import RobustRoutingError
from anabranch.routing.robust.worst_case import load_of_shares
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.setup import Setup

Plans = Sequence[Mapping[Pair, Shares]]


@dataclass(frozen=True, slots=True)
class AddedLoad:
    """A link before and after rounding."""

    link: str
    before: float
    after: float
    """Loads where the scenario bounds the traffic, and else flows."""

    @property
    def added(self) -> float:
        """The load that rounding adds; below zero where it takes away."""
        return self.after - self.before


def added_loads(setup: Setup, before: Plans, after: Plans) -> tuple[str, list[AddedLoad]]:
    """The load of every link before and after rounding, the one to which rounding adds most first.

    With ``[routing.demand]`` a load is the highest over all traffic within the bounds, over the capacity, of
    links between routers; where some flows have routes of their own, any part of a pair's traffic may go by
    them. Otherwise it is the mean number of the scenario's flows that cross the link.

    Args:
        setup: the network and its traffic.
        before: shares of each pair on each link: of all flows, or of those of ``[routing]`` and then of those
            with routes of their own.
        after: the same with rounded shares.

    Returns:
        What the numbers are, and the loads.

    Raises:
        ScenarioError: if the bounds allow any amount of traffic.
    """
    if setup.demand is not None:
        what = "load" if setup.demand.matrix is not None else "worst-case load"
        loads = _worst_loads(setup, before, after)
    else:
        what, loads = "flows", _flows(setup, before, after)
    return what, sorted(loads, key=lambda entry: (-entry.added, entry.link))


def _flows(setup: Setup, before: Plans, after: Plans) -> list[AddedLoad]:
    apart = len(before) > 1
    counts = Counter(
        (flow.routing if apart else 0, (flow.origin, flow.to)) for flow in (*setup.flows, *setup.datagrams)
    )
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (place, pair), flows in counts.items():
        for side, plans in enumerate((before, after)):
            for link, share in plans[place].get(pair, {}).items():
                sums[link][side] += flows * share
    return [AddedLoad(setup.links[link].name, *both) for link, both in sorted(sums.items())]


def _worst_loads(setup: Setup, before: Plans, after: Plans) -> list[AddedLoad]:
    routers = RouterNetwork.of(setup)
    source, target = routers.bounds.pairs()
    arc_of = {link: arc for arc, link in enumerate(routers.links)}
    loads = []
    for plans in (before, after):
        matrix = sparse.csr_array((len(source), routers.network.arc_count))
        for shares in plans:
            rows, columns, values = list[int](), list[int](), list[float]()
            for number, pair in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
                nodes = routers.routers[pair[0]], routers.routers[pair[1]]
                for link, share in shares.get(nodes, {}).items():
                    if link in arc_of:
                        rows.append(number)
                        columns.append(arc_of[link])
                        values.append(share)
            of_case = sparse.csr_array((np.array(values), (rows, columns)), shape=matrix.shape)
            # As for `anabranch load`: a link has most if all traffic of a pair goes by one of the plans.
            matrix = matrix.maximum(of_case)
        try:
            loads.append(load_of_shares(routers.network, routers.bounds, source, target, matrix).load)
        except RobustRoutingError as error:
            raise as_scenario_error(error) from None
    names = [setup.links[link].name for link in routers.links]
    return [AddedLoad(name, float(a), float(b)) for name, a, b in zip(names, *loads, strict=True)]
