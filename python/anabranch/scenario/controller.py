"""The SDN controller: what it does, which switches it governs, and how it reaches them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.network import LinkSettings, NodeName
from anabranch.scenario.quantity import PositiveSpan, Span, quoted
from anabranch.scenario.routing import Metric
from anabranch.scenario.table import Table, alternative, refuse

CONTROLLER_NAME = "controller"
"""Name of the node that a scenario's controller adds to the network."""

APPLICATIONS: dict[str, dict[str, float | str]] = {
    "forwarding": {},
    "sdn-paced": {"alpha": 1.0, "beta": 1.0, "gamma": 1.5, "schedule": "stretched"},
    "window-clamp": {"share": 1.0},
    "tcpbp": {
        "estimator": "sma",
        "delay": "measured",
        "sample_packets": 1000,
        "loss_granularity": 1e-4,
        "delay_granularity": Span("0.1 ms"),
        "search": "published",
        "threshold": 0.0,
        "hold_time": Span(0),
    },
}
"""The parameters of each application, with their defaults (``ApplicationSetup`` in
crates/engine/src/setup.rs)."""

ESTIMATORS: dict[str, dict[str, float]] = {
    "sma": {"window": 3},
    "ewma": {"weight": 0.5},
    "hte": {"window": 3, "significance": 0.05},
}
"""The parameters of each estimator of ``tcpbp``, with their defaults (``EstimatorSetup`` in
crates/routing/src/estimate/mod.rs). The window is that of Vilela 2022, section 4.1.2; a weight of 0.5 has
the same mean age of samples."""

_TCPBP_INTERVAL = Span("10 s")
"""Vilela 2022, section 4.1.2."""

# A thousandfold overestimation is beyond any use, and keeps every time that follows from it in range.
_LARGEST_FACTOR = 1000.0


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


def _switches_kind(value: object) -> str:
    return alternative("all" if value == "*" else "several")


