"""Questions to a choice of routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch.scenario.algorithm import Own, name_of
from anabranch.scenario.choice import parameters
from anabranch.scenario.declarations import declarations
from anabranch.scenario.quantity import quoted
from anabranch.scenario.table import Table

if TYPE_CHECKING:
    from anabranch.scenario.algorithms.load_balancing import LoadBalancing
    from anabranch.scenario.algorithms.scheme import Metric, Scheme
    from anabranch.scenario.quantity import Span

GIVEN = "given"
"""The scheme whose paths the scenario gives."""
_LIMITS = "limits"
"""The parameter of the schemes that take ``max_delay`` and ``max_loss``."""


def _of_scheme(choice: Any) -> Mapping[str, Any]:
    """The declaration of the scheme of a choice; nothing for a class of the user's own."""
    return declarations()["scheme"].get(choice.scheme_name, {})


def _usual_metric(choice: Any) -> str:
    """What a short path is short in, where a scenario does not say."""
    entries = _of_scheme(choice).get("parameters", ())
    return str(next((entry["default"] for entry in entries if entry["name"] == "metric"), "hops"))


def _usual_balancing(choice: Any) -> str:
    """How packets are spread over routes, where a scenario does not say."""
    return str(_of_scheme(choice).get("load_balancing", "flow"))


class ChoiceOfRoutes(Table):
    """The scheme of a choice of routes, with its parameters."""

    derived: ClassVar = {"metric": _usual_metric}

    if TYPE_CHECKING:
        scheme: Scheme
        metric: Metric
        max_delay: Span | None
        max_loss: float | None

    @property
    def scheme_name(self) -> str:
        """The name of the scheme."""
        return name_of(self.scheme)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the scheme in base units, with the metric and the defaults of those left out."""
        if isinstance(self.scheme, Own):
            return {"metric": self.metric}
        values = parameters("scheme", self.scheme) | {"metric": self.metric}
        values.pop(_LIMITS, None)
        return values if self.limits is None else values | {_LIMITS: self.limits}

    @property
    def chosen(self) -> tuple[object, ...]:
        """All of the choice; equal ones give the same routes."""
        return (self.scheme, self.metric, self.max_delay, self.max_loss)

    @property
    def limits(self) -> dict[str, Any] | None:
        """The limits of a path, in base units, as the core reads them; None without limits."""
        if self.max_delay is None and self.max_loss is None:
            return None
        return {
            "max_delay": None if self.max_delay is None else int(self.max_delay),
            "max_loss": self.max_loss,
        }

    @property
    def planned(self) -> bool:
        """Whether a planner in Python makes the plan rather than the core."""
        if isinstance(self.scheme, Own):
            return True
        scheme = declared_scheme(self.scheme_name)
        chosen = scheme.get("planner_with")
        return "planner" in scheme and (chosen is None or self.parameters[chosen] is not None)

    @property
    def plans_for_bounds(self) -> bool:
        """Whether the scheme plans for bounds of the traffic."""
        return not isinstance(self.scheme, Own) and bool(declared_scheme(self.scheme_name).get("demand"))

    @property
    def lacks_bounds(self) -> str:
        """The problem where there are no bounds."""
        return (
            f"is missing; scheme {quoted(self.scheme_name)} plans for bounds of the traffic, for example "
            'pair = "50 Mbps"'
        )


class SpreadOfPackets(Table):
    """How packets are spread over routes."""

    derived: ClassVar = {"metric": _usual_metric, "load_balancing": _usual_balancing}

    if TYPE_CHECKING:
        load_balancing: LoadBalancing


def declared_scheme(name: str) -> dict[str, Any]:
    """The declaration of a scheme."""
    return declarations()["scheme"][name]
