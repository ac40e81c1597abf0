"""Traffic known by bounds only."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.files import FILE
from anabranch.scenario.quantity import Rate, quoted
from anabranch.scenario.table import Table, alternative, refuse


class PairRates(Table):
    """Bounds of single pairs, from a file or from the topology's own traffic matrix."""

    source: Annotated[str, Field(alias="from", min_length=1)]
    """Where they are: ``"topology"``, the matrix of an SNDlib network, or ``"file:demands.csv"``."""
    unit: Rate | None = None
    """What 1 means in the topology's matrix, such as ``"1 Mbps"``; SNDlib does not say."""
    scale: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    """Factor on every rate."""
    direction: Literal["forward", "both"] = "forward"
    """``both``: each rate bounds the opposite pair as well, and adds to a rate that is given for that."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.source == "topology":
            if not self.unit:
                refuse("unit", 'is missing; say what a demand of 1 means, for example "1 Mbps"')
        elif not self.source.startswith(FILE) or self.source == FILE:
            refuse("from", f'{quoted(self.source)} is neither "topology" nor like "file:demands.csv"')
        elif self.unit is not None:
            refuse("unit", "is for the topology's matrix; a file has its units in it")
        return self


def _hose_kind(value: object) -> str:
    return alternative("by-router" if isinstance(value, dict) else "rate")


def _pair_kind(value: object) -> str:
    return alternative("rates" if isinstance(value, dict | PairRates) else "rate")


Hose = Annotated[
    Annotated[Rate, Tag("<rate>")] | Annotated[dict[str, Rate], Field(min_length=1), Tag("<by-router>")],
    Discriminator(_hose_kind),
]
Pair = Annotated[
    Annotated[Rate, Tag("<rate>")] | Annotated[PairRates, Tag("<rates>")], Discriminator(_pair_kind)
]


class Demand(Table):
    """The traffic matrices that may occur: all that keep these bounds.

    Traffic enters and leaves at routers, which are the nodes that are no hosts; that of a host at the router
    of its first link. ``ingress`` and ``egress`` are the hose model, ``pair`` is the pipe model (Fukushima et
    al. 2016, section 3.1); what is left out is no bound.
    """

    ingress: Hose | None = None
    """Most traffic that enters at each router for all others: a rate for each of them, or a table of rates by
    name, with ``"*"`` for those that it does not name."""
    egress: Hose | None = None
    """Most traffic that leaves at each router from all others, in the same forms."""
    pair: Pair | None = None
    """Most traffic from a router to another: a rate for each pair, or where the rates are to be found. A pair
    that is not listed there has no traffic."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ingress is None and self.egress is None and self.pair is None:
            refuse(
                "ingress", "give ingress and egress, or pair, or all of them; without bounds loads have none"
            )
        return self
