"""The SDN controller: what it does, which switches it governs, and how it reaches them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, Tag, model_validator

from anabranch import _core
from anabranch.scenario.algorithm import Own, declarations, name_of, owners, parameters_of
from anabranch.scenario.algorithms.application import Application
from anabranch.scenario.algorithms.scheme import Metric
from anabranch.scenario.moved import refuse_moved
from anabranch.scenario.network import LinkSettings, NodeName
from anabranch.scenario.quantity import PositiveSpan, Span, quoted
from anabranch.scenario.table import Table, either, refuse, untouched
from anabranch.scenario.variate import SpanVariate

CONTROLLER_NAME = "controller"
"""Name of the node that a scenario's controller adds to the network."""

BY_SUBFLOW = "subflow-round-robin"
"""The application that gives entries to subflows."""

_TCPBP_INTERVAL = Span("10 s")
"""Vilela 2022, section 4.1.2."""


class FlowTable(Table):
    """The flow table of every switch."""

    size: Annotated[int, Field(ge=1, le=2**32)] | None = None
    """Most entries; left out, there is no bound."""
    when_full: Literal["refuse", "evict"] = "refuse"
    """What becomes of a new entry when the table is full: it is refused, and the controller hears of it, or
    it takes the place of the entry that has been idle longest (OpenFlow 1.4 section 5.5)."""
    idle_timeout: PositiveSpan | None = None
    """An entry that nothing has matched for so long goes (OpenFlow 1.3 section 5.5); left out: never."""
    hard_timeout: PositiveSpan | None = None
    """An entry goes so long after it was made (OpenFlow 1.3 section 5.5); left out: never."""


class ControlLink(LinkSettings):
    """The control link of a single switch."""

    switch: NodeName
    """The switch at its other end."""


class Controller(Table):
    """An SDN controller, which sets up every flow and takes the place of routing.

    Without more it has a control link of its own to each switch, which carries nothing else.
    """

    application: Application = "forwarding"
    """What the controller does: the name of an application, or a table of the name and its parameters:
    ``{ algorithm = "tcpbp", estimator = { algorithm = "ewma", weight = 0.3 } }``; or a class of your own."""
    metric: Metric | None = None
    """What the paths that it gives to flows are short in; ``tcpbp``: before it has measured a link. Left out:
    ``hops`` for ``tcpbp``, ``delay`` for the others."""
    channel: Literal["apart", "in-band"] = "apart"
    """Where control messages travel: over control links, or over the links of the network beside the data."""
    at: NodeName | None = None
    """``in-band``: the switch that the controller hangs at, by one link."""
    node: NodeName | None = None
    """``in-band``: the node of the network that is the controller, in place of one that is added."""
    switches: Annotated[
        Annotated[Literal["*"], Tag("<all>")]
        | Annotated[list[NodeName], Field(min_length=1), Tag("<several>")],
        either("*", "all", "several"),
    ] = "*"
    """The nodes that are switches; ``"*"``: every node that is not marked a host."""
    links: LinkSettings = untouched(LinkSettings)
    """The control link of every switch, or ``in-band`` the controller's one link; its queue is unlimited
    where none is given."""
    link: list[ControlLink] = []
    """The control links of single switches, in this order; they take precedence over ``links``."""
    table: FlowTable = untouched(FlowTable)
    """The flow table of every switch."""
    linger: Span = Span("1 s")
    """Time from a flow's FIN until its entries are removed."""
    processing_delay: SpanVariate | None = None
    """How long the controller works on each message that has come to it, one after the other, so that
    messages wait for each other: a time, or a distribution of which each draws its own. Left out: no time."""
    statistics_interval: PositiveSpan | None = None
    """Time between two requests for the counters of all links; left out: 10 s for ``tcpbp``, and none is made
    for the others."""

    @property
    def application_name(self) -> str:
        """The name of the application."""
        return name_of(self.application)

    @property
    def is_own(self) -> bool:
        """Whether a class of the user's own chooses the paths."""
        return isinstance(self.application, Own)

    def path_metric(self) -> Metric:
        """The metric, default filled in."""
        return self.metric or ("hops" if self.application_name == "tcpbp" else "delay")

    def polling(self) -> Span | None:
        """Time between two requests for counters, default filled in; None: none is made."""
        default = _TCPBP_INTERVAL if self.application_name == "tcpbp" else None
        return default if self.statistics_interval is None else self.statistics_interval

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, data: Any) -> Any:
        refuse_moved(_with_estimator(data), ("application",), set(cls.model_fields))
        return data

    def _check_together(self) -> None:
        if self.is_own and self.metric is not None:
            refuse("metric", "the class of the application chooses the paths, so leave this out")
        additive = [name for name, adds_up in _core.metrics() if adds_up]
        if self.application_name == BY_SUBFLOW and self.path_metric() not in additive:
            refuse("metric", f"paths without a common link go by one of {', '.join(additive)}")
        if self.channel == "apart":
            for field, value in (("at", self.at), ("node", self.node)):
                if value is not None:
                    refuse(field, 'a control link leads to every switch; only channel = "in-band" has one')
        else:
            self._check_in_band()

    def _check_in_band(self) -> None:
        if self.at is None and self.node is None:
            refuse("at", "is missing; in-band, give the switch that the controller hangs at, or node")
        if self.at is not None and self.node is not None:
            refuse("at", "give either at or node, not both")
        if self.link:
            refuse("link", 'only channel = "apart" has a link for each switch; in-band there is one, links')
        if self.node is not None and self.links != LinkSettings():
            refuse("links", f"the links of {quoted(self.node)} are those of the network; leave them out")


def _with_estimator(data: Any) -> Any:
    """The table with the estimator and its parameters, which stood side by side, in one table."""
    if not isinstance(data, dict):
        return data
    having = [name for key in data for _, name in owners(key, ["estimator"])]
    name = data.get("estimator", having[0] if having else None)
    if not isinstance(name, str) or name not in declarations()["estimator"]:
        return data
    own = {key: data[key] for key in parameters_of("estimator", name) if key in data}
    beside = {key for key in data if owners(key, ["estimator"])}
    rest = {key: value for key, value in data.items() if key not in beside | {"estimator"}}
    return {"application": "tcpbp", **rest, "estimator": {"algorithm": name, **own}}
