"""The scheme ``given``: routes that were computed elsewhere, or saved by ``anabranch routes --out``.

A pair takes the paths that are given for it. Hosts without paths of their own take those between the routers
that they hang on. Acknowledgments and answers without paths of their own come back over the links of the
data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.routing.opposite_links import OppositeLinks
from anabranch.routing.planned import Pair, Planned
from anabranch.scenario.leaves import PingDatagramSource
from anabranch.scenario.quantity import quoted
from anabranch.setup.given import GivenRoutes
from anabranch.setup.model import PlannerSetup, Setup

_Paths = list[tuple[tuple[int, ...], float]]
_MOST_NAMED = 5


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """The routes of all pairs that need some.

    Args:
        setup: the scenario, resolved.
        planner: with the routes by node and link numbers.

    Raises:
        ScenarioError: if a pair has none.
    """
    given = planner.given
    assert given is not None  # noqa: S101 - the scheme has them
    chooser = _Chooser(setup, given)
    routes: list[dict[str, Any]] = []
    destinations: set[int] = set()
    missing: list[Pair] = []
    for pair, is_answer in sorted(_wanted(setup).items()):
        paths = chooser.paths(pair, is_answer=is_answer)
        if paths is None:
            missing.append(pair)
            continue
        if not paths:
            destinations.add(pair[1])
        weighted = [{"links": list(links), "weight": weight} for links, weight in paths]
        routes.append({"from": pair[0], "to": pair[1], "paths": weighted})
    if missing:
        names = [" to ".join(quoted(setup.nodes[node].name) for node in pair) for pair in missing]
        more = f" and {len(names) - _MOST_NAMED:,} other pairs" if len(names) > _MOST_NAMED else ""
        message = (
            f"{given.label} has no path from {', '.join(names[:_MOST_NAMED])}{more}, which traffic needs; "
            "add one to it"
        )
        raise ScenarioError([Problem("routing.paths", message)])
    tables = [
        {"to": to, "next": sorted((node, list(links)) for node, links in given.tables[to].items())}
        for to in sorted(destinations)
    ]
    facts: dict[str, float | int | str] = {"paths_from": given.label}
    facts |= {name: count for name, count in chooser.derived.items() if count}
    return Planned(_core.Plan(json.dumps({"routes": routes, "tables": tables})), given.warnings, facts)


def _wanted(setup: Setup) -> dict[Pair, bool]:
    """The pairs that need routes, and whether each carries only answers to what comes the other way."""
    data = {(flow.origin, flow.to) for flow in setup.flows}
    answered = data | {
        (flow.origin, flow.to) for flow in setup.datagrams if isinstance(flow.source, PingDatagramSource)
    }
    data |= {(flow.origin, flow.to) for flow in setup.datagrams}
    return {(to, origin): True for origin, to in answered} | dict.fromkeys(data, False)


@dataclass
class _Chooser:
    """Finds the paths of a pair among those that are given, or made of them."""

    setup: Setup
    given: GivenRoutes
    derived: dict[str, int] = field(default_factory=lambda: {"pairs_by_routers": 0, "pairs_back": 0})
    """How many pairs have paths that are given for others."""
    _opposites: OppositeLinks = field(init=False)

    def __post_init__(self) -> None:
        self._opposites = OppositeLinks(self.setup.links)

    def paths(self, pair: Pair, *, is_answer: bool) -> _Paths | None:
        """The paths of a pair; none where it goes hop by hop, None where it has no route."""
        paths = self._one_way(pair)
        if paths is not None:
            self.derived["pairs_by_routers"] += pair not in self.given.paths
        if paths is None and is_answer and (there := self._one_way(pair[::-1])):
            back = [(self._opposites.of_path(links), weight) for links, weight in there]
            if all(links is not None for links, _ in back):
                self.derived["pairs_back"] += 1
                return [(links, weight) for links, weight in back if links is not None]
        return paths

    def _one_way(self, pair: Pair) -> _Paths | None:
        given = self.given
        if pair in given.paths:
            return given.paths[pair]
        first, last = (given.access.get(node) for node in pair)
        routers = (first.router if first else pair[0], last.router if last else pair[1])
        between = [((), 1.0)] if routers[0] == routers[1] else given.paths.get(routers)
        if not (first or last) or not between:
            return None
        out, into = [first.out] if first else [], [last.into] if last else []
        return [((*out, *links, *into), weight) for links, weight in between]
