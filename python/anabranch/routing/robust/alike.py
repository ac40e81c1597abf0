"""Nodes that the links cannot tell apart, as one node each: a smaller program with the same optimum.

On a tree that hangs on the rest of a network no pair has a choice. A link that each pair uses with all of its
candidates or with none has one load, whatever the fractions. Of the other links two nodes may see the same:
if their bounds are equal, and so are the parts of their candidates on these links, to and from every other
node, then the two can change places, and the mean of an optimal routing and its image is optimal, too (loads
are convex in the fractions). So the nodes of such a group share their fractions, and the worst matrices may
be taken to be the same for all of them: the group sends and receives what its members do together, and one of
them stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .model import Candidates, DemandBounds, Floats, FlowNetwork, Ints, TrafficSplit
from .problem import RoutingProblem


@dataclass(frozen=True)
class Alike:
    """The program of the groups, and the way back."""

    problem: RoutingProblem
    """The bounds are of all nodes: a group's are at its first member, and the others have nothing. The
    candidates are parts of paths on the links where fractions count, for pairs of first members."""
    constant_load: float
    """The highest load of the other links."""
    path: Ints
    """For each path of the whole program the one here with its fraction, -1 where a pair has no choice."""

    @classmethod
    def find(cls, problem: RoutingProblem) -> Alike | None:
        """The groups of a program, or None where no two nodes are alike."""
        network, bounds, candidates = problem.network, problem.bounds, problem.candidates
        chosen = _links_of_choice(network, candidates)
        parts, kind = _parts(candidates, chosen, len(network.nodes), bounds)
        if not parts:
            return None
        limits = np.stack([bounds.ingress_mbps, bounds.egress_mbps], axis=1)
        rows = np.concatenate([limits, kind, kind.T], axis=1)
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        group = np.asarray(group, np.int64).ravel()
        if len(first) == len(network.nodes):
            return None
        members = np.bincount(group).astype(np.float64)
        count = np.zeros(len(network.nodes))
        count[first] = members
        leaders = sorted(first.tolist())
        pairs = [(a, b) for a in leaders for b in leaders if kind[a, b]]
        made = Candidates.of_parts(pairs, (parts[int(kind[pair])] for pair in pairs))
        smaller = RoutingProblem(network, bounds.of_groups(count), made)
        way_back = _way_back(candidates, kind, group, made)
        return cls(smaller, _constant_load(problem, chosen), way_back)

    def members(self) -> Ints:
        """How many pairs each pair here stands for, shape (pairs,)."""
        candidates, firsts = self.problem.candidates, self.path[self.path >= 0]
        is_first = np.isin(firsts, candidates.path_start[:-1])
        pair = candidates.pair_of_path()[firsts[is_first]]
        return np.bincount(pair, minlength=candidates.pair_count)

    def fractions(self, fraction: Floats) -> Floats:
        """Fractions of all paths from those of the groups."""
        return np.where(self.path >= 0, fraction[self.path], 1.0)


def _links_of_choice(network: FlowNetwork, candidates: Candidates) -> NDArray[np.bool_]:
    """Whether some pair uses an arc with some candidates and not with others, shape (arcs,)."""
    paths = candidates.path_count
    of_pair = sparse.csr_array(
        (np.ones(paths), np.arange(paths), candidates.path_start), shape=(candidates.pair_count, paths)
    )
    used = sparse.coo_array(of_pair @ candidates.incidence(network.arc_count))
    several = np.diff(candidates.path_start)[used.coords[0]]
    chosen = np.zeros(network.arc_count, np.bool_)
    chosen[used.coords[1][used.data < several - 0.5]] = True
    return chosen


def _parts(
    candidates: Candidates, chosen: NDArray[np.bool_], nodes: int, bounds: DemandBounds
) -> tuple[dict[int, list[list[int]]], Ints]:
    """What the candidates of a pair are on the links of choice, by kind, and the kind of each pair of nodes.

    Kind 0 is nothing at all: its traffic crosses no such link. Pairs of one kind have equal bounds, too.
    """
    kinds: dict[tuple[float, tuple[tuple[int, ...], ...]], int] = {}
    kind = np.zeros((nodes, nodes), np.int64)
    parts: dict[int, list[list[int]]] = {}
    arcs, starts = candidates.arcs, candidates.arc_start.tolist()
    keep = chosen[arcs]
    kept = np.concatenate([[0], np.cumsum(keep)]).tolist()
    left = arcs[keep].tolist()
    limits = bounds.pair_mbps[candidates.source, candidates.target].tolist()
    for pair, (source, target) in enumerate(candidates.pairs()):
        span = range(candidates.path_start[pair], candidates.path_start[pair + 1])
        groups = tuple(tuple(left[kept[starts[p]] : kept[starts[p + 1]]]) for p in span)
        if any(groups):
            key = (limits[pair], groups)
            number = kinds.setdefault(key, len(kinds) + 1)
            kind[source, target] = number
            parts[number] = [list(part) for part in groups]
    return parts, kind


def _constant_load(problem: RoutingProblem, chosen: NDArray[np.bool_]) -> float:
    """The highest load of the links that each pair uses with all of its candidates or with none."""
    candidates = problem.candidates
    of_first = candidates.incidence(problem.network.arc_count)[candidates.path_start[:-1]]
    share = sparse.csr_array(of_first * np.where(chosen, 0.0, 1.0)[None, :])
    return problem.worst(TrafficSplit(candidates.source, candidates.target, share)).max_load


def _way_back(candidates: Candidates, kind: Ints, group: Ints, of_groups: Candidates) -> Ints:
    """The path among those of the groups for each path of all pairs."""
    source, target = candidates.source, candidates.target
    first_path = dict(zip(of_groups.pairs(), of_groups.path_start.tolist(), strict=False))
    leader = np.zeros(int(group.max()) + 1, np.int64)
    order = np.arange(len(group))[::-1]
    leader[group[order]] = order
    path = np.full(candidates.path_count, -1)
    for pair in np.flatnonzero(kind[source, target]).tolist():
        begin, end = candidates.path_start[pair], candidates.path_start[pair + 1]
        at = first_path[int(leader[group[source[pair]]]), int(leader[group[target[pair]]])]
        path[begin:end] = np.arange(at, at + end - begin)
    return path
