"""The worst case of any routing, link by link, and the traffic matrices that cause it: eqs. (6) to (8).

Nothing here knows who made the routing. For each link the most traffic that the bounds allow onto it is a
transportation problem over the pairs that use it. Rows and columns of the hose model that the other bounds
keep in any case are left out; where none is left, every pair is at its bound. What the LP solver answers is
not believed but checked: its matrix, cut down to the bounds, proves the load from below, and its dual values,
by weak duality, from above. The two must agree.
"""

from __future__ import annotations

import highspy
import numpy as np
from scipy import sparse

from .errors import BoundsError, CapacityError, SolverError
from .highs import new_solver
from .model import DemandBounds, Floats, FlowNetwork, Ints, TrafficSplit, WorstCase

CERTAINTY = 1e-9
"""Relative difference allowed between the proofs of a worst-case load from below and from above."""

_UNUSED = 1e-12
"""Shares up to this are none: they are dust of the solvers."""


def worst_case(network: FlowNetwork, bounds: DemandBounds, routing: TrafficSplit) -> WorstCase:
    """The highest load of every link over all matrices within the bounds, with a matrix for each.

    Raises:
        RoutingError: the shares are no routing.
        BoundsError: a pair may have traffic by the bounds and has no route.
        CapacityError: a link without capacity is used.
    """
    routing.check(network)
    check_covered(network, bounds, routing.source, routing.target)
    return load_of_shares(network, bounds, routing.source, routing.target, routing.share)


def check_covered(network: FlowNetwork, bounds: DemandBounds, source: Ints, target: Ints) -> None:
    """Raise BoundsError for a pair that may have traffic and is not among these."""
    bounds.check_nodes(network)
    nodes = len(network.nodes)
    wanted_source, wanted_target = bounds.pairs()
    missing = np.setdiff1d(wanted_source * nodes + wanted_target, source * nodes + target)
    if len(missing):
        first, last = divmod(int(missing[0]), nodes)
        raise BoundsError(
            network.pair_name(first, last),
            f"may have traffic and has no route, like {len(missing) - 1} other pairs",
            "route the pair, or set its bound to 0",
        )


def load_of_shares(
    network: FlowNetwork, bounds: DemandBounds, source: Ints, target: Ints, share: sparse.csr_array
) -> WorstCase:
    """`worst_case` of shares of any kind: they need not lead a pair's whole traffic to its target."""
    by_arc = sparse.csc_array(share)
    oracle = Oracle(bounds, source, target)
    load = np.zeros(network.arc_count)
    pairs_of, traffic_of = list[Ints](), list[Floats]()
    for arc in range(network.arc_count):
        entries = slice(by_arc.indptr[arc], by_arc.indptr[arc + 1])
        used = (by_arc.data[entries] > _UNUSED) & (oracle.ceiling_mbps[by_arc.indices[entries]] > 0)
        pairs = by_arc.indices[entries][used].astype(np.int64)
        weight = by_arc.data[entries][used]
        if len(pairs) and network.capacity_mbps[arc] == 0:
            name = network.pair_name(int(source[pairs[0]]), int(target[pairs[0]]))
            raise CapacityError(
                f"link {network.arc_name(arc)}", f"has no capacity, and traffic from {name} uses it",
                "give it a capacity, or route around it",
            )  # fmt: skip
        traffic_mbps = oracle.worst_traffic(pairs, weight)
        if len(pairs):
            load[arc] = float(weight @ traffic_mbps) / network.capacity_mbps[arc]
        pairs_of.append(pairs)
        traffic_of.append(traffic_mbps)
    starts = np.concatenate([[0], np.cumsum([len(pairs) for pairs in pairs_of])])
    matrix = sparse.csr_array(
        (np.concatenate(traffic_of), np.concatenate(pairs_of), starts), shape=(network.arc_count, len(source))
    )
    return WorstCase(load, source, target, matrix)


class Oracle:
    """Solves the transportation problems over the same bounds, one after the other."""

    def __init__(self, bounds: DemandBounds, source: Ints, target: Ints) -> None:
        self.ceiling_mbps = bounds.ceiling_mbps(source, target)
        self._ingress = bounds.ingress_mbps
        self._egress = bounds.egress_mbps
        self._source = source
        self._target = target
        # No presolve: the programs are small, and it costs more than it saves.
        self._solver = new_solver(
            presolve="off", primal_feasibility_tolerance=1e-10, dual_feasibility_tolerance=1e-10
        )

    def worst_traffic(self, pairs: Ints, weight: Floats) -> Floats:
        """Traffic of these pairs, in Mbps, with the greatest sum of traffic times weight."""
        ceiling = self.ceiling_mbps[pairs]
        source, target = self._source[pairs], self._target[pairs]
        nodes = len(self._ingress)
        rows = np.flatnonzero(np.bincount(source, ceiling, nodes) > self._ingress)
        columns = np.flatnonzero(np.bincount(target, ceiling, nodes) > self._egress)
        if not len(rows) and not len(columns):
            return ceiling
        limits = np.concatenate([self._ingress[rows], self._egress[columns]])
        row_of = np.full(nodes, -1)
        row_of[rows] = np.arange(len(rows))
        column_of = np.full(nodes, -1)
        column_of[columns] = np.arange(len(rows), len(limits))
        member = np.stack([row_of[source], column_of[target]], axis=1)
        scale = float(ceiling.max())
        traffic, dual = self._solve(weight, ceiling / scale, limits / scale, member)
        return self._certified(weight, ceiling, limits, member, traffic * scale, dual)

    def _solve(self, weight: Floats, upper: Floats, limits: Floats, member: Ints) -> tuple[Floats, Floats]:
        inside = member >= 0
        start = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int32)
        index = member[inside].astype(np.int32)
        columns, rows = len(weight), len(limits)
        self._solver.passModel(
            columns, rows, len(index),
            int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMaximize), 0.0,
            weight, np.zeros(columns), upper, np.full(rows, -np.inf), limits, start, index,
            np.ones(len(index)), np.zeros(columns, np.int32),
        )  # fmt: skip
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise SolverError(
                "worst case", "HiGHS found no optimum of a transportation problem", "scale the bounds"
            )
        solution = self._solver.getSolution()
        return np.array(solution.col_value), np.array(solution.row_dual)

    @staticmethod
    def _certified(
        weight: Floats, ceiling: Floats, limits: Floats, member: Ints, traffic: Floats, dual: Floats
    ) -> Floats:
        """The traffic, cut down to the bounds, after the proof that no other has a greater sum."""
        traffic = np.clip(traffic, 0.0, ceiling)
        for side in (0, 1):
            inside = member[:, side] >= 0
            index = member[inside, side]
            total = np.bincount(index, traffic[inside], len(limits))
            traffic[inside] *= np.minimum(1.0, limits / np.maximum(total, limits))[index]
        price = np.append(np.maximum(dual, 0.0), 0.0)  # the last one for pairs without a row: index -1
        reduced = np.maximum(weight - price[member[:, 0]] - price[member[:, 1]], 0.0)
        above = float(price[:-1] @ limits + reduced @ ceiling)
        below = float(weight @ traffic)
        if above - below > CERTAINTY * above:
            raise SolverError(
                "worst case",
                f"proved to {below} Mbps from below and {above} Mbps from above only",
                "scale the bounds",
            )
        return traffic
