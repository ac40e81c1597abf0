"""The data of fixed robust routing: network, demand bounds, candidate paths, routing, worst case.

Plain arrays, frozen: indices of nodes, arcs, pairs and paths count from 0 in the order of their arrays. Rates
are in Mbps, delays in ms; a link load is a ratio, 1 where the link is full. Equations are those of Fukushima
et al., Candidate Path Selection Method for TCP Performance Improvement in Fixed Robust Routing, 2016.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .budget import Status
from .errors import BoundsError, CandidateError, CapacityError, NetworkError, RoutingError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARE_TOLERANCE = 1e-6
"""By how much the shares of a pair may miss one, or a share be negative: what solvers leave."""


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """An array of its own that cannot be written to."""
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """A network of directed arcs.

    Arcs of one edge fail together. Where `edge` is not given, each arc shares an edge with the arc of the
    opposite direction; of several parallel arcs the first belongs to the first opposite one, and so on.
    """

    nodes: tuple[str, ...]
    """Names of the nodes."""
    tail: Ints
    """Node where each arc begins, shape (arcs,)."""
    head: Ints
    """Node where each arc ends, shape (arcs,)."""
    capacity_mbps: Floats
    """Shape (arcs,); 0 for an arc that nothing may use."""
    delay_ms: Floats
    """Propagation delay, shape (arcs,)."""
    edge: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """The edge of each arc, shape (arcs,), numbered from 0 without gaps."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        for name, dtype in (("tail", np.int64), ("head", np.int64), ("edge", np.int64)):
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        for name in ("capacity_mbps", "delay_ms"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        self._check()
        if not len(self.edge):
            object.__setattr__(self, "edge", frozen(_edges(self.tail, self.head), np.int64))

    def _check(self) -> None:
        arcs = len(self.tail)
        if not self.nodes or not arcs:
            raise NetworkError(
                "network", f"{len(self.nodes)} nodes and {arcs} arcs", "give at least one of each"
            )
        if len(set(self.nodes)) != len(self.nodes):
            raise NetworkError("network", "two nodes have the same name", "names must differ")
        for name in ("tail", "head", "capacity_mbps", "delay_ms", "edge"):
            values = getattr(self, name)
            if values.shape != (arcs,) and not (name == "edge" and not len(values)):
                raise NetworkError(
                    f"network.{name}", f"shape {values.shape}", f"one number for each of {arcs} arcs"
                )
            wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
            if len(wrong):
                raise NetworkError(
                    f"network.{name}[{wrong[0]}]", f"{values[wrong[0]]}", "must be finite and not negative"
                )
        ends = np.stack([self.tail, self.head])
        wrong = np.flatnonzero((ends >= len(self.nodes)).any(axis=0) | (self.tail == self.head))
        if len(wrong):
            raise NetworkError(
                f"arc {wrong[0]}", f"leads from node {self.tail[wrong[0]]} to {self.head[wrong[0]]}",
                f"nodes are 0 to {len(self.nodes) - 1}, and an arc joins two of them",
            )  # fmt: skip
        if len(self.edge) and not np.array_equal(np.unique(self.edge), np.arange(self.edge.max() + 1)):
            raise NetworkError("network.edge", "a number is left out", "number the edges from 0 without gaps")

    @property
    def arc_count(self) -> int:
        """Number of arcs."""
        return len(self.tail)

    def arc_name(self, arc: int) -> str:
        """An arc as a reader knows it: ``Berlin -> Hamburg``."""
        return f"{self.nodes[self.tail[arc]]} -> {self.nodes[self.head[arc]]}"

    def pair_name(self, source: int, target: int) -> str:
        """A pair of nodes as a reader knows it: ``Berlin to Hamburg``."""
        return f"{self.nodes[source]} to {self.nodes[target]}"


def _edges(tail: Ints, head: Ints) -> list[int]:
    """An edge for each arc, shared with the opposite arc of the same rank among its parallels."""
    seen: dict[tuple[int, int], int] = {}
    numbers: dict[tuple[int, int, int], int] = {}
    edges = []
    for a, b in zip(tail.tolist(), head.tolist(), strict=True):
        rank = seen.get((a, b), 0)
        seen[a, b] = rank + 1
        edges.append(numbers.setdefault((min(a, b), max(a, b), rank), len(numbers)))
    return edges


@dataclass(frozen=True, eq=False)
class DemandBounds:
    """The traffic matrices that may occur: every T with eqs. (1), (2) and (3), and nothing on the diagonal.

    The hose model is `ingress_mbps` and `egress_mbps`, the pipe model `pair_mbps`; infinity is no bound.
    """

    ingress_mbps: Floats
    """R_i: the most that enters at each node for all others, shape (nodes,)."""
    egress_mbps: Floats
    """C_j: the most that leaves at each node from all others, shape (nodes,)."""
    pair_mbps: Floats
    """w_ij: the most from node i to node j, shape (nodes, nodes); 0 where there is no traffic."""

    def __post_init__(self) -> None:
        for name in ("ingress_mbps", "egress_mbps", "pair_mbps"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        nodes = self.ingress_mbps.size
        for name, shape in (
            ("ingress_mbps", (nodes,)),
            ("egress_mbps", (nodes,)),
            ("pair_mbps", (nodes, nodes)),
        ):
            values = getattr(self, name)
            if values.shape != shape:
                raise BoundsError(f"bounds.{name}", f"shape {values.shape}", f"must be {shape}")
            wrong = np.argwhere(~(values >= 0))
            if len(wrong):
                index = tuple(wrong[0].tolist())
                raise BoundsError(
                    f"bounds.{name}{list(index)}",
                    f"no traffic matrix meets a bound of {values[index]} Mbps",
                    "give 0 or more, or infinity for no bound",
                )
        self._check_limits()

    def _check_limits(self) -> None:
        """Refuse bounds that allow nothing, and pairs whose traffic nothing limits."""
        source, target = self.pairs()
        if not len(source):
            raise BoundsError(
                "bounds",
                "no pair of nodes may have traffic",
                "give some pair positive bounds in, out and between",
            )
        free = np.isinf(self.ceiling_mbps(source, target))
        if free.any():
            pair = (int(source[free][0]), int(target[free][0]))
            raise BoundsError(
                f"bounds of pair {list(pair)}", "nothing limits its traffic, so every load is infinite",
                "bound the pair, what enters at its first node or what leaves at its second",
            )  # fmt: skip

    @classmethod
    def hose(cls, ingress_mbps: ArrayLike, egress_mbps: ArrayLike) -> DemandBounds:
        """The hose model alone, eqs. (1) and (2)."""
        ingress = np.atleast_1d(np.asarray(ingress_mbps, np.float64))
        pair = np.full((ingress.size, ingress.size), np.inf)
        return cls(ingress, np.asarray(egress_mbps, np.float64), pair)

    @classmethod
    def pipe(cls, pair_mbps: ArrayLike) -> DemandBounds:
        """The pipe model alone, eq. (3)."""
        pair = np.asarray(pair_mbps, np.float64)
        free = np.full(pair.shape[:1], np.inf)
        return cls(free, free, pair)

    def pairs(self) -> tuple[Ints, Ints]:
        """Source and target of every pair that may have traffic, by source, then by target."""
        possible = (self.pair_mbps > 0) & (self.ingress_mbps > 0)[:, None] & (self.egress_mbps > 0)
        np.fill_diagonal(possible, False)
        source, target = np.nonzero(possible)
        return source.astype(np.int64), target.astype(np.int64)

    def ceiling_mbps(self, source: Ints, target: Ints) -> Floats:
        """The most that each of these pairs alone may send: min(w_ij, R_i, C_j)."""
        hose = np.minimum(self.ingress_mbps[source], self.egress_mbps[target])
        return np.asarray(np.minimum(hose, self.pair_mbps[source, target]))

    def of_groups(self, members: Floats) -> DemandBounds:
        """The bounds for groups of nodes that are alike: at one node those of so many, at the others 0."""
        pairs = np.outer(members, members)
        pair = np.where(pairs > 0, self.pair_mbps, 0.0) * np.maximum(pairs, 1.0)
        ingress, egress = (
            np.where(members > 0, limit, 0.0) * np.maximum(members, 1.0)
            for limit in (self.ingress_mbps, self.egress_mbps)
        )
        return DemandBounds(ingress, egress, pair)

    def check_nodes(self, network: FlowNetwork) -> None:
        """Raise BoundsError unless there is a bound for each node of this network."""
        if len(self.ingress_mbps) != len(network.nodes):
            raise BoundsError(
                "bounds", f"given for {len(self.ingress_mbps)} nodes", f"the network has {len(network.nodes)}"
            )


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate paths P_ij of pairs, as arrays: those of pair k are `path_start[k]` to `path_start[k + 1]`.

    Make them with `from_paths`, which checks them against a network.
    """

    source: Ints
    """First node of each pair, shape (pairs,)."""
    target: Ints
    """Last node of each pair, shape (pairs,)."""
    path_start: Ints
    """First path of each pair and one past the last, shape (pairs + 1,)."""
    arc_start: Ints
    """Where each path begins in `arcs`, and one past the last, shape (paths + 1,)."""
    arcs: Ints
    """The arcs of all paths, one path after the other, each in the order of travel."""

    def __post_init__(self) -> None:
        for name in ("source", "target", "path_start", "arc_start", "arcs"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))
        starts_fit = (
            len(self.source) == len(self.target) == len(self.path_start) - 1
            and self.path_start[0] == 0 == self.arc_start[0]
            and self.path_start[-1] == len(self.arc_start) - 1
            and self.arc_start[-1] == len(self.arcs)
        )
        if not starts_fit or (np.diff(self.path_start) < 0).any() or (np.diff(self.arc_start) < 0).any():
            raise CandidateError(
                "candidates", "their arrays do not fit each other", "make them with from_paths"
            )

    @classmethod
    def from_paths(
        cls, network: FlowNetwork, paths: Mapping[tuple[int, int], Sequence[Sequence[int]]]
    ) -> Candidates:
        """Candidates from paths as sequences of arcs, by (source, target); pairs are put in that order.

        Raises:
            CandidateError: a pair without a path, a path that is none of its pair or visits a node twice.
            CapacityError: a path over an arc of capacity 0.
        """
        pairs = sorted(paths)
        made = cls.of_parts(pairs, (paths[pair] for pair in pairs))
        made.check(network)
        return made

    @classmethod
    def of_parts(
        cls, pairs: Sequence[tuple[int, int]], parts: Iterable[Iterable[Sequence[int]]]
    ) -> Candidates:
        """Candidates from the arcs of each path of each pair, which need be no whole paths."""
        path_start, arc_start, arcs = [0], [0], list[int]()
        for of_pair in parts:
            for path in of_pair:
                arcs.extend(path)
                arc_start.append(len(arcs))
            path_start.append(len(arc_start) - 1)
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        return cls(
            ends[:, 0], ends[:, 1], np.array(path_start), np.array(arc_start), np.array(arcs, np.int64)
        )

    def kept(self, keep: NDArray[np.bool_]) -> Candidates:
        """The paths marked in `keep`, shape (paths,), and the pairs that have any of them."""
        counts = np.bincount(self.pair_of_path()[keep], minlength=self.pair_count)
        pairs, lengths = counts > 0, np.diff(self.arc_start)
        return Candidates(
            self.source[pairs], self.target[pairs], np.append(0, np.cumsum(counts[pairs])),
            np.append(0, np.cumsum(lengths[keep])), self.arcs[np.repeat(keep, lengths)],
        )  # fmt: skip

    def check(self, network: FlowNetwork) -> None:
        """Raise as `from_paths` does, unless these are candidates in this network."""
        if self._holds(network):
            return
        for pair, (s, t) in enumerate(self.pairs()):
            if not (0 <= s < len(network.nodes) and 0 <= t < len(network.nodes) and s != t):
                raise CandidateError(f"pair {pair}", f"from node {s} to node {t}", "two nodes of the network")
            place = network.pair_name(s, t)
            if self.path_start[pair] == self.path_start[pair + 1]:
                raise CandidateError(
                    place, "has no candidate path", "give one at least; is K 0, or no way there?"
                )
            for path in range(self.path_start[pair], self.path_start[pair + 1]):
                _check_path(network, place, s, t, self.path(path))

    def _holds(self, network: FlowNetwork) -> bool:
        """Whether all is as `check` wants it, which looks for what is not."""
        nodes, of, hops = len(network.nodes), self.pair_of_path(), np.diff(self.arc_start)
        ends = np.concatenate([self.source, self.target])
        if not (np.diff(self.path_start).all() and hops.all() and (self.source != self.target).all()):
            return False
        if ((ends < 0) | (ends >= nodes)).any() or ((self.arcs < 0) | (self.arcs >= network.arc_count)).any():
            return False
        # The node before each arc, by the path: its source, or where the arc before leads.
        before, after = np.roll(network.head[self.arcs], 1), network.head[self.arcs]
        before[self.arc_start[:-1]] = self.source[of]
        path = np.repeat(np.arange(len(hops)), hops)
        visits = np.concatenate([np.arange(len(hops)) * nodes + self.source[of], path * nodes + after])
        return bool(
            (before == network.tail[self.arcs]).all()
            and (after[self.arc_start[1:] - 1] == self.target[of]).all()
            and network.capacity_mbps[self.arcs].all()
            and np.diff(np.sort(visits)).all()
        )

    def path(self, path: int) -> list[int]:
        """The arcs of a path."""
        return [int(arc) for arc in self.arcs[self.arc_start[path] : self.arc_start[path + 1]]]

    @property
    def pair_count(self) -> int:
        """Number of pairs."""
        return len(self.source)

    @property
    def path_count(self) -> int:
        """Number of paths of all pairs."""
        return len(self.arc_start) - 1

    def pairs(self) -> list[tuple[int, int]]:
        """Source and target of each pair."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))

    def pair_of_path(self) -> Ints:
        """The pair of each path, shape (paths,)."""
        return np.repeat(np.arange(self.pair_count), np.diff(self.path_start))

    def even(self) -> Floats:
        """The fractions that spread each pair's traffic evenly over its paths."""
        return np.asarray(1.0 / np.diff(self.path_start)[self.pair_of_path()])

    def sums(self, values: Floats) -> Floats:
        """The sum of the values of each pair's paths, shape (pairs,)."""
        return np.asarray(np.add.reduceat(values, self.path_start[:-1]))

    def whole(self, fraction: Floats) -> Floats:
        """The fractions of all paths, made one in total for each pair."""
        return np.asarray(fraction / self.sums(fraction)[self.pair_of_path()])

    def incidence(self, arc_count: int) -> sparse.csr_array:
        """One where a path uses an arc, shape (paths, arcs)."""
        ones = np.ones(len(self.arcs))
        return sparse.csr_array((ones, self.arcs, self.arc_start), shape=(self.path_count, arc_count))

    def routing(self, arc_count: int, fraction: ArrayLike) -> TrafficSplit:
        """The routing that sends `fraction[p]` of its pair's traffic over path p."""
        fractions = frozen(fraction, np.float64)
        if fractions.shape != (self.path_count,):
            raise RoutingError(
                "fraction", f"shape {fractions.shape}", f"one number for each of {self.path_count} paths"
            )
        if not np.isfinite(fractions).all():
            raise RoutingError("fraction", "a fraction is no number", "fractions are from 0 to 1")
        by_pair = sparse.csr_array(
            (fractions, np.arange(self.path_count), self.path_start), shape=(self.pair_count, self.path_count)
        )
        share = sparse.csr_array(by_pair @ self.incidence(arc_count))
        return TrafficSplit(self.source, self.target, share, self, fractions)


def _check_path(network: FlowNetwork, place: str, source: int, target: int, path: Sequence[int]) -> None:
    at, visited = source, {source}
    for arc in path:
        if not 0 <= arc < network.arc_count or network.tail[arc] != at:
            raise CandidateError(
                place, f"path {list(path)} breaks off at arc {arc}", "each arc begins where one ends"
            )
        if network.capacity_mbps[arc] == 0:
            raise CapacityError(
                f"link {network.arc_name(arc)}", f"has no capacity, and a path {place} uses it",
                "give it a capacity, or the pair other paths",
            )  # fmt: skip
        at = int(network.head[arc])
        if at in visited:
            raise CandidateError(
                place, f"path {list(path)} visits {network.nodes[at]} twice", "leave out the circle"
            )
        visited.add(at)
    if at != target:
        raise CandidateError(
            place, f"path {list(path)} ends at {network.nodes[at]}", "lead it to the end of its pair"
        )


@dataclass(frozen=True, eq=False)
class TrafficSplit:
    """The share of the traffic of each pair on each arc; by paths, too, where they are known."""

    source: Ints
    """First node of each pair, shape (pairs,)."""
    target: Ints
    """Last node of each pair, shape (pairs,)."""
    share: sparse.csr_array
    """Share of the pair's traffic on the arc, from 0 to 1, shape (pairs, arcs)."""
    candidates: Candidates | None = None
    """Paths of the same pairs, or None where only shares are known."""
    fraction: Floats | None = None
    """x_p for each path of `candidates`, shape (paths,)."""

    @property
    def by_paths(self) -> tuple[Candidates, Floats]:
        """The paths, and the fraction of each.

        Raises:
            RoutingError: only shares of links are known.
        """
        if self.candidates is None or self.fraction is None:
            raise RoutingError("routing", "has shares of links and no paths", "decompose it into paths")
        return self.candidates, self.fraction

    def check(self, network: FlowNetwork) -> None:
        """Raise RoutingError unless each pair's whole traffic leaves its source and arrives, eq. (4)."""
        shape = (len(self.source), network.arc_count)
        if len(self.source) != len(self.target) or self.share.shape != shape:
            raise RoutingError("share", f"shape {self.share.shape}", f"must be {shape}")
        if not np.isfinite(self.share.data).all() or (self.share.data < -SHARE_TOLERANCE).any():
            raise RoutingError("share", "a share is negative or no number", "shares are from 0 to 1")
        ones, pairs, arcs = np.ones(max(shape)), np.arange(shape[0]), np.arange(shape[1])

        def at(rows: Ints, nodes: Ints) -> sparse.csr_array:
            return sparse.csr_array((ones[: len(rows)], (rows, nodes)), shape=(len(rows), len(network.nodes)))

        wanted = at(pairs, self.source) - at(pairs, self.target)
        net = at(arcs, network.tail) - at(arcs, network.head)
        missed = sparse.csr_array(abs(self.share @ net - wanted))
        if missed.nnz and missed.max() > SHARE_TOLERANCE:
            pair, node = np.unravel_index(int(missed.argmax()), missed.shape)
            place = network.pair_name(int(self.source[pair]), int(self.target[pair]))
            raise RoutingError(
                place, f"a share of {missed.max():.3g} begins or ends at {network.nodes[node]}",
                "all that leaves the source must arrive at the target",
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The highest load of every link over all traffic matrices within the bounds, and a matrix of each."""

    load: Floats
    """Highest load of each arc, a ratio to its capacity, shape (arcs,)."""
    source: Ints
    """First node of each pair, shape (pairs,)."""
    target: Ints
    """Last node of each pair, shape (pairs,)."""
    traffic_mbps: sparse.csr_array
    """A matrix that causes the highest load of each arc, by pair, shape (arcs, pairs).

    Pairs that do not use the arc have no traffic in it.
    """
    proved: Floats
    """What the load of each arc is proved not to exceed, shape (arcs,): at least `load`."""

    @property
    def proved_load(self) -> float:
        """The load that the worst-case maximum link load is proved not to exceed."""
        return float(self.proved.max())

    @property
    def gap(self) -> float:
        """(proved load - load) / proved load: what the evaluator leaves open; mostly rounding."""
        return (self.proved_load - self.max_load) / self.proved_load if self.proved_load else 0.0

    @property
    def worst_arc(self) -> int:
        """The arc with the highest load; of several the first."""
        return int(self.load.argmax())

    @property
    def max_load(self) -> float:
        """The worst-case maximum link load t of the routing."""
        return float(self.load.max())

    def matrix_mbps(self, arc: int, node_count: int) -> Floats:
        """The traffic matrix of an arc, from row to column, shape (nodes, nodes)."""
        matrix = np.zeros((node_count, node_count))
        matrix[self.source, self.target] = self.traffic_mbps[[arc], :].toarray()[0]
        return matrix


@dataclass(frozen=True, eq=False)
class Solution:
    """A routing of least worst-case load, with a proof of how good it is.

    `worst_case` comes from the evaluator, which knows nothing of the solver; `lower_bound` from the solver:
    no routing over the same paths has a smaller worst-case load.
    """

    routing: TrafficSplit
    worst_case: WorstCase
    lower_bound: float
    status: Status
    iterations: int
    """Linear programs solved."""
    cpu_s: float
    """CPU time of all threads, with the building of the programs, in seconds."""

    @property
    def load(self) -> float:
        """The worst-case maximum link load t."""
        return self.worst_case.max_load

    @property
    def gap(self) -> float:
        """(load - lower bound) / load: by which part the optimum may be lower."""
        return (self.load - self.lower_bound) / self.load if self.load else 0.0
