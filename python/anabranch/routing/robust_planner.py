"""Robust schemes: plans for every traffic matrix within the bounds of ``[routing.demand]``.

``robust``, ``hybrid-hop``, ``hybrid-delay``, ``robust-optimal`` and ``robust-single`` choose candidate paths
and solve (anabranch.routing.robust); the plan has the paths of the pairs that send. The worst-case load is
the evaluator's, over all pairs that may have traffic, whether they send here or not.
"""

from __future__ import annotations

import itertools
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from anabranch.errors import ScenarioError
from anabranch.routing.answers import answer_to
from anabranch.routing.path_limits import limits_of
from anabranch.routing.planned import Pair, Planned, WeightedPath, clock_warnings, pairs_of, plan_of
from anabranch.routing.robust import (
    Candidates,
    RobustRoutingError,
    Solution,
    SolverError,
    SurvivableSolution,
    TrafficSplit,
    WorstCase,
    all_paths,
    ceiling_of,
    fewest_splits,
    single_lp,
    survivable,
)
from anabranch.routing.robust.optimal import OptimalSelection, robust_optimal
from anabranch.routing.robust.problem import RoutingProblem
from anabranch.routing.robust.selection import hybrid
from anabranch.routing.robust.single_path import least_single_path
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.scenario.algorithms.scheme import (
    HybridDelay,
    HybridHop,
    Robust,
    RobustOptimal,
    RobustSingle,
)
from anabranch.scenario.choice import Algorithm
from anabranch.scenario.record import core_value
from anabranch.setup.model import PlannerSetup, Setup

_PS_PER_S = 1e12
Fixed = Robust | HybridHop | HybridDelay
"""Schemes with candidates by rule."""
AnyRobust = TypeVar("AnyRobust", bound=Algorithm)
RobustScheme = Robust | HybridHop | HybridDelay | RobustOptimal | RobustSingle
_FOR_SPLITS = 0.1
"""Work for the second program, as a part of the limit and beside it, so that neither waits for the other."""
_IN_USE = 1e-6
"""Smaller shares are the dust of a solver."""


@dataclass(frozen=True)
class _Answer:
    """What a solver found, whichever it was."""

    routing: TrafficSplit
    worst_case: WorstCase
    load: float
    lower_bound: float | None
    """Of the load; None where something else was optimised."""
    gap: float
    status: str
    facts: dict[str, float | int | str] = field(default_factory=dict)
    warning: str = ""
    seconds: float = 0.0
    """Wall time that it took."""

    @classmethod
    def of(cls, solution: Solution | SurvivableSolution, worst_case: WorstCase, **more: Any) -> _Answer:
        """A solution that says how low the load can be, and the case that its load is of."""
        return cls(
            solution.routing,
            worst_case,
            solution.load,
            solution.lower_bound,
            solution.gap,
            solution.status,
            **more,
        )


def _solved(routers: RouterNetwork, scheme: RobustScheme) -> _Answer:
    """The answer of a scheme's solver."""
    setup = routers.setup
    arcs = [
        (link.origin, link.to, link.capacity, link.delay)
        for link in map(setup.links.__getitem__, routers.links)
    ]

    def solve() -> _Answer:
        begin = time.perf_counter()
        try:
            answer = _answer_of(routers, scheme)
            if isinstance(scheme, Robust | RobustSingle) and answer.status != "optimal":
                answer = _not_worse(routers, scheme, answer)
        except RobustRoutingError as error:
            raise as_scenario_error(error) from None
        return replace(answer, seconds=time.perf_counter() - begin)

    bounds = None if setup.demand is None else asdict(setup.demand)
    solved: _Answer = answer_to(json.dumps([routers.network.nodes, arcs, bounds, _parameters(scheme)]), solve)
    return solved


def _answer_of(routers: RouterNetwork, scheme: RobustScheme) -> _Answer:
    match scheme:
        case RobustOptimal():
            return _optimal(routers, scheme)
        case RobustSingle():
            return _single(routers, scheme)
        case _:
            return _fixed(routers, scheme)


