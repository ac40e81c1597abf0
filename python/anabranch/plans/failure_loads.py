"""The loads while links or nodes are down, and what becomes of the traffic."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.pair_plans import is_one_matrix, matrix_case, shares_by_any
from anabranch.routing import Planned
from anabranch.routing.fair_share import fair_shares
from anabranch.routing.pair_shares import Pairs, ends_of, sending
from anabranch.routing.robust import Candidates, TrafficSplit
from anabranch.routing.robust.failures import fractions_after, hit_paths
from anabranch.routing.robust.worst_case import load_of_shares
from anabranch.routing.router_failures import Failure, arcs_down
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup.flow_columns import pair_code

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ROUNDING: Final = 1e-9
"""A load above 1 by no more is a full link, and no overload."""


@dataclass(frozen=True, slots=True)
class FailureLoad:
    """The highest load while some links and nodes are down, and what becomes of the traffic."""

    kind: str
    """Of the failure, as it is asked for: ``links``, ``nodes``, ``maintenance+links``."""
    name: str
    links: tuple[str, ...]
    """The links between routers that are down: both directions of each, and those at nodes that are down."""
    nodes: tuple[str, ...]
    """The nodes that are down."""
    load: float
    worst_link: str
    stranded: tuple[tuple[str, str], ...]
    """Pairs of nodes that work, without a route meanwhile; their traffic is in no load."""
    rerouted_pairs: int
    """Pairs that take other routes than with all links up, at least for a part of their traffic."""
    lost_mbps: float | None
    """Traffic of one matrix without a route, that of nodes which are down included; None for bounds."""
    squeezed_pairs: int | None
    """Pairs of one matrix with a route whose traffic does not fit. None for bounds."""
    squeezed_mbps: float | None
    """Traffic of these pairs."""
    goodput_mbps: float | None
    """What TCP is predicted to carry of it: full links are shared as by :func:`goodput_shares`."""


@dataclass(frozen=True, slots=True, eq=False)
class FailureOutcome:
    """A failure with the load of each arc."""

    load: FailureLoad
    of_arcs: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FailurePiece:
    """Some failures, one after the other, and the highest load of each arc in any of them."""

    loads: tuple[FailureLoad, ...]
    highest: Floats
    """Of each arc; 0 where none loads it."""
    by: Ints
    """The place of the failure with this load, the first of several; -1 for none."""

    def data(self) -> dict[str, Any]:
        """The piece as plain data."""
        names = [field.name for field in fields(FailureLoad)]
        return {
            "loads": [[getattr(load, name) for name in names] for load in self.loads],
            "highest": self.highest.tolist(),
            "by": self.by.tolist(),
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> FailurePiece:
        """The piece that :meth:`data` has given, of which nobody knows what became of it.

        Raises:
            ValueError, TypeError, KeyError: it is something else.
        """
        loads = tuple(_load_of(*row) for row in data["loads"])
        highest, by = np.array(data["highest"], np.float64), np.array(data["by"], np.int64)
        if highest.ndim != 1 or highest.shape != by.shape or not (highest >= 0).all():
            raise ValueError("has no load of each link")
        if ((by < -1) | (by >= len(loads))).any():
            raise ValueError("has a load of a failure that is not there")
        return cls(loads, highest, by)


def _load_of(
    kind: str, name: str, links: Sequence[str], nodes: Sequence[str], load: float, worst_link: str,
    stranded: Sequence[Sequence[str]], rerouted: int, *of_traffic: float | None,
) -> FailureLoad:  # fmt: skip
    """A failure's load from plain data."""
    texts = (kind, name, worst_link, *links, *nodes, *(end for pair in stranded for end in pair))
    numbers = (load, rerouted, *(number for number in of_traffic if number is not None))
    if not all(isinstance(text, str) for text in texts) or not all(number >= 0 for number in numbers):
        raise ValueError("has no text or number where one is")
    lost, squeezed, squeezed_mbps, goodput = of_traffic
    return FailureLoad(
        kind, name, tuple(links), tuple(nodes), float(load), worst_link, tuple((a, b) for a, b in stranded),
        int(rerouted), lost, None if squeezed is None else int(squeezed), squeezed_mbps, goodput,
    )  # fmt: skip


