"""The worst case of any routing, link by link, and the traffic matrices that cause it: eqs. (6) to (8).

Nothing here knows who made the routing. For each link the most traffic that the bounds allow onto it is a
transportation problem over the pairs that use it. Rows and columns of the hose model that the other bounds
keep in any case are left out; where none is left, every pair is at its bound. What the LP solver answers is
not believed but checked: its matrix, cut down to the bounds, proves the load from below, and its dual values,
by weak duality, from above. Both are reported; they mostly agree to the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from .errors import BoundsError, CapacityError, SolverError
from .highs import new_solver
from .model import DemandBounds, Floats, FlowNetwork, Ints, TrafficSplit, WorstCase

_UNUSED = 1e-12
"""Shares up to this are none: they are dust of the solvers."""

_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4
"""HiGHS's numbers of its methods."""

_MANY = 200
"""Pairs on a link from which on it is worth a look which of them are alike."""


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


def check_connected(network: FlowNetwork, bounds: DemandBounds) -> None:
    """Raise BoundsError for a pair that may have traffic and no path over arcs with capacity."""
    bounds.check_nodes(network)
    nodes = len(network.nodes)
    usable = network.capacity_mbps > 0
    graph = sparse.csr_array(
        (np.ones(usable.sum()), (network.tail[usable], network.head[usable])), shape=(nodes, nodes)
    )
    hops = sparse.csgraph.shortest_path(graph, unweighted=True)
    source, target = bounds.pairs()
    cut = np.flatnonzero(np.isinf(hops[source, target]))
    if len(cut):
        raise BoundsError(
            network.pair_name(int(source[cut[0]]), int(target[cut[0]])),
            f"may have traffic and has no path, like {len(cut) - 1} other pairs",
            "connect the pair, or set its bound to 0",
        )


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
    load, proved = np.zeros(network.arc_count), np.zeros(network.arc_count)
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
        traffic_mbps, most_mbps = oracle.worst_traffic(pairs, weight)
        if len(pairs):
            load[arc] = float(weight @ traffic_mbps) / network.capacity_mbps[arc]
            proved[arc] = most_mbps / network.capacity_mbps[arc]
        pairs_of.append(pairs)
        traffic_of.append(traffic_mbps)
    starts = np.concatenate([[0], np.cumsum([len(pairs) for pairs in pairs_of])])
    matrix = sparse.csr_array(
        (np.concatenate(traffic_of), np.concatenate(pairs_of), starts), shape=(network.arc_count, len(source))
    )
    return WorstCase(load, source, target, matrix, np.maximum(proved, load))


@dataclass(frozen=True)
class Groups:
    """Pairs of one link whose sources, and whose targets, the link cannot tell apart, as one pair each.

    Sources with equal bounds that have equal shares and bounds to the same targets form a group, and so do
    targets. The mean of a matrix over all orders of a group's members has the same sum and keeps the bounds,
    hence the sum over a group is all that matters.
    """

    source: Ints
    """Group of sources of each pair of groups."""
    target: Ints
    weight: Floats
    ceiling_mbps: Floats
    """The most of all pairs of two groups together."""
    ingress_mbps: Floats
    """The most from each group of sources."""
    egress_mbps: Floats
    pairs: Floats
    """Pairs in each pair of groups."""
    of_pair: Ints
    """The pair of groups of each pair."""

    @classmethod
    def of(
        cls, source: Ints, target: Ints, weight: Floats, ceiling: Floats, ingress: Floats, egress: Floats
    ) -> Groups:
        """The groups of these pairs."""
        sources, row = _compact(source)
        targets, column = _compact(target)
        table = np.zeros((2, len(sources), len(targets)))
        table[0, row, column], table[1, row, column] = weight, ceiling
        of_source = _alike(np.concatenate([ingress[sources, None], *table], axis=1))
        of_target = _alike(np.concatenate([egress[targets, None], table[0].T, table[1].T], axis=1))
        width = int(of_target.max()) + 1
        entries, of_pair = _compact(of_source[row] * width + of_target[column])
        count = np.bincount(of_pair)
        first = np.empty(len(entries), np.int64)
        first[of_pair[::-1]] = np.arange(len(of_pair))[::-1]
        return cls(
            entries // width, entries % width, weight[first], ceiling[first] * count,
            np.asarray(np.bincount(of_source, ingress[sources]), np.float64),
            np.asarray(np.bincount(of_target, egress[targets]), np.float64),
            count.astype(np.float64), of_pair,
        )  # fmt: skip


