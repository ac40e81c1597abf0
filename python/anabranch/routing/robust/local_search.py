"""One path for each pair by local search: from overloaded links take pairs of a row or column, and reroute.

A step takes off a link the pairs of one source or of one target, or a few at random, and gives them paths
again one by one, each the one that adds least to the excess of links over the level aimed at. A worse routing
is kept with a probability that falls over each of several rounds (simulated annealing). Whole rows and
columns move together because they are what a link pays for (see `single_path_bounds`).
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from .budget import Budget
from .link_traffic import LinkTraffic, finite_bounds
from .problem import RoutingProblem

_ROUND = 8000
"""Steps from one heating to the next."""
_HEAT = 0.012
"""Excess, as a load, that is accepted with probability 1 / e at the start of a round."""
_TRAFFIC_WEIGHT = 0.002
"""What traffic below the level counts, against traffic above: short ways are tried first."""

_STEP_S = 5e-5
_LOOK_S = 1.5e-5
"""Seconds of a step, and of a look at what a pair adds to a link (see `budget`)."""


@dataclass(frozen=True)
class SinglePaths:
    """A path for each pair, as found."""

    path: tuple[int, ...]
    """Index of the chosen path of each pair among all candidates."""
    load: float
    """Highest worst-case load of a link, as the search has it; `worst_case` has the last word."""
    excess: float
    """Sum of what links have above the level, as loads."""
    steps: int


class SinglePathSearch:
    """A routing with one path for each pair that is changed step by step. The same seed, the same steps."""

    def __init__(self, problem: RoutingProblem, seed: int) -> None:
        finite, candidates = finite_bounds(problem.bounds), problem.candidates
        self._random = random.Random(seed)  # noqa: S311 - a search, no secret.
        self._capacity = problem.network.capacity_mbps.tolist()
        self._source = candidates.source.tolist()
        self._target = candidates.target.tolist()
        self._most = finite.ceiling_mbps(candidates.source, candidates.target).tolist()
        self._first = candidates.path_start.tolist()
        self._paths = [candidates.path(path) for path in range(candidates.path_count)]
        self._links = [LinkTraffic(finite) for _ in self._capacity]
        # In the order in which pairs came; as keys, any of them leaves at once.
        self._on: list[dict[int, None]] = [{} for _ in self._capacity]
        self._chosen = self._first[:-1]
        self._looks = 0
        self.level = 0.0
        """The load aimed at."""
        for pair, path in enumerate(self._chosen):
            self._put(pair, path)

    @property
    def load(self) -> float:
        """Highest worst-case load of a link."""
        return max(self._loads())

    @property
    def excess(self) -> float:
        """Sum of what links have above the level, as loads."""
        return sum(max(0.0, load - self.level) for load in self._loads())

    def routing(self, steps: int) -> SinglePaths:
        """The routing as it stands."""
        return SinglePaths(tuple(self._chosen), self.load, self.excess, steps)

    def choose(self, path: list[int] | tuple[int, ...]) -> None:
        """Go on from this routing."""
        for pair, new in enumerate(path):
            self._take(pair)
            self._put(pair, new)

    def run(self, level: float, steps: int, budget: Budget) -> SinglePaths:
        """Search until no link is above the level, or for so many steps; the routing of least excess."""
        self.level = level
        best, cost = self.routing(0), self._cost()
        for step in range(1, steps + 1):
            if best.excess <= 0 or budget.left_s <= 0:
                break
            heat = _HEAT * (1 - (step - 1) % _ROUND / _ROUND)
            self._looks = 0
            cost = self._step(cost, heat)
            budget.spend(_STEP_S + self._looks * _LOOK_S)
            excess = self.excess
            if excess < best.excess - 1e-12 or excess <= 0:
                best = self.routing(step)
        return best

    def _step(self, cost: float, heat: float) -> float:
        """Reroute some pairs, or leave them; the cost afterwards."""
        link, pairs = self._draw()
        if not pairs:
            return cost
        old = [self._chosen[pair] for pair in pairs]
        avoid = link if self._random.random() < 0.7 else -1
        for pair in pairs:
            self._take(pair)
        for pair, path in zip(pairs, old, strict=True):
            self._put(pair, self._cheapest(pair, avoid, path))
        new = self._cost()
        if new <= cost or self._random.random() < math.exp((cost - new) / max(heat, 1e-12)):
            return new
        for pair in pairs:
            self._take(pair)
        for pair, path in zip(pairs, old, strict=True):
            self._put(pair, path)
        return cost

    def _draw(self) -> tuple[int, list[int]]:
        """A link, mostly one above the level, and pairs to take off it, in random order."""
        draw = self._random
        above = [link for link, load in enumerate(self._loads()) if load > self.level]
        some = above if above and draw.random() < 0.8 else range(len(self._links))
        link = draw.choice(some)
        on = [*self._on[link]]
        if not on:
            return link, []
        one, kind = draw.choice(on), draw.random()
        if kind < 0.35:
            pairs = [pair for pair in on if self._source[pair] == self._source[one]]
        elif kind < 0.7:
            pairs = [pair for pair in on if self._target[pair] == self._target[one]]
        elif kind < 0.85:
            pairs = draw.sample(on, min(len(on), 3))
        else:
            pairs = [one]
        draw.shuffle(pairs)
        return link, pairs

    def _cheapest(self, pair: int, avoid: int, fallback: int) -> int:
        """The path that adds least excess; ties are broken at random."""
        source, target, most = self._source[pair], self._target[pair], self._most[pair]
        price: dict[int, float] = {}
        best, least = fallback, math.inf
        for path in range(self._first[pair], self._first[pair + 1]):
            links = self._paths[path]
            if avoid in links:
                continue
            cost = self._random.random() * 1e-4
            for link in links:
                if link not in price:
                    traffic = self._links[link]
                    capacity, before = self._capacity[link], traffic.mbps
                    more = traffic.increase(source, target, most)
                    self._looks += 1
                    room = self.level * capacity
                    above = max(0.0, before + more - room) - max(0.0, before - room)
                    price[link] = (above + _TRAFFIC_WEIGHT * more) / capacity + (4e-5 if more > 0 else 0.0)
                cost += price[link]
            if cost < least:
                best, least = path, cost
        return best

    def _loads(self) -> list[float]:
        return [
            traffic.mbps / capacity if capacity else 0.0
            for traffic, capacity in zip(self._links, self._capacity, strict=True)
        ]

    def _cost(self) -> float:
        loads = self._loads()
        return sum(max(0.0, load - self.level) for load in loads) + _TRAFFIC_WEIGHT * sum(loads)

    def _put(self, pair: int, path: int) -> None:
        self._chosen[pair] = path
        for link in self._paths[path]:
            self._links[link].add(self._source[pair], self._target[pair], self._most[pair])
            self._on[link][pair] = None

    def _take(self, pair: int) -> None:
        for link in self._paths[self._chosen[pair]]:
            self._links[link].remove(self._source[pair], self._target[pair])
            del self._on[link][pair]
