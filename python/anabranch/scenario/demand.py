"""Traffic matrices: bounds of them, and single ones."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, Tag

from anabranch.scenario.files import names_file
from anabranch.scenario.quantity import PositiveRate, Rate, quoted
from anabranch.scenario.table import Table, Text, either, refuse


class PairRates(Table):
    """Rates of single pairs, from a file or from the topology's own traffic matrix."""

    _generated: ClassVar[tuple[str, ...]] = ()
    """What is neither a file nor the topology's."""
    source: Annotated[str, Field(alias="from", min_length=1)]
    """Where they are: ``"topology"``, the matrix of an SNDlib network, or ``"file:demands.csv"``."""
    unit: Rate | None = None
    """What 1 means in the topology's matrix, such as ``"1 Mbps"``; SNDlib does not say."""
    scale: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    """Factor on every rate."""
    direction: Literal["forward", "both"] = "forward"
    """``both``: each rate holds for the opposite pair as well, and adds to a rate that is given for that."""

    def _check_together(self) -> None:
        if self.source in self._generated:
            for field in ("unit", "direction"):
                if getattr(self, field) not in (None, "forward"):
                    refuse(field, f"is for matrices that are read; {quoted(self.source)} makes one")
        elif self.source == "topology":
            if not self.unit and self._needs_unit():
                refuse("unit", 'is missing; say what a demand of 1 means, for example "1 Mbps"')
        elif not names_file(self.source):
            known = ", ".join(quoted(name) for name in ("topology", *self._generated))
            refuse("from", f'{quoted(self.source)} is neither {known} nor like "file:demands.csv"')
        elif self.unit is not None:
            refuse("unit", "is for the topology's matrix; a file has its units in it")

    def _needs_unit(self) -> bool:
        return True


class Matrix(PairRates):
    """A traffic matrix, of whose rates an entry's flows are made."""

    _generated: ClassVar[tuple[str, ...]] = ("gravity", "uniform", "bounds")
    source: Annotated[str, Field(alias="from", min_length=1)]
    """``"file:demands.csv"``, ``"topology"`` (the matrix of an SNDlib network), ``"gravity"``,
    ``"uniform"``, or ``"bounds"``: one of the matrices that ``routing.demand`` allows, drawn anew for each
    replication."""
    total: PositiveRate | None = None
    """Sum of all rates, for ``"gravity"`` and ``"uniform"``, whose pairs are those of all hosts (of all
    nodes, where none is marked a host); a matrix that is read is scaled to it."""
    weights: Literal["capacity", "exponential"] | None = None
    """For ``"gravity"``, where a rate is in proportion to the weights of both ends. ``capacity`` (where it is
    left out): that of a node's links; ``exponential``: drawn, for each end by itself (Roughan 2005)."""
    rate_per_flow: PositiveRate | None = None
    """How much of a rate makes one flow, the rest of it one more; in place of ``flows``."""

    def _check_together(self) -> None:
        super()._check_together()
        made = self.source in ("gravity", "uniform")
        if made and self.total is None:
            refuse("total", f'is missing; say what all rates of {quoted(self.source)} add up to, "1 Gbps"')
        if self.source == "bounds" and self.total is not None:
            refuse("total", "a matrix within bounds has a total of its own; leave it out")
        if self.source == "bounds" and self.scale > 1:
            refuse("scale", f"{self.scale:g} is above 1, so that the matrix would leave the bounds")
        if self.total is not None and self.scale != 1:
            refuse("scale", "total says how large the rates are; leave out one of the two")
        if self.weights is not None and self.source != "gravity":
            refuse("weights", f'is for "gravity"; {quoted(self.source)} has none')

    def _needs_unit(self) -> bool:
        return self.total is None


Hose = Annotated[
    Annotated[Rate, Tag("<rate>")] | Annotated[dict[Text, Rate], Field(min_length=1), Tag("<by-router>")],
    either(dict, "by-router", "rate"),
]
Pair = Annotated[
    Annotated[Rate, Tag("<rate>")] | Annotated[PairRates, Tag("<rates>")],
    either((dict, PairRates), "rates", "rate"),
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

    def _check_together(self) -> None:
        if self.ingress is None and self.egress is None and self.pair is None:
            refuse(
                "ingress", "give ingress and egress, or pair, or all of them; without bounds loads have none"
            )
