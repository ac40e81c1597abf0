"""A search for weights: rounds of local searches over the cases that are known, and of judgement over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.routing.router_failures import Failure
from anabranch.routing.router_network import RouterNetwork
from anabranch.routing.weights.cases import TOUCH_S, Judge, Judgement, Weights, weight_cases

GREATEST_WEIGHT: Final = 65_535
"""Of OSPF (RFC 2328, A.4.2: 16 bits)."""
EQUAL_WEIGHT: Final = 10
"""Of every link where a search begins without weights: room for lower ones."""
_BOLDNESS: Final = (0.0, 0.005, 0.01, 0.02)
"""Of the searches of a round, the first of which never takes a step back; with any number of threads."""
_EVENNESS: Final = (0.0, 0.1, 0.2, 0.4)
"""Of the same searches, where the traffic is any within bounds: what a load with all pairs at their bounds at
once counts beside the load, which stays the same until a source has few enough targets behind a link."""
_ROUNDS: Final = 6
"""Rounds of search and judgement, where the worst failures are not known beforehand."""
_FILLS: Final = 5
"""How often a search of the core computes the trees of all of its cases: at the start, and for each norm."""
_FEWEST_CASES: Final = 10
"""Cases that stay, however little work a round has."""
_AT_THE_END: Final = 0.2
"""Part of the work for what comes after the search: the changes that matter, and what each brings."""
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class WeightLimits:
    """The weights that may be taken, and the work to find them."""

    max_changes: int | None = None
    """Interfaces (directed links) whose weight may differ from the present one; None for all."""
    greatest: int = GREATEST_WEIGHT
    symmetric: bool = False
    """Both directions of a link have the same weight where one of them is changed."""
    time_limit_s: float = 10.0
    """Work, about so many seconds on one core; a bound of the load has as much."""


@dataclass(frozen=True, slots=True)
class WeightChange:
    """Another weight of a directed link, and what it and those before it lead to."""

    link: str
    before: int
    after: int
    load: float | None
    """The highest load once it and all changes before it are made; None where the work was done before."""
    gain: float | None
    """By how much the change before it, or the present weights, have a higher load."""


@dataclass(frozen=True, eq=False)
class FoundWeights:
    """The weights of a search."""

    weights: Weights
    """Of each arc."""
    changes: tuple[WeightChange, ...]
    """Those that matter, the one with the greatest gain first."""
    load_before: float
    """The highest load of all by the present weights."""
    load: float
    """The highest load of all."""
    failure: int
    """The failure in which it occurs, by its place; 0 for none."""


def find_weights(
    routers: RouterNetwork,
    failures: Sequence[Failure],
    present: Weights,
    limits: WeightLimits,
    jobs: int,
    progress: Callable[[int, int], None] | None = None,
) -> FoundWeights:
    """The best weights that are found within some limits, never worse than the present ones.

    The same call has the same answer, whatever the number of threads, unless the clock ends a solver.

    Args:
        routers: the network with bounds of its traffic, or one matrix.
        failures: those that count; the first is that nothing is down.
        present: the weights to begin with, from which changes are counted.
        limits: of weights and work.
        jobs: threads.
        progress: told of the work done and of all.

    Raises:
        ScenarioError: a present weight is above the greatest.
        RobustRoutingError: the evaluator cannot tell the load.
    """
    return _Search(routers, failures, present, limits, (jobs, progress)).run()


class _Search:
    """A search: the cases that it knows, and the judge of all of them."""

    def __init__(
        self,
        routers: RouterNetwork,
        failures: Sequence[Failure],
        present: Weights,
        limits: WeightLimits,
        jobs_and_progress: tuple[int, Callable[[int, int], None] | None],
    ) -> None:
        self._routers = routers
        self._failures = failures
        self._present = present
        self._limits = limits
        self._jobs, self._progress = jobs_and_progress
        self._check()
        self._judge = Judge(routers, failures, self._jobs)
        network = routers.network
        self._group = (network.edge if limits.symmetric else np.arange(network.arc_count)).astype(np.uint32)

    def _check(self) -> None:
        limits, setup, links = self._limits, self._routers.setup, self._routers.links
        if len(above := np.flatnonzero(self._present > limits.greatest)):
            arc = int(above[0])
            message = (
                f"the weight of {setup.links[links[arc]].name} is {self._present[arc]:,}, and the greatest "
                f"is {limits.greatest:,}; raise that (max_weight, --max-weight), or lower the weight"
            )
            raise ScenarioError([Problem("network.weights", message)])

    def run(self) -> FoundWeights:
        """The best weights that were found, with the changes in their order."""
        present = self._judge.judge(self._present)
        best, best_weights = present, self._present
        cases = list(present.worst)
        # One round where these are all that there are.
        rounds = 1 if len(cases) == len(self._failures) else _ROUNDS
        left_s = self._limits.time_limit_s
        end_s, begin = _AT_THE_END * left_s, self._present
        for number in range(rounds):
            left_s -= present.work_s
            part_s = max(left_s - end_s, 0.0) / (rounds - number)
            if part_s <= 0 or present.load == 0:
                break
            candidate = self._searched(cases, begin, (part_s, present.work_s), (number, rounds))
            left_s -= part_s
            judged = self._judge.judge(candidate)
            if judged.load < best.load * (1 - _SAME):
                best, best_weights = judged, candidate
            earlier = set(cases)
            cases = self._hardest(cases, candidate, (part_s, present.work_s))
            cases += [case for case in judged.worst if case not in earlier]
            begin = candidate if judged.load <= best.load * (1 + _SAME) else best_weights
        return self._with_changes(cases, present, (best, best_weights), max(left_s, end_s))

    def _cases_of(self, cases: Sequence[int]) -> _core.WeightCases:
        return weight_cases(self._routers, [self._failures[case] for case in cases])

    def _searched(
        self, cases: Sequence[int], begin: Weights, work_s: tuple[float, float], part: tuple[int, int]
    ) -> Weights:
        """The best weights of several searches over these cases; work of a round and of a judgement."""
        core = self._cases_of(cases)
        round_s, judgement_s = work_s
        fill_s = judgement_s / len(self._failures) * len(cases)
        search_s = round_s / len(_BOLDNESS) - _FILLS * fill_s
        work = max(int(search_s / TOUCH_S), 1)

        def search(place: int) -> tuple[Weights, float]:
            weights, load, _ = core.search(
                self._present,
                begin,
                self._group,
                greatest=self._limits.greatest,
                most_changes=self._most_changes,
                boldness=_BOLDNESS[place],
                evenness=_EVENNESS[place],
                work=work,
                seed=part[0] * len(_BOLDNESS) + place,
                progress=self._told(part) if place == len(_BOLDNESS) - 1 else None,
            )
            return weights, load

        with ThreadPoolExecutor(self._jobs) as pool:
            answers = list(pool.map(search, range(len(_BOLDNESS))))
        return min(answers, key=lambda answer: answer[1])[0]

    def _hardest(self, cases: list[int], weights: Weights, work_s: tuple[float, float]) -> list[int]:
        """The cases with the highest loads: so many that half of a round's work is left to search."""
        round_s, judgement_s = work_s
        case_s = judgement_s / len(self._failures)
        most = max(int(round_s / (2 * len(_BOLDNESS) * _FILLS * case_s)), _FEWEST_CASES)
        if len(cases) <= most:
            return cases
        highest = self._cases_of(cases).loads(weights)[0].max(axis=1)
        kept = np.sort(np.argsort(-highest, kind="stable")[:most])
        return [cases[place] for place in kept.tolist()]

    @property
    def _most_changes(self) -> int:
        most, arcs = self._limits.max_changes, self._routers.network.arc_count
        return arcs if most is None else min(most, arcs)

    def _told(self, part: tuple[int, int]) -> Callable[[int, int], None] | None:
        """Progress of a round among all."""
        progress, (number, rounds) = self._progress, part
        if progress is None:
            return None
        return lambda done, whole: progress(number * whole + done, rounds * whole)

    def _with_changes(
        self,
        cases: Sequence[int],
        present: Judgement,
        best_judged: tuple[Judgement, Weights],
        work_s: float,
    ) -> FoundWeights:
        """The weights with the changes alone that matter, and what each of them leads to."""
        best, weights = best_judged
        if best.load >= present.load * (1 - _SAME):
            return FoundWeights(self._present, (), present.load, present.load, present.failure)
        order, work = self._cases_of(cases).fewest_changes(
            self._present, weights, self._group, int(work_s / TOUCH_S)
        )
        fewer = np.where(np.isin(self._group, order), weights, self._present)
        judged = self._judge.judge(fewer)
        if judged.load > best.load * (1 + _SAME):
            # What the known cases can spare another one needs.
            rest = {int(group) for group in self._group[weights != self._present]} - set(order)
            order, judged = [*order, *sorted(rest)], best
        members = [
            np.flatnonzero((self._group == group) & (weights != self._present)).tolist() for group in order
        ]
        steps = [[(arc, int(weights[arc])) for arc in arcs] for arcs in members]
        left_s = work_s - work * TOUCH_S - judged.work_s
        along = self._judge.along(self._present, steps[:-1], judged.work_s, left_s)
        loads = [*along, judged.load]
        changed = np.where(np.isin(self._group, order), weights, self._present)
        return FoundWeights(
            changed,
            tuple(self._changes(steps, loads, present.load)),
            present.load,
            judged.load,
            judged.failure,
        )

    def _changes(
        self, steps: Sequence[Sequence[tuple[int, int]]], loads: Sequence[float | None], before: float
    ) -> list[WeightChange]:
        """Each change with what it leads to."""
        setup, links = self._routers.setup, self._routers.links
        changes = list[WeightChange]()
        last: float | None = before
        for step, load in zip(steps, loads, strict=True):
            gain = None if load is None or last is None else last - load
            changes += [
                WeightChange(setup.links[links[arc]].name, int(self._present[arc]), weight, load, gain)
                for arc, weight in step
            ]
            last = load
        return changes
