"""Saving the routes of a scenario as a file that the scheme ``given`` takes (setup/plan_file.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch import __version__, _core
from anabranch.errors import Problem, ResultError, ScenarioError
from anabranch.folders import write_whole
from anabranch.routes import plan
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.algorithm import name_of
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.plan_file import plan_text
from anabranch.worst_loads import plan_of_all_pairs


def save_plan(scenario: Scenario, file: Path, *, replace: bool = False) -> None:
    """Writes the routes of a scenario to a file, for ``routing.paths``.

    The plan has every pair that sends, and with ``[routing.demand]`` every pair of routers that may have
    traffic. Where the routes of a pair depend on who else sends, those of the scenario's flows are kept.

    Args:
        scenario: whose routes.
        file: to write.
        replace: write over a file that is there.

    Raises:
        ScenarioError: if the scenario cannot be run, or leaves its routes to a controller.
        ResultError: if there is such a file, or it cannot be written.
    """
    if file.exists() and not replace:
        raise ResultError(f"{file}: exists; choose another name, or give --replace (replace=True)")
    setup = resolve(scenario, Needed.ROUTES)
    routing = scenario.routing
    about = {
        "anabranch": __version__,
        "title": scenario.title,
        "scheme": routing.scheme_name,
        "metric": routing.metric,
        "load_balancing": name_of(routing.load_balancing),
    }
    write_whole(file, plan_text(setup, plan_data(scenario, setup), about).encode())


def plan_data(scenario: Scenario, setup: Setup) -> dict[str, Any]:
    """The plan of all pairs that send, or may have traffic, as ``_core.Plan.data`` has it.

    Raises:
        ScenarioError: if the scenario leaves its routes to a controller, or there is something wrong with the
            setup that only routing can find.
    """
    made = _made(scenario, setup)
    return _of_all_pairs(scenario, setup, _merged(scenario, setup, [made, *made.others()]))


def plan_data_by_flow(scenario: Scenario, setup: Setup) -> tuple[_core.Plan, list[dict[str, Any]]]:
    """The plan, and its data: those of ``[routing]`` as in :func:`plan_data`, then those of ``own_routes``.

    Raises:
        ScenarioError: as :func:`plan_data`, but not where entries lead a pair other ways.
    """
    made = _made(scenario, setup)
    first = _of_all_pairs(scenario, setup, _merged(scenario, setup, [made]))
    return made, [first, *(dict(other.data()) for other in made.others())]


def _made(scenario: Scenario, setup: Setup) -> _core.Plan:
    if scenario.controller is not None:
        message = (
            "a controller chooses while it runs, so that there is no plan to save; leave [controller] out"
        )
        raise ScenarioError([Problem("controller", message)], scenario.origin)
    return plan(setup, scenario.origin).plan


def _of_all_pairs(scenario: Scenario, setup: Setup, data: dict[str, Any]) -> dict[str, Any]:
    """A plan with the pairs besides that may have traffic."""
    if setup.demand is None:
        return {"routes": list(data["routes"]), "tables": list(data["tables"])}
    planned = plan_of_all_pairs(RouterNetwork.of(setup), scenario.origin)
    others = planned.plan.data()
    routes = {(route["from"], route["to"]): route for route in others["routes"]}
    routes |= {(route["from"], route["to"]): route for route in data["routes"]}
    tables: dict[int, dict[int, list[int]]] = {}
    for table in (*others["tables"], *data["tables"]):
        tables.setdefault(table["to"], {}).update(table["next"])
    return {
        "routes": [routes[pair] for pair in sorted(routes)],
        "tables": [{"to": to, "next": sorted(found.items())} for to, found in sorted(tables.items())],
    }


def _merged(scenario: Scenario, setup: Setup, plans: Sequence[_core.Plan]) -> dict[str, Any]:
    """Plans for different traffic as one.

    Raises:
        ScenarioError: if two of them lead a pair, or what goes hop by hop to a destination, other ways.
    """
    routes: dict[tuple[int, int], Any] = {}
    tables: dict[tuple[int, int], Any] = {}
    apart: list[str] = []
    for found in (one.data() for one in plans):
        for route in found["routes"]:
            pair = (route["from"], route["to"])
            if routes.setdefault(pair, route) != route:
                apart.append(" to ".join(quoted(setup.nodes[node].name) for node in pair))
        for table in found["tables"]:
            for node, links in table["next"]:
                if tables.setdefault((table["to"], node), links) != links:
                    ends = (setup.nodes[node].name, setup.nodes[table["to"]].name)
                    apart.append(" to ".join(map(quoted, ends)))
    if apart:
        more = f" and {len(apart) - 1:,} more" if len(apart) > 1 else ""
        message = (
            f"{apart[0]}{more}: these flows go other ways than those of [routing] or of another entry, and "
            "here a pair has one route; leave it out, or take another scenario for each"
        )
        raise ScenarioError([Problem(setup.own_routes[0].place, message)], scenario.origin)
    by_destination: dict[int, list[tuple[int, list[int]]]] = {}
    for (to, node), links in sorted(tables.items()):
        by_destination.setdefault(to, []).append((node, links))
    return {
        "routes": [routes[pair] for pair in sorted(routes)],
        "tables": [{"to": to, "next": following} for to, following in by_destination.items()],
    }
