"""Paths of most predicted throughput by a named model: ``tcpbp-exact`` with ``model``.

Every model predicts less for more delay, more loss or less capacity, so that the best path of a pair is among
those that no other path beats in all three (crates/routing/src/pareto.rs), whatever the model. The delay of a
link counts with the transmission of a full data packet, as the predicted round trip does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.models import Model, ModelError, configured_model, model_named
from anabranch.routing.assignment import MOST_EVALUATIONS, Assigner, Group, PairChoice
from anabranch.routing.fair_share import Floats
from anabranch.routing.path_throughput import PathPrediction, packet_sizes, path_prediction
from anabranch.routing.planned import Pair, Planned, WeightedPath, pairs_of, plan_of
from anabranch.scenario.algorithms.scheme import TcpbpExact
from anabranch.scenario.leaves import LinksChange, NodeChange
from anabranch.setup.model import PlannerSetup, Setup

MOST_PATHS: Final = 256
"""Most Pareto-optimal paths of a pair. Two pairs that send to each other are a choice among their product."""
DETOURS: Final = 16
"""Paths of least d sqrt(p) that pairs may take besides: a path that another one beats is of use where that
one is crowded."""
_PS_PER_S: Final = 10**12

Path = tuple[int, ...]


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """One path for each pair.

    Pairs that carry only acknowledgments take the path of least d / (1 - p): each acknowledgment says what
    those before it said, so that a loss costs no more than the time to the next one.

    Args:
        setup: the scenario, resolved.
        planner: the scheme, with a model.

    Raises:
        ScenarioError: if a pair has too many Pareto-optimal paths, or a transport no model.
    """
    scheme = planner.scheme
    assert isinstance(scheme, TcpbpExact)  # noqa: S101 - it is of this planner
    assert scheme.model is not None  # noqa: S101 - without one the core plans
    sharing = scheme.sharing or "pair"
    choices = _Choices(setup, scheme.model)
    capacities = [link.capacity / 1e6 for link in setup.links]
    # Whatever the routes are chosen by, what comes of them is said with all flows in the network.
    assigner = Assigner(capacities, choices.pairs(shared=False), scheme.objective or "total")
    chosen = Assigner(capacities, choices.pairs(shared=sharing != "none"), "total").alone()
    reached = assigner.assigned(chosen)
    bound = assigner.bound(assigner.value(reached))
    if sharing == "all-pairs":
        reached = assigner.search(chosen, bound)
        bound = min(bound, assigner.bound(assigner.value(reached)))
    warnings = [*choices.outside_range(reached.chosen), *_planned_once(setup)]
    if assigner.spent:
        warnings.append(
            f"routing.sharing: the search for routes stopped after {MOST_EVALUATIONS:,} assignments; the gap "
            "says how far from the best they can be"
        )
    facts: dict[str, float | int | str] = {
        "model": scheme.model,
        "sharing": sharing,
        "predicted_total_mbps": reached.total_mbps,
    }
    if scheme.objective == "proportional":
        best = assigner.mean_mbps(bound)
        facts |= {
            "predicted_geometric_mean_mbps": reached.geometric_mean_mbps,
            "bound_geometric_mean_mbps": best,
            "gap": _gap(reached.geometric_mean_mbps, best),
        }
    else:
        facts |= {"bound_mbps": bound, "gap": _gap(reached.total_mbps, bound)}
    return Planned(plan_of(choices.routes(reached.chosen)), tuple(warnings), facts)


def _gap(reached: float, bound: float) -> float:
    """Share of the bound that is missing; rounding is none."""
    gap = 1 - reached / bound if bound > 0 else 0.0
    return gap if gap > 1e-9 else 0.0


@dataclass(frozen=True, slots=True)
class _Use:
    """Flows of a pair with one transport."""

    transport: int
    flows: int
    model: Model


class _Choices:
    """The paths among which each pair chooses, and what the models say of them."""

    def __init__(self, setup: Setup, model: str) -> None:
        self._setup = setup
        used: dict[Pair, Counter[int]] = {}
        for flow in setup.flows:
            used.setdefault((flow.origin, flow.to), Counter())[flow.transport] += 1
        model_of = cache(lambda index: _model(setup, model, index))
        self._uses = {
            pair: [_Use(index, flows, model_of(index)) for index, flows in sorted(counted.items())]
            for pair, counted in sorted(used.items())
        }
        self._paths = _pareto_paths(setup, self._uses)
        for pair, paths in _first_paths(setup, list(self._uses), "tcpbp", DETOURS).items():
            self._paths[pair] = tuple(dict.fromkeys(self._paths[pair] + paths))
        silent = [pair for pair in pairs_of(setup) if pair not in self._uses]
        given = _first_paths(setup, silent, "argaq", 1)
        self._given = {pair: paths[0] for pair, paths in given.items() if paths}
        self._pairs = [pair for pair in self._uses if self._paths[pair]]
        self._number = {pair: number for number, pair in enumerate(self._pairs)}
        self._predicted: dict[tuple[int, float, Path, Path], PathPrediction] = {}

    def pairs(self, *, shared: bool) -> list[PairChoice]:
        """What there is to choose; ``shared``: each flow has its part of what its pair has to itself."""
        return [
            PairChoice(
                paths=tuple(self._paths[pair]),
                groups=tuple(
                    Group(use.flows, packet_sizes(self._setup.transports[use.transport].config).efficiency)
                    for use in self._uses[pair]
                ),
                limits=self._limits(pair, shared=shared),
                back=self._number.get(pair[::-1]),
            )
            for pair in self._pairs
        ]

    def _limits(self, pair: Pair, *, shared: bool) -> Floats:
        flows = sum(use.flows for use in self._uses[pair]) if shared else 1
        return np.array(
            [
                [
                    [self._prediction(use, flows, there, back).mbps for back in self._ways_back(pair)]
                    for there in self._paths[pair]
                ]
                for use in self._uses[pair]
            ]
        )

    def _ways_back(self, pair: Pair) -> Sequence[Path]:
        back = pair[::-1]
        return self._paths[back] if back in self._number else [self._given[back]]

    def _prediction(self, use: _Use, flows: float, there: Path, back: Path) -> PathPrediction:
        key = (use.transport, flows, there, back)
        if key not in self._predicted:
            transport = self._setup.transports[use.transport]
            self._predicted[key] = path_prediction(self._setup, transport, use.model, there, back, flows)
        return self._predicted[key]

    def routes(self, chosen: Sequence[int]) -> dict[Pair, list[WeightedPath]]:
        """The plan's paths."""
        paths = {pair: [WeightedPath(path, 1.0)] for pair, path in self._given.items()}
        for pair, number in zip(self._pairs, chosen, strict=True):
            paths[pair] = [WeightedPath(self._paths[pair][number], 1.0)]
        return paths

    def outside_range(self, chosen: Sequence[int]) -> list[str]:
        """A warning for each model that is used outside its range on a chosen path."""
        cases_of_model: dict[str, list[tuple[Pair, str]]] = {}
        for pair, number in zip(self._pairs, chosen, strict=True):
            back = pair[::-1]
            back_number = chosen[self._number[back]] if back in self._number else 0
            for use in self._uses[pair]:
                prediction = self._prediction(
                    use, 1, self._paths[pair][number], self._ways_back(pair)[back_number]
                )
                outside = [text for text in prediction.warnings if "outside its range" in text]
                if outside:
                    cases_of_model.setdefault(use.model.name, []).append((pair, outside[0]))
        return [self._said(cases) for _, cases in sorted(cases_of_model.items())]

    def _said(self, cases: Sequence[tuple[Pair, str]]) -> str:
        (origin, to), text = cases[0]
        pairs = len({pair for pair, _ in cases})
        others = (
            f", and on those of {pairs - 1} other {'pair' if pairs == 2 else 'pairs'}" if pairs > 1 else ""
        )
        nodes = self._setup.nodes
        return f"routing.scheme.model: on the path {nodes[origin].name} -> {nodes[to].name}{others}: {text}"


