"""The program with duals, solved link by link: only links that bind get their rows.

Few links bind at an optimum, but (10) and (11) for all links make the program large. So it is solved for the
links with the highest loads, the evaluator looks at all links, those above the optimum so far join, and so
on. What is solved is a relaxation, hence its dual values prove a lower bound at any time; the evaluator's
load of the best routing is the upper one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bound import Prices, prices
from .budget import Budget, Status
from .dual_program import DualProgram, Mirror
from .highs import solve_interior
from .model import Ints, Solution, TrafficSplit, WorstCase
from .problem import RoutingProblem

_START = 0.7
"""Links with this part of the highest load of evenly spread traffic have their rows from the start."""

SMALL = 10_000
"""Arcs in all candidates, up to which the whole program is solved faster than several of its parts."""


@dataclass
class Incumbent:
    """The best routing so far, and the best bound."""

    routing: TrafficSplit
    worst_case: WorstCase
    lower_bound: float = 0.0

    def offer(self, routing: TrafficSplit, worst_case: WorstCase) -> None:
        """Take a routing if it is better."""
        if worst_case.max_load < self.worst_case.max_load:
            self.routing, self.worst_case = routing, worst_case

    def within(self, tolerance: float) -> bool:
        """Whether the gap is at most this part of the load."""
        load = self.worst_case.max_load
        return load - self.lower_bound <= tolerance * load

    def solution(self, status: Status, programs: int, budget: Budget) -> Solution:
        """The incumbent as the solution of a solver."""
        return Solution(self.routing, self.worst_case, self.lower_bound, status, programs, budget.cpu_s)


def start(problem: RoutingProblem, budget: Budget) -> tuple[Incumbent, Ints]:
    """Evenly spread traffic, its worst case, and the links to begin with."""
    routing = problem.routing(problem.candidates.even())
    worst = problem.worst(routing, budget)
    return Incumbent(routing, worst), np.flatnonzero(worst.load >= _START * worst.max_load)


@dataclass(frozen=True)
class Step:
    """The outcome of one solution of the program for some links."""

    ending: str
    prices: Prices | None
    links: Ints
    """The links for the next one: those before, and those above the optimum of this one."""


def step(
    problem: RoutingProblem,
    links: Ints,
    best: Incumbent,
    budget: Budget,
    *,
    mirror: Mirror | None,
    fill: bool = False,
) -> Step:
    """Solve for these links, offer the routing, and find the links that it overloads.

    Without `fill` the bound of `best` is raised to what the prices prove for these candidates.
    """
    candidates = problem.candidates
    program = DualProgram(problem, links, mirror)
    answer = solve_interior(program.program, budget)
    dual = program.duals(answer)
    proved = None
    if dual is not None:
        ends = (candidates.source, candidates.target)
        proved = prices(problem.network, problem.bounds, *ends, *dual, fill=fill)
        if not fill:
            best.lower_bound = max(best.lower_bound, proved.bound(candidates))
    fraction = program.fractions(answer)
    if fraction is None:
        return Step(answer.ending, proved, links)
    routing = problem.routing(fraction)
    worst = problem.worst(routing, budget)
    best.offer(routing, worst)
    # The solver's own optimum, not the proved bound: that one may be much lower before the end.
    above = np.flatnonzero(worst.load > answer.objective * (1 + 1e-7))
    return Step(answer.ending, proved, np.union1d(links, above))
