"""Whether forwarding hop by hop agrees with a scenario's metric, and where it loops.

A route is installed here along its whole path. Routers that each look up their own best path agree with that
for metrics that are isotonic, as sums are; others may send packets another way, or in circles
(crates/routing/src/hop_by_hop.rs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.routes import require_known_paths
from anabranch.scenario.algorithm import Own
from anabranch.scenario.choice import parameters
from anabranch.scenario.quantity import quoted
from anabranch.scenario.routing import GIVEN
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup, resolve
from anabranch.setup.problems import refused


@dataclass(frozen=True, slots=True)
class Astray:
    """A pair whose packets do not take the path that their source has in mind."""

    source: str
    destination: str
    wanted: tuple[str, ...]
    """Nodes of the source's best path."""
    walked: tuple[str, ...]
    """Nodes that a packet comes through, until it arrives or is where it has been before."""
    loop: tuple[str, ...] | None
    """Nodes among which it goes round for ever; None if it arrives."""


@dataclass(frozen=True, slots=True)
class ForwardingCheck:
    """The outcome of hop-by-hop forwarding by a metric, for all pairs of nodes."""

    metric: str
    search: str
    """How each node finds its best path: ``exact``, or ``published``, which can miss it."""
    astray: tuple[Astray, ...]

    @property
    def loops(self) -> int:
        """Pairs whose packets go round for ever."""
        return sum(pair.loop is not None for pair in self.astray)

    @property
    def agrees(self) -> bool:
        """Whether all packets take the paths that their sources have in mind."""
        return not self.astray

    def data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"agrees": self.agrees, "loops": self.loops, **asdict(self)}


def check_forwarding(scenario: Scenario) -> ForwardingCheck:
    """Checks the scenario's metric between all nodes, over the links that carry data.

    Raises:
        ScenarioError: if the scenario cannot be run, or its routes are not those of a metric.
    """
    metric, search = _asked(scenario)
    setup = resolve(scenario)
    try:
        entries = setup.core().check_hop_by_hop(metric, search)
    except _core.SetupError as error:
        raise refused(error, scenario.origin, setup) from None
    return ForwardingCheck(metric, search, tuple(_astray(setup, entry) for entry in entries))


def _asked(scenario: Scenario) -> tuple[str, str]:
    """Metric and search of a scenario.

    Raises:
        ScenarioError: if it chooses by a model.
    """
    require_known_paths(scenario)
    if scenario.controller is not None:
        controller = scenario.controller
        if controller.application_name == "tcpbp" and not isinstance(controller.application, Own):
            return "tcpbp", parameters("application", controller.application)["search"]
        return controller.path_metric(), "exact"
    routing = scenario.routing
    if routing.scheme_name == GIVEN:
        message = "the paths are given and follow no metric; leave --check-forwarding out"
        raise ScenarioError([Problem("routing.scheme", message)], scenario.origin)
    if (model := routing.parameters.get("model")) is not None:
        message = (
            f"routes are chosen by the model {quoted(model)}, and hop by hop only a metric can be "
            "checked; leave model, sharing and objective out"
        )
        raise ScenarioError([Problem("routing.scheme.model", message)], scenario.origin)
    if routing.limits is not None:
        limit = "max_loss" if routing.max_delay is None else "max_delay"
        message = "no node knows what a packet has spent on its way, hop by hop; leave --check-forwarding out"
        raise ScenarioError([Problem(f"routing.{limit}", message)], scenario.origin)
    return routing.metric, "published" if routing.scheme_name == "tcpbp" else "exact"


def _astray(setup: Setup, entry: _core.Astray) -> Astray:
    origin, to, wanted, walked, loop = entry
    return Astray(
        source=setup.nodes[origin].name,
        destination=setup.nodes[to].name,
        wanted=_nodes(setup, wanted),
        walked=_nodes(setup, walked),
        loop=None if loop is None else tuple(setup.nodes[node].name for node in loop),
    )


def _nodes(setup: Setup, links: Sequence[int]) -> tuple[str, ...]:
    """The nodes along links."""
    taken = [setup.links[link] for link in links]
    return tuple(setup.nodes[node].name for node in (taken[0].origin, *(link.to for link in taken)))
