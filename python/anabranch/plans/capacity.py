"""Capacity to buy: modules for links, so that none is overloaded whatever of the given failures occurs.

By the routes that the scenario has, a link needs what its highest load asks for. By any routing that may
split as it likes and anew in each failure, the least cost is a mixed integer program: the flow of each
destination in each failure, and whole modules of both directions of a link. Traffic of which only the sums at
each router are known needs more (the hose model: Duffield et al., A Flexible Model for Resource Management in
Virtual Private Networks, 1999): the same routes are scored with the sums of the matrix in its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch.errors import Problem, ScenarioError
from anabranch.plans.failures import failures_of
from anabranch.plans.routes import settled
from anabranch.plans.worst_loads import WorstLoads, loads_of_routers
from anabranch.routing.robust import FlowNetwork, RobustRoutingError
from anabranch.routing.robust.highs import Program, load, new_solver, run_heeding_signals
from anabranch.routing.router_failures import NORMAL, Failure, arcs_down
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch.setup.files import ScenarioFiles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST_FLOWS: Final = 400_000
"""Variables of the program, beyond which nobody wants to wait for it."""
_NODES: Final = 2_000
"""Nodes of branch and bound, a limit of work."""
_BOUNDS_NOTE: Final = "capacity: the least cost of any routing is known for one matrix, not for bounds"
_ROUNDING: Final = 1e-7
"""Parts of a module that are rounding."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """The cost of capacity, and how much is enough."""

    module_mbps: float
    """Capacity of a module, in each direction of a link."""
    most_load: float = 1.0
    """The highest load that a link may have."""
    price: Mapping[frozenset[str], float] | None = None
    """Price of a module by the ends of its link, of each link; 1 for all if None."""


@dataclass(frozen=True, slots=True)
class LinkPurchase:
    """Modules for a link, both directions."""

    link: str
    capacity_mbps: float
    load: float
    """The highest of both directions, in any failure, by the routes that there are."""
    price: float
    modules: int
    """By the routes that there are."""
    hose_modules: int | None
    """The same with the sums of the matrix at each router in place of the matrix; None for bounds."""
    least_modules: int | None
    """Where routes may change: in the purchase of least cost; None where it is not known."""


@dataclass(frozen=True, slots=True)
class CapacityPlan:
    """Capacity for the traffic of a scenario in all its failures."""

    loads: WorstLoads
    """By the routes and capacities that there are."""
    purchase: Purchase
    links: tuple[LinkPurchase, ...]
    cost: float
    """By the routes that there are."""
    hose_cost: float | None
    least_cost: float | None
    """Of any routing."""
    least_bound: float | None
    """No routing is cheaper; the same as ``least_cost`` where that is proved."""
    warnings: tuple[str, ...]

    @property
    def hose_extra(self) -> float | None:
        """By which part the hose model costs more than the matrix; None without a cost to compare with."""
        return None if self.hose_cost is None or self.cost <= 0 else self.hose_cost / self.cost - 1


def capacity_to_buy(
    scenario: Scenario,
    purchase: Purchase,
    *,
    failures: str = "links",
    jobs: int | None = None,
) -> CapacityPlan:
    """The modules to buy for each link, so that no load is above ``purchase.most_load``.

    Args:
        scenario: with ``[routing.demand]``.
        purchase: modules and prices.
        failures: kinds of failures to survive, as of :func:`anabranch.plans.worst_loads.worst_loads`.
        jobs: threads for the failures; one for each core if None.

    Raises:
        ScenarioError: if the scenario cannot be run or has no demand, or a price is of no link.
    """
    setup = settled(resolve(scenario, Needed.ROUTES, ScenarioFiles(scenario.base)), scenario.origin)
    if setup.demand is None:
        message = 'is missing; give a matrix, such as matrix = { from = "file:tm.csv" }, or bounds'
        raise ScenarioError([Problem("routing.demand", message)], scenario.origin)
    routers = RouterNetwork.of(setup)
    price = _prices(routers, purchase)
    try:
        loads = loads_of_routers(scenario, routers, failures, jobs)
        modules = _needed(routers.network, loads, purchase)
        hose = least = bound = None
        warnings = list(loads.warnings)
        if setup.demand.matrix is not None:
            hose = _needed(
                routers.network, loads_of_routers(scenario, _hose(routers), failures, jobs), purchase
            )
            least, bound, notes = _least(routers, [NORMAL, *failures_of(routers, failures)], purchase, price)
            warnings += notes
        else:
            warnings.append(_BOUNDS_NOTE)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None
    warnings += _cut(loads)
    return CapacityPlan(
        loads,
        purchase,
        _links(routers, loads, price, (modules, hose, least)),
        float(price @ modules),
        None if hose is None else float(price @ hose),
        None if least is None else float(price @ least),
        bound,
        tuple(dict.fromkeys(warnings)),
    )


def _prices(routers: RouterNetwork, purchase: Purchase) -> Floats:
    """The price of a module of each edge."""
    network = routers.network
    price = np.ones(int(network.edge.max()) + 1)
    if purchase.price is None:
        return price
    left = set(purchase.price)
    unpriced = dict[int, int]()
    for arc, edge in enumerate(network.edge.tolist()):
        ends = frozenset({network.nodes[network.tail[arc]], network.nodes[network.head[arc]]})
        if ends in purchase.price:
            price[edge] = purchase.price[ends]
        else:
            unpriced.setdefault(edge, arc)
        left.discard(ends)
    if left:
        names = " to ".join(sorted(min(left, key=sorted)))
        raise ScenarioError([Problem("--prices", f"no link between routers from {names}")])
    if unpriced:
        # Any number would be another price, and the least cost one of nobody's.
        first = next(iter(unpriced.values()))
        names = network.pair_name(int(network.tail[first]), int(network.head[first]))
        more = f" and of {len(unpriced) - 1:,} more" if len(unpriced) > 1 else ""
        message = f"has no price of the link {names}{more}; give each link one, or leave --prices out"
        raise ScenarioError([Problem("--prices", message)])
    return price


def _needed(network: FlowNetwork, loads: WorstLoads, purchase: Purchase) -> Ints:
    """Modules of each edge by the highest load of both directions."""
    traffic = np.array([max(one.load, one.failed_load or 0.0) * one.capacity_mbps for one in loads.links])
    missing = (traffic / purchase.most_load - network.capacity_mbps) / purchase.module_mbps
    modules = np.zeros(int(network.edge.max()) + 1)
    np.maximum.at(modules, network.edge, np.ceil(missing - _ROUNDING))
    return modules.astype(np.int64)


def _hose(routers: RouterNetwork) -> RouterNetwork:
    """The same network where only what enters and leaves at each router is known: as in the matrix."""
    setup, demand = routers.setup, routers.setup.demand
    assert demand is not None  # noqa: S101 - the caller has looked
    _, _, pair_bps = demand.arrays()
    np.fill_diagonal(pair_bps, 0.0)
    sums = replace(
        demand,
        ingress_bps=[math.ceil(bps) for bps in pair_bps.sum(axis=1).tolist()],
        egress_bps=[math.ceil(bps) for bps in pair_bps.sum(axis=0).tolist()],
        pair_bps=None,
        matrix=None,
    )
    return RouterNetwork.of(setup.replace(demand=sums))


def _least(
    routers: RouterNetwork, failures: Sequence[Failure], purchase: Purchase, price: Floats
) -> tuple[Ints | None, float | None, list[str]]:
    """The purchase of least cost where routes may change, a bound of its cost, and what is to be said."""
    network = routers.network
    traffic = np.array(routers.bounds.pair_mbps)
    np.fill_diagonal(traffic, 0.0)
    targets = np.flatnonzero(traffic.sum(axis=0) > 0)
    distinct = {tuple(arcs_down(routers, failure).tolist()) for failure in failures}
    if len(distinct) * len(targets) * network.arc_count > _MOST_FLOWS:
        note = (
            f"capacity: the least cost of any routing is left out: {len(distinct):,} failures, "
            f"{len(targets):,} destinations and {network.arc_count:,} links are too many for one program"
        )
        return None, None, [note]
    program = _Program(network, traffic, targets, purchase)
    for down in sorted(distinct):
        program.add(np.array(down, np.int64))
    return program.solve(price)


class _Program:
    """The mixed integer program: whole modules of edges, and a flow to each destination in each failure."""

    def __init__(self, network: FlowNetwork, traffic: Floats, targets: Ints, purchase: Purchase) -> None:
        self._network = network
        self._traffic = traffic
        self._targets = targets
        self._purchase = purchase
        self._edges = int(network.edge.max()) + 1
        self._columns = self._edges
        self._rows = list[sparse.coo_array]()
        self._lower = list[Floats]()
        self._upper = list[Floats]()

    def add(self, down: Ints) -> None:
        """Demands that what is left of the network carries what has a path."""
        network, nodes = self._network, len(self._network.nodes)
        arcs = np.setdiff1d(np.flatnonzero(network.capacity_mbps >= 0), down)
        tail, head = network.tail[arcs], network.head[arcs]
        graph = sparse.csr_array((np.ones(len(arcs)), (tail, head)), shape=(nodes, nodes))
        hops = sparse.csgraph.shortest_path(graph, unweighted=True)
        sent = np.where(np.isfinite(hops), self._traffic, 0.0)
        first, count = self._columns, len(arcs)
        ones = np.ones(count)
        for place, target in enumerate(self._targets.tolist()):
            columns = first + place * count + np.arange(count)
            row = np.concatenate([tail, head])
            flow = sparse.coo_array(
                (np.concatenate([ones, -ones]), (row, np.concatenate([columns, columns]))),
                shape=(nodes, first + len(self._targets) * count),
            )
            supply = sent[:, target].copy()
            supply[target] = -supply.sum()
            self._append(flow, supply, supply)
        own_columns = np.tile(np.arange(count), len(self._targets))
        every = first + np.arange(len(self._targets) * count)
        room = -self._purchase.module_mbps * self._purchase.most_load
        carried = sparse.coo_array(
            (
                np.concatenate([np.ones(len(every)), np.full(count, room)]),
                (
                    np.concatenate([own_columns, np.arange(count)]),
                    np.concatenate([every, network.edge[arcs]]),
                ),
            ),
            shape=(count, first + len(every)),
        )
        self._append(carried, np.full(count, -np.inf), network.capacity_mbps[arcs] * self._purchase.most_load)
        self._columns = first + len(every)

    def _append(self, rows: sparse.coo_array, lower: Floats, upper: Floats) -> None:
        self._rows.append(rows)
        self._lower.append(lower)
        self._upper.append(upper)

    def solve(self, price: Floats) -> tuple[Ints | None, float | None, list[str]]:
        """The modules, a bound of their cost, and what is to be said of them."""
        data = np.concatenate([rows.data for rows in self._rows])
        columns = np.concatenate([rows.col for rows in self._rows])
        starts = np.cumsum([0, *(rows.shape[0] for rows in self._rows)])
        number = np.concatenate(
            [rows.row + start for rows, start in zip(self._rows, starts[:-1], strict=True)]
        )
        matrix = sparse.csc_array((data, (number, columns)), shape=(int(starts[-1]), self._columns))
        cost = np.zeros(self._columns)
        cost[: self._edges] = price
        solver = new_solver(mip_max_nodes=_NODES, mip_rel_gap=1e-6)
        load(solver, Program(matrix, np.concatenate(self._lower), np.concatenate(self._upper), cost))
        whole = np.full(self._edges, int(highspy.HighsVarType.kInteger), np.uint8)
        solver.changeColsIntegrality(self._edges, np.arange(self._edges, dtype=np.int32), whole)
        status = run_heeding_signals(solver)
        info = solver.getInfo()
        bound = float(info.mip_dual_bound) if math.isfinite(info.mip_dual_bound) else None
        modules = None
        if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            values = np.array(solver.getSolution().col_value[: self._edges])
            modules = np.rint(values).astype(np.int64)
        if status == highspy.HighsModelStatus.kOptimal:
            return modules, bound, []
        best = "nothing was found" if modules is None else f"the best costs {float(price @ modules):.6g}"
        note = (
            f"capacity: {_NODES:,} nodes of branch and bound were over before the least cost was proved: "
            f"{best}, and {'no bound is known' if bound is None else f'the bound is {bound:.6g}'}"
        )
        return modules, bound, [note]


def _links(
    routers: RouterNetwork,
    loads: WorstLoads,
    price: Floats,
    modules: tuple[Ints, Ints | None, Ints | None],
) -> tuple[LinkPurchase, ...]:
    """A row for each link, by its first direction."""
    network = routers.network
    by_routes, hose, least = modules
    highest = np.zeros(len(price))
    load = np.array([max(one.load, one.failed_load or 0.0) for one in loads.links])
    np.maximum.at(highest, network.edge, load)
    _, first = np.unique(network.edge, return_index=True)
    return tuple(
        LinkPurchase(
            loads.links[arc].link,
            loads.links[arc].capacity_mbps,
            float(highest[edge]),
            float(price[edge]),
            int(by_routes[edge]),
            None if hose is None else int(hose[edge]),
            None if least is None else int(least[edge]),
        )
        for edge, arc in enumerate(first.tolist())
    )


def _cut(loads: WorstLoads) -> list[str]:
    """What no capacity mends."""
    cut = [case for case in loads.failures or () if case.stranded]
    if not cut:
        return []
    a, b = cut[0].stranded[0]
    return [
        f"capacity: {len(cut):,} failures cut pairs off ({cut[0].name}: {a} to {b}), which modules do not "
        "mend; their traffic is in no load"
    ]
