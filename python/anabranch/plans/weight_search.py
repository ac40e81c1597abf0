"""IGP weights for ECMP under which the highest load is low: of a matrix or all within bounds, with failures.

Which weights are best is hard to find (Fortz and Thorup, Internet Traffic Engineering by Optimizing OSPF
Weights, 2000), and a local search in the core looks for good ones. It knows a few cases, matrices with what
is down; what the evaluator then finds to be the worst joins them, until the work is done. So the load that is
told is that of all failures and all matrices, whatever the search has seen. A linear program over all
routings bounds it from below. Weights can mostly not reach it, because routers share evenly, and alike for
all that goes to one destination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import Problem, ScenarioError
from anabranch.plans.failure_loads import arcs_down, cores
from anabranch.plans.failures import Failure, failures_of
from anabranch.plans.weight_cases import (
    NORMAL,
    TOUCH_S,
    BoundsJudge,
    Judge,
    Judgement,
    MatrixJudge,
    TrafficCase,
    Weights,
    weight_cases,
)
from anabranch.plans.weight_tables import WeightTable
from anabranch.plans.worst_loads import LoadChanges, compare_loads, worst_loads
from anabranch.routing.robust import DemandBounds, FlowNetwork, RobustRoutingError, all_paths
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve

GREATEST_WEIGHT: Final = 65_535
"""Of OSPF (RFC 2328, A.4.2: 16 bits)."""
_BOLDNESS: Final = (0.0, 0.005, 0.01, 0.02)
"""Of the searches of a round, the first of which never takes a step back; with any number of threads."""
_ROUNDS: Final = 6
"""Rounds of search and judgement, where the worst failures are not known beforehand."""
_ROUNDS_OF_BOUNDS: Final = 40
"""The same where the worst matrices are not: any weights have others."""
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class WeightLimits:
    """The weights that may be taken, and the work to find them."""

    max_changes: int | None = None
    """Interfaces (directed links) whose weight may differ from the present one; None for all."""
    greatest: int = GREATEST_WEIGHT
    symmetric: bool = False
    """Both directions of a link have the same weight where one of them is changed."""
    time_limit_s: float = 10.0
    """Work, about so many seconds on one core; the program of the bound has as much."""


@dataclass(frozen=True, slots=True)
class WeightChange:
    """Another weight of a directed link, and what it and those before it lead to."""

    link: str
    before: int
    after: int
    load: float
    """The highest load once it and all changes before it are made."""
    gain: float
    """By how much the change before it, or the present weights, have a higher load."""


@dataclass(frozen=True, slots=True)
class WeightSearch:
    """The weights that were found."""

    scenario: Scenario = field(repr=False)
    """ECMP by these weights, which its ``network.weights`` names."""
    table: WeightTable = field(repr=False)
    """All weights, as that file has them."""
    changes: tuple[WeightChange, ...]
    """Those that matter, the one with the greatest gain first."""
    loads: LoadChanges = field(repr=False)
    """By the present weights, and by these: with the failures that were asked for."""
    load_before: float
    """The highest load of all by the present weights."""
    load: float
    """The highest load of all: of one matrix or any within the bounds, in any failure."""
    lower_bound: float
    """No routing has a lower one, whatever it splits: by linear programs."""
    bound_in: str
    """The failure that the bound is of; empty where nothing is down."""
    warnings: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """By which part the load is above the bound."""
        return self.load / self.lower_bound - 1 if self.lower_bound > 0 else 0.0


def search_weights(
    scenario: Scenario,
    limits: WeightLimits | None = None,
    *,
    failures: str | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WeightSearch:
    """Weights of links under which the highest load is as low as the search finds, never higher than now.

    The same call has the same answer, whatever the number of threads, unless the clock ends a solver.

    Args:
        scenario: with ``[routing.demand]``; where it begins are the weights of its links, and one weight for
            all where they have none.
        limits: of weights and work.
        failures: kinds of failures whose loads count as well, as of :func:`worst_loads`.
        jobs: threads; one for each core if None.
        progress: told of the work done and of all.

    Raises:
        ScenarioError: if the scenario cannot be run, has no demand, traffic with routes of its own, weights
            on some of its links only, or such as are above the greatest.
    """
    limits = limits or WeightLimits()
    table, warnings = WeightTable.present(scenario)
    begin = table.scenario(scenario)
    before = worst_loads(begin, failures=failures, jobs=jobs, files=table.files(scenario))
    routers = RouterNetwork.of(resolve(begin, Needed.ROUTES, table.files(scenario)))
    down = (NORMAL, *(() if failures is None else failures_of(routers, failures)))
    try:
        search = _Search(routers, down, limits, jobs or cores(), progress)
        found = search.run()
        bound, bound_in = search.bound(found.failure)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None
    new = table.changed(routers, found.weights)
    after = worst_loads(new.scenario(scenario), failures=failures, jobs=jobs, files=new.files(scenario))
    result = WeightSearch(
        new.scenario(scenario),
        new,
        found.changes,
        compare_loads(after, before),
        found.load_before,
        found.load,
        bound,
        bound_in,
    )
    return replace(result, warnings=(*warnings, *before.warnings, *_warnings(result, limits)))


def _warnings(result: WeightSearch, limits: WeightLimits) -> list[str]:
    """What is to be known of weights that leave something to be wished."""
    warnings = []
    within = "" if limits.max_changes is None else f" within {limits.max_changes:,} changes"
    if result.load > 1 + _SAME:
        warnings.append(
            f"weights: none were found{within} by which no link is overloaded: the best have a load of "
            f"{result.load:.6g}, and {_bound_told(result)} {result.lower_bound:.6g}"
        )
    if not result.changes:
        warnings.append(
            f"weights: nothing was found{within} that lowers the highest load; they stay as they are"
        )
    cut = [case for case in result.loads.after.failures or () if case.stranded]
    if cut:
        a, b = cut[0].stranded[0]
        warnings.append(
            f"weights: {len(cut):,} failures cut pairs off ({cut[0].name}: {a} to {b}), and weights cannot "
            "help; their traffic is in no load"
        )
    return warnings


def _bound_told(result: WeightSearch) -> str:
    """What stands before the bound: whether any routing could do without overload."""
    return "no routing at all has less than" if result.lower_bound > 1 else "the bound of all routings is"


@dataclass(frozen=True, eq=False)
class _Found:
    weights: Weights
    changes: tuple[WeightChange, ...]
    load_before: float
    load: float
    failure: int


class _Search:
    """A search: the cases that it knows, and the judge of all of them."""

    def __init__(
        self,
        routers: RouterNetwork,
        failures: Sequence[Failure],
        limits: WeightLimits,
        jobs: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._routers = routers
        self._failures = failures
        self._limits = limits
        self._jobs = jobs
        self._progress = progress
        setup = routers.setup
        if setup.own_routes:
            message = "has routes of its own; weights are searched for traffic that all goes by [routing]"
            raise ScenarioError([Problem(setup.own_routes[0].place, message)])
        demand = setup.demand
        self._judge: Judge = (
            MatrixJudge(routers, failures)
            if demand is not None and demand.matrix is not None
            else BoundsJudge(routers, failures, jobs)
        )
        self._present = np.array([setup.links[link].weight for link in routers.links], np.uint32)
        self._check()
        network = routers.network
        self._group = (network.edge if limits.symmetric else np.arange(network.arc_count)).astype(np.uint32)

    def _check(self) -> None:
        limits, routers = self._limits, self._routers
        if len(above := np.flatnonzero(self._present > limits.greatest)):
            link = routers.setup.links[routers.links[int(above[0])]]
            message = (
                f"the weight of {link.name} is {link.weight:,}, and the greatest is {limits.greatest:,}; "
                "raise that (--max-weight), or lower the weight"
            )
            raise ScenarioError([Problem("network.weights", message)])

    def run(self) -> _Found:
        """The best weights that were found, with the changes in their order."""
        present = self._judge.judge(self._present)
        best, best_weights = present, self._present
        cases = list(present.worst)
        rounds = self._rounds(cases)
        left_s, begin = self._limits.time_limit_s, self._present
        for number in range(rounds):
            left_s -= self._judge.work_s
            part_s = max(left_s, 0.0) / (rounds - number)
            if part_s <= 0 or present.load == 0:
                break
            found = self._searched(cases, begin, part_s, (number, rounds))
            left_s -= part_s
            judged = self._judge.judge(found)
            if judged.load < best.load * (1 - _SAME):
                best, best_weights = judged, found
            known = {case.name for case in cases} if self._by_matrix else set[tuple[int, int]]()
            cases += [case for case in judged.worst if case.name not in known]
            begin = found if judged.load <= best.load * (1 + _SAME) else best_weights
        return self._with_changes(cases, present, best, best_weights)

    @property
    def _by_matrix(self) -> bool:
        return isinstance(self._judge, MatrixJudge)

    def _rounds(self, cases: Sequence[TrafficCase]) -> int:
        """Rounds of search and judgement: one where these are all cases that there are."""
        if not self._by_matrix:
            return _ROUNDS_OF_BOUNDS
        return 1 if len(cases) == len(self._failures) else _ROUNDS

    def _searched(
        self, cases: Sequence[TrafficCase], begin: Weights, work_s: float, part: tuple[int, int]
    ) -> Weights:
        """The best weights of several searches over these cases."""
        core = weight_cases(self._routers, self._failures, cases)
        work = max(int(work_s / TOUCH_S / len(_BOLDNESS)), 1)

        def search(place: int) -> tuple[Weights, float]:
            weights, load, _ = core.search(
                self._present,
                begin,
                self._group,
                greatest=self._limits.greatest,
                most_changes=self._most_changes,
                boldness=_BOLDNESS[place],
                work=work,
                seed=part[0] * len(_BOLDNESS) + place,
                progress=self._told(part) if place == len(_BOLDNESS) - 1 else None,
            )
            return weights, load

        with ThreadPoolExecutor(self._jobs) as pool:
            answers = list(pool.map(search, range(len(_BOLDNESS))))
        return min(answers, key=lambda answer: answer[1])[0]

    @property
    def _most_changes(self) -> int:
        most = self._limits.max_changes
        return self._routers.network.arc_count if most is None else most

    def _told(self, part: tuple[int, int]) -> Callable[[int, int], None] | None:
        """Progress of a round among all."""
        progress, (number, rounds) = self._progress, part
        if progress is None:
            return None
        return lambda done, whole: progress(number * whole + done, rounds * whole)

    def _with_changes(
        self, cases: Sequence[TrafficCase], present: Judgement, best: Judgement, weights: Weights
    ) -> _Found:
        """The weights with the changes alone that matter, and what each of them leads to."""
        if best.load >= present.load * (1 - _SAME):
            return _Found(self._present, (), present.load, present.load, present.failure)
        core = weight_cases(self._routers, self._failures, cases)
        order = core.fewest_changes(self._present, weights, self._group)
        fewer = np.where(np.isin(self._group, order), weights, self._present)
        judged = self._judge.judge(fewer)
        if judged.load > best.load * (1 + _SAME):
            # What the known cases can spare another one needs.
            rest = {int(group) for group in self._group[weights != self._present]} - set(order)
            order, judged = [*order, *sorted(rest)], best
        changes = list[WeightChange]()
        now, before = self._present.copy(), present.load
        setup, links = self._routers.setup, self._routers.links
        for number, group in enumerate(order, start=1):
            arcs = np.flatnonzero((self._group == group) & (weights != self._present))
            now[arcs] = weights[arcs]
            load = judged.load if number == len(order) else self._judge.judge(now).load
            changes += [
                WeightChange(
                    setup.links[links[arc]].name,
                    int(self._present[arc]),
                    int(weights[arc]),
                    load,
                    before - load,
                )
                for arc in arcs.tolist()
            ]
            before = load
        return _Found(now, tuple(changes), present.load, judged.load, judged.failure)

    def bound(self, failure: int) -> tuple[float, str]:
        """A load below which no routing comes: of all links up, or of one failure, whichever is higher."""
        load, where = self._bound_of(NORMAL), ""
        if failure and (of_failure := self._bound_of(self._failures[failure])) > load:
            load, where = of_failure, self._failures[failure].name
        return load, where

    def _bound_of(self, failure: Failure) -> float:
        network, bounds = self._routers.network, self._routers.bounds
        arcs = arcs_down(self._routers, failure)
        capacity = np.array(network.capacity_mbps)
        capacity[arcs] = 0.0
        left = replace(network, capacity_mbps=capacity)
        pair = np.where(_connected(left), bounds.pair_mbps, 0.0)
        if not ((pair > 0) & (bounds.ingress_mbps > 0)[:, None] & (bounds.egress_mbps > 0)).any():
            return 0.0
        within = DemandBounds(bounds.ingress_mbps, bounds.egress_mbps, pair)
        limit_s = max(self._limits.time_limit_s, 1.0)
        return all_paths(left, within, time_limit_s=limit_s).lower_bound


def _connected(network: FlowNetwork) -> NDArray[np.bool_]:
    """Whether each pair has a path over arcs with capacity; a node has none to itself."""
    nodes = len(network.nodes)
    reached = np.eye(nodes, dtype=np.bool_)
    usable = np.flatnonzero(network.capacity_mbps > 0)
    tail, head = network.tail[usable], network.head[usable]
    while True:
        further = reached.copy()
        np.logical_or.at(further.T, tail, reached.T[head])
        if np.array_equal(further, reached):
            break
        reached = further
    np.fill_diagonal(reached, val=False)
    return reached


__all__ = ["GREATEST_WEIGHT", "WeightChange", "WeightLimits", "WeightSearch", "search_weights"]