LookProgress = Callable[[int, int], None]
"""A function that is told of the failures that are done, and of all."""


class FailureEvaluator(Protocol):
    """The judge of failures; several threads may ask it at once."""

    @property
    def arcs(self) -> int:
        """Arcs whose loads it says."""

    def outcome(self, failure: Failure) -> FailureOutcome:
        """The loads while this is down."""


def outcomes(
    evaluator: FailureEvaluator,
    failures: Sequence[Failure],
    jobs: int | None = None,
    progress: LookProgress | None = None,
) -> Iterator[FailureOutcome]:
    """The outcome of each failure, in the order of the failures.

    Args:
        evaluator: says it.
        failures: what fails.
        jobs: threads; one for each core if None.
        progress: told of the failures that are done, and of all.
    """
    workers = jobs or cores()
    if workers == 1 or len(failures) == 1:
        for done, failure in enumerate(failures, start=1):
            yield evaluator.outcome(failure)
            if progress is not None:
                progress(done, len(failures))
        return
    pool = ThreadPoolExecutor(workers)
    # A few wait for each thread: what is done and not yet asked for takes memory.
    ahead, waiting = 8 * workers, list[Future[FailureOutcome]]()
    try:
        for number in range(len(failures) + ahead):
            if number < len(failures):
                waiting.append(pool.submit(evaluator.outcome, failures[number]))
            if number >= ahead and waiting:
                yield waiting.pop(0).result()
                if progress is not None:
                    progress(number - ahead + 1, len(failures))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def gathered(looked_at: Iterable[FailureOutcome]) -> FailurePiece:
    """Outcomes as one piece."""
    return joined(
        FailurePiece((one.load,), one.of_arcs, np.where(one.of_arcs > 0, 0, -1)) for one in looked_at
    )


def joined(pieces: Iterable[FailurePiece]) -> FailurePiece:
    """Pieces one after the other as one."""
    loads = list[FailureLoad]()
    highest, by = np.zeros(0), np.zeros(0, np.int64)
    for piece in pieces:
        if not loads:
            highest, by = np.zeros(len(piece.highest)), np.full(len(piece.highest), -1)
        higher = piece.highest > highest
        highest[higher], by[higher] = piece.highest[higher], piece.by[higher] + len(loads)
        loads += piece.loads
    return FailurePiece(tuple(loads), highest, by)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def goodput_shares(crossed: Floats, mbps: Floats, capacity_mbps: Floats) -> Floats:
    """The share of each pair's traffic that TCP is predicted to carry over links that are full.

    A pair has flows in proportion to its traffic, and all flows on a full link get the same rate: max-min
    fairness (Bertsekas and Gallager 1992, section 6.5.2) with the traffic as weight. Round-trip times do not
    count. A pair of several paths is held back as a whole by the fullest of them.

    Args:
        crossed: share of each pair (row) on each link (column).
        mbps: traffic of each pair, above 0.
        capacity_mbps: of the links.
    """
    return fair_shares(crossed, mbps, np.ones(len(mbps)), capacity_mbps)


