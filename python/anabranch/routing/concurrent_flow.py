"""``concurrent-flow``: shares of all pairs together, so that none of them chooses what others choose, too.

Each pair by itself is best off with its own maximum flow, but pairs that share links then crowd on some of
them and leave others empty. Here the rates of all pairs are chosen at once (``concurrent_program``), and the
shares of a pair are those of its rates.

A flow without a rate of its own, such as a transfer, sends what it gets; other applications offer their rate.
Rates are of packets on the wire, so that headers count, and acknowledgments do not. Pairs that carry only
answers go back over the edges of their data, in the same shares.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from anabranch.errors import ScenarioError
from anabranch.routing.answers import answer_to
from anabranch.routing.concurrent_program import (
    ConcurrentProgram,
    ConcurrentRates,
    Floats,
    Ints,
    KnownPaths,
    Links,
    Path,
    PathSearch,
    Sending,
)
from anabranch.routing.nodes_between import nodes_between
from anabranch.routing.opposite_links import OppositeLinks
from anabranch.routing.path_limits import limits_of, without_path
from anabranch.routing.path_metrics import PATH_METRICS
from anabranch.routing.planned import Pair, Planned, WeightedPath, clock_warnings, pairs_of, plan_of
from anabranch.routing.robust import RobustRoutingError
from anabranch.routing.robust.budget import Budget
from anabranch.routing.router_network import as_scenario_error
from anabranch.scenario.algorithms.scheme import ConcurrentFlow as Scheme
from anabranch.scenario.leaves import (
    ConstantVariate,
    CumulativeVariate,
    EmpiricalVariate,
    MessagesSource,
    ParetoVariate,
    Source,
    UdpDatagramSource,
    UniformVariate,
    Variate,
)
from anabranch.scenario.loss import long_run_loss
from anabranch.setup.model import LinkSetup, PlannerSetup, Setup
from anabranch.setup.reach import Access, access_links

_PS_PER_S: Final = 1e12
_BPS_PER_MBPS: Final = 1e6
_FIRST_PATHS: Final = 8
"""Paths of each pair to begin with, where all are allowed."""
_IN_USE: Final = 1e-6
"""Smaller shares are the dust of a solver."""


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """The paths of all pairs, with their shares.

    Args:
        setup: the scenario, resolved.
        planner: the scheme.

    Raises:
        ScenarioError: if a pair has no path within the limits, or there is no plan before the time limit.
    """
    scheme = planner.scheme
    assert isinstance(scheme, Scheme)  # noqa: S101 - it is of this planner
    sending = _sending(setup)
    if not sending.pairs:
        return Planned(plan_of(_answers(setup, scheme, {})))
    begin = time.perf_counter()
    flow = _flow(setup, scheme, sending)
    routes = _routes(setup, sending, flow)
    of_data = list(routes.values())
    routes = _answers(setup, scheme, routes)
    counts = [len(paths) for paths in of_data]
    facts: dict[str, float | int | str] = {
        **_reached(flow),
        "status": flow.status,
        "pairs": len(counts),
        "pairs_on_one_path": counts.count(1),
        "mean_paths": sum(counts) / len(counts),
        "seconds": time.perf_counter() - begin,
    }
    return Planned(plan_of(routes), tuple(_warnings(scheme, flow)), facts)


@dataclass(frozen=True, slots=True)
class _LinkNumbers:
    """A link as a path of one, for the metrics of paths."""

    delay_ms: float
    bottleneck_mbps: float
    igp_cost: int | None
    loss: float
    hops: int = 1

    @classmethod
    def of(cls, link: LinkSetup) -> _LinkNumbers:
        """The numbers of a link."""
        loss = long_run_loss(link.loss)
        return cls(link.delay / 1e9, link.capacity / _BPS_PER_MBPS, link.weight, loss)

    @property
    def capacities_mbps(self) -> tuple[float, ...]:
        """Its capacity alone."""
        return (self.bottleneck_mbps,)


def _sending(setup: Setup) -> Sending:
    """The pairs that send data: how many flows each has, and what it offers."""
    flows: dict[Pair, int] = defaultdict(int)
    offered: dict[Pair, float] = defaultdict(float)
    for flow in setup.flows:
        flows[flow.origin, flow.to] += 1
        offered[flow.origin, flow.to] += _offered_mbps(flow.source)
    for datagrams in setup.datagrams:
        pair, source = (datagrams.origin, datagrams.to), datagrams.source
        if isinstance(source, UdpDatagramSource):
            rate = source.rate / _BPS_PER_MBPS
        else:
            rate = 8 * datagrams.packet_bytes / (source.interval / _PS_PER_S) / _BPS_PER_MBPS
        flows[pair] += 1
        offered[pair] += rate
    pairs = sorted(flows)
    return Sending(
        pairs,
        np.array([flows[pair] for pair in pairs], np.float64),
        np.array([offered[pair] for pair in pairs], np.float64),
    )


def _offered_mbps(source: Source) -> float:
    """What an application sends on average; infinity for as much as TCP takes."""
    if not isinstance(source, MessagesSource):
        return math.inf
    gap_s = _mean(source.gap) / _PS_PER_S
    return 8 * _mean(source.size) / gap_s / _BPS_PER_MBPS if gap_s > 0 else math.inf


def _mean(variate: Variate) -> float:
    """The mean of a variate, in its base unit; negative draws of a normal one are left out of account."""
    match variate:
        case ConstantVariate():
            return variate.value
        case UniformVariate():
            return (variate.low + variate.high) / 2
        case ParetoVariate():
            heavy = variate.shape <= 1
            return math.inf if heavy else variate.scale * variate.shape / (variate.shape - 1)
        case EmpiricalVariate():
            return float(np.average(variate.values, weights=variate.weights or None))
        case CumulativeVariate():
            values, shares = np.array(variate.values), np.array(variate.probabilities)
            between = (values[:-1] + values[1:]) / 2 @ np.diff(shares)
            return float(values[0] * shares[0] + between)
        case _:
            return variate.mean


def _flow(setup: Setup, scheme: Scheme, sending: Sending) -> ConcurrentRates:
    """The rates of all pairs; asked once for setups that differ in nothing that counts for them."""
    question = json.dumps(
        [
            "concurrent-flow",
            [(link.origin, link.to, link.capacity, link.delay, link.weight, long_run_loss(link.loss))
             for link in setup.links],
            list(sending.pairs), sending.flows.tolist(), sending.most_mbps.tolist(),
            scheme.k, scheme.metric, scheme.time_limit,
            None if scheme.limits is None else [scheme.limits.max_delay, scheme.limits.max_loss],
        ]
    )  # fmt: skip
    rates: ConcurrentRates = answer_to(question, lambda: _solved(setup, scheme, sending))
    return rates


def _solved(setup: Setup, scheme: Scheme, sending: Sending) -> ConcurrentRates:
    """The rates over the links between senders and receivers.

    Others stay out of the program: of several optima the solver would end at another one for their sake.
    """
    between = _Between.of(setup, sending)
    links = Links(
        between.tail, between.head,
        np.array([link.capacity / _BPS_PER_MBPS for link in between.links]),
        _costs(between.links, setup.core().metric_fallback(scheme.metric) or scheme.metric),
    )  # fmt: skip
    first = _candidates(setup, scheme, scheme.k or _FIRST_PATHS, sending.pairs)
    candidates = [
        (number, between.numbers(path)) for number, pair in enumerate(sending.pairs) for path in first[pair]
    ]
    known = KnownPaths(len(between.links), candidates)
    every = PathSearch(links, between.pairs, between.nodes) if scheme.k is None else None
    budget = Budget(scheme.time_limit / _PS_PER_S)
    program = ConcurrentProgram(replace(sending, pairs=between.pairs), links, known, every, budget)
    try:
        rates = program.solve()
    except RobustRoutingError as error:
        raise as_scenario_error(error) from None
    return replace(rates, paths=[between.path(numbers) for numbers in rates.paths])


@dataclass(frozen=True)
class _Between:
    """The links that a path of some pair can cross, with numbers of their own, as have their nodes."""

    links: Sequence[LinkSetup]
    tail: Ints
    head: Ints
    pairs: Sequence[Pair]
    nodes: int
    _link: Sequence[int]
    """The link of each number."""
    _number: Mapping[int, int]
    """The number of each link."""

    @classmethod
    def of(cls, setup: Setup, sending: Sending) -> _Between:
        """Those of a setup for what is sent."""
        tail = np.array([link.origin for link in setup.links], np.int64)
        head = np.array([link.to for link in setup.links], np.int64)
        ends = {end for pair in sending.pairs for end in pair}
        crossable = nodes_between(tail, head, ends, len(setup.nodes))
        chosen = np.flatnonzero(crossable[tail] & crossable[head])
        place = np.cumsum(crossable) - 1
        pairs = [(int(place[origin]), int(place[to])) for origin, to in sending.pairs]
        link = chosen.tolist()
        return cls(
            [setup.links[number] for number in link], place[tail[chosen]], place[head[chosen]], pairs,
            int(crossable.sum()), link, {number: at for at, number in enumerate(link)},
        )  # fmt: skip

    def numbers(self, path: Path) -> Path:
        """A path by the numbers of its links here."""
        return tuple(self._number[link] for link in path)

    def path(self, numbers: Path) -> Path:
        """The other way round."""
        return tuple(self._link[number] for number in numbers)


def _candidates(setup: Setup, scheme: Scheme, k: int, pairs: Sequence[Pair]) -> dict[Pair, Sequence[Path]]:
    """The first paths of each pair by the metric.

    Raises:
        ScenarioError: a pair has none within the limits.
    """
    limits = limits_of(scheme)
    candidates = setup.core().candidate_paths(k, scheme.metric, pairs, **(limits.core() if limits else {}))
    if limits and (without := [(origin, to) for origin, to, paths in candidates if not paths]):
        raise ScenarioError(without_path(setup, limits, without))
    return {(origin, to): paths for origin, to, paths in candidates}


def _costs(links: Sequence[LinkSetup], metric: str) -> Floats:
    """What each link costs by the metric; one where it tells none apart, as ties are broken by hops."""
    numbers = [_LinkNumbers.of(link) for link in links]
    cost = np.array([PATH_METRICS[metric].of(link) for link in numbers])
    if metric == "hops-then-delay":
        delay = np.array([link.delay_ms for link in numbers])
        cost = cost + delay / (1 + delay.sum())
    return cost if cost.any() else np.ones(len(cost))


def _routes(setup: Setup, sending: Sending, flow: ConcurrentRates) -> dict[Pair, list[WeightedPath]]:
    """Paths of the pairs that send data, with the shares of their rates.

    Pairs between the same routers have the same shares, those of all their rates together: that loads the
    links between as their own would, because no pair has a choice before its first router or behind its last.
    """
    stubs = _stubs(setup.links)
    ends = [(stubs.get(origin), stubs.get(to)) for origin, to in sending.pairs]
    groups: dict[Hashable, dict[Path, float]] = defaultdict(lambda: defaultdict(float))
    group_of: list[Hashable] = []
    for (origin, to), (first, last) in zip(sending.pairs, ends, strict=True):
        access = [first and setup.links[first.out], last and setup.links[last.into]]
        # With the same access a path that one of them may take is within the limits of the other, too.
        alike = tuple((link.delay, long_run_loss(link.loss)) for link in access if link)
        group_of.append((first.router if first else origin, last.router if last else to, alike))
    for number, path, rate in zip(flow.pair.tolist(), flow.paths, flow.rate_mbps.tolist(), strict=True):
        first, last = ends[number]
        groups[group_of[number]][path[first is not None : len(path) - (last is not None)]] += rate
    routes: dict[Pair, list[WeightedPath]] = {}
    for pair, (first, last), group in zip(sending.pairs, ends, group_of, strict=True):
        inner = groups[group]
        total = sum(inner.values())
        out, into = (first.out,) if first else (), (last.into,) if last else ()
        routes[pair] = [
            WeightedPath((*out, *path, *into), rate / total)
            for path, rate in inner.items()
            if rate > _IN_USE * total
        ]
    return routes


def _stubs(links: Sequence[LinkSetup]) -> dict[int, Access]:
    """How nodes with one link each way hang on their router."""
    degree = Counter(link.origin for link in links) | Counter(link.to for link in links)
    return access_links(links, lambda node: degree[node] > 1)


def _answers(
    setup: Setup, scheme: Scheme, routes: Mapping[Pair, list[WeightedPath]]
) -> dict[Pair, list[WeightedPath]]:
    """The routes, and those of pairs that carry only answers: back as their data came, else the best path."""
    opposites = OppositeLinks(setup.links)
    answers = dict(routes)
    for origin, to in pairs_of(setup):
        if (origin, to) not in routes:
            there = routes.get((to, origin), ())
            back = [(opposites.of_path(path.links), path.weight) for path in there]
            answers[origin, to] = [WeightedPath(links, weight) for links, weight in back if links is not None]
    alone = [pair for pair, paths in answers.items() if not paths]
    if alone:
        best = _candidates(setup, scheme, 1, alone)
        answers |= {pair: [WeightedPath(path, 1.0) for path in paths] for pair, paths in best.items()}
    return answers


def _reached(flow: ConcurrentRates) -> dict[str, float]:
    """The predicted rates with their bounds, where they have one."""
    reached = {"total_mbps": flow.total_mbps, "total_bound_mbps": flow.total_bound_mbps}
    if math.isfinite(flow.least_mbps):
        least = {"least_flow_mbps": flow.least_mbps, "least_flow_bound_mbps": flow.least_bound_mbps}
        reached = {**least, "gap": 1 - flow.least_mbps / flow.least_bound_mbps, **reached}
    return {name: value for name, value in reached.items() if math.isfinite(value)}


def _warnings(scheme: Scheme, flow: ConcurrentRates) -> list[str]:
    if flow.status == "optimal":
        return []
    limit_s = scheme.time_limit / _PS_PER_S
    bound = f", the bound {flow.least_bound_mbps:.6g}" if math.isfinite(flow.least_bound_mbps) else ""
    return [
        f"routing.scheme.time_limit: {limit_s:g} s were over before the optimum was proved: the flow that "
        f"gets least has {flow.least_mbps:.6g} Mbps{bound}; all have {flow.total_mbps:.6g} Mbps together",
        *clock_warnings(flow.status),
    ]