def _compact(numbers: Ints) -> tuple[Ints, Ints]:
    """The numbers that there are, in order, and the place among them of each; without a sort."""
    there = np.zeros(int(numbers.max()) + 1, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _alike(rows: Floats) -> Ints:
    """A number for each row of numbers that are not negative: the same for equal rows, in their order."""
    # The bytes of such numbers, highest first, are in the order of the numbers, and compared at once.
    keys = [row.tobytes() for row in rows.astype(">f8")]
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([number[key] for key in keys])


def _binding(source: Ints, target: Ints, ceiling: Floats, hose: tuple[Floats, Floats]) -> tuple[Ints, Ints]:
    """The sources, and the targets, whose pairs at their bounds together have more than theirs."""
    ingress, egress = hose
    return (
        np.flatnonzero(np.bincount(source, ceiling, len(ingress)) > ingress),
        np.flatnonzero(np.bincount(target, ceiling, len(egress)) > egress),
    )


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

    def worst_traffic(self, pairs: Ints, weight: Floats) -> tuple[Floats, float]:
        """Traffic of these pairs, in Mbps, with the greatest sum of traffic times weight; and a bound of it.

        No matrix within the bounds has a greater sum than the second, in Mbps.
        """
        ceiling = self.ceiling_mbps[pairs]
        source, target = self._source[pairs], self._target[pairs]
        hose = self._ingress, self._egress
        if len(pairs) >= _MANY and any(map(len, _binding(source, target, ceiling, hose))):
            groups = Groups.of(source, target, weight, ceiling, self._ingress, self._egress)
            if 2 * len(groups.weight) <= len(pairs):
                traffic, most = self._worst(
                    groups.source, groups.target, groups.weight, groups.ceiling_mbps,
                    (groups.ingress_mbps, groups.egress_mbps),
                )  # fmt: skip
                return (traffic / groups.pairs)[groups.of_pair], most
        return self._worst(source, target, weight, ceiling, hose)

    def _worst(
        self, source: Ints, target: Ints, weight: Floats, ceiling: Floats, hose: tuple[Floats, Floats]
    ) -> tuple[Floats, float]:
        """The same for pairs with these bounds: of pairs, and by source and by target."""
        ingress, egress = hose
        rows, columns = _binding(source, target, ceiling, hose)
        if not len(rows) and not len(columns):
            return ceiling, float(weight @ ceiling)
        limits = np.concatenate([ingress[rows], egress[columns]])
        row_of = np.full(len(ingress), -1)
        row_of[rows] = np.arange(len(rows))
        column_of = np.full(len(egress), -1)
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
        # The dual method stops short of its tolerance where shares differ in their last digits alone.
        for strategy in (_DUAL_SIMPLEX, _PRIMAL_SIMPLEX):
            self._solver.setOptionValue("simplex_strategy", strategy)
            self._solver.clearSolver()
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                break
        else:
            raise SolverError(
                "worst case", "HiGHS found no optimum of a transportation problem", "scale the bounds"
            )
        solution = self._solver.getSolution()
        return np.array(solution.col_value), np.array(solution.row_dual)

    @staticmethod
    def _certified(
        weight: Floats, ceiling: Floats, limits: Floats, member: Ints, traffic: Floats, dual: Floats
    ) -> tuple[Floats, float]:
        """The traffic, cut down to the bounds, and what the dual values prove that none exceeds."""
        traffic = np.clip(traffic, 0.0, ceiling)
        for side in (0, 1):
            inside = member[:, side] >= 0
            index = member[inside, side]
            total = np.bincount(index, traffic[inside], len(limits))
            traffic[inside] *= np.minimum(1.0, limits / np.maximum(total, limits))[index]
        price = np.append(np.maximum(dual, 0.0), 0.0)  # the last one for pairs without a row: index -1
        reduced = np.maximum(weight - price[member[:, 0]] - price[member[:, 1]], 0.0)
        return traffic, float(price[:-1] @ limits + reduced @ ceiling)
