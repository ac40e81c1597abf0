"""Cases by which weights are judged: the traffic with what is down, and the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.routing.robust import DemandBounds
from anabranch.routing.router_failures import Failure, arcs_down
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.algorithms.scheme import Ecmp
from anabranch.setup.model import Setup

Floats = NDArray[np.float64]
Weights = NDArray[np.uint32]
_WORST_CASES: Final = 10
"""Cases that join the search at once."""
_NEAR: Final = 0.8
"""Part of the highest load from which on a case can be the next worst one."""
TOUCH_S: Final = 1.2e-8
"""Seconds of the search for a node or an arc that a tree touches: 0.8 to 1.7e-8 measured on networks of 12 to
50 nodes, on one core of a server of 2023."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """The effect of weights on everything that may happen."""

    load: float
    """The highest load of all."""
    failure: int
    """The failure in which it occurs, 0 for none."""
    worst: tuple[int, ...]
    """The failures with the highest loads, the highest first."""
    work_s: float
    """Work of this judgement, in seconds (see ``routing/robust/budget.py``)."""


Step = Sequence[tuple[int, int]]
"""Arcs that get other weights together, and these."""


def weight_cases(
    routers: RouterNetwork, failures: Sequence[Failure], bounds: DemandBounds | None = None
) -> _core.WeightCases:
    """A case for each failure, as the core evaluates it: of these bounds, of those of the routers if None."""
    network, bounds = routers.network, bounds or routers.bounds
    most = np.zeros(bounds.pair_mbps.shape)
    source, target = bounds.pairs()
    most[source, target] = bounds.ceiling_mbps(source, target)
    hose = bounds.ingress_mbps, bounds.egress_mbps
    # Where no node has more than its own by the bounds of its pairs these are one matrix.
    is_bound = any((most.sum(axis=1 - side) > limit).any() for side, limit in enumerate(hose))
    return _core.WeightCases(
        network.tail.astype(np.uint32),
        network.head.astype(np.uint32),
        np.array(network.capacity_mbps),
        most,
        (np.array(hose[0]), np.array(hose[1])) if is_bound else None,
        [arcs_down(routers, failure).tolist() for failure in failures],
    )


class Judge:
    """Says what weights do in all failures."""

    def __init__(self, routers: RouterNetwork, failures: Sequence[Failure], jobs: int) -> None:
        self._count = len(failures)
        self._is_matrix = routers.setup.demand is None or routers.setup.demand.matrix is not None
        # A part for each thread; what it says of a failure does not depend on the others.
        self._parts = [slice(part, None, jobs) for part in range(min(jobs, len(failures)))]
        self._cores = [weight_cases(routers, failures[part]) for part in self._parts]

    def judge(self, weights: Weights) -> Judgement:
        """The worst failures by these weights."""
        highest = np.zeros(self._count)
        with ThreadPoolExecutor(len(self._cores)) as pool:
            answers = list(pool.map(lambda core: core.loads(weights), self._cores))
        for part, (loads, _) in zip(self._parts, answers, strict=True):
            highest[part] = loads.max(axis=1)
        order = np.argsort(-highest, kind="stable")[:_WORST_CASES]
        near = tuple(int(case) for case in order if highest[case] >= _NEAR * highest[order[0]])
        work_s = sum(work for _, work in answers) * TOUCH_S
        return Judgement(float(highest[order[0]]), int(order[0]), near, work_s)

    def along(
        self, present: Weights, steps: Sequence[Step], judgement_s: float, left_s: float
    ) -> list[float | None]:
        """The highest load after each step on top of those before it; None where so much work was done.

        With one matrix a step changes few trees, and all are looked at.
        """
        most = len(steps) if self._is_matrix else int(max(left_s, 0.0) / judgement_s)
        with ThreadPoolExecutor(len(self._cores)) as pool:
            answers = pool.map(lambda core: core.along(present, steps[:most]), self._cores)
            loads: list[float | None] = [max(of_cases) for of_cases in zip(*answers, strict=True)]
        return loads + [None] * (len(steps) - len(loads))


def with_weights(setup: Setup, routers: RouterNetwork, weights: Weights) -> Setup:
    """The setup with ECMP by these weights of the links between routers, for all of its traffic."""
    of_link = dict(zip(routers.links, weights.tolist(), strict=True))
    links = [
        replace(link, weight=of_link.get(number, link.weight or 1)) for number, link in enumerate(setup.links)
    ]
    scheme = Ecmp.filled({"metric": "weight"})
    routing = replace(setup.routing, scheme=scheme, others=[scheme for _ in setup.routing.others])
    return setup.replace(links=links, routing=routing)
