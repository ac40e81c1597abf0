"""Routing through intermediate nodes: within seconds a routing over all paths, which is often an optimal one.

Two-phase routing (Kodialam, Lakshman and Sengupta, Efficient and Robust Routing of Highly Variable Traffic,
HotNets 2004) sends the part p_k of every pair's traffic through node k, whatever its target. A link then sees
only what enters and leaves at each node, not which pair it is: with the flows a_i from source i to the
intermediates and b_j from them to target j, the share of pair (i, j) on link l is a_i(l) + b_j(l), and the
load at most

    (sum over i of R_i a_i(l) + sum over j of C_j b_j(l)) / c(l)

These are eqs. (9) to (14) with a_i and b_j for the dual values r and y, and q = 0. So the best p and flows
come from a program of nodes times links in place of pairs times links.

Where nodes may send what they may receive, links carry as much in both directions and the pipe model does not
bind, no routing is better in any case that was tried, among them every network of SNDlib with equal bounds. A
theorem close to this says that for any prices of links a tree is the cheapest reservation for the hose model
(Goyal, Olver and Shepherd, The VPN Conjecture Is True, Journal of the ACM 60, 2013). Nothing here relies on
it: the dual values of (10) say where the network is narrow, and `partition` proves a bound from them.

Where the pipe model binds, the part delta of every pair's traffic goes directly, by flows d_i from each
source that carry all its pairs at their bounds, and p sums up to the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .budget import FLOW_PATH_S, Budget
from .decompose import decompose
from .highs import Answer, Entries, Program, solve_interior
from .link_traffic import finite_bounds
from .model import DemandBounds, Floats, FlowNetwork, TrafficSplit

_SLACK = 0.25
"""What the routing with few hops may have above the least load, as a part of the tolerance."""
_LEAST_TOLERANCE = 1e-6
_DUST = 1e-9
"""Shares up to this are none."""


@dataclass(frozen=True)
class TwoPhase:
    """The best routing through intermediates, and the links that keep it from a better one."""

    routing: TrafficSplit | None
    """None where the work allowed did not suffice."""
    weight: Floats
    """Dual value of (10) for each arc, shape (arcs,); zeros where there are none."""
    programs: int
    """Linear programs solved."""


def two_phase(network: FlowNetwork, bounds: DemandBounds, budget: Budget, tolerance: float) -> TwoPhase:
    """The routing through intermediate nodes with the least load, and of these one of few hops.

    Args:
        network: the network, in which every pair that may have traffic has a path.
        bounds: the demand bounds.
        budget: what work is left; is spent.
        tolerance: by which part the load may be above the least, for fewer hops.

    Raises:
        SolverError: the solver failed.
    """
    program = _Program(network, bounds)
    first = solve_interior(program.least_load(), budget)
    weight = program.weight(first)
    if first.ending != "optimal":
        return TwoPhase(None, weight, 1)
    most = first.primal[-1] * (1 + _SLACK * min(tolerance, _LEAST_TOLERANCE))
    second = solve_interior(program.fewest_hops(most), budget, vertex=True)
    if second.ending != "optimal":
        return TwoPhase(None, weight, 2)
    routing = decompose(network, program.source, program.target, program.share(second.primal))
    budget.spend(FLOW_PATH_S * routing.by_paths[0].path_count)
    return TwoPhase(routing, weight, 2)


class _Program:
    """Columns: a of each source, b of each target, d of each source, by arc; p of each node, delta, load.

    Rows: conservation of each of these flows at every node; p and delta are one together; (10) of each arc.
    """

    def __init__(self, network: FlowNetwork, bounds: DemandBounds) -> None:
        self._network = network
        self.source, self.target = bounds.pairs()
        finite = finite_bounds(bounds)
        self._arcs = np.flatnonzero(network.capacity_mbps > 0)
        self._sources, self._targets = np.unique(self.source), np.unique(self.target)
        self._rates = np.concatenate(
            [
                finite.ingress_mbps[self._sources],
                finite.egress_mbps[self._targets],
                finite.pair_mbps[self._sources].sum(axis=1),
            ]
        )
        self._direct = finite.pair_mbps[self._sources] / self._rates[-len(self._sources) :, None]
        # Loads in parts of this one are about 1, which is what the solver's tolerances are for.
        ends = self._rates[: -len(self._sources)]
        self._relative = self._rates * float(network.capacity_mbps.sum() / ends.sum())
        self._nodes = len(network.nodes)
        self._flows = len(self._rates) * len(self._arcs)
        self._load_row = len(self._rates) * self._nodes + 1
        self._entries = self._made()

    def _made(self) -> Entries:
        """All entries but those of the load."""
        network, arcs, nodes = self._network, self._arcs, np.arange(self._nodes)
        tail, head, entries = network.tail[arcs], network.head[arcs], Entries()
        p, delta = self._flows + nodes, self._flows + self._nodes
        ends = np.concatenate([self._sources, self._targets])
        for flow in range(len(self._rates)):
            row, column = flow * self._nodes, flow * len(arcs) + np.arange(len(arcs))
            to_target = len(self._sources) <= flow < len(ends)
            out, into = (head, tail) if to_target else (tail, head)
            entries.add(row + out, column, 1.0)
            entries.add(row + into, column, -1.0)
            if flow < len(ends):  # What leaves at the end is 1 - delta, what stays at k is p_k.
                entries.add(row + nodes, p, 1.0)
                entries.add(np.array([row + ends[flow]]), np.array([delta]), 1.0)
            else:
                of_source = flow - len(ends)
                leaves = self._direct[of_source].copy()
                leaves[self._sources[of_source]] = -1.0
                entries.add(row + nodes, np.full(len(nodes), delta), leaves)
            entries.add(self._load_row + arcs, column, self._relative[flow] / network.capacity_mbps[arcs])
        both = np.append(p, delta)
        entries.add(self._load_row - 1, both, 1.0)
        return entries

    def _limits(self, load: float) -> tuple[Floats, Floats]:
        rows = self._load_row + self._network.arc_count
        lower, upper = np.zeros(rows), np.zeros(rows)
        ends = np.concatenate([self._sources, self._targets])
        at_ends = np.append(np.arange(len(ends)) * self._nodes + ends, self._load_row - 1)
        lower[at_ends] = upper[at_ends] = 1.0
        lower[self._load_row :] = -np.inf
        upper[self._load_row :] = load
        return lower, upper

    def least_load(self) -> Program:
        """The load is the last column, as a part of what all nodes send and receive over all capacities."""
        column = self._flows + self._nodes + 1
        rows = self._load_row + self._network.arc_count
        loads = sparse.csc_array(
            (-np.ones(len(self._arcs)), (self._load_row + self._arcs, np.zeros(len(self._arcs), np.int64))),
            shape=(rows, 1),
        )
        matrix = sparse.csc_array(sparse.hstack([self._entries.matrix(rows, column), loads]))
        return Program(matrix, *self._limits(0.0), np.append(np.zeros(column), 1.0))

    def fewest_hops(self, load: float) -> Program:
        """The least sum of all flows on all arcs, with a load up to this, in the measure of `least_load`."""
        columns = self._flows + self._nodes + 1
        cost = np.zeros(columns)
        cost[: self._flows] = 1.0
        matrix = self._entries.matrix(self._load_row + self._network.arc_count, columns)
        return Program(matrix, *self._limits(load), cost)

    def weight(self, answer: Answer) -> Floats:
        """Dual value of (10) for each arc."""
        if not len(answer.row_dual):
            return np.zeros(self._network.arc_count)
        return np.maximum(-answer.row_dual[self._load_row :], 0.0)

    def share(self, primal: Floats) -> sparse.csr_array:
        """Share of each pair on each arc."""
        flows = np.zeros((len(self._rates), self._network.arc_count))
        flows[:, self._arcs] = np.maximum(primal[: self._flows], 0.0).reshape(len(flows), -1)
        sources, targets = len(self._sources), len(self._targets)
        row = np.searchsorted(self._sources, self.source)
        share = flows[row] + flows[sources + np.searchsorted(self._targets, self.target)]
        if primal[self._flows + self._nodes] > _DUST:
            for number, flow in enumerate(flows[sources + targets :]):
                pairs = np.flatnonzero(row == number)
                share[pairs] += self._by_target(flow, number)[self.target[pairs]]
        share[share <= _DUST] = 0.0
        return sparse.csr_array(share)

    def _by_target(self, flow: Floats, number: int) -> Floats:
        """The part of a source's flow that goes to each node, times its pair's, shape (nodes, arcs).

        Backwards from a node, traffic comes over the arcs into it in proportion to their flows. A flow of
        fewest hops has no circles, so this ends at the source.
        """
        network, nodes = self._network, self._nodes
        flow = np.where(flow > _DUST, flow, 0.0)
        arrives = np.bincount(network.head, flow, nodes)
        part = np.where(arrives[network.head] > 0, flow / np.maximum(arrives[network.head], 1e-300), 0.0)
        source = self._sources[number]
        part[network.head == source] = 0.0
        back = np.zeros((nodes, nodes))
        np.add.at(back, (network.head, network.tail), part)
        visits = np.linalg.inv(np.eye(nodes) - back)
        absorbed = np.bincount(network.head, flow, nodes) - np.bincount(network.tail, flow, nodes)
        absorbed[source] = 0.0
        total = max(float(absorbed.sum()), _DUST)
        return np.asarray(visits[:, network.head] * part[None, :] * total, np.float64)
