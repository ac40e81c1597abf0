"""The traffic matrix of an entry: read, made by a rule, or drawn from those that bounds allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch.scenario.demand import Matrix
from anabranch.scenario.leaves import ExponentialVariate
from anabranch.setup.draws import UNIT_INTERVAL, Draws
from anabranch.setup.model import DemandSetup
from anabranch.setup.network import ResolvedNetwork
from anabranch.setup.pair_rates import PairRateReader
from anabranch.setup.problems import Problems

SWEEPS: Final = 50
"""How often each entry of a sampled matrix is drawn anew. Two entries of a simplex exchange their parts as in
Gibbs samplers of it, which forget their start after O(n log n) draws (Smith 2014), some log n sweeps."""

LEAST_BPS: Final = 1.0
"""Entries below count as none: a flow of that rate sends nothing in any run."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MatrixRates:
    """The entries of a matrix that are not zero."""

    origin: NDArray[np.intp]
    to: NDArray[np.intp]
    bps: Floats


class Matrices:
    """Makes the matrices of entries; what is wrong with one is noted."""

    def __init__(
        self,
        base: Path | None,
        network: ResolvedNetwork,
        demand: DemandSetup | None,
        draws: Draws,
        problems: Problems,
    ) -> None:
        self._base = base
        self._network = network
        self._demand = demand
        self._draws = draws
        self._problems = problems

    def rates(self, matrix: Matrix, name: str, place: str) -> MatrixRates:
        """The rates of an entry with a name, whose matrix stands at a place."""
        made: dict[str, Callable[[], MatrixRates | None]] = {
            "gravity": lambda: self._gravity(matrix, name),
            "uniform": lambda: self._shared(matrix, np.ones((len(self._network.hosts),) * 2)),
            "bounds": lambda: self._sampled(matrix, name, place),
        }
        before = len(self._problems)
        found = made[matrix.source]() if matrix.source in made else self._read(matrix, place)
        kept = None if found is None else found.bps >= LEAST_BPS
        if found is None or kept is None or not kept.any():
            if len(self._problems) == before:
                self._problems.add(place, "has no entry above zero, so that nobody sends")
            return MatrixRates(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
        return MatrixRates(found.origin[kept], found.to[kept], found.bps[kept])

    def _read(self, matrix: Matrix, place: str) -> MatrixRates:
        reader = PairRateReader(self._base, self._network, self._problems, place, self._network.node)
        rates = reader.rates_bps(matrix)
        origin, to = np.array(sorted(rates), dtype=np.intp).reshape(-1, 2).T
        bps = np.array([rates[pair] for pair in sorted(rates)])
        if matrix.total is not None and bps.sum() > 0:
            bps *= float(matrix.total) / bps.sum()
        return MatrixRates(origin, to, bps)

    def _gravity(self, matrix: Matrix, name: str) -> MatrixRates | None:
        hosts = self._network.hosts
        if matrix.weights == "exponential":
            unit = ExponentialVariate(mean=1.0)
            out, into = (self._draws.many(unit, name, f"matrix {side}", len(hosts)) for side in ("out", "in"))
        else:
            capacity = np.zeros((2, len(self._network.nodes)))
            for link in self._network.links:
                capacity[0, link.origin] += link.capacity
                capacity[1, link.to] += link.capacity
            out, into = capacity[:, hosts]
        return self._shared(matrix, np.outer(out, into))

    def _shared(self, matrix: Matrix, parts: Floats) -> MatrixRates | None:
        """The total, in these parts; the diagonal has none."""
        hosts = np.array(self._network.hosts, dtype=np.intp)
        np.fill_diagonal(parts, 0.0)
        whole = parts.sum()
        if not whole > 0 or matrix.total is None:
            return None
        here, there = np.nonzero(parts)
        return MatrixRates(hosts[here], hosts[there], parts[here, there] * (float(matrix.total) / whole))

    def _sampled(self, matrix: Matrix, name: str, place: str) -> MatrixRates | None:
        if self._demand is None:
            self._problems.add(
                f"{place}.from", '"bounds" needs [routing.demand], whose matrices it is one of'
            )
            return None
        routers = np.array(self._demand.routers, dtype=np.intp)

        def uniforms(sweep: int) -> Floats:
            count = len(routers)
            return self._draws.many(UNIT_INTERVAL, name, f"matrix {sweep}", count * count).reshape(
                count, count
            )

        found = sampled(*self._demand.arrays(), uniforms) * matrix.scale
        here, there = np.nonzero(found)
        return MatrixRates(routers[here], routers[there], found[here, there])


def sampled(ingress: Floats, egress: Floats, pair: Floats, uniforms: Callable[[int], Floats]) -> Floats:
    """A matrix within bounds, uniform over all of them, by hit-and-run along the axes (Smith 1984).

    Along the axis of one entry the allowed matrices are an interval from zero, and the entry becomes a point
    of it at random. The entries (i, i + d) for one d share neither row nor column, so that they are drawn at
    once. The order of these groups is another one in each sweep: in a fixed order, what one entry leaves
    would only move to the next ones.

    Args:
        ingress: the most of each row, infinite for no bound.
        egress: the most of each column.
        pair: the most of each entry; the diagonal is none.
        uniforms: numbers between 0 and 1 of a sweep by its number, shape (n, n), whose last row makes the
            order.
    """
    count = len(ingress)
    here = np.arange(count)
    # Inside, so that no row is full of the first entries drawn.
    matrix = np.minimum(pair, np.minimum(ingress[:, None], egress[None, :]) / count) / 2
    np.fill_diagonal(matrix, 0.0)
    for sweep in range(SWEEPS):
        # Anew in each sweep, so that rounding does not pile up.
        row, column = matrix.sum(axis=1), matrix.sum(axis=0)
        *draws, last = uniforms(sweep)
        for shift, uniform in zip(1 + np.argsort(last[: count - 1]), draws, strict=True):
            there = (here + shift) % count
            before = matrix[here, there]
            most = np.minimum(ingress - row + before, (egress - column)[there] + before)
            after = uniform * np.clip(np.minimum(most, pair[here, there]), 0.0, None)
            matrix[here, there] = after
            row += after - before
            column[there] += after - before
    return matrix
