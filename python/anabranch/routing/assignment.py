"""One path for each of many pairs, chosen together so that flows that share links do well; and a bound.

Flows get max-min fair rates below their loss-bound limits. The search climbs from several starts; the bound
is Lagrange's, which is that of the linear program in which pairs may split over their paths and rates need
not be fair. Both are deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np

from anabranch.routing.fair_share import Floats, fair_shares

MOST_EVALUATIONS: Final = 20_000
"""Assignments whose rates are computed before the search stops with the best so far."""
_BETTER: Final = 1e-9
"""Relative gain below which one assignment counts as no better than another."""
_BOUND_STEPS: Final = 300
_PATIENCE: Final = 20
"""Steps without a better bound after which steps are halved."""
_LEAST_MBPS: Final = 1e-9
"""Rate that stands for none in a logarithm."""
_FULL: Final = 1 - 1e-6
"""Load by capacity from which a link counts as full."""


@dataclass(frozen=True, slots=True)
class Group:
    """Flows of a pair that are alike."""

    flows: int
    efficiency: float
    """Payload by bytes on the wire, above 0 and at most 1."""


@dataclass(frozen=True, slots=True)
class PairChoice:
    """A pair, and the paths that it may take."""

    paths: tuple[tuple[int, ...], ...]
    """Each as its links; at least one."""
    groups: tuple[Group, ...]
    """Empty for a pair that carries only acknowledgments."""
    limits: Floats
    """Payload that one flow can get at most, in Mbps, by group, path, and path of the pair back; by group,
    path and 1 where the way back is given."""
    back: int | None = None
    """Number of the pair back, if its path is chosen here, too."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A path for each pair, and what comes of it."""

    chosen: tuple[int, ...]
    """Number of the path of each pair."""
    total_mbps: float
    """Sum of all flows' rates, in payload."""
    geometric_mean_mbps: float
    """Geometric mean of all flows' rates, in payload."""


