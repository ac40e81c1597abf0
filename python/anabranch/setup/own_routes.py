"""Routes of traffic entries that have some of their own, beside those of ``[routing]``."""

from __future__ import annotations

from dataclasses import replace

from anabranch.scenario.algorithm import Own
from anabranch.scenario.algorithms.scheme import AnyScheme
from anabranch.scenario.routing import RouteChoice, TrafficRouting
from anabranch.scenario.scenario import Scenario
from anabranch.setup.demand import planner_setup, scheme_leaf
from anabranch.setup.model import OwnRoutes
from anabranch.setup.own import OwnCode
from anabranch.setup.problems import Problems


class TrafficRoutes:
    """The different routes of a scenario's traffic, each once, in the order of the entries."""

    def __init__(self, scenario: Scenario, own: OwnCode, problems: Problems) -> None:
        self._scenario = scenario
        self._own = own
        self._problems = problems
        self._choices: list[RouteChoice] = []
        self.schemes: list[AnyScheme | None] = []
        """As a setup has them; None where a planner makes the routes."""
        self.routes: list[OwnRoutes] = []

    def place(self, routing: TrafficRouting | None, name: str, place: str) -> int:
        """The place of the routes of an entry; 0 for those of ``[routing]``. What is wrong is noted.

        Args:
            routing: what the entry says.
            name: its name.
            place: where it stands, such as ``traffic[1]``.
        """
        if routing is None:
            return 0
        common, controller = self._scenario.routing, self._scenario.controller
        if controller is not None:
            if routing.scheme != "shortest":
                self._problems.add(
                    f"{place}.routing.scheme",
                    "the controller gives each flow one path; leave this out, and give the metric alone",
                )
            elif controller.is_own:
                self._problems.add(
                    f"{place}.routing.metric",
                    "the class of controller.application chooses the paths, so leave this out",
                )
            if routing.limits is not None:
                limit = "max_loss" if routing.max_delay is None else "max_delay"
                self._problems.add(
                    f"{place}.routing.{limit}", "the controller knows no limits of a path; leave this out"
                )
        elif routing.chosen == common.chosen:
            return 0
        elif routing.plans_for_bounds and common.demand is None:
            self._problems.add("routing.demand", f"{routing.lacks_bounds}, and {place}.routing has it")
        for number, known in enumerate(self._choices):
            if known == routing:
                there = self.routes[number]
                self.routes[number] = replace(there, traffic=(*there.traffic, name))
                return number + 1
        planner = planner_setup(routing, self._own, f"{place}.routing")
        scheme = None if isinstance(routing.scheme, Own) or planner is not None else scheme_leaf(routing)
        self._choices.append(routing)
        self.schemes.append(scheme)
        self.routes.append(
            OwnRoutes(f"{place}.routing", (name,), routing.scheme_name, routing.metric, planner)
        )
        return len(self.routes)