def _parameters(scheme: RobustScheme) -> dict[str, Any]:
    """All of a scheme as plain data, in base units."""
    return {name: core_value(value) for name, value in scheme.items()}


def _with_k(scheme: AnyRobust, k: int) -> AnyRobust:
    """The same scheme with as many candidates of each pair."""
    return scheme.filled({**dict(scheme.items()), "k": k})


def _not_worse(routers: RouterNetwork, scheme: Robust | RobustSingle, answer: _Answer) -> _Answer:
    """The plan of fewer candidates where it is better than one that is not proved: it is a plan of more, too.

    A smaller k has candidates among those of a larger one, and the load compares the plans.

    One candidate less has the same time limit, and looks at fewer for itself until one is proved.
    """
    if scheme.k is None or scheme.k == 1:
        return answer
    try:
        fewer = _solved(routers, _with_k(scheme, scheme.k - 1))
    except ScenarioError:  # No path within the level, or none before the time was over.
        return answer
    if fewer.load >= answer.load:
        return answer
    bound = min(answer.lower_bound or 0.0, fewer.load)
    return replace(
        fewer, lower_bound=bound, gap=(fewer.load - bound) / fewer.load, status=answer.status, seconds=0.0
    )


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """The plan of a robust scheme.

    Raises:
        ScenarioError: bounds, paths or a level that cannot be, or no plan before the time limit.
    """
    scheme = planner.scheme
    assert isinstance(scheme, RobustScheme)  # noqa: S101 - it is of this planner
    routers = RouterNetwork.of(setup)
    answer = _solved(routers, scheme)
    routes, unbounded = _routes(routers, answer.routing, scheme)
    worst = answer.worst_case
    counts = _paths_in_use(answer.routing)
    facts: dict[str, float | int | str] = {
        "worst_case_load": answer.load,
        "worst_link": setup.links[routers.links[worst.worst_arc]].name,
        "status": answer.status,
        "gap": answer.gap,
        **({} if answer.lower_bound is None else {"lower_bound": answer.lower_bound}),
        "pairs": len(counts),
        "pairs_on_one_path": sum(count == 1 for count in counts),
        "mean_paths": sum(counts) / len(counts),
        **answer.facts,
        "seconds": answer.seconds,
    }
    return Planned(plan_of(routes), tuple(_warnings(setup, scheme, answer, unbounded)), facts)


def _fixed(routers: RouterNetwork, scheme: Fixed) -> _Answer:
    """``robust``, ``hybrid-hop`` and ``hybrid-delay``: candidates by rule, fractions by a solver."""
    limits = _limits(scheme)
    network, bounds = routers.network, routers.bounds
    if scheme.k is None:
        solution = all_paths(network, bounds, **limits)
    else:
        candidates = _candidates(routers, scheme)
        if isinstance(scheme, HybridHop | HybridDelay):
            candidates = hybrid(network, candidates, scheme.single_percent)
        if scheme.failures == "single-link":
            return _survivable(routers, candidates, limits)
        solution = single_lp(network, bounds, candidates, **limits)
    if scheme.splits == "solver":
        return _Answer.of(solution, solution.worst_case)
    return _with_fewest_splits(routers, scheme, solution)


def _with_fewest_splits(routers: RouterNetwork, scheme: Fixed, solution: Solution) -> _Answer:
    """Of the routings with the load that was found, the one with the fewest split pairs that is found."""
    candidates, _ = solution.routing.by_paths
    limits = _limits(scheme)
    try:
        splits = fewest_splits(
            RoutingProblem(routers.network, routers.bounds, candidates),
            solution.routing,
            ceiling_of(solution, limits["tolerance"]),
            _FOR_SPLITS * limits["time_limit_s"],
        )
    except SolverError as error:  # The plan of the first program is as good as it was.
        warning = (
            f"routing.scheme.splits: the split is as the solver left it, for lack of another one: {error}"
        )
        return _Answer.of(solution, solution.worst_case, warning=warning)
    facts: dict[str, float | int | str] = {
        "split_pairs": splits.count,
        "split_pairs_bound": splits.lower_bound,
        "split_gap": splits.gap,
        "split_status": splits.status,
        "delay_difference_ms": splits.delay_difference_ms,
    }
    warning = ""
    if not splits.improved:
        warning = (
            "routing.scheme.time_limit: its part for split pairs was over before any plan with fewer was "
            f"looked at: {splits.count:,} pairs have several paths, as the solver left them; a longer one "
            "may spread fewer for this load"
        )
    better = replace(solution, routing=splits.routing, worst_case=splits.worst_case)
    return _Answer.of(better, better.worst_case, facts=facts, warning=warning)