class Assigner:
    """The search and the bound for one network and one objective."""

    def __init__(self, capacities_mbps: Sequence[float], pairs: Sequence[PairChoice], objective: str) -> None:
        """Prepares.

        Args:
            capacities_mbps: of the links, headers included.
            pairs: what there is to choose.
            objective: ``total`` or ``proportional``.
        """
        self._pairs = pairs
        self._proportional = objective == "proportional"
        self._classes = [
            (number, group) for number, pair in enumerate(pairs) for group in range(len(pair.groups))
        ]
        self._owner = np.array([number for number, _ in self._classes], dtype=int)
        self._flows = np.array([pairs[p].groups[g].flows for p, g in self._classes], dtype=float)
        self._efficiency = np.array([pairs[p].groups[g].efficiency for p, g in self._classes], dtype=float)
        self._first = [0, *accumulate(len(pair.paths) for pair in pairs)]
        used = sorted({link for pair in pairs for path in pair.paths for link in path})
        column = {link: number for number, link in enumerate(used)}
        self._capacities = np.array([capacities_mbps[link] for link in used], dtype=float)
        self._crossed = np.zeros((self._first[-1], len(used)))
        rows = (path for pair in pairs for path in pair.paths)
        for row, path in enumerate(rows):
            self._crossed[row, [column[link] for link in path]] = 1.0
        self._senders = [number for number, pair in enumerate(pairs) if pair.groups]
        self.evaluations = 0

    def alone(self) -> tuple[int, ...]:
        """The path of each pair that gives its flows the highest limits, exactly.

        Pairs that send both ways are one choice, because each one's acknowledgments take the other's path.
        """
        chosen = [0] * len(self._pairs)
        for number, pair in enumerate(self._pairs):
            weights = _weighted(pair)
            if pair.back is None:
                chosen[number] = int(weights[:, 0].argmax())
            elif number < pair.back:
                both = weights + _weighted(self._pairs[pair.back]).T
                chosen[number], chosen[pair.back] = map(int, np.unravel_index(both.argmax(), both.shape))
        return tuple(chosen)

    def assigned(self, chosen: Iterable[int]) -> Assignment:
        """The outcome of a choice, whoever made it."""
        chosen = tuple(chosen)
        rates = self._rates(chosen)
        logs = np.log(np.maximum(rates, _LEAST_MBPS))
        flows = self._flows.sum()
        return Assignment(chosen, float(self._flows @ rates), float(np.exp(self._flows @ logs / flows)))

    def search(self, start: tuple[int, ...], bound: float) -> Assignment:
        """The best assignment that climbing finds.

        It climbs from ``start`` and from two greedy ones, and then from the best with the pairs of one full
        link moved off it, link by link, as long as that helps.

        Args:
            start: a first assignment.
            bound: no assignment is better than this (:meth:`bound`); one that reaches it ends the search.
        """
        best = self._climb(start)
        for order in (self._senders, self._senders[::-1]):
            if not self._better(bound, self._value(best)) or self.spent:
                return self.assigned(best)
            best = self._best(best, self._climb(self._greedy(start, order)))
        while self._better(bound, self._value(best)) and not self.spent:
            assignment = best
            for link in np.flatnonzero(self._full(best)):
                assignment = self._best(assignment, self._climb(self._without(best, int(link))))
                if self.spent:
                    break
            if assignment == best:
                break
            best = assignment
        return self.assigned(best)

    @property
    def spent(self) -> bool:
        """Whether the search had to stop early."""
        return self.evaluations >= MOST_EVALUATIONS

    def value(self, assignment: Assignment) -> float:
        """The objective's value of an assignment: the sum of rates in Mbps, or of their logarithms."""
        return self._value(assignment.chosen)

    def mean_mbps(self, value: float) -> float:
        """A value of the objective ``proportional`` as the geometric mean of rates."""
        return float(np.exp(value / self._flows.sum()))

    def _limits(self, chosen: Sequence[int]) -> Floats:
        def limit(number: int, group: int) -> float:
            pair = self._pairs[number]
            back = 0 if pair.back is None else chosen[pair.back]
            return float(pair.limits[group, chosen[number], back])

        return np.array([limit(number, group) for number, group in self._classes])

    def _rates(self, chosen: Sequence[int], there: NDArrayBool | slice = slice(None)) -> Floats:
        """Payload of one flow of each class in Mbps, or of some classes that are there alone."""
        self.evaluations += 1
        efficiency = self._efficiency[there]
        limits = self._limits(chosen)[there] / efficiency
        wire = fair_shares(self._rows(chosen)[there], self._flows[there], limits, self._capacities)
        payload: Floats = wire * efficiency
        return payload

    def _rows(self, chosen: Sequence[int]) -> Floats:
        paths = np.array(self._first[:-1]) + np.asarray(chosen, dtype=int)
        rows: Floats = self._crossed[paths[self._owner]]
        return rows

    def _value(self, chosen: Sequence[int], there: NDArrayBool | slice = slice(None)) -> float:
        """The objective, or that of some classes alone."""
        rates = self._rates(chosen, there)
        worth = np.log(np.maximum(rates, _LEAST_MBPS)) if self._proportional else rates
        return float(self._flows[there] @ worth)

    def _full(self, chosen: Sequence[int]) -> NDArrayBool:
        load = (self._flows * self._rates(chosen) / self._efficiency) @ self._rows(chosen)
        full: NDArrayBool = load >= self._capacities * _FULL
        return full

    def _better(self, value: float, than: float) -> bool:
        return value > than + _BETTER * max(abs(than), 1.0)

    def _best(self, one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
        return other if self._better(self._value(other), self._value(one)) else one

    def _climb(self, start: Sequence[int]) -> tuple[int, ...]:
        """Moves one pair after the other to its best path, until none moves."""
        chosen, value = list(start), self._value(start)
        moved = True
        while moved:
            moved = False
            crowded = self._crossed @ self._full(chosen)
            for number in self._senders:
                if self._settled(number, chosen, crowded):
                    continue
                for path in range(len(self._pairs[number].paths)):
                    if self.spent:
                        return tuple(chosen)
                    before = chosen[number]
                    chosen[number] = path
                    if path != before and self._better(better := self._value(chosen), value):
                        value, moved = better, True
                    else:
                        chosen[number] = before
        return tuple(chosen)

    def _settled(self, number: int, chosen: Sequence[int], crowded: Floats) -> bool:
        """Whether no other path can help: the pair has its highest limits, and is in nobody's way."""
        pair = self._pairs[number]
        if len(pair.paths) == 1:
            return True
        if pair.back is not None or crowded[self._first[number] + chosen[number]]:
            return False
        weighted = _weighted(pair)[:, 0]
        return bool(weighted[chosen[number]] >= weighted.max())

    def _greedy(self, start: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
        """Pairs find their path one after the other, with those before them there already."""
        chosen = list(start)
        placed = np.zeros(len(self._pairs), dtype=bool)
        for number in order:
            placed[number] = True
            values = []
            for path in range(len(self._pairs[number].paths)):
                if self.spent:
                    return tuple(start)
                chosen[number] = path
                values.append(self._value(chosen, placed[self._owner]))
            chosen[number] = int(np.argmax(values))
        return tuple(chosen)

    def _without(self, chosen: Sequence[int], link: int) -> tuple[int, ...]:
        """The pairs of a link moved to the best of their paths that does without it, where there is one."""
        moved = list(chosen)
        for number in self._senders:
            first, end = self._first[number], self._first[number + 1]
            crosses = self._crossed[first:end, link] > 0
            if crosses[chosen[number]] and not crosses.all():
                worth = np.where(crosses, -1.0, _weighted(self._pairs[number]).max(axis=1))
                moved[number] = int(worth.argmax())
        return tuple(moved)

    def bound(self, reached: float) -> float:
        """No assignment has a value of the objective above this.

        Lagrange's dual function over prices of the links, made small by subgradients with Polyak's step: each
        flow takes the rate and the path that are worth most at the prices, and every price gives a bound.

        Args:
            reached: the value of some assignment, which sets the length of the steps.
        """
        dual = _Dual(self._pairs, self._first, self._crossed, proportional=self._proportional)
        prices = np.zeros(len(self._capacities))
        best, relaxed, waited = np.inf, 1.0, 0
        for _ in range(_BOUND_STEPS):
            worth, load = dual.at(prices)
            value = worth + float(prices @ self._capacities)
            waited = 0 if self._better(best, value) else waited + 1
            best = min(best, value)
            slack = self._capacities - load
            # Where a price is zero and the link has room, nothing is to be lowered.
            slope = np.where((prices <= 0) & (slack > 0), 0.0, slack)
            steepness = float(slope @ slope)
            if steepness <= 0 or not self._better(best, reached):
                break
            if waited >= _PATIENCE:
                relaxed, waited = relaxed / 2, 0
            prices = np.maximum(prices - relaxed * (value - reached) / steepness * slope, 0.0)
        return best


NDArrayBool = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


class _Dual:
    """What flows are worth at given prices, and the load that they then put on links."""

    def __init__(
        self, pairs: Sequence[PairChoice], first: Sequence[int], crossed: Floats, *, proportional: bool
    ) -> None:
        self._crossed, self._proportional = crossed, proportional
        rows: list[int] = []
        limits: list[float] = []
        starts, flows, efficiency = [], [], []
        for number, pair in enumerate(pairs):
            for index, group in enumerate(pair.groups):
                starts.append(len(rows))
                rows.extend(range(first[number], first[number + 1]))
                flows.extend([float(group.flows)] * len(pair.paths))
                efficiency.extend([group.efficiency] * len(pair.paths))
                # The best way back, for nobody knows yet which it is: still a bound.
                limits.extend(float(limit) for limit in pair.limits[index].max(axis=1))
        self._rows, self._starts = np.array(rows), np.array(starts)
        self._flows, self._efficiency = np.array(flows), np.array(efficiency)
        self._limits = np.array(limits) / self._efficiency

    def at(self, prices: Floats) -> tuple[float, Floats]:
        """Worth of all flows, and load of each link in Mbps on the wire."""
        price = (self._crossed @ prices)[self._rows]
        if self._proportional:
            with np.errstate(divide="ignore"):
                rates = np.minimum(self._limits, 1.0 / price)
            rates = np.maximum(rates, _LEAST_MBPS / self._efficiency)
            worth = self._flows * (np.log(rates * self._efficiency) - price * rates)
        else:
            rates = np.where(price < self._efficiency, self._limits, 0.0)
            worth = self._flows * (self._efficiency - price) * rates
        ends = [*self._starts[1:], len(worth)]
        best = np.array([s + int(worth[s:e].argmax()) for s, e in zip(self._starts, ends, strict=True)])
        load = (self._flows * rates)[best] @ self._crossed[self._rows[best]]
        return float(worth[best].sum()), load


def _weighted(pair: PairChoice) -> Floats:
    """Limits of all flows of a pair together, by path and path back; 0 for one without data."""
    if not pair.groups:
        return np.zeros((len(pair.paths), 1))
    weights = np.array([group.flows for group in pair.groups], dtype=float)
    weighted: Floats = np.tensordot(weights, pair.limits, axes=1)
    return weighted