@dataclass(frozen=True, eq=False)
class _Reporter:
    """Puts the outcome of a failure together."""

    routers: RouterNetwork
    pairs: Pairs
    mbps: Floats | None
    """Traffic of each pair where there is one matrix; None for bounds."""
    crossing: sparse.csc_array
    """Whether each pair (row) may cross each arc with all links up."""

    def outcome(
        self,
        failure: Failure,
        stranded: Flags,
        load: Floats,
        share_on: Callable[[int], Floats] | None,
    ) -> FailureOutcome:
        """The outcome of a failure.

        Args:
            failure: what is down.
            stranded: the pairs without a route.
            load: of each arc.
            share_on: of one matrix, the share of each pair with a route on an arc.
        """
        setup, links = self.routers.setup, self.routers.links
        arcs = arcs_down(self.routers, failure)
        ends = ends_of(self.routers, self.pairs)
        of_nodes = np.isin(ends, list(failure.nodes)).any(axis=1)
        changed = np.zeros(len(self.pairs), np.bool_)
        changed[self.crossing[:, arcs].indices] = True
        names = self.routers.network.nodes
        lost = squeezed = squeezed_mbps = goodput_mbps = None
        if self.mbps is not None and share_on is not None:
            lost = float(self.mbps[stranded].sum())
            squeezed, squeezed_mbps, goodput_mbps = self._squeezed(load, self.mbps[~stranded], share_on)
        failure_load = FailureLoad(
            failure.kind,
            failure.name,
            tuple(setup.links[links[arc]].name for arc in arcs.tolist()),
            tuple(setup.nodes[node].name for node in sorted(failure.nodes)),
            float(load.max()),
            setup.links[links[int(load.argmax())]].name,
            tuple((names[a], names[b]) for a, b in self.pairs[stranded & ~of_nodes].tolist()),
            int((changed & ~stranded).sum()),
            lost,
            squeezed,
            squeezed_mbps,
            goodput_mbps,
        )
        return FailureOutcome(failure_load, load)

    def _squeezed(
        self, load: Floats, mbps: Floats, share_on: Callable[[int], Floats]
    ) -> tuple[int, float, float]:
        """How many pairs cannot send all they have, their traffic, and what TCP carries of it."""
        full = np.flatnonzero(load > 1 + _ROUNDING)
        if not len(full):
            return 0, 0.0, 0.0
        crossed = np.stack([share_on(arc) for arc in full.tolist()], axis=1)
        held = (crossed > 0).any(axis=1) & (mbps > 0)
        carried = goodput_shares(crossed[held], mbps[held], self.routers.network.capacity_mbps[full])
        less = carried < 1 - _ROUNDING
        of_less = mbps[held][less]
        return int(less.sum()), float(of_less.sum()), float((of_less * carried[less]).sum())


def evaluator_of(
    routers: RouterNetwork, origin: str | None, planned: list[Planned], pairs: Pairs
) -> FailureEvaluator:
    """The judge of what failures do to plans.

    Args:
        routers: the network.
        origin: name of the scenario's file, for messages.
        planned: the plan of ``[routing]``, and those of traffic with routes of its own.
        pairs: those that have plans, shape (pairs, 2).

    Raises:
        ScenarioError: it is not known what is left of such plans.
    """
    setup = routers.setup
    if len(planned) > 1 and (setup.planner or any(routes.planner for routes in setup.own_routes)):
        message = (
            "traffic has routes of its own, and some are made by a planner; what is left of both after a "
            "failure is not known here; leave --failures out"
        )
        raise ScenarioError([Problem(setup.own_routes[0].place, message)], origin)
    source, target = pairs[:, 0], pairs[:, 1]
    has_matrix = is_one_matrix(routers, planned)
    reporter = _Reporter(
        routers,
        pairs,
        routers.bounds.pair_mbps[source, target] if has_matrix else None,
        sparse.csc_array(shares_by_any(routers, planned, pairs)),
    )
    if setup.keeps_plan:
        return _Pruned(reporter, _by_paths(routers, planned[0], pairs))
    nodes = ends_of(routers, pairs)
    places = range(1 + len(setup.own_routes))
    planners = tuple(sending(routers, setup, pairs, place).core() for place in places)
    return _PlannedAnew(reporter, planners, pair_code(*nodes.T), pair_code(*nodes.T[::-1]))


