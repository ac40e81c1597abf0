"""An order in which costs of links are changed one by one, without loops and overloads on the way.

Each change is one command at one router. It is safe if no mix of old and new routes loops, and none loads a
link more than is allowed (``igp.py``). First whole changes are tried in every order that the limit of work
lets through; then costs go to their end in increments. A change by 1 never loops: along a circle of old and
new next hops the old distances would not go down (François, Shand, Bonaventure, "Disruption free topology
reconfiguration in OSPF networks", INFOCOM 2007, section IV), so that increments always find an order without
loops, and only a load can stand in the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from anabranch.plans.igp import CostLoads, CostState, Ints

MOST_TRIALS: Final = 4_000
"""Transitions that the search of whole changes looks at."""
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class CostStep:
    """The change of the cost of one link."""

    arc: int
    before: int
    after: int
    load_meanwhile: float
    """The highest load of any link by any mix of old and new routes; infinite where packets may loop."""
    worst_arc: int
    load_after: float
    """The highest load when all routers have changed."""
    loops: tuple[int, ...] = ()
    """Destinations to which packets may go round meanwhile."""


@dataclass(frozen=True, slots=True)
class CostChanges:
    """The changes in their order."""

    steps: tuple[CostStep, ...]
    load_before: float
    load_after: float
    allowed_load: float
    """1, or the load before or after where that is higher: a change need not be better than both."""
    changed: int
    """Links whose cost differs."""
    trials: int
    """Transitions that were looked at."""
    tried_all: bool
    """Whether every order of whole changes was looked at, where none of them is safe."""

    @property
    def uses_increments(self) -> bool:
        """Whether a cost is changed in more than one step."""
        return len(self.steps) > self.changed

    @property
    def overloads(self) -> tuple[CostStep, ...]:
        """Steps that may load a link more than is allowed."""
        return tuple(step for step in self.steps if step.load_meanwhile > self.allowed_load + _ROUNDING)


@dataclass
class _Search:
    loads: CostLoads
    planned: Ints
    allowed: float
    trials: int = 0

    def step(self, state: CostState, arc: int, cost: int) -> tuple[CostStep, CostState]:
        """The change of one cost, and the state behind it."""
        self.trials += 1
        costs = state.cost.copy()
        costs[arc] = cost
        after = self.loads.state(costs, state)
        meanwhile = self.loads.transition(state, after)
        worst = int(after.load.argmax()) if meanwhile.load is None else int(meanwhile.load.argmax())
        step = CostStep(
            arc, int(state.cost[arc]), cost, meanwhile.max_load, worst, after.max_load, meanwhile.loops
        )
        return step, after

    def is_safe(self, step: CostStep) -> bool:
        """Whether nothing loops and no load is too high on the way."""
        return step.load_meanwhile <= self.allowed + _ROUNDING

    def whole(self, first: CostState) -> tuple[list[CostStep] | None, bool]:
        """An order of whole changes, and whether all orders were tried where there is none."""
        left_at_first = np.flatnonzero(first.cost != self.planned).tolist()
        tried: set[frozenset[int]] = set()
        path = list[CostStep]()
        states = [first]
        waiting = [list(left_at_first)]
        while waiting:
            if len(path) == len(left_at_first):
                return path, True
            if not waiting[-1]:
                waiting.pop()
                states.pop()
                if path:
                    path.pop()
                continue
            if self.trials >= MOST_TRIALS:
                return None, False
            arc = waiting[-1].pop(0)
            done = frozenset([*(step.arc for step in path), arc])
            if done in tried:
                continue
            step, after = self.step(states[-1], arc, int(self.planned[arc]))
            if self.is_safe(step):
                # What was reached once and leads nowhere leads nowhere by another way, too.
                tried.add(done)
                path.append(step)
                states.append(after)
                waiting.append([other for other in left_at_first if other not in done])
        return None, True

    def increments(self, state: CostState) -> list[CostStep]:
        """Changes in increments: safe ones as long as there are some, and else those with the least load."""
        steps = list[CostStep]()
        while left := np.flatnonzero(state.cost != self.planned).tolist():
            step, state = self._increment(state, left)
            steps.append(step)
        return steps

    def _increment(self, state: CostState, left: list[int]) -> tuple[CostStep, CostState]:
        least: tuple[CostStep, CostState] | None = None
        parts = 1
        while True:
            is_smallest = True
            for arc in left:
                distance = int(self.planned[arc] - state.cost[arc])
                by = int(np.sign(distance)) * max(1, abs(distance) // parts)
                if parts > 1 and abs(distance) // (parts // 2) <= 1:
                    continue
                is_smallest = is_smallest and abs(by) == 1
                step, after = self.step(state, arc, int(state.cost[arc]) + by)
                if self.is_safe(step):
                    return step, after
                if least is None or step.load_meanwhile < least[0].load_meanwhile:
                    least = step, after
            if is_smallest and least is not None:
                return least
            parts *= 2


def ordered_changes(loads: CostLoads, present: Ints, planned: Ints) -> CostChanges:
    """The order of the changes from one set of costs to another.

    Args:
        loads: the network and its traffic.
        present: cost of each link between routers now, from 1 on.
        planned: what it is to be.
    """
    first, last = loads.state(present), loads.state(planned)
    allowed = max(1.0, first.max_load, last.max_load)
    search = _Search(loads, planned, allowed)
    steps, tried_all = search.whole(first)
    if steps is None:
        steps = search.increments(first)
    return CostChanges(
        tuple(steps),
        first.max_load,
        last.max_load,
        allowed,
        int((present != planned).sum()),
        search.trials,
        tried_all,
    )