def _model(setup: Setup, name: str, transport: int) -> Model:
    """The model for a transport.

    Raises:
        ScenarioError: if its own is asked for, and there is none.
    """
    if name != "transport":
        return model_named(name)
    try:
        return configured_model(setup.transports[transport].config)
    except ModelError as error:
        used = setup.transports[transport].name
        message = f'transport "{used}": {error.problem.message}; name a model, such as "mathis"'
        raise ScenarioError([Problem("routing.scheme.model", message)]) from None


def _pareto_paths(setup: Setup, uses: Mapping[Pair, Sequence[_Use]]) -> dict[Pair, tuple[Path, ...]]:
    """Pareto-optimal paths of the pairs that send data, least delay first.

    Raises:
        ScenarioError: if there are too many.
    """
    by_packet: dict[int, list[Pair]] = {}
    for pair, used in uses.items():
        largest = max(packet_sizes(setup.transports[use.transport].config).data_packet for use in used)
        by_packet.setdefault(largest, []).append(pair)
    paths: dict[Pair, tuple[Path, ...]] = {}
    for packet_bytes, pairs in sorted(by_packet.items()):
        links = [
            replace(link, delay=link.delay + packet_bytes * 8 * _PS_PER_S // link.capacity)
            for link in setup.links
        ]
        core = setup.replace(links=links).core()
        try:
            answer = core.pareto_paths(pairs, MOST_PATHS)
        except _core.SetupError:
            raise
        except ValueError as error:
            remedy = "leave model and sharing out, or give more links the same delay and loss"
            raise ScenarioError([Problem("routing.scheme.model", f"{error}; {remedy}")]) from None
        paths |= _by_pair(answer)
    return paths


def _first_paths(setup: Setup, pairs: Sequence[Pair], metric: str, k: int) -> dict[Pair, tuple[Path, ...]]:
    """The k best paths of each pair by a metric."""
    return _by_pair(setup.core().candidate_paths(k, metric, pairs))


def _by_pair(answer: Iterable[_core.PairPaths]) -> dict[Pair, tuple[Path, ...]]:
    return {(origin, to): paths for origin, to, paths in answer}


def _planned_once(setup: Setup) -> list[str]:
    """A warning where something fails: these routes are not computed anew."""
    down = [
        event
        for event in setup.events
        if isinstance(event.change, LinksChange | NodeChange) and not event.change.up
    ]
    if not down:
        return []
    return [
        "routing.scheme.model: routes by a model are planned once, for the network as it is at the start; "
        f"after the failure at {down[0].at / _PS_PER_S:g} s, a pair whose path is down has none until it is "
        "repaired"
    ]
