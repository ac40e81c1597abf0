"""Who sends what to whom."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
)

from anabranch.scenario.demand import Matrix
from anabranch.scenario.network import NodeName
from anabranch.scenario.quantity import ByteCount, Number, PositiveRate, Quantity, Span, quoted
from anabranch.scenario.routing import TrafficRouting
from anabranch.scenario.table import Table, alternative, either, is_word, refuse
from anabranch.scenario.variate import (
    FIXED,
    AnyDistribution,
    ByteVariate,
    Drawn,
    SpanVariate,
    distribution_of,
    mean_base_units,
)

MAX_FLOWS = 1_000_000
_DATAGRAM_HEADERS = 28
_OF_ENDS = ("pairs", "both_directions", "inter_arrival", "stagger")
_LONGEST_PACKET = 65_535


class RateApplication(Table):
    """An application that sends messages: at constant intervals, or as a Poisson process."""

    kind: Literal["constant-rate", "poisson"]
    """``constant-rate``: equal gaps; ``poisson``: exponential gaps."""
    message: ByteVariate
    """Size of each message."""
    rate: PositiveRate | None = None
    """Mean rate of application data; give this or ``gap``, or a matrix, which has the rates."""
    gap: Span | None = None
    """Mean time from one message to the next."""

    def _check_together(self) -> None:
        if self.rate is not None and self.gap is not None:
            refuse("rate", "give either rate or gap, not both")
        if self.gap is not None and self.gap == 0:
            refuse("gap", f"{quoted(self.gap.text)} is zero; messages need some time between them")
        mean = mean_base_units(self.message)
        if not 0 < mean < float("inf"):
            refuse("message", f"its mean is {'zero' if mean == 0 else 'infinite'}; a message has a size")


class MessageApplication(Table):
    """An application that sends messages of any size at any intervals."""

    kind: Literal["messages"]
    """``messages``: sizes and gaps as given, distributions or not."""
    message: ByteVariate
    """Size of each message."""
    gap: SpanVariate
    """Time from one message to the next."""

    def _check_together(self) -> None:
        for field, value in (("message", self.message), ("gap", self.gap)):
            if mean_base_units(value) == 0:
                refuse(field, "its mean is zero")


class PingApplication(Table):
    """Echo requests at constant intervals, each answered at once by a packet as long (ICMP, RFC 792)."""

    kind: Literal["ping"]
    """``ping``: how long packets take there and back, and how many are lost."""
    interval: Span = Span("1 s")
    """From one request to the next."""
    packet: ByteCount = ByteCount("84 B")
    """Size of the IP packet with its 28 bytes of headers, 28 B to 65,535 B; ping on Linux has 84 B."""

    def _check_together(self) -> None:
        if self.interval == 0:
            refuse("interval", f"{quoted(self.interval.text)} is zero; requests need some time between them")
        _check_packet(self.packet)


class UdpApplication(Table):
    """UDP packets at a constant rate, whatever becomes of them: calls, games, telemetry."""

    kind: Literal["udp"]
    """``udp``: how long packets take one way, how that varies, and how many are lost."""
    rate: PositiveRate | None = None
    """Rate of the IP packets, headers included; a matrix has the rates in place of it."""
    packet: ByteCount
    """Size of the IP packet with its 28 bytes of headers, 28 B to 65,535 B; 200 B is a call with G.711."""

    def _check_together(self) -> None:
        _check_packet(self.packet)


def _check_packet(size: ByteCount) -> None:
    if size < _DATAGRAM_HEADERS:
        refuse("packet", f"{quoted(size.text)} is below {_DATAGRAM_HEADERS} B, which the headers take")
    if size > _LONGEST_PACKET:
        refuse("packet", f"{quoted(size.text)} is above {_LONGEST_PACKET} B, the longest packet of IPv4")


class ReceiverReading(Table):
    """How the receiving application reads; what it has not read fills the receive buffer."""

    rate: PositiveRate | None = None
    """Mean rate at which it reads where there are always data; left out: as fast as they come."""
    block: ByteCount = ByteCount("16384 B")
    """What it reads at once: it takes a block at equal intervals from the start of its flow, and what of a
    block is not there yet as it comes, until the next one is due. The default is a record of TLS (RFC 8446
    section 5.1)."""
    pause: Span | None = None
    """From here on, on the clock of the run, it reads nothing."""
    resume: Span | None = None
    """From here on it reads again; left out: never."""

    def _check_together(self) -> None:
        if self.rate is None and self.pause is None:
            refuse("rate", "is missing; an application that reads at once needs no table, or a pause")
        if self.rate is None and "block" in self.model_fields_set:
            refuse("block", "without a rate it reads whatever comes; leave it out")
        if self.block == 0:
            refuse("block", f"{quoted(self.block.text)} is zero; a block has at least one byte")
        if self.resume is not None and self.pause is None:
            refuse("resume", "without pause there is nothing to resume")
        if self.resume is not None and self.pause is not None and self.resume <= self.pause:
            refuse("resume", f"{quoted(self.resume.text)} is not after pause, {quoted(self.pause.text)}")


DatagramApplication = PingApplication | UdpApplication
"""Applications without a connection, whose packets no transport controls."""


def _application_kind(value: object) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return alternative("rate" if kind in ("constant-rate", "poisson") else str(kind))


Application = Annotated[
    Annotated[RateApplication, Tag("<rate>")]
    | Annotated[MessageApplication, Tag("<messages>")]
    | Annotated[PingApplication, Tag("<ping>")]
    | Annotated[UdpApplication, Tag("<udp>")],
    Discriminator(_application_kind),
]


def _size_kind(value: object) -> str:
    return alternative("unlimited") if is_word(value, "unlimited") else distribution_of(value)


Size = Annotated[
    Annotated[Literal["unlimited"], Tag("<unlimited>")] | Annotated[ByteCount, Tag(FIXED)] | AnyDistribution,
    Discriminator(_size_kind),
    Drawn(ByteCount),
]


Ends = Annotated[
    Annotated[NodeName, Tag("<one>")] | Annotated[list[NodeName], Field(min_length=1), Tag("<several>")],
    either(list, "several", "one"),
]


def _flows_kind(value: object) -> str:
    if is_word(value, "unlimited"):
        return alternative("unlimited")
    kind = distribution_of(value)
    return alternative("number") if kind == FIXED else kind


Flows = Annotated[
    Annotated[int, Field(ge=1, le=MAX_FLOWS), Tag("<number>")]
    | Annotated[Literal["unlimited"], Tag("<unlimited>")]
    | AnyDistribution,
    Discriminator(_flows_kind),
    Drawn(Number),
]


class Traffic(Table):
    """Flows of one kind from one node, or several, to another: TCP connections, pings or UDP."""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Name of the flows: ``web`` makes ``web.0``, ``web.1``, ...; left out, ``traffic[0].0`` and so on.
    Random draws hang on it."""
    source: Ends | None = Field(default=None, alias="from")
    """Node that sends; a list of nodes; or ``"*"`` for every host (every node, where none is marked a
    host)."""
    destination: Ends | None = Field(default=None, alias="to")
    """Node that receives, a list, or ``"*"``."""
    pairs: Literal["all", "in-order", "permutation", "neighbours"] = "all"
    """For lists. ``all``: every sender to every receiver but itself; ``in-order``: the first to the first and
    so on; ``permutation``: each node of ``from`` sends to one other, drawn so that each receives once;
    ``neighbours``: each node of ``from`` sends to every other one of them that it has a link to, and a
    controller that measures links keeps these flows there."""
    both_directions: bool = False
    """Whether each pair also sends the other way, by flows of its own."""
    matrix: Matrix | None = None
    """In place of ``from`` and ``to``: rates of pairs of nodes. Each pair's flows have its rate together:
    those of an application, or transfers of a ``size`` that arrive as a Poisson process. Without both, a
    pair has one flow without end for each ``rate_per_flow``."""
    flows: Flows = 1
    """Flows of each pair: their number, or a distribution of which each pair draws its own, at least one; or
    ``"unlimited"``, with ``inter_arrival``: as many as arrive until the end."""
    size: Size | None = None
    """``"unlimited"`` (also where it is left out), a size, or a distribution of sizes."""
    application: Application | None = None
    """In place of ``size``: an application that sends messages over a connection (``constant-rate``,
    ``poisson``, ``messages``), or packets without one (``ping``, ``udp``)."""
    reads: ReceiverReading | None = None
    """How the receiving application reads; left out: at once."""
    transport: Annotated[str, Field(min_length=1)] = "cubic"
    """A transport by name: a preset, or a table ``[transport.NAME]`` of this scenario. ``ping`` and ``udp``
    have none."""
    routing: TrafficRouting | None = None
    """Routes of these flows alone, in place of those of ``[routing]``, as in ``{ metric = "delay" }``. How
    packets are spread over routes, and when new ones are in force, says ``[routing]`` for all. With a
    controller, the metric alone."""
    start: SpanVariate = Span(0)
    """When a connection opens; with ``inter_arrival``, the first one."""
    stop: SpanVariate | None = None
    """When the application stops writing and closes, on the clock of the run; left out: never. No flow begins
    then or later; one of a size that has begun still sends all of it."""
    inter_arrival: SpanVariate | None = None
    """Time from one flow's start to the next one's, for each pair."""

    stagger: SpanVariate | None = None
    """Time from one pair's first flow to the next pair's; left out: all pairs begin at ``start``."""

    def _check_together(self) -> None:
        if self.size is not None and self.application is not None:
            refuse("application", "an application says itself how much it sends; leave out size")
        if isinstance(self.size, Quantity) and self.size == 0:
            refuse("size", f"{quoted(self.size.text)} is zero; a transfer has at least one byte")
        self._check_rates()
        if self.flows == "unlimited":
            if self.inter_arrival is None:
                refuse("flows", '"unlimited" needs inter_arrival: the flows arrive one after the other')
            if mean_base_units(self.inter_arrival) == 0:
                refuse("inter_arrival", "its mean is zero, so that unlimited flows would never end arriving")
        if isinstance(self.application, DatagramApplication):
            without = f"{quoted(self.application.kind)} has no connection, and so no"
            if "transport" in self.model_fields_set:
                refuse("transport", f"{without} transport; leave it out")
            if self.reads is not None:
                refuse("reads", f"{without} receive window; leave it out")
        if self.matrix is None:
            self._check_ends()
        else:
            self._check_matrix(self.matrix)
        if isinstance(self.start, Quantity) and isinstance(self.stop, Quantity) and self.stop <= self.start:
            refuse("stop", f"{quoted(self.stop.text)} is not after start, {quoted(self.start.text)}")

    @property
    def has_datagrams(self) -> bool:
        """Whether its packets have no connection."""
        return isinstance(self.application, DatagramApplication)

    @model_serializer(mode="wrap")
    def _without_transport(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What has no transport has not the default either."""
        data: dict[str, Any] = write(self)
        if self.has_datagrams:
            data.pop("transport", None)
        return data

    def _check_rates(self) -> None:
        """The rate of an application stands in it, or else in a matrix."""
        application = self.application
        if not isinstance(application, RateApplication | UdpApplication):
            return
        gap = getattr(application, "gap", None)
        if self.matrix is None and application.rate is None and gap is None:
            either = "either rate or gap" if isinstance(application, RateApplication) else "a rate"
            refuse("application.rate", f"give {either}, or the entry a matrix")
        for field, value in (("rate", application.rate), ("gap", gap)):
            if self.matrix is not None and value is not None:
                refuse(f"application.{field}", "the matrix says how much each pair sends; leave it out")

    def _check_matrix(self, matrix: Matrix) -> None:
        plain = type(self).model_fields
        for key, field in (("from", "source"), ("to", "destination"), *((name, name) for name in _OF_ENDS)):
            if getattr(self, field) != plain[field].default:
                refuse(key, "the matrix says who sends to whom; leave it out")
        if isinstance(self.application, PingApplication | MessageApplication):
            kind = quoted(self.application.kind)
            refuse("application", f'{kind} has no rate; take "constant-rate", "poisson" or "udp"')
        if matrix.rate_per_flow is not None and self.flows != 1:
            refuse("flows", "rate_per_flow says how many there are; leave out one of the two")
        if self.size is not None and self.size != "unlimited":
            if self.flows != 1 or matrix.rate_per_flow is not None:
                key = "flows" if self.flows != 1 else "matrix.rate_per_flow"
                refuse(key, "as many transfers arrive as the rate and their size make; leave it out")
            if not 0 < (mean := mean_base_units(self.size)) < float("inf"):
                what = "zero" if mean == 0 else "infinite"
                refuse("size", f"its mean is {what}, so that no rate of arrivals makes the matrix")
        elif self.application is None and matrix.rate_per_flow is None:
            refuse("matrix.rate_per_flow", "is missing; of flows without end the rates make the number")

    def _check_ends(self) -> None:
        if self.source is None:
            refuse("from", "is missing; it names the node that sends")
        if self.pairs in ("permutation", "neighbours"):
            if self.destination is not None:
                how = "draws" if self.pairs == "permutation" else "takes"
                refuse("to", f'pairs = "{self.pairs}" {how} the receivers from the senders; leave it out')
            if isinstance(self.source, str) and self.source != "*":
                what = "a permutation needs" if self.pairs == "permutation" else "neighbours are"
                refuse("from", f'{what} several nodes or "*", not {quoted(self.source)} alone')
        elif self.destination is None:
            refuse("to", "is missing; it names the node that receives")
        elif self.pairs == "in-order":
            ends = (self.source, self.destination)
            if any(isinstance(end, str) for end in ends) or len(self.source) != len(self.destination):
                refuse("pairs", '"in-order" needs lists of the same length in from and to')
