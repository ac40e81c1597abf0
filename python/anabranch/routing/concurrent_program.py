"""Rates of pairs that send at once over shared links: the largest least rate, then the sum, then short paths.

Three linear programs over the rates of paths, one after the other, each within what the one before has
reached. The first is the maximum concurrent flow (Shahrokhi and Matula, The Maximum Concurrent Flow Problem,
Journal of the ACM 37, 1990), with pairs that want no more than they offer. Paths that are shorter by the
prices of links than all the known ones of their pair join on the way (Ford and Fulkerson, A Suggested
Computation for Maximal Multi-Commodity Network Flows, 1958). Prices also prove a bound, whatever solver they
come from: what all pairs pay over their shortest paths is at most what all links are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from anabranch.routing.planned import Pair
from anabranch.routing.robust.budget import SEARCH_S, Budget, Status
from anabranch.routing.robust.errors import SolverError
from anabranch.routing.robust.highs import Answer, Entries, Program, solve_interior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Path = tuple[int, ...]

TOLERANCE = 1e-6
"""By which part a rate may be below its bound and count as reached."""
_CHEAPER = 1e-7
"""By which part of the known ones' a path has to be cheaper to join."""
_MOST_ROUNDS = 200


@dataclass(frozen=True)
class Sending:
    """The rates of pairs of nodes; pairs and links count from 0 in the order of their arrays."""

    pairs: Sequence[Pair]
    flows: Floats
    """How many flows each pair has, which share its rate; shape (pairs,)."""
    most_mbps: Floats
    """What each pair offers, infinity for as much as it gets; shape (pairs,)."""


@dataclass(frozen=True)
class Links:
    """Directed links."""

    tail: Ints
    head: Ints
    capacity_mbps: Floats
    cost: Floats
    """What the length of a path is the sum of."""


@dataclass(frozen=True)
class ConcurrentRates:
    """Rates of paths that no link is too small for, and bounds of what any others reach."""

    pair: Ints
    """The pair of each path, shape (paths,)."""
    paths: Sequence[Path]
    """Each as its links."""
    rate_mbps: Floats
    """Of each path, shape (paths,)."""
    least_mbps: float
    """Least rate of a flow among those that get less than they offer; infinity where none does."""
    least_bound_mbps: float
    """No rates over these paths, or over any where all are allowed, have a larger least one."""
    total_mbps: float
    """Sum of all rates."""
    total_bound_mbps: float
    """No rates with this least one have a larger sum."""
    status: Status


class PathSearch:
    """The shortest of all paths of each pair, by any lengths of links."""

    def __init__(self, links: Links, pairs: Sequence[Pair], nodes: int) -> None:
        self._nodes = nodes
        key = links.tail * nodes + links.head
        self._order = np.argsort(key, kind="stable")
        edges, self._first = np.unique(key[self._order], return_index=True)
        starts = np.searchsorted(edges // nodes, np.arange(nodes + 1))
        self._graph = sparse.csr_array((np.ones(len(edges)), edges % nodes, starts), shape=(nodes, nodes))
        self._edge = {int(edge): number for number, edge in enumerate(edges)}
        self._origins, self._row = np.unique([origin for origin, _ in pairs], return_inverse=True)
        self._pairs = pairs

    def shortest(self, length: Floats) -> tuple[Floats, list[Path]]:
        """A length for each pair that none of its paths is below, and the shortest path."""
        # Of equal paths the one of fewest links; the step is taken off the length again.
        step = TOLERANCE * _CHEAPER * float(length.max()) + np.finfo(float).tiny
        of_links = length[self._order]
        self._graph.data = np.minimum.reduceat(of_links, self._first) + step
        distance, before = dijkstra(self._graph, indices=self._origins, return_predecessors=True)
        last = np.append(self._first[1:], len(of_links))
        cheapest = [
            int(self._order[first + int(of_links[first:end].argmin())])
            for first, end in zip(self._first.tolist(), last.tolist(), strict=True)
        ]
        targets = np.array([to for _, to in self._pairs])
        proved = np.maximum(distance[self._row, targets] - step * (self._nodes - 1), 0.0)
        paths = []
        for (origin, to), row in zip(self._pairs, self._row.tolist(), strict=True):
            path: list[int] = []
            at = to
            while at != origin:
                tail = int(before[row, at])
                path.append(cheapest[self._edge[tail * self._nodes + at]])
                at = tail
            paths.append(tuple(reversed(path)))
        return proved, paths


class KnownPaths:
    """Paths of pairs, in the order in which they came."""

    def __init__(self, links: int, paths: Sequence[tuple[int, Path]]) -> None:
        """Takes the number of links, and paths with the numbers of their pairs."""
        self._links = links
        self._paths = dict.fromkeys(paths)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._paths)

    def add(self, pair: int, path: Path) -> bool:
        """Adds a path; whether it is new."""
        before = len(self._paths)
        self._paths[pair, path] = None
        return len(self._paths) > before

    @property
    def paths(self) -> list[Path]:
        """All of them."""
        return [path for _, path in self._paths]

    @property
    def pair(self) -> Ints:
        """The pair of each."""
        return np.array([pair for pair, _ in self._paths], np.int64)

    def incidence(self) -> sparse.csr_array:
        """One where a path crosses a link, shape (paths, links)."""
        crossed = [link for _, path in self._paths for link in path]
        starts = np.append(0, np.cumsum([len(path) for _, path in self._paths]))
        return sparse.csr_array((np.ones(len(crossed)), crossed, starts), shape=(len(self), self._links))


