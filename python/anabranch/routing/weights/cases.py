"""Cases by which weights are judged: matrices of traffic with what is down, and the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.routing.pair_shares import ends_of, sending, shares_of_pairs
from anabranch.routing.planned import Planned
from anabranch.routing.robust.bound import within_bounds
from anabranch.routing.robust.budget import ARC_S, SHARE_S
from anabranch.routing.robust.worst_case import load_of_shares
from anabranch.routing.router_failures import Failure, arcs_down
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.algorithms.scheme import Ecmp
from anabranch.setup.flow_columns import pair_code
from anabranch.setup.model import Setup

Floats = NDArray[np.float64]
Weights = NDArray[np.uint32]
_WORST_CASES: Final = 10
"""Cases that join the search at once."""
_ANEW_S: Final = 1e-2
"""Seconds until the core has other weights and a plan by them: 7 to 17 ms measured up to 50 nodes."""
_NEAR: Final = 0.8
"""Part of the highest load from which on a case can be the next worst one."""


@dataclass(frozen=True, eq=False)
class TrafficCase:
    """A matrix of traffic while something is down."""

    failure: int
    """The place among the failures; 0 for none."""
    traffic_mbps: Floats
    """From row to column."""
    name: tuple[int, int]
    """The failure, and the arc of whose load the matrix is the worst case; -1 for the one matrix there is."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """The effect of weights on everything that may happen."""

    load: float
    """The highest load of all."""
    failure: int
    """The failure in which it occurs, 0 for none."""
    worst: tuple[TrafficCase, ...]
    """The cases with the highest loads, the highest first."""


class Judge(Protocol):
    """Says what weights do."""

    def judge(self, weights: Weights) -> Judgement:
        """The worst that may happen by them."""

    def along(self, present: Weights, steps: Sequence[Step], left_s: float) -> list[float | None]:
        """The highest load after each step on top of those before it; None where so much work was done."""

    @property
    def work_s(self) -> float:
        """Work of a judgement in seconds (see ``routing/robust/budget.py``)."""


def weight_cases(
    routers: RouterNetwork, failures: Sequence[Failure], cases: Sequence[TrafficCase]
) -> _core.WeightCases:
    """Cases as the core evaluates them."""
    network = routers.network
    matrices = dict[int, int]()
    distinct = list[Floats]()
    for case in cases:
        if id(case.traffic_mbps) not in matrices:
            matrices[id(case.traffic_mbps)] = len(distinct)
            distinct.append(case.traffic_mbps)
    return _core.WeightCases(
        network.tail.astype(np.uint32),
        network.head.astype(np.uint32),
        np.array(network.capacity_mbps),
        distinct,
        [
            (matrices[id(case.traffic_mbps)], arcs_down(routers, failures[case.failure]).tolist())
            for case in cases
        ],
    )


Step = Sequence[tuple[int, int]]
"""Arcs that get other weights together, and these."""


class MatrixJudge:
    """The judge where the traffic is known."""

    def __init__(self, routers: RouterNetwork, failures: Sequence[Failure]) -> None:
        traffic = np.array(routers.bounds.pair_mbps)
        np.fill_diagonal(traffic, 0.0)
        self._cases = [TrafficCase(number, traffic, (number, -1)) for number in range(len(failures))]
        self._core = weight_cases(routers, failures, self._cases)
        network = routers.network
        tree = len(network.nodes) + network.arc_count
        self._work_s = len(failures) * len(network.nodes) * tree * TOUCH_S

    @property
    def work_s(self) -> float:
        """Work of a judgement in seconds."""
        return self._work_s

    def judge(self, weights: Weights) -> Judgement:
        """The worst failure by these weights."""
        highest = self._core.loads(weights).max(axis=1)
        order = np.argsort(-highest, kind="stable")[:_WORST_CASES]
        near = [int(case) for case in order if highest[case] >= _NEAR * highest[order[0]]]
        return Judgement(float(highest[order[0]]), int(order[0]), tuple(self._cases[case] for case in near))

    def along(
        self,
        present: Weights,
        steps: Sequence[Step],
        left_s: float,  # noqa: ARG002 - a step changes few trees, and all are looked at
    ) -> list[float | None]:
        """The highest load after each step."""
        return [*self._core.along(present, steps)]


class BoundsJudge:
    """The judge over all matrices within bounds: the core plans anew, the evaluator finds the worst."""

    def __init__(self, routers: RouterNetwork, failures: Sequence[Failure], jobs: int) -> None:
        self._routers = routers
        self._failures = failures
        self._jobs = jobs
        source, target = routers.bounds.pairs()
        self._pairs = np.stack([source, target], axis=1)
        self._sending = sending(routers, routers.setup, self._pairs)
        nodes = ends_of(routers, self._pairs)
        self._there, self._back = pair_code(*nodes.T), pair_code(*nodes.T[::-1])
        of_shares = len(source) * np.log2(2 + len(routers.network.nodes)) * SHARE_S
        of_each = routers.network.arc_count * ARC_S + of_shares + _ANEW_S
        self._work_s = float(len(failures) * of_each)

    @property
    def work_s(self) -> float:
        """Work of a judgement in seconds."""
        return self._work_s

    def judge(self, weights: Weights) -> Judgement:
        """The worst matrices by these weights."""
        core = with_weights(self._sending, self._routers, weights).core()

        def of_failure(number: int) -> list[tuple[float, TrafficCase]]:
            return self._of_failure(core, number)

        numbers = range(len(self._failures))
        if self._jobs == 1 or len(numbers) == 1:
            judged = [case for number in numbers for case in of_failure(number)]
        else:
            with ThreadPoolExecutor(self._jobs) as pool:
                judged = [case for cases in pool.map(of_failure, numbers) for case in cases]
        judged.sort(key=lambda one: -one[0])
        highest = judged[0][0]
        near = [case for load, case in judged[:_WORST_CASES] if load >= _NEAR * highest]
        return Judgement(highest, near[0].failure, tuple(near))

    def along(self, present: Weights, steps: Sequence[Step], left_s: float) -> list[float | None]:
        """The highest load after each step, as far as the work goes."""
        weights, loads = present.copy(), list[float | None]()
        for step in steps:
            for arc, weight in step:
                weights[arc] = weight
            left_s -= self._work_s
            loads.append(self.judge(weights).load if left_s >= 0 else None)
        return loads

    def _of_failure(self, core: _core.Setup, number: int) -> list[tuple[float, TrafficCase]]:
        """The highest loads while this is down, each with a matrix."""
        routers, failure = self._routers, self._failures[number]
        planned = Planned(core.plan(None, 0, sorted(failure.links)))
        origins, to, _ = planned.plan.ends()
        codes = pair_code(origins, to)
        left = self._pairs[np.isin(self._there, codes) & np.isin(self._back, codes)]
        if not len(left):
            return []
        share = shares_of_pairs(routers, planned, left)
        worst = load_of_shares(routers.network, routers.bounds, left[:, 0], left[:, 1], share)
        nodes = len(routers.network.nodes)
        cases = []
        for arc in np.argsort(-worst.load, kind="stable")[:_WORST_CASES].tolist():
            # What other pairs may send besides makes the same matrix hard for other weights, too.
            full = within_bounds(
                routers.bounds,
                worst.source,
                worst.target,
                worst.traffic_mbps[[arc], :].toarray()[0],
                fill=True,
            )
            traffic = np.zeros((nodes, nodes))
            traffic[worst.source, worst.target] = full
            cases.append((float(worst.load[arc]), TrafficCase(number, traffic, (number, arc))))
        return cases


TOUCH_S: Final = 1.2e-8
"""Seconds of the search for a node or an arc that a tree touches: 0.8 to 1.7e-8 measured on networks of 12 to
50 nodes, on one core of a server of 2023."""


def with_weights(setup: Setup, routers: RouterNetwork, weights: Weights) -> Setup:
    """The setup with ECMP by these weights of the links between routers, for all of its traffic."""
    of_link = dict(zip(routers.links, weights.tolist(), strict=True))
    links = [
        replace(link, weight=of_link.get(number, link.weight or 1)) for number, link in enumerate(setup.links)
    ]
    scheme = Ecmp.filled({"metric": "weight"})
    routing = replace(setup.routing, scheme=scheme, others=[scheme for _ in setup.routing.others])
    return setup.replace(links=links, routing=routing)
