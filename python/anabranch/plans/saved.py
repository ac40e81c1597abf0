"""Saving the routes of a scenario as a file that the scheme ``given`` takes (setup/plan_file.py)."""

from __future__ import annotations

from pathlib import Path

from anabranch import _core
from anabranch.errors import Problem, ResultError, ScenarioError
from anabranch.plans.pair_plans import plan_of_all_pairs
from anabranch.plans.routes import plan, settled
from anabranch.results.folders import write_whole
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.algorithm import name_of
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.plan_file import plan_text


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
    setup = settled(resolve(scenario, Needed.ROUTES), scenario.origin)
    routing = scenario.routing
    about = {
        "anabranch": _core.version(),
        "title": scenario.title,
        "scheme": routing.scheme_name,
        "metric": routing.metric,
        "load_balancing": name_of(routing.load_balancing),
    }
    write_whole(file, plan_text(setup, plan_of_scenario(scenario, setup).data(), about).encode())


def plan_of_scenario(scenario: Scenario, setup: Setup) -> _core.Plan:
    """Returns the plan of all pairs that send, or may have traffic; routes by flow are joined in it.

    Raises:
        ScenarioError: if the scenario leaves its routes to a controller, entries of traffic lead a pair other
            ways, or there is something wrong with the setup that only routing can find.
    """
    joined, apart = _made(scenario, setup).merged()
    if apart:
        names = " to ".join(quoted(setup.nodes[node].name) for node in apart[0])
        more = f" and {len(apart) - 1:,} more" if len(apart) > 1 else ""
        message = (
            f"{names}{more}: these flows go other ways than those of [routing] or of another entry, and "
            "here a pair has one route; leave it out, or take another scenario for each"
        )
        raise ScenarioError([Problem(setup.own_routes[0].place, message)], scenario.origin)
    return _of_all_pairs(scenario, setup, joined)


def plans_by_flow(scenario: Scenario, setup: Setup) -> tuple[_core.Plan, list[_core.Plan]]:
    """Returns the plan as a whole, and one by one that of ``[routing]`` with all pairs, and the others.

    Raises:
        ScenarioError: as :func:`plan_of_scenario`, but not where entries lead a pair other ways.
    """
    made = _made(scenario, setup)
    return made, [_of_all_pairs(scenario, setup, made), *made.others()]


def _made(scenario: Scenario, setup: Setup) -> _core.Plan:
    if scenario.controller is not None:
        message = (
            "a controller chooses while it runs, so that there is no plan to save; leave [controller] out"
        )
        raise ScenarioError([Problem("controller", message)], scenario.origin)
    return plan(setup, scenario.origin).plan


def _of_all_pairs(scenario: Scenario, setup: Setup, made: _core.Plan) -> _core.Plan:
    """A plan with the pairs besides that may have traffic."""
    if setup.demand is None:
        return made
    return made.completed(plan_of_all_pairs(RouterNetwork.of(setup), scenario.origin).plan)