class ConcurrentProgram:
    """The three programs. Rates are in parts of the largest capacity while they are solved."""

    def __init__(
        self, sending: Sending, links: Links, paths: KnownPaths, every: PathSearch | None, budget: Budget
    ) -> None:
        """Takes what is sent over which links.

        Args:
            sending: the pairs, and what they send.
            links: the links.
            paths: at least one path of each pair; those that turn out to be of use join.
            every: where these come from; None where the known ones are all that may be taken.
            budget: what work may be done; is spent.
        """
        self._sending, self._links, self._known = sending, links, paths
        self._every, self._budget = every, budget
        self._scale = float(links.capacity_mbps.max())
        self._capacity = links.capacity_mbps / self._scale
        self._most = sending.most_mbps / self._scale
        self._pairs = len(sending.pairs)
        self._status: Status = "optimal"

    def solve(self) -> ConcurrentRates:
        """The rates, and how good they are.

        Raises:
            SolverError: the solver failed, or had no rates when time was over.
        """
        rate, least_bound = self._largest_least()
        least = self._least(rate)
        required = np.minimum(least * self._sending.flows, self._most) * (1 - TOLERANCE)
        total_bound = np.inf
        if self._status == "optimal":
            rate, total_bound = self._largest_sum(rate, required)
        if self._status == "optimal":
            rate = self._shortest(rate, required)
        rate = np.append(rate, np.zeros(len(self._known) - len(rate)))
        bounds = self._scale * self._least(rate), self._scale * float(rate.sum())
        return ConcurrentRates(
            self._known.pair, self._known.paths, self._scale * rate,
            bounds[0], max(self._scale * least_bound, bounds[0]),
            bounds[1], max(self._scale * total_bound, bounds[1]),
            self._status,
        )  # fmt: skip

    def _largest_least(self) -> tuple[Floats, float]:
        """The rates with the largest least one, and its bound.

        A pair that offers less than its flows' part has what it offers. Such pairs are known one after the
        other, because with each the least rate of the others only grows.
        """
        flows, most = self._sending.flows, self._most
        met = np.zeros(self._pairs, np.bool_)
        best, bound = np.empty(0), np.inf
        for _ in range(_MOST_ROUNDS):
            answer = self._solved(self._least_program(met))
            if answer is None:
                break
            shortest, has_more = self._priced(answer, np.zeros(len(self._capacity)), 0.0)
            bound = min(bound, self._least_bound(self._prices(answer), shortest))
            rate = self._feasible(answer.primal[:-1])
            if not len(best) or self._least(rate) > self._least(best):
                best = rate
            now_met = met | (most < float(answer.primal[-1]) * flows)
            done = now_met.all() or self._least(best) >= bound * (1 - TOLERANCE)
            if done or not (has_more or (now_met & ~met).any()):
                break
            met = now_met
        if not len(best):
            raise SolverError("concurrent-flow", "no rates before the time limit", "allow more time")
        return best, bound

    def _least_program(self, met: NDArray[np.bool_]) -> Program:
        """Columns: rates of paths, and the least rate of a flow. Rows: pairs, links."""
        entries, paths = self._entries()
        free = np.flatnonzero(~met)
        entries.add(free, np.full(len(free), paths), -self._sending.flows[free])
        lower, cost = np.where(met, self._most, 0.0), np.zeros(paths + 1)
        cost[-1] = -1.0
        return self._program(entries, lower, np.full(self._pairs, np.inf), cost)

    def _largest_sum(self, rate: Floats, required: Floats) -> tuple[Floats, float]:
        """Of the rates that no pair is below, those with the largest sum, and its bound."""
        best, bound = rate, np.inf
        for _ in range(_MOST_ROUNDS):
            entries, paths = self._entries()
            answer = self._solved(self._program(entries, required, self._most, np.full(paths, -1.0)))
            if answer is None:
                break
            shortest, has_more = self._priced(answer, np.zeros(len(self._capacity)), 1.0)
            bound = min(bound, self._sum_bound(self._prices(answer), shortest, required))
            rate = self._feasible(answer.primal)
            best = max(best, rate, key=np.sum)
            if best.sum() >= bound * (1 - TOLERANCE) or not has_more:
                break
        return best, bound

    def _shortest(self, rate: Floats, required: Floats) -> Floats:
        """Of the rates with this sum, those over the shortest paths; in the middle of several such ones."""
        total = float(rate.sum()) * (1 - TOLERANCE)
        of_links = self._links.cost / max(float(self._links.cost.max()), np.finfo(float).tiny)
        for _ in range(_MOST_ROUNDS):
            entries, paths = self._entries()
            entries.add(self._pairs + len(self._capacity), np.arange(paths), 1.0)
            cost = np.asarray(self._known.incidence() @ of_links)
            answer = self._solved(self._program(entries, required, self._most, cost, total))
            if answer is None:
                break
            rate = self._feasible(answer.primal)
            if not self._priced(answer, of_links, float(answer.row_dual[-1]))[1]:
                break
        return rate

    def _entries(self) -> tuple[Entries, int]:
        """Entries of the rates in the rows of pairs and links, and how many rates there are."""
        entries, pair = Entries(), self._known.pair
        entries.add(pair, np.arange(len(pair)), 1.0)
        path, link = sparse.coo_array(self._known.incidence()).coords
        entries.add(self._pairs + link.astype(np.int64), path.astype(np.int64), 1.0)
        return entries, len(pair)

    def _program(
        self, entries: Entries, lower: Floats, upper: Floats, cost: Floats, total: float | None = None
    ) -> Program:
        """Costs of rates between what pairs must and may have, with a sum of at least ``total``."""
        lower = np.append(lower, np.full(len(self._capacity), -np.inf))
        upper = np.append(upper, self._capacity)
        if total is not None:
            lower, upper = np.append(lower, total), np.append(upper, np.inf)
        return Program(entries.matrix(len(lower), len(cost)), lower, upper, cost)

    def _solved(self, program: Program) -> Answer | None:
        """The answer to a program; None where the work that is left is too little."""
        answer = solve_interior(program, self._budget) if self._budget.left_s > 0 else None
        if answer is None or answer.ending == "time-limit" or not len(answer.row_dual):
            self._status = self._budget.stopped
            return None
        return answer

    def _prices(self, answer: Answer) -> Floats:
        """What another unit of each link's capacity is worth."""
        of_links = answer.row_dual[self._pairs : self._pairs + len(self._capacity)]
        return np.maximum(-of_links, 0.0)

    def _priced(self, answer: Answer, cost: Floats, gain: float) -> tuple[Floats, bool]:
        """How long the shortest path of each pair is by cost and price of the links; whether some joined.

        A path joins that is shorter than ``gain`` and what a unit of its pair's rate is worth beside.
        """
        length = cost + self._prices(answer)
        if self._every is None:
            of_paths = np.asarray(self._known.incidence() @ length)
            shortest = np.full(self._pairs, np.inf)
            np.minimum.at(shortest, self._known.pair, of_paths)
            return shortest, False
        self._budget.spend(SEARCH_S * self._pairs)
        shortest, paths = self._every.shortest(length)
        worth = answer.row_dual[: self._pairs] + gain
        cheaper = np.flatnonzero(shortest < worth - _CHEAPER * float(np.abs(worth).mean()))
        added = [self._known.add(pair, paths[pair]) for pair in cheaper.tolist()]
        return shortest, any(added)

    def _least_bound(self, price: Floats, shortest: Floats) -> float:
        """The least rate at which what all pairs pay is what all links are worth."""
        worth, flows = float(self._capacity @ price), self._sending.flows
        full = self._most / flows
        paid, slope = 0.0, float(flows @ shortest)
        for pair in np.argsort(full, kind="stable").tolist():
            if not np.isfinite(full[pair]) or paid + slope * full[pair] >= worth:
                break
            paid += float(shortest[pair] * self._most[pair])
            slope -= float(shortest[pair] * flows[pair])
        return (worth - paid) / slope if slope > 0 else np.inf

    def _sum_bound(self, price: Floats, shortest: Floats, required: Floats) -> float:
        """The largest sum where links are paid for in place of being limited, by the shortest paths."""
        tail, head = self._links.tail, self._links.head
        nodes, ends = int(max(tail.max(), head.max())) + 1, np.array(self._sending.pairs)
        leaves, comes = (np.bincount(side, self._capacity, nodes) for side in (tail, head))
        most = np.minimum(self._most, np.minimum(leaves[ends[:, 0]], comes[ends[:, 1]]))
        gain = 1 - shortest
        return float(self._capacity @ price + (gain * np.where(gain > 0, most, required)).sum())

    def _feasible(self, rate: Floats) -> Floats:
        """Rates of a solver for the first paths, brought down to what links and pairs allow."""
        rate = np.maximum(rate, 0.0)
        load = (rate @ self._known.incidence()[: len(rate)]) / self._capacity
        rate = rate / max(1.0, float(load.max()))
        above = np.maximum(self._of_pairs(rate) / self._most, 1.0)
        return np.asarray(rate / above[self._known.pair[: len(rate)]], np.float64)

    def _of_pairs(self, rate: Floats) -> Floats:
        return np.bincount(self._known.pair[: len(rate)], rate, self._pairs).astype(np.float64)

    def _least(self, rate: Floats) -> float:
        """The least rate of a flow among those that get less than they offer; infinity where none does."""
        of_pairs = self._of_pairs(rate)
        wanting = of_pairs < self._most * (1 - 2 * TOLERANCE)
        return float((of_pairs / self._sending.flows)[wanting].min()) if wanting.any() else np.inf