def _survivable(routers: RouterNetwork, candidates: Candidates, limits: dict[str, Any]) -> _Answer:
    """The same when any single link may fail; the load is that of the worst failure."""
    solution = survivable(routers.network, routers.bounds, candidates, **limits)
    worst, normal = solution.worst_case.worst, solution.worst_case.normal
    stranded = {int(pair) for case in solution.worst_case.cases for pair in case.stranded}
    facts: dict[str, float | int | str] = {
        "load_without_failure": normal.max_load,
        "worst_failure": "none" if worst is None else routers.network.arc_name(int(worst.arcs[0])),
        "pairs_that_a_failure_cuts_off": len(stranded),
    }
    warning = ""
    if stranded:
        pair = min(stranded)
        name = routers.network.pair_name(int(candidates.source[pair]), int(candidates.target[pair]))
        warning = (
            f"routing.scheme.failures: {len(stranded):,} pairs, {name} among them, have all their paths over "
            "one link; while it is down they have no route, and their traffic is in no load"
        )
    return _Answer.of(solution, normal if worst is None else worst.worst_case, facts=facts, warning=warning)


def _optimal(routers: RouterNetwork, scheme: RobustOptimal) -> _Answer:
    """``robust-optimal``: which pairs keep to one path is chosen by a mixed integer program."""
    level, candidates = scheme.level, _candidates(routers, scheme)

    def solve(begin: TrafficSplit | None) -> OptimalSelection:
        return robust_optimal(
            routers.network, routers.bounds, candidates, level, begin=begin, **_limits(scheme)
        )

    fewer = _with_k(scheme, scheme.k - 1)
    try:
        selection = solve(None)
    except SolverError:
        if not fewer.k:
            raise
        selection = solve(_solved(routers, fewer).routing)
    if selection.status != "optimal" and fewer.k:
        with suppress(ScenarioError):  # No path within the level, or none before the time was over.
            selection = selection.or_better(routers.network, routers.bounds, _solved(routers, fewer).routing)
    selection = selection.or_better(routers.network, routers.bounds, _of_its_cost(routers, scheme, selection))
    facts: dict[str, float | int | str] = {
        "level": level,
        "predicted_loss_mbps": selection.lost_mbps,
        "predicted_loss_bound_mbps": selection.lost_bound_mbps,
        "predicted_throughput_mbps": selection.mean_throughput_mbps,
    }
    return _Answer(
        selection.routing, selection.worst_case, selection.load, None, selection.gap, selection.status, facts
    )


def _of_its_cost(routers: RouterNetwork, scheme: RobustOptimal, selection: OptimalSelection) -> TrafficSplit:
    """Of the routings that keep the same pairs on one path, the one with the fewest others split."""
    candidates, fraction = selection.routing.by_paths
    free = ~selection.single[candidates.pair_of_path()]
    kept = free | (fraction > 1 / 2)
    fewer = candidates.kept(kept)
    limit_s = _FOR_SPLITS * _limits(scheme)["time_limit_s"]
    return fewest_splits(
        RoutingProblem(routers.network, routers.bounds, fewer),
        fewer.routing(routers.network.arc_count, fewer.whole(fraction[kept])),
        max(selection.level, selection.load),
        limit_s,
    ).routing


