"""The linear program with duals, eqs. (9) to (14), for some of the links.

Shares of traffic take the place of loads, so that the capacity stands in (10) alone: r, y and q here are c(l)
times those of the paper. Three simplifications leave the optimum as it is:

- q for a pair and a link exists only where a candidate path of the pair uses the link, and (11) likewise;
- r for a node and a link exists only where the pairs of the node that can use the link may together exceed
  its bound; so does y. Otherwise the bound holds in any case, and the optimal r is 0;
- a pair with neither r nor y on a link has q equal to its share, which enters (10) in its place.

Where candidates, network and bounds are the same in both directions, some optimal routing is so, too: the
mean of an optimal one and its mirror image. Then a path and its mirror image have one variable, and one link
of two opposite ones has rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .highs import Answer, Entries, Program
from .model import DemandBounds, Floats, FlowNetwork, Ints
from .problem import RoutingProblem


@dataclass(frozen=True)
class Mirror:
    """The arc and the path that are the other direction of each."""

    arc: Ints
    path: Ints
    pair: Ints

    @classmethod
    def find(cls, problem: RoutingProblem) -> Mirror | None:
        """The mirror image of all, or None if anything differs in the two directions."""
        network, candidates = problem.network, problem.candidates
        arc = mirror_of_arcs(network, problem.bounds)
        if arc is None:
            return None
        nodes = len(network.nodes)
        pair_of = {
            key: pair for pair, key in enumerate((candidates.source * nodes + candidates.target).tolist())
        }
        wanted = (candidates.target * nodes + candidates.source).tolist()
        if any(key not in pair_of for key in wanted):
            return None
        pair = np.array([pair_of[key] for key in wanted], np.int64)
        starts = candidates.arc_start
        paths = [
            candidates.arcs[a:b].tobytes()
            for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]
        number = {path: index for index, path in enumerate(paths)}
        image = arc[candidates.arcs]
        path = [
            number.get(image[a:b][::-1].tobytes(), -1)
            for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]
        if -1 in path or len(number) != len(paths):
            return None
        return cls(arc, np.array(path, np.int64), pair)


def mirror_of_arcs(network: FlowNetwork, bounds: DemandBounds) -> Ints | None:
    """The opposite of each arc, or None if network or bounds differ in the two directions."""
    if not np.array_equal(bounds.ingress_mbps, bounds.egress_mbps):
        return None
    if not np.array_equal(bounds.pair_mbps, bounds.pair_mbps.T):
        return None
    key = network.tail * len(network.nodes) + network.head
    opposite = network.head * len(network.nodes) + network.tail
    # Parallel arcs are told apart by their capacities; equal ones by their order.
    here = np.lexsort((network.edge, network.capacity_mbps, key))
    there = np.lexsort((network.edge, network.capacity_mbps, opposite))
    same = np.array_equal(key[here], opposite[there]) and np.array_equal(
        network.capacity_mbps[here], network.capacity_mbps[there]
    )
    if not same:
        return None
    arc = np.empty(network.arc_count, np.int64)
    arc[here] = there
    return arc


class DualProgram:
    """Eqs. (9) to (14) with (10) and (11) for the given links only: a relaxation, unless they are all.

    Columns: x of the paths, r, y, q, and t. Rows: (9), (10), (11).
    """

    def __init__(self, problem: RoutingProblem, links: Ints, mirror: Mirror | None = None) -> None:
        self._network = network = problem.network
        bounds, candidates = problem.bounds, problem.candidates
        self._candidates = candidates
        self._mirror = mirror
        self._links = links if mirror is None else np.unique(np.minimum(links, mirror.arc[links]))
        self._ceiling = bounds.ceiling_mbps(candidates.source, candidates.target)
        incidence = sparse.csc_array(candidates.incidence(network.arc_count))[:, self._links]
        self._crossing = sparse.coo_array(incidence).coords
        self._find_uses(incidence)
        self._r = self._number_hose(bounds.ingress_mbps, candidates.source)
        self._y = self._number_hose(bounds.egress_mbps, candidates.target)
        of_r = self._r[candidates.source[self._use_pair], self._use_link]
        of_y = self._y[candidates.target[self._use_pair], self._use_link]
        self._has_q = (of_r >= 0) | (of_y >= 0)
        self.program = self._build(bounds, of_r, of_y)

    def _find_uses(self, incidence: sparse.csc_array) -> None:
        """Number the (pair, link) that occur, and find the number of each (path, link)."""
        pair_of_path = self._candidates.pair_of_path()
        paths, links = self._crossing
        key = pair_of_path[paths] * incidence.shape[1] + links
        uses, self._use_of_crossing = np.unique(key, return_inverse=True)
        self._use_pair, self._use_link = np.divmod(uses, max(incidence.shape[1], 1))

    def _number_hose(self, limit: Floats, node_of_pair: Ints) -> Ints:
        """A number for each (node, link) whose hose bound may bind, -1 for the others."""
        most = np.zeros((len(limit), len(self._links)))
        np.add.at(most, (node_of_pair[self._use_pair], self._use_link), self._ceiling[self._use_pair])
        number = np.full(most.shape, -1)
        binds = most > limit[:, None]
        number[binds] = np.arange(np.count_nonzero(binds))
        return number

    def _build(self, bounds: DemandBounds, of_r: Ints, of_y: Ints) -> Program:
        candidates, entries = self._candidates, Entries()
        paths, pairs, links = candidates.path_count, candidates.pair_count, len(self._links)
        first_r = paths
        first_y = first_r + int(np.count_nonzero(self._r >= 0))
        first_q = first_y + int(np.count_nonzero(self._y >= 0))
        q_count = int(np.count_nonzero(self._has_q))
        t = first_q + q_count
        capacity = self._network.capacity_mbps[self._links]

        entries.add(candidates.pair_of_path(), np.arange(paths), 1.0)  # (9)
        for number, first, limit in (
            (self._r, first_r, bounds.ingress_mbps),
            (self._y, first_y, bounds.egress_mbps),
        ):
            node, link = np.nonzero(number >= 0)
            entries.add(pairs + link, first + number[node, link], limit[node] / capacity[link])  # (10)
        q_number = np.full(len(self._has_q), -1)
        q_number[self._has_q] = np.arange(q_count)
        weight = self._ceiling[self._use_pair] / capacity[self._use_link]
        entries.add(pairs + self._use_link[self._has_q], first_q + np.arange(q_count), weight[self._has_q])
        entries.add(pairs + np.arange(links), np.full(links, t), -1.0)

        path, link = self._crossing
        with_q = self._has_q[self._use_of_crossing]
        use = self._use_of_crossing
        first_11 = pairs + links
        entries.add(first_11 + q_number[use[with_q]], path[with_q], 1.0)  # (11)
        entries.add(pairs + link[~with_q], path[~with_q], weight[use[~with_q]])
        for number, first in ((of_r, first_r), (of_y, first_y)):
            some = number >= 0
            entries.add(first_11 + q_number[some], first + number[some], -1.0)
        entries.add(first_11 + np.arange(q_count), first_q + np.arange(q_count), -1.0)

        rows, columns = first_11 + q_count, t + 1
        matrix = entries.matrix(rows, columns)
        lower, upper = np.full(rows, -np.inf), np.zeros(rows)
        lower[:pairs] = upper[:pairs] = 1.0
        self._kept_rows = np.arange(rows)
        if self._mirror is not None:
            matrix, lower, upper = self._fold(self._mirror, matrix, lower, upper)
        cost = np.zeros(matrix.shape[1])
        cost[-1] = 1.0
        return Program(matrix, lower, upper, cost)

    def _fold(
        self, mirror: Mirror, matrix: sparse.csc_array, lower: Floats, upper: Floats
    ) -> tuple[sparse.csc_array, Floats, Floats]:
        """One variable for a path and its mirror image, and (9) for one of their pairs."""
        paths, others = self._candidates.path_count, matrix.shape[1] - self._candidates.path_count
        representative = np.minimum(np.arange(paths), mirror.path)
        kept, self._column_of_path = np.unique(representative, return_inverse=True)
        columns = np.concatenate([self._column_of_path, len(kept) + np.arange(others)])
        ones = np.ones(paths + others)
        merge = sparse.csc_array(
            (ones, (np.arange(paths + others), columns)), shape=(len(ones), len(kept) + others)
        )
        pairs = self._candidates.pair_count
        needed = np.ones(matrix.shape[0], bool)
        needed[:pairs] = np.arange(pairs) <= mirror.pair
        self._kept_rows = np.flatnonzero(needed)
        merged = sparse.csr_array(matrix @ merge)[self._kept_rows]
        return sparse.csc_array(merged), lower[needed], upper[needed]

    def fractions(self, answer: Answer) -> Floats | None:
        """x_p of each path, made one in total for each pair, or None where the answer has none."""
        if not len(answer.primal):
            return None
        paths = self._candidates.path_count
        x = answer.primal[:paths] if self._mirror is None else answer.primal[self._column_of_path]
        x = np.maximum(x, 0.0)
        total = self._candidates.sums(x)
        return self._candidates.whole(x) if np.isfinite(total).all() and (total > 0).all() else None

    def duals(self, answer: Answer) -> tuple[Floats, sparse.csr_array] | None:
        """Dual values of (10), shape (arcs,), and of (11), shape (pairs, arcs); None if there are none."""
        if not len(answer.row_dual):
            return None
        pairs, arcs = self._candidates.pair_count, self._network.arc_count
        dual = np.zeros(pairs + len(self._links) + np.count_nonzero(self._has_q))
        dual[self._kept_rows] = -answer.row_dual
        weight = np.zeros(arcs)
        of_link = dual[pairs : pairs + len(self._links)]
        weight[self._links] = of_link
        of_use = np.empty(len(self._use_pair))
        of_use[self._has_q] = dual[pairs + len(self._links) :]
        # Without (11) the pair is at its bound whenever it uses the link.
        capacity = self._network.capacity_mbps[self._links]
        at_bound = of_link[self._use_link] * self._ceiling[self._use_pair] / capacity[self._use_link]
        of_use[~self._has_q] = at_bound[~self._has_q]
        row, column = self._use_pair, self._links[self._use_link]
        if self._mirror is not None:
            row = np.concatenate([row, self._mirror.pair[row]])
            column = np.concatenate([column, self._mirror.arc[column]])
            of_use = np.concatenate([of_use, of_use])
            weight = weight + weight[self._mirror.arc]
        return weight, sparse.csr_array((of_use, (row, column)), shape=(pairs, arcs))
