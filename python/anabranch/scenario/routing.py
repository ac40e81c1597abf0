"""How routes are chosen, and how packets are spread over them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, Tag, model_validator

from anabranch import _core
from anabranch.scenario.algorithm import Own, declarations, name_of
from anabranch.scenario.algorithms.load_balancing import LoadBalancing
from anabranch.scenario.algorithms.scheme import Metric, Scheme
from anabranch.scenario.choice import parameters
from anabranch.scenario.demand import Demand
from anabranch.scenario.files import names_file
from anabranch.scenario.moved import refuse_moved
from anabranch.scenario.quantity import Span, quoted
from anabranch.scenario.table import Table, either, refuse

GIVEN = "given"
"""The scheme whose paths the scenario gives."""
_LIMITS = "limits"
"""The parameter of the schemes that take ``max_delay`` and ``max_loss``."""
_WITHOUT_LIMITS = {
    "ecmp": "forwards hop by hop, where no node knows what a packet has spent on its way",
    "disjoint": "takes paths that are short together, and to find some that keep limits each is NP-hard",
    "semper": "takes paths that are short together, and to find some that keep limits each is NP-hard",
    "max-flow": "takes the paths of one flow, of which no limit of a path is known",
    "tcpbp": "searches as published, and the published search knows no limits",
    GIVEN: "has the paths that you give",
}
"""Why a scheme takes none."""


class GivenPath(Table):
    """One path of the scheme ``given``."""

    nodes: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=2)]
    """From source to destination; ``"Denver#2"`` is reached over the second of parallel links."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """Its part of what the pair sends, by the sum of all weights of the pair."""


Paths = Annotated[
    Annotated[str, Field(min_length=1), Tag("<file>")]
    | Annotated[list[GivenPath], Field(min_length=1), Tag("<paths>")],
    either(str, "file", "paths"),
]


class RouteChoice(Table):
    """Which routes there are: a scheme and what a short path is short in."""

    scheme: Scheme = "shortest"
    """Which routes there are: the name of a scheme, or a table of the name and its parameters:
    ``{ algorithm = "k-shortest", k = 3 }``; or a class of yours (own.md)."""
    metric: Metric = "hops"
    """What a short path is short in; ``max-flow`` takes the shortest among the splits that carry the most.
    Left out: ``tcpbp`` for the schemes of that name, ``hops`` and ``delay`` for ``hybrid-hop`` and
    ``hybrid-delay``, all of which take no other, and ``hops`` for the others. ``ecmp``, ``disjoint``,
    ``max-flow`` and ``semper`` take those that are sums over links."""
    max_delay: Span | None = None
    """Most delay of a path, one way: the sum of its links' propagation delays. No path of more is taken. For
    ``shortest``, ``k-shortest``, ``near-shortest``, ``tcpbp-exact`` and the robust schemes over k paths."""
    max_loss: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Most loss of a path: the probability that a packet is lost at random on its way, in the long run. For
    the schemes that take ``max_delay``."""

    @property
    def scheme_name(self) -> str:
        """The name of the scheme."""
        return name_of(self.scheme)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the scheme in base units, with the metric and the defaults of those left out."""
        if isinstance(self.scheme, Own):
            return {"metric": self.metric}
        found = parameters("scheme", self.scheme) | {"metric": self.metric}
        found.pop(_LIMITS, None)
        return found if self.limits is None else found | {_LIMITS: self.limits}

    @property
    def chosen(self) -> tuple[object, ...]:
        """All of the choice; equal ones give the same routes."""
        return tuple(getattr(self, name) for name in RouteChoice.model_fields)

    @property
    def limits(self) -> dict[str, Any] | None:
        """What a path may have at most, in base units, as the core reads it; None without limits."""
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
        """What is wrong where there are none."""
        return (
            f"is missing; scheme {quoted(self.scheme_name)} plans for bounds of the traffic, for example "
            'pair = "50 Mbps"'
        )

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: object) -> object:
        """What a scheme takes where the scenario does not say."""
        if not isinstance(data, dict):
            return data
        refuse_moved(
            data,
            [name for name in ("scheme", "load_balancing") if name in cls.model_fields],
            set(cls.model_fields),
            renamed={"flowlet_gap": "gap"},
            fields_renamed={"spread": "load_balancing"},
            tables=("robust",),
        )
        chosen = data.get("scheme")
        name = (
            chosen.get("algorithm") if isinstance(chosen, Mapping) else getattr(chosen, "algorithm", chosen)
        )
        scheme = declarations()["scheme"].get(name) if isinstance(name, str) else None
        if scheme is None:
            return data
        filled = {
            "metric": _parameter(scheme, "metric")["default"],
            "load_balancing": scheme.get("load_balancing", "flow"),
        }
        own = cls.model_fields
        given = {
            field: value for field, value in filled.items() if field in own and value != own[field].default
        }
        return {**given, **data}

    def _check_together(self) -> None:
        self._check_limits()
        if isinstance(self.scheme, Own):
            return
        self._check_metric()
        self._check_parameters()

    @property
    def _given_limits(self) -> list[str]:
        return [name for name in ("max_delay", "max_loss") if getattr(self, name) is not None]

    def _check_limits(self) -> None:
        if self.limits is None:
            return
        place = self._given_limits[0]
        if isinstance(self.scheme, Own):
            refuse(place, "your class chooses the paths; leave this out, and let the class keep to it")
        taking = [
            name
            for name, scheme in declarations()["scheme"].items()
            if any(entry["name"] == _LIMITS for entry in scheme["parameters"])
        ]
        here = quoted(self.scheme_name)
        if self.scheme_name not in taking:
            why = _WITHOUT_LIMITS.get(self.scheme_name, "searches no paths within limits")
            others = ", ".join(map(quoted, taking))
            refuse(place, f"scheme {here} {why}; leave this out, or choose among {others}")

    def _check_metric(self) -> None:
        choices = _choices_of(declared_scheme(self.scheme_name), "metric")
        if self.metric in choices:
            return
        here = quoted(self.scheme_name)
        if len(choices) == 1:
            refuse(
                "metric",
                f"is {quoted(self.metric)}, but scheme {here} goes by {choices[0]} alone; leave it out, or "
                "choose another scheme",
            )
        refuse(
            "metric",
            f"is {quoted(self.metric)}, which is no sum over links, and scheme {here} needs one: choose "
            f'among {", ".join(map(quoted, choices))}, or write scheme = "shortest" or "k-shortest"',
        )

    def _check_parameters(self) -> None:
        """Refuses parameters that do not go with each other; the core knows."""
        try:
            scheme = {"algorithm": self.scheme_name, **self.parameters}
            _core.resolve_algorithm("scheme", json.dumps(scheme))
        except _core.SetupError as error:
            parameter, problem = error.args
            refuse(self._given_limits[0] if parameter == _LIMITS else f"scheme.{parameter}", problem)


class TrafficRouting(RouteChoice):
    """The routes of an entry of traffic, where they are not those of ``[routing]``."""

    def _check_together(self) -> None:
        super()._check_together()
        if self.scheme_name == GIVEN:
            refuse("scheme", f'"{GIVEN}" belongs to [routing], which has the paths; choose another one here')


class Routing(RouteChoice):
    """How routes are chosen, and how packets are spread over them."""

    load_balancing: LoadBalancing = "flow"
    """How packets are spread over the routes: what keeps to one of them. Left out, ``packet`` for the robust
    schemes, whose fractions are of packets, and ``flow`` for the others."""
    reaction: Annotated[
        Annotated[Span, Tag("<span>")] | Annotated[Literal["never"], Tag("<never>")],
        either("never", "never", "span"),
    ] = Span("1 s")
    """Time from a failure or repair until new routes are in force, or ``"never"``."""
    paths: Paths | None = None
    """The paths of the scheme ``given``: tables ``[[routing.paths]]``, or a file: ``"file:routes.csv"`` with
    the header ``from,to,weight,path``, or ``"file:plan.json"`` of ``anabranch routes --out``."""
    demand: Demand | None = None
    """Bounds of the traffic, by which ``anabranch load`` scores any scheme; the robust ones plan by them."""

    def _check_together(self) -> None:
        super()._check_together()
        own = isinstance(self.scheme, Own)
        if name_of(self.load_balancing) == "hash" and (
            own or self.scheme_name in ("max-flow", GIVEN) or self.parameters.get("shares") == "capacity"
        ):
            refuse(
                "load_balancing",
                '"hash" gives every path the same share, and these have shares of their own; '
                'take "weighted-hash" or "resilient-hash"',
            )
        self._check_paths()
        if not own and self.plans_for_bounds and self.demand is None:
            refuse("demand", self.lacks_bounds)

    def _check_paths(self) -> None:
        if self.scheme_name != GIVEN:
            if self.paths is not None:
                refuse("paths", f'belongs to scheme = "{GIVEN}"; leave it out, or take that scheme')
            return
        example = 'give the paths, for example paths = "file:routes.csv"'
        if self.paths is None:
            refuse("paths", f"is missing; {example}")
        if isinstance(self.paths, str) and not names_file(self.paths):
            refuse("paths", f"{quoted(self.paths)} is not the name of a file; {example}")


def declared_scheme(name: str) -> dict[str, Any]:
    """The declaration of a scheme."""
    return declarations()["scheme"][name]


def _parameter(scheme: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The declaration of a parameter of a scheme."""
    found: dict[str, Any] = next(entry for entry in scheme["parameters"] if entry["name"] == name)
    return found


def _choices_of(scheme: Mapping[str, Any], name: str) -> list[str]:
    return [choice["name"] for choice in _parameter(scheme, name)["choices"]]
