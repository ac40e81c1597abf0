"""Fixed robust routing over all paths in its link-flow form: fractions for each link, not for each path.

The variables are the share of each pair on each arc, with conservation of flow in place of (9); (10) and (11)
stay. The form is that of Fukushima et al.'s reference [1]; its optimum is that over all paths, since every
flow is a sum of paths and of circles, and circles only add load.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from anabranch.routing.robust.bound import AllPaths, prices
from anabranch.routing.robust.budget import Budget, Status
from anabranch.routing.robust.decompose import decompose
from anabranch.routing.robust.dual_program import mirror_of_arcs
from anabranch.routing.robust.errors import RoutingError, SolverError
from anabranch.routing.robust.highs import Answer, Entries, Program, solve_interior
from anabranch.routing.robust.model import DemandBounds, Floats, FlowNetwork, Ints, Solution
from anabranch.routing.robust.worst_case import check_connected, load_of_shares


def link_flow(
    network: FlowNetwork,
    bounds: DemandBounds,
    *,
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = math.inf,
) -> Solution:
    """The routing over all paths with the least worst-case load, by one linear program.

    Its size is that of pairs times arcs: for networks of more than some twenty nodes take `all_paths`, which
    finds the same optimum.

    Args:
        network: the network; arcs without capacity are not used.
        bounds: the demand bounds.
        tolerance: largest gap between load and bound, as a part of the load.
        time_limit_s: work (see `budget`) after which the best so far is returned, with status
            `time-limit`; or the budget of a caller.

    Raises:
        BoundsError: a pair that may have traffic has no path.
        SolverError: the solver failed, stalled above the tolerance, or has no routing when time is over.
    """
    budget = Budget.of(time_limit_s)
    check_connected(network, bounds)
    program = _LinkFlow(network, bounds)
    answer = solve_interior(program.program, budget)
    if not len(answer.primal) or not len(answer.row_dual):
        raise SolverError("link-flow", "no routing before the time limit", "allow more time")
    status: Status = budget.stopped if answer.ending == "time-limit" else "optimal"
    source, target = program.source, program.target
    try:
        routing = decompose(network, source, target, program.share(answer))
    except RoutingError as error:
        if status == "optimal":
            raise
        raise SolverError("link-flow", "no routing before the time limit", "allow more time") from error
    worst = load_of_shares(network, bounds, routing.source, routing.target, routing.share)
    proved = prices(network, bounds, source, target, *program.duals(answer), fill=True)
    lower = float(AllPaths(network).cheapest(proved, 0.0)[0].sum())
    solution = Solution(routing, worst, lower, status, 1, budget.cpu_s)
    if status == "optimal" and solution.gap > tolerance:
        raise SolverError(
            "link-flow", f"stalled at a gap of {solution.gap:.2g}", "ask for a larger tolerance"
        )
    return solution


class _LinkFlow:
    """The program. Columns: shares f of (pair, arc), r, y, q, t; rows: conservation, (10), (11).

    Where both directions are the same, only one pair of two opposite ones has variables, for the reason
    given in `dual_program`; every arc then has the flow of those pairs, and of the others mirrored.
    """

    def __init__(self, network: FlowNetwork, bounds: DemandBounds) -> None:
        self._network = network
        self.source, self.target = bounds.pairs()
        self._mirror = mirror_of_arcs(network, bounds)
        pairs, arcs, nodes = len(self.source), network.arc_count, len(network.nodes)
        ceiling = bounds.ceiling_mbps(self.source, self.target)
        everything = np.arange(pairs * arcs).reshape(pairs, arcs)
        self._flow_of = everything
        self._links = np.arange(arcs)
        if self._mirror is not None:
            number = {pair: k for k, pair in enumerate((self.source * nodes + self.target).tolist())}
            opposite = np.array([number[key] for key in (self.target * nodes + self.source).tolist()])
            self._opposite = opposite
            self._flow_of = np.minimum(everything, everything[opposite][:, self._mirror])
            self._links = np.flatnonzero(self._mirror >= self._links)
        # No flow into the source, out of the target, or over arcs without capacity.
        useless = network.head[None, :] == self.source[:, None]
        useless |= network.tail[None, :] == self.target[:, None]
        useless |= (network.capacity_mbps == 0)[None, :]
        kept, flat = np.unique(self._flow_of[~useless], return_inverse=True)
        self._flow_of = np.full((pairs, arcs), -1)
        self._flow_of[~useless] = flat
        self.program = self._build(bounds, ceiling, len(kept))

    def _build(self, bounds: DemandBounds, ceiling: Floats, flows: int) -> Program:
        network, entries = self._network, Entries()
        nodes, links = len(network.nodes), len(self._links)
        pairs = len(self.source)
        led = np.arange(pairs) if self._mirror is None else np.flatnonzero(self._opposite >= np.arange(pairs))
        # Conservation at every node but the target, whose row follows from the others.
        for ends, sign in ((network.tail, 1.0), (network.head, -1.0)):
            row, arc = np.nonzero((self._flow_of[led] >= 0) & (ends[None, :] != self.target[led][:, None]))
            entries.add(row * nodes + ends[arc], self._flow_of[led[row], arc], sign)
        conserved = len(led) * nodes
        capacity = np.maximum(network.capacity_mbps[self._links], np.finfo(float).tiny)
        used = network.capacity_mbps[self._links] > 0
        first_r = flows
        first_y = first_r + links * nodes
        first_q = first_y + links * nodes
        link = np.flatnonzero(used)
        pair, at = np.nonzero(self._flow_of[:, self._links] >= 0)
        t = first_q + len(pair)
        entries.add(conserved + link, np.full(len(link), t), -1.0)  # (10)
        for first, limit in ((first_r, bounds.ingress_mbps), (first_y, bounds.egress_mbps)):
            node, of_link = np.nonzero(np.isfinite(limit)[:, None] & used[None, :])
            entries.add(conserved + of_link, first + of_link * nodes + node, limit[node] / capacity[of_link])
        entries.add(conserved + at, first_q + np.arange(len(pair)), ceiling[pair] / capacity[at])
        first_11 = conserved + links
        row = first_11 + np.arange(len(pair))
        entries.add(row, self._flow_of[pair, self._links[at]], 1.0)  # (11)
        entries.add(row, first_q + np.arange(len(pair)), -1.0)
        for first, limit, end in (
            (first_r, bounds.ingress_mbps, self.source),
            (first_y, bounds.egress_mbps, self.target),
        ):
            bounded = np.isfinite(limit[end[pair]])
            entries.add(row[bounded], (first + at * nodes + end[pair])[bounded], -1.0)
        rows = first_11 + len(pair)
        lower, upper = np.full(rows, -np.inf), np.zeros(rows)
        lower[:conserved] = 0.0
        sources = np.arange(len(led)) * nodes + self.source[led]
        lower[sources] = upper[sources] = 1.0
        cost = np.zeros(t + 1)
        cost[-1] = 1.0
        self._uses = (pair, at)
        self._rows_10 = slice(conserved, first_11)
        return Program(entries.matrix(rows, t + 1), lower, upper, cost)

    def share(self, answer: Answer) -> sparse.csr_array:
        """Share of each pair on each arc."""
        flow = np.maximum(np.append(answer.primal, 0.0), 0.0)
        return sparse.csr_array(np.where(self._flow_of >= 0, flow[self._flow_of], 0.0))

    def duals(self, answer: Answer) -> tuple[Floats, sparse.csr_array]:
        """Dual values of (10), shape (arcs,), and of (11), shape (pairs, arcs)."""
        weight = np.zeros(self._network.arc_count)
        weight[self._links] = -answer.row_dual[self._rows_10]
        of_use = -answer.row_dual[self._rows_10.stop :]
        row: Ints = self._uses[0]
        column: Ints = self._links[self._uses[1]]
        if self._mirror is not None:
            row = np.concatenate([row, self._opposite[row]])
            column = np.concatenate([column, self._mirror[column]])
            of_use = np.concatenate([of_use, of_use])
            weight = weight + weight[self._mirror]
        shape = (len(self.source), self._network.arc_count)
        return weight, sparse.csr_array((of_use, (row, column)), shape=shape)
