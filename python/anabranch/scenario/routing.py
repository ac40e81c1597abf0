"""How routes are chosen, and how packets are spread over them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.quantity import PositiveSpan, Span, quoted
from anabranch.scenario.table import Table, alternative, refuse

Scheme = Literal["shortest", "ecmp", "k-shortest", "disjoint", "max-flow"]
Metric = Literal["hops", "delay", "inverse-capacity"]
Spread = Literal["flow", "flowlet", "packet", "packet-round-robin"]


def _reaction_kind(value: object) -> str:
    return alternative("never" if value == "never" else "span")


class Routing(Table):
    """How routes are chosen, and how packets are spread over them."""

    scheme: Scheme = "shortest"
    """``shortest``: one shortest path; ``ecmp``: all shortest ways, hop by hop; ``k-shortest``: the k
    shortest loop-free paths; ``disjoint``: up to k paths that share no link; ``max-flow``: a split that
    carries most."""
    metric: Metric = "hops"
    """What a short path is short in; ``max-flow`` takes the shortest among the splits that carry the most."""
    k: Annotated[int, Field(ge=1, le=64)] | None = None
    """Number of paths for ``k-shortest`` (2 where it is left out), and the most for ``disjoint`` (as many as
    there are where it is left out)."""
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
        if self.k is not None and self.scheme not in ("k-shortest", "disjoint"):
            refuse("k", f"scheme {quoted(self.scheme)} takes no k; it belongs to k-shortest and disjoint")
        if self.spread == "flowlet" and self.flowlet_gap is None:
            refuse("flowlet_gap", 'is missing; spread = "flowlet" needs one, for example "50 ms"')
        if self.spread != "flowlet" and self.flowlet_gap is not None:
            refuse("flowlet_gap", f'only spread = "flowlet" has one; here spread is {quoted(self.spread)}')
        return self
