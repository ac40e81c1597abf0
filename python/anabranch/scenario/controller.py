"""The SDN controller: what it does, which switches it governs, and how it reaches them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

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
        "window": 3,
        "sample_packets": 1000,
        "loss_granularity": 1e-4,
        "delay_granularity": Span("0.1 ms"),
        "threshold": 0.0,
    },
}
"""The parameters of each application, with their defaults (``ApplicationSetup`` in
crates/engine/src/setup.rs)."""

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
    window: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """``tcpbp``: number of samples that the estimate of a link's loss is the mean of."""
    sample_packets: Annotated[int, Field(ge=1, le=2**32)] | None = None
    """``tcpbp``: packets that make a sample of a link's loss; with fewer it goes on to the next request."""
    loss_granularity: Annotated[float, Field(ge=0, le=1)] | None = None
    """``tcpbp``: step of estimates of loss; 0 for none."""
    delay_granularity: Span | None = None
    """``tcpbp``: step of the delays of links; zero for none."""
    threshold: Annotated[float, Field(ge=0, lt=1)] | None = None
    """``tcpbp``: share by which another path must be better before a flow moves to it."""
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
        given = {name: getattr(self, name) for name in APPLICATIONS[self.application]}
        return APPLICATIONS[self.application] | {
            name: value for name, value in given.items() if value is not None
        }

    @model_validator(mode="after")
    def _check(self) -> Self:
        for owner, parameters in APPLICATIONS.items():
            for parameter in parameters:
                if owner != self.application and getattr(self, parameter) is not None:
                    here = quoted(self.application)
                    refuse(parameter, f"is a parameter of {owner}; the application here is {here}")
        if self.channel == "apart":
            for field, value in (("at", self.at), ("node", self.node)):
                if value is not None:
                    refuse(field, 'a control link leads to every switch; only channel = "in-band" has one')
        else:
            self._check_in_band()
        return self

    def _check_in_band(self) -> None:
        if self.at is None and self.node is None:
            refuse("at", "is missing; in-band, give the switch that the controller hangs at, or node")
        if self.at is not None and self.node is not None:
            refuse("at", "give either at or node, not both")
        if self.link:
            refuse("link", 'only channel = "apart" has a link for each switch; in-band there is one, links')
        if self.node is not None and self.links != LinkSettings():
            refuse("links", f"the links of {quoted(self.node)} are those of the network; leave them out")