def _single(routers: RouterNetwork, scheme: RobustSingle) -> _Answer:
    """``robust-single``: one path for every pair."""
    solution = least_single_path(
        routers.network, routers.bounds, _candidates(routers, scheme), **_limits(scheme)
    )
    return _Answer.of(solution, solution.worst_case)


def _candidates(routers: RouterNetwork, scheme: RobustScheme) -> Candidates:
    assert scheme.k is not None  # noqa: S101 - over all paths nobody asks for candidates
    return routers.candidates(scheme.k, scheme.metric, limits_of(scheme))


def _limits(scheme: RobustScheme) -> dict[str, Any]:
    """When a solver stops."""
    return {"tolerance": scheme.gap, "time_limit_s": scheme.time_limit / _PS_PER_S}


def _paths_in_use(routing: TrafficSplit) -> list[int]:
    candidates, fraction = routing.by_paths
    return [
        max(1, int((fraction[first:end] > _IN_USE).sum()))
        for first, end in itertools.pairwise(candidates.path_start.tolist())
    ]


def _routes(
    routers: RouterNetwork, routing: TrafficSplit, scheme: RobustScheme
) -> tuple[dict[Pair, list[WeightedPath]], list[Pair]]:
    """Paths of every pair that sends, and the pairs among them without traffic by the bounds.

    Those take their best path by the metric.
    """
    candidates, fraction = routing.by_paths
    number = {pair: index for index, pair in enumerate(candidates.pairs())}
    routes: dict[Pair, list[WeightedPath]] = {}
    others: dict[Pair, Pair] = {}
    for pair in pairs_of(routers.setup):
        ends = routers.router_of(pair[0]), routers.router_of(pair[1])
        if ends[0] is None or ends[1] is None:
            names = " and ".join(routers.setup.nodes[node].name for node in pair)
            what = "a host among them has no link to a router"
            raise as_scenario_error(RobustRoutingError(names, what, "give it one, both ways"))
        routers_of_pair = (ends[0], ends[1])
        if ends[0] == ends[1]:
            routes[pair] = [WeightedPath(routers.whole_path(pair, ()), 1.0)]
        elif routers_of_pair in number:
            first, end = candidates.path_start[number[routers_of_pair] :][:2].tolist()
            routes[pair] = [
                WeightedPath(routers.whole_path(pair, candidates.path(path)), float(fraction[path]))
                for path in range(first, end)
            ]
        else:
            others[pair] = routers_of_pair
    unbounded = sorted(set(others.values()))
    best = routers.paths(1, scheme.metric, unbounded, limits_of(scheme)) if others else {}
    for pair, ends_of in others.items():
        routes[pair] = [WeightedPath(routers.whole_path(pair, best[ends_of][0]), 1.0)]
    return routes, sorted(others)


def _warnings(setup: Setup, scheme: RobustScheme, answer: _Answer, unbounded: list[Pair]) -> list[str]:
    warnings = []
    if answer.status in {"time-limit", "wall-limit"}:
        bound = "" if answer.lower_bound is None else f", the bound {answer.lower_bound:.6g}"
        warnings.append(
            f"routing.scheme.time_limit: {_limits(scheme)['time_limit_s']:g} s were over before the "
            f"optimum was proved: the worst-case load is {answer.load:.6g}{bound} and the gap "
            f"{answer.gap:.3%}"
        )
    warnings += clock_warnings(answer.status, answer.facts.get("split_status"))
    if answer.warning:
        warnings.append(answer.warning)
    if answer.load > 1:
        warnings.append(
            "routing.demand: some traffic within the bounds overloads links: the worst-case load is "
            f"{answer.load:.6g}"
        )
    if unbounded:
        a, b = (setup.nodes[node].name for node in unbounded[0])
        warnings.append(
            f"routing.demand: {a} to {b}"
            + ("" if len(unbounded) == 1 else f" and {len(unbounded) - 1:,} other pairs")
            + " may have no traffic by the bounds, and sends: it takes the best path by the metric, and is "
            "in no load"
        )
    return warnings