@dataclass(frozen=True, eq=False)
class _PlannedAnew:
    """The scheme plans anew over what is left, as routers do."""

    reporter: _Reporter
    planners: tuple[_core.Setup, ...]
    """By the routes of ``[routing]``, and those that traffic has of its own."""
    there: NDArray[np.uint64]
    """Code of each pair."""
    back: NDArray[np.uint64]
    """Code of the opposite one: the acknowledgments need a route, too."""

    @property
    def arcs(self) -> int:
        """Arcs of the network."""
        return self.reporter.routers.network.arc_count

    def outcome(self, failure: Failure) -> FailureOutcome:
        """The loads while this is down."""
        routers, pairs = self.reporter.routers, self.reporter.pairs
        down = sorted(failure.links)
        planned = [Planned(core.plan(None, place, down)) for place, core in enumerate(self.planners)]
        stranded = np.zeros(len(pairs), np.bool_)
        for one in planned:
            origins, to, _ = one.plan.ends()
            codes = pair_code(origins, to)
            stranded |= ~(np.isin(self.there, codes) & np.isin(self.back, codes))
        left = pairs[~stranded]
        if self.reporter.mbps is not None:
            case = matrix_case(routers, planned[0], left)
            return self.reporter.outcome(failure, stranded, case.load, case.share_on)
        share = shares_by_any(routers, planned, left)
        worst = load_of_shares(routers.network, routers.bounds, left[:, 0], left[:, 1], share)
        return self.reporter.outcome(failure, stranded, worst.load, None)


@dataclass(frozen=True, eq=False)
class _Pruned:
    """The paths that are left of a plan share its traffic in proportion."""

    reporter: _Reporter
    routing: TrafficSplit

    @property
    def arcs(self) -> int:
        """Arcs of the network."""
        return self.reporter.routers.network.arc_count

    def outcome(self, failure: Failure) -> FailureOutcome:
        """The loads while this is down."""
        routers, pairs = self.reporter.routers, self.reporter.pairs
        network = routers.network
        candidates, fraction = self.routing.by_paths
        hit = hit_paths(candidates, arcs_down(routers, failure), network.arc_count)
        after, without = fractions_after(candidates, fraction, hit)
        stranded = np.zeros(len(pairs), np.bool_)
        stranded[without] = True
        share = candidates.routing(network.arc_count, after).share
        if (mbps := self.reporter.mbps) is not None:
            left = sparse.csc_array(sparse.csr_array(share)[np.flatnonzero(~stranded)])
            traffic, capacity = np.asarray(left.T @ mbps[~stranded]), network.capacity_mbps
            load = np.divide(traffic, capacity, out=np.zeros(len(traffic)), where=capacity > 0)
            return self.reporter.outcome(failure, stranded, load, lambda arc: left[:, [arc]].toarray()[:, 0])
        worst = load_of_shares(network, routers.bounds, pairs[:, 0], pairs[:, 1], share)
        return self.reporter.outcome(failure, stranded, worst.load, None)


def _by_paths(routers: RouterNetwork, planned: Planned, pairs: Pairs) -> TrafficSplit:
    """A plan of paths as fractions of candidate paths."""
    arc_of = {link: arc for arc, link in enumerate(routers.links)}
    routes = {(route["from"], route["to"]): route["paths"] for route in planned.plan.data()["routes"]}
    paths: dict[tuple[int, int], list[list[int]]] = {}
    fractions = list[float]()
    for a, b in pairs.tolist():
        paths_of_pair = routes[routers.routers[a], routers.routers[b]]
        if not paths_of_pair:
            message = (
                f"{routers.network.pair_name(a, b)} is forwarded hop by hop, and what a failure does to such "
                "a plan is not known here; leave --failures out, or give paths"
            )
            raise ScenarioError([Problem("routing.paths", message)])
        paths[a, b] = [[arc_of[link] for link in path["links"]] for path in paths_of_pair]
        fractions += [path["weight"] for path in paths_of_pair]
    candidates = Candidates.from_paths(routers.network, paths)
    return candidates.routing(routers.network.arc_count, fractions)
