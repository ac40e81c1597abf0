"""How routes are chosen, and how packets are spread over them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.quantity import PositiveSpan, Span, quoted
from anabranch.scenario.table import Table, alternative, refuse

Scheme = Literal["shortest", "ecmp", "k-shortest", "disjoint", "max-flow", "tcpbp", "tcpbp-exact"]
Metric = Literal[
    "hops", "delay", "inverse-capacity", "loss", "capacity", "tcpbp", "smm", "argaq", "b-over-dl"
]
ADDITIVE_METRICS: tuple[Metric, ...] = ("hops", "delay", "inverse-capacity", "loss", "smm")
"""Metrics that are sums over links. The others are functions of whole paths."""
Spread = Literal["flow", "flowlet", "packet", "packet-round-robin"]


_ANY_METRIC = ("shortest", "k-shortest")
_TCPBP = ("tcpbp", "tcpbp-exact")
_TAKE_K = ("k-shortest", "disjoint", *_TCPBP)


def _reaction_kind(value: object) -> str:
    return alternative("never" if value == "never" else "span")


class Routing(Table):
    """How routes are chosen, and how packets are spread over them."""

    scheme: Scheme = "shortest"
    """``shortest``: one shortest path; ``ecmp``: all shortest ways, hop by hop; ``k-shortest``: the k
    shortest loop-free paths; ``disjoint``: up to k paths that share no link; ``max-flow``: a split that
    carries most; ``tcpbp``: the path of highest predicted TCP throughput as the published algorithm finds it,
    or its first k; ``tcpbp-exact``: the same without missing any."""
    metric: Metric | None = None
    """What a short path is short in; ``max-flow`` takes the shortest among the splits that carry the most.
    Left out: ``tcpbp`` for the schemes of that name, which take no other, ``hops`` for the others. ``ecmp``,
    ``disjoint`` and ``max-flow`` take those that are sums over links."""
    k: Annotated[int, Field(ge=1, le=64)] | None = None
    """Number of paths for ``k-shortest`` (2 where it is left out), ``tcpbp`` and ``tcpbp-exact`` (1), and the
    most for ``disjoint`` (as many as there are where it is left out)."""
    spread: Spread = "flow"
    """What keeps to one route: a flow (by a hash of its 5-tuple), a flowlet, or a single packet (at random by
    weight, or in weighted round-robin)."""
    flowlet_gap: PositiveSpan | None = None
    """Pause after which a flow may change its route; for ``spread = "flowlet"``."""
    reaction: Annotated[
        Annotated[Span, Tag("<span>")] | Annotated[Literal["never"], Tag("<never>")],
        Discriminator(_reaction_kind),
    ] = Span("1 s")
    """Time from a failure or repair until new routes are in force, or ``"never"``."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_metric()
        if self.k is not None and self.scheme not in _TAKE_K:
            takers = f"{', '.join(_TAKE_K[:-1])} and {_TAKE_K[-1]}"
            refuse("k", f"scheme {quoted(self.scheme)} takes no k; it belongs to {takers}")
        if self.spread == "flowlet" and self.flowlet_gap is None:
            refuse("flowlet_gap", 'is missing; spread = "flowlet" needs one, for example "50 ms"')
        if self.spread != "flowlet" and self.flowlet_gap is not None:
            refuse("flowlet_gap", f'only spread = "flowlet" has one; here spread is {quoted(self.spread)}')
        return self

    def _check_metric(self) -> None:
        metric = self.path_metric()
        if self.scheme in _TCPBP:
            if metric != "tcpbp":
                refuse(
                    "metric",
                    f"is {quoted(metric)}, but scheme {quoted(self.scheme)} goes by tcpbp alone; leave it out, "
                    f'or write scheme = "shortest" or "k-shortest"',
                )
        elif self.scheme not in _ANY_METRIC and metric not in ADDITIVE_METRICS:
            sums = ", ".join(quoted(name) for name in ADDITIVE_METRICS)
            refuse(
                "metric",
                f"is {quoted(metric)}, which is no sum over links, and scheme {quoted(self.scheme)} needs one: "
                f'choose among {sums}, or write scheme = "shortest" or "k-shortest"',
            )

    def path_metric(self) -> Metric:
        """The metric, default filled in."""
        return self.metric or ("tcpbp" if self.scheme in _TCPBP else "hops")
