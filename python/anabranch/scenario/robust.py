"""Traffic known by bounds only, and how robust routing answers it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.quantity import PositiveSpan, Rate, Span, quoted
from anabranch.scenario.table import Table, alternative, refuse

Method = Literal["single-lp", "exchange", "all-paths", "link-flow"]
CANDIDATE_METHODS: tuple[Method, ...] = ("single-lp", "exchange")
"""Methods over candidate paths; the others are over all paths."""
FILE = "file:"


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


class Robust(Table):
    """How robust routing chooses paths and solves its programs."""

    single_percent: Annotated[float, Field(ge=0, le=100)] | None = None
    """X of ``hybrid-hop`` and ``hybrid-delay``: so many percent of the pairs, those with the longest
    candidates by delay, keep only their shortest path; 0 where it is left out."""
    level: Annotated[float, Field(gt=0)] | None = None
    """Worst-case load that ``robust-optimal`` may not exceed, 1 for full links; 1 where it is left out."""
    failures: Literal["none", "single-link"] = "none"
    """``single-link``: the load is the highest with all links up or any one of them down, both directions
    together; for schemes with k paths."""
    method: Method | None = None
    """Which solver. Left out, ``single-lp`` over k paths and ``all-paths`` over all. They find the same."""
    time_limit: PositiveSpan = Span("60 s")
    """Wall time after which the best plan so far is taken, with a warning that tells its gap."""
    gap: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """By which part of the load the optimum may be lower when a solver stops."""