class Controller(Table):
    """An SDN controller, which sets up every flow and takes the place of routing.

    Without more it has a control link of its own to each switch, which carries nothing else.
    """

    application: Literal["forwarding", "sdn-paced", "window-clamp", "tcpbp"] = "forwarding"
    """``forwarding``: entries for each flow along the best path; ``sdn-paced``: and senders that are paced;
    ``window-clamp``: and advertised windows that are limited; ``tcpbp``: entries along the path of most
    predicted TCP throughput over links that are measured."""
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None
    """``sdn-paced``: share of the bottleneck that may be used."""
    beta: Annotated[float, Field(ge=1, le=_LARGEST_FACTOR)] | None = None
    """``sdn-paced``: overestimation of the handshake's delay."""
    gamma: Annotated[float, Field(ge=1, le=_LARGEST_FACTOR)] | None = None
    """``sdn-paced``: overestimation of the round-trip time."""
    schedule: Literal["stretched", "published"] | None = None
    """``sdn-paced``: ``published``, at least one segment for each sender in an interval; ``stretched``, with
    intervals long enough to give each sender its own part."""
    share: Annotated[float, Field(gt=0, le=_LARGEST_FACTOR)] | None = None
    """``window-clamp``: share of the bandwidth-delay product that all flows of a link get together."""
    estimator: Literal["sma", "ewma", "hte"] | None = None
    """``tcpbp``: what makes estimates of samples: a simple moving average, an exponentially weighted one, or
    an estimate that stays until a statistical test of the last samples refuses it."""
    window: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """``sma`` and ``hte``: number of samples that they look at."""
    weight: Annotated[float, Field(gt=0, le=1)] | None = None
    """``ewma``: weight of the newest sample."""
    significance: Annotated[float, Field(gt=0, lt=1)] | None = None
    """``hte``: probability of a change though the link is as it was."""
    delay: Literal["measured", "configured"] | None = None
    """``tcpbp``: where the delays of links come from: the time stamps of probes, with queues, or the
    network's settings."""
    sample_packets: Annotated[int, Field(ge=1, le=2**32)] | None = None
    """``tcpbp``: packets that make a sample of a link's loss; with fewer it goes on to the next request."""
    loss_granularity: Annotated[float, Field(ge=0, le=1)] | None = None
    """``tcpbp``: step of estimates of loss; 0 for none."""
    delay_granularity: Span | None = None
    """``tcpbp``: step of the delays of links; zero for none."""
    search: Literal["published", "exact"] | None = None
    """``tcpbp``: how the best path is looked for: by the modified Dijkstra as published, which can miss it,
    or exactly."""
    threshold: Annotated[float, Field(ge=0, lt=1)] | None = None
    """``tcpbp``: share by which another path must be better before a flow moves to it."""
    hold_time: Span | None = None
    """``tcpbp``: how long at least a flow that has moved stays, unless its path breaks."""
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
        Discriminator(_switches_kind),
    ] = "*"
    """The nodes that are switches; ``"*"``: every node that is not marked a host."""
    links: LinkSettings = LinkSettings()
    """The control link of every switch, or ``in-band`` the controller's one link; its queue is unlimited
    where none is given."""
    link: list[ControlLink] = []
    """The control links of single switches, in this order; they take precedence over ``links``."""
    table: FlowTable = FlowTable()
    """The flow table of every switch."""
    linger: Span = Span("1 s")
    """Time from a flow's FIN until its entries are removed."""
    statistics_interval: PositiveSpan | None = None
    """Time between two requests for the counters of all links; left out: 10 s for ``tcpbp``, and none is made
    for the others."""

    def path_metric(self) -> Metric:
        """The metric, default filled in."""
        return self.metric or ("hops" if self.application == "tcpbp" else "delay")

    def polling(self) -> Span | None:
        """Time between two requests for counters, default filled in; None: none is made."""
        default = _TCPBP_INTERVAL if self.application == "tcpbp" else None
        return default if self.statistics_interval is None else self.statistics_interval

    def parameters(self) -> dict[str, float | str]:
        """The parameters of the application, defaults filled in."""
        return APPLICATIONS[self.application] | self._given(APPLICATIONS[self.application])

    def estimator_parameters(self) -> dict[str, float]:
        """The parameters of the estimator of ``tcpbp``, defaults filled in."""
        defaults = ESTIMATORS[self.estimator or str(APPLICATIONS["tcpbp"]["estimator"])]
        return defaults | self._given(defaults)

    def _given(self, names: Iterable[str]) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    @model_validator(mode="after")
    def _check(self) -> Self:
        for owner, parameters in APPLICATIONS.items():
            for parameter in parameters:
                if owner != self.application and getattr(self, parameter) is not None:
                    here = quoted(self.application)
                    refuse(parameter, f"is a parameter of {owner}; the application here is {here}")
        self._check_estimator()
        if self.channel == "apart":
            for field, value in (("at", self.at), ("node", self.node)):
                if value is not None:
                    refuse(field, 'a control link leads to every switch; only channel = "in-band" has one')
        else:
            self._check_in_band()
        return self

    def _check_estimator(self) -> None:
        here = self.estimator or str(APPLICATIONS["tcpbp"]["estimator"])
        for parameter in dict.fromkeys(name for names in ESTIMATORS.values() for name in names):
            if getattr(self, parameter) is None:
                continue
            if self.application != "tcpbp":
                application = quoted(self.application)
                refuse(parameter, f"is a parameter of tcpbp; the application here is {application}")
            if parameter not in ESTIMATORS[here]:
                names = [name for name, known in ESTIMATORS.items() if parameter in known]
                owners = ("estimator " if len(names) == 1 else "estimators ") + " and ".join(names)
                refuse(
                    parameter,
                    f"is a parameter of the {owners}; the estimator here is {quoted(here)}",
                )
        if here == "hte" and self.window == 1:
            refuse("window", "1 is too few; hte tests the mean of 2 samples or more")

    def _check_in_band(self) -> None:
        if self.at is None and self.node is None:
            refuse("at", "is missing; in-band, give the switch that the controller hangs at, or node")
        if self.at is not None and self.node is not None:
            refuse("at", "give either at or node, not both")
        if self.link:
            refuse("link", 'only channel = "apart" has a link for each switch; in-band there is one, links')
        if self.node is not None and self.links != LinkSettings():
            refuse("links", f"the links of {quoted(self.node)} are those of the network; leave them out")
