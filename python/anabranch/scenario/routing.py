"""How routes are chosen, and how packets are spread over them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.quantity import PositiveSpan, Span, quoted
from anabranch.scenario.table import Table, alternative, refuse

Scheme = Literal["shortest", "ecmp", "k-shortest", "disjoint", "max-flow", "tcpbp", "tcpbp-exact", "semper"]
Metric = Literal[
    "hops",
    "hops-then-delay",
    "delay",
    "inverse-capacity",
    "loss",
    "capacity",
    "tcpbp",
    "smm",
    "argaq",
    "b-over-dl",
]
ADDITIVE_METRICS: tuple[Metric, ...] = ("hops", "hops-then-delay", "delay", "inverse-capacity", "loss", "smm")
"""Metrics that are sums over links. The others are functions of whole paths."""
Spread = Literal[
    "flow",
    "flowlet",
    "packet",
    "packet-round-robin",
    "hash",
    "weighted-hash",
    "resilient-hash",
    "subflow-round-robin",
]
Shares = Literal["equal", "capacity"]


_ANY_METRIC = ("shortest", "k-shortest")
_TCPBP = ("tcpbp", "tcpbp-exact")
_TAKE_K = ("k-shortest", "disjoint", "semper", *_TCPBP)


def _reaction_kind(value: object) -> str:
    return alternative("never" if value == "never" else "span")


class Routing(Table):
    """How routes are chosen, and how packets are spread over them."""

    scheme: Scheme = "shortest"
    """``shortest``: one shortest path; ``ecmp``: all shortest ways, hop by hop; ``k-shortest``: the k
    shortest loop-free paths; ``disjoint``: up to k paths that share no link; ``max-flow``: a split that
    carries most; ``tcpbp``: the path of highest predicted TCP throughput as the published algorithm finds it,
    or its first k; ``tcpbp-exact``: the same without missing any; ``semper``: up
    to k link-disjoint paths between the edge routers, the same ones there and back."""
    metric: Metric = "hops"
    """What a short path is short in; ``max-flow`` takes the shortest among the splits that carry the most.
    Left out: ``tcpbp`` for the schemes of that name, which take no other, ``hops`` for the others. ``ecmp``,
    ``disjoint``, ``max-flow`` and ``semper`` take those that are sums over links."""
    k: Annotated[int, Field(ge=1, le=64)] | None = None
    """Number of paths for ``k-shortest`` (2 where it is left out), ``tcpbp`` and ``tcpbp-exact`` (1), and the
    most for ``disjoint`` and ``semper`` (as many as there are where it is left out)."""
    shares: Shares | None = None
    """What each path of ``semper`` gets: ``equal`` parts (where it is left out), or parts by the ``capacity``
    of its narrowest link."""
    spread: Spread = "flow"
    """What keeps to one route: a flow (by a hash of its 5-tuple), a flowlet, or a single packet (at random by
    weight, or in weighted round-robin); or a subflow in both directions: ``hash`` modulo the number of paths,
    ``weighted-hash``, ``resilient-hash``, of which a failure moves only the flows of the failed path, or
    ``subflow-round-robin``, with an entry for each."""
    flowlet_gap: PositiveSpan | None = None
    """Pause after which a flow may change its route; for ``spread = "flowlet"``."""
    idle_timeout: PositiveSpan | None = None
    """Time after which an entry of ``spread = "subflow-round-robin"`` that no packet has matched is
    forgotten; left out: never."""
    reaction: Annotated[
        Annotated[Span, Tag("<span>")] | Annotated[Literal["never"], Tag("<never>")],
        Discriminator(_reaction_kind),
    ] = Span("1 s")
    """Time from a failure or repair until new routes are in force, or ``"never"``."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("scheme") in _TCPBP and "metric" not in data:
            return {**data, "metric": "tcpbp"}
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_metric()
        if self.k is not None and self.scheme not in _TAKE_K:
            takers = f"{', '.join(_TAKE_K[:-1])} and {_TAKE_K[-1]}"
            refuse("k", f"scheme {quoted(self.scheme)} takes no k; it belongs to {takers}")
        if self.shares is not None and self.scheme != "semper":
            refuse("shares", f"scheme {quoted(self.scheme)} takes no shares; they belong to semper")
        if self.spread == "hash" and (self.scheme == "max-flow" or self.shares == "capacity"):
            refuse(
                "spread",
                '"hash" gives every path the same share, and these have shares of their own; '
                'take "weighted-hash" or "resilient-hash"',
            )
        if self.spread != "subflow-round-robin" and self.idle_timeout is not None:
            refuse(
                "idle_timeout",
                f'only spread = "subflow-round-robin" has one; here spread is {quoted(self.spread)}',
            )
        if self.spread == "flowlet" and self.flowlet_gap is None:
            refuse("flowlet_gap", 'is missing; spread = "flowlet" needs one, for example "50 ms"')
        if self.spread != "flowlet" and self.flowlet_gap is not None:
            refuse("flowlet_gap", f'only spread = "flowlet" has one; here spread is {quoted(self.spread)}')
        return self

    def _check_metric(self) -> None:
        metric = self.metric
        if self.scheme in _TCPBP:
            if metric != "tcpbp":
                refuse(
                    "metric",
                    f"is {quoted(metric)}, but scheme {quoted(self.scheme)} goes by tcpbp alone; leave it "
                    f'out, or write scheme = "shortest" or "k-shortest"',
                )
        elif self.scheme not in _ANY_METRIC and metric not in ADDITIVE_METRICS:
            sums = ", ".join(quoted(name) for name in ADDITIVE_METRICS)
            refuse(
                "metric",
                f"is {quoted(metric)}, which is no sum over links, and scheme {quoted(self.scheme)} needs "
                f'one: choose among {sums}, or write scheme = "shortest" or "k-shortest"',
            )
