"""The queue in front of a link: its room, and the discipline that fills and empties it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from anabranch.scenario.quantity import (
    ByteCount,
    PacketCount,
    PositiveBytes,
    PositivePackets,
    PositiveSpan,
    Probability,
    Quantity,
    Span,
    quoted,
    shown,
)
from anabranch.scenario.table import Table, alternative, refuse

_BDP = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*BDP\s*")


def in_bdps(value: object) -> float | None:
    """The number in a text such as ``"1.5 BDP"``; None for anything else."""
    found = _BDP.fullmatch(value) if isinstance(value, str) else None
    return float(found[1]) if found else None


def _products(text: str) -> str:
    products = in_bdps(text)
    if not products:
        raise ValueError(f'{quoted(text)} is not a number of bandwidth-delay products; write "1 BDP"')
    return text


class BandwidthDelay(Table):
    """Room in bandwidth-delay products of a given round-trip time."""

    bdp: Annotated[float, Field(gt=0, le=1e6)]
    """How many: 1 is the capacity times ``rtt``."""
    rtt: PositiveSpan
    """Round-trip time without queues."""


Products = Annotated[
    str, AfterValidator(_products), WithJsonSchema({"type": "string", "pattern": _BDP.pattern})
]


def _has_unit(value: object, quantity: type[Quantity]) -> bool:
    units = "|".join(map(re.escape, quantity.units))
    return isinstance(value, quantity) or (
        isinstance(value, str) and re.fullmatch(rf".*[\d.]\s*({units})\s*", value) is not None
    )


def _bound_kind(value: object) -> str:
    if isinstance(value, dict | BandwidthDelay):
        return alternative("products-of-rtt")
    if isinstance(value, str) and value.rstrip().endswith("BDP"):
        return alternative("products")
    if value == "unlimited":
        return alternative("unlimited")
    if _has_unit(value, Span):
        return alternative("time")
    in_bytes = isinstance(value, ByteCount) or (
        isinstance(value, str) and value.rstrip().endswith(("B", "bytes", "byte"))
    )
    return alternative("bytes" if in_bytes else "packets")


Bound = Annotated[
    Annotated[PacketCount, Tag("<packets>")]
    | Annotated[ByteCount, Tag("<bytes>")]
    | Annotated[Span, Tag("<time>")]
    | Annotated[Products, Tag("<products>")]
    | Annotated[BandwidthDelay, Tag("<products-of-rtt>")]
    | Annotated[Literal["unlimited"], Tag("<unlimited>")],
    Discriminator(_bound_kind),
]
Bounds = Annotated[list[Bound], Field(min_length=1)]


def _limit_kind(value: object) -> str:
    return alternative("bounds" if isinstance(value, list) else "bound")


Limit = Annotated[
    Annotated[Bound, Tag("<bound>")] | Annotated[Bounds, Tag("<bounds>")], Discriminator(_limit_kind)
]


class QueueDiscipline(Table):
    """A queue discipline with its parameters."""

    limit: Limit | None = None
    """Room for waiting packets: ``"100 packets"``, ``"64 kB"``, ``"20 ms"`` at the link's capacity,
    ``"1 BDP"``, ``{ bdp = 1, rtt = "50 ms" }``, ``"unlimited"``, or a list of them, which all hold. Left out:
    100 packets, and 10,240 with ``fq-codel`` (RFC 8290 section 5.2.3)."""

    @model_validator(mode="before")
    @classmethod
    def _check_owner(cls, data: Any) -> Any:
        """Says whose a parameter is that another discipline has."""
        for key in data if isinstance(data, dict) else ():
            owners = [name for name, table in DISCIPLINES.items() if key in table.model_fields]
            if owners and key not in cls.model_fields:
                here = quoted(str(data.get("algorithm")))
                refuse(str(key), f"is a parameter of {' and '.join(owners)}; the algorithm here is {here}")
        return data


class Fifo(QueueDiscipline):
    """First in, first out; what finds the queue full is lost (drop-tail)."""

    algorithm: Literal["fifo"]
    """Which discipline it is."""


class Threshold(QueueDiscipline):
    """Drop-tail; an ECN-capable packet that finds a long queue is marked (RFC 3168, RFC 8257 section 3.1)."""

    algorithm: Literal["threshold"]
    """Which discipline it is."""
    mark_at: PacketCount = PacketCount("20 packets")
    """Waiting packets from which on arrivals are marked; 20 is DCTCP's K at 1 Gbps (Alizadeh et al. 2010,
    section 4)."""


class Codel(QueueDiscipline):
    """Controlled delay: drops at the head while packets wait too long (RFC 8289)."""

    algorithm: Literal["codel"]
    """Which discipline it is."""
    target: PositiveSpan = Span("5 ms")
    """Acceptable standing delay (RFC 8289 section 4.2)."""
    interval: PositiveSpan = Span("100 ms")
    """Time it may be exceeded (RFC 8289 section 4.3)."""
    ecn: bool = False
    """Mark ECN-capable packets in place of dropping them."""


class FqCodel(QueueDiscipline):
    """Flow queue CoDel: a queue under CoDel for each flow, in turn, new flows first (RFC 8290)."""

    algorithm: Literal["fq-codel"]
    """Which discipline it is."""
    flows: Annotated[int, Field(ge=1, le=65_536)] = 1024
    """Queues into which flows are hashed (RFC 8290 section 5.2.5)."""
    quantum: PositiveBytes = ByteCount("1514 B")
    """Bytes that a flow may send in its turn (section 5.2.4)."""
    target: PositiveSpan = Span("5 ms")
    """Acceptable standing delay of a flow's queue (section 5.2.2)."""
    interval: PositiveSpan = Span("100 ms")
    """Time it may be exceeded (section 5.2.1)."""
    ecn: bool = True
    """Mark ECN-capable packets in place of dropping them (section 5.2.6)."""


class Pie(QueueDiscipline):
    """Proportional integral controller enhanced: drops at random, by the delay of the queue (RFC 8033)."""

    algorithm: Literal["pie"]
    """Which discipline it is."""
    target: PositiveSpan = Span("15 ms")
    """Delay that the controller aims at (QDELAY_REF, RFC 8033 section 4.2)."""
    update: PositiveSpan = Span("15 ms")
    """Time between two updates of the probability (T_UPDATE, section 4.2)."""
    burst: Span = Span("150 ms")
    """Time for which a burst passes unhindered after quiet (MAX_BURST, section 4.4)."""
    ecn: bool = False
    """Mark ECN-capable packets in place of dropping them, as long as ``mark_below`` holds (section 5.1)."""
    mark_below: Probability = 0.1
    """Probability from which on packets are dropped, whether they can be marked or not (section 5.1)."""


class Red(QueueDiscipline):
    """Random early detection by the average length of the queue (Floyd and Jacobson 1993)."""

    algorithm: Literal["red"]
    """Which discipline it is."""
    min_threshold: PositivePackets = PacketCount("5 packets")
    """Average of waiting packets below which nothing is dropped ("min_th", section 6)."""
    max_threshold: PositivePackets = PacketCount("15 packets")
    """Average from which on everything is, without ``gentle`` ("max_th"); above the other."""
    max_probability: Annotated[float, Field(gt=0, le=1)] = 0.02
    """Probability near the upper threshold ("max_p", section 6: 1/50)."""
    weight: Annotated[float, Field(gt=0, le=1)] = 0.002
    """Weight of the length now in the average ("w_q", section 6)."""
    packet: PositiveBytes = ByteCount("1500 B")
    """Size of the packets that count as sent in an idle time ("s" is what one takes, section 4)."""
    gentle: bool = False
    """Let the probability rise to 1 at twice the upper threshold (Floyd 2000)."""
    ecn: bool = False
    """Mark ECN-capable packets in place of dropping them, where a drop would be by chance."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min_threshold >= self.max_threshold:
            refuse("max_threshold", f"is {self.max_threshold.text}; it must be above min_threshold")
        return self


DISCIPLINES: dict[str, type[QueueDiscipline]] = {
    "fifo": Fifo,
    "threshold": Threshold,
    "codel": Codel,
    "fq-codel": FqCodel,
    "pie": Pie,
    "red": Red,
}
"""The queue disciplines by name."""


def _queue_kind(value: object) -> str:
    if isinstance(value, QueueDiscipline):
        return alternative(value.algorithm)  # type: ignore[attr-defined]
    if isinstance(value, dict) and not value.keys() & {"bdp", "rtt"}:
        return alternative(str(value.get("algorithm")))
    if isinstance(value, str) and value != "unlimited" and not re.search(r"\d", value):
        return alternative("name")
    return _limit_kind(value)


Queue = Annotated[
    Annotated[Bound, Tag("<bound>")]
    | Annotated[Bounds, Tag("<bounds>")]
    | Annotated[Literal["fifo", "threshold", "codel", "fq-codel", "pie", "red"], Tag("<name>")]
    | Annotated[Fifo, Tag("<fifo>")]
    | Annotated[Threshold, Tag("<threshold>")]
    | Annotated[Codel, Tag("<codel>")]
    | Annotated[FqCodel, Tag("<fq-codel>")]
    | Annotated[Pie, Tag("<pie>")]
    | Annotated[Red, Tag("<red>")],
    Discriminator(_queue_kind),
]


def refuse_former(data: object) -> None:
    """Refuses the settings of a link that were written otherwise before, with the line to write now."""
    if not isinstance(data, dict):
        return
    queue = data.get("queue")
    limit = None
    if isinstance(queue, str):
        limit = quoted(queue)
    elif isinstance(queue, dict) and "algorithm" not in queue and queue.keys() & {"packets", "bytes"}:
        limit = f"[{', '.join(shown(bound) for bound in queue.values())}]"
    first = f"limit = {limit}, " if limit else ""
    if "mark_at" in data:
        new = f'queue = {{ algorithm = "threshold", {first}mark_at = {shown(data["mark_at"])} }}'
        refuse("mark_at", f"belongs to the queue now; write {new}")
    if "codel" in data:
        refuse("codel", f"is a queue discipline now; write {_new_codel(data['codel'], first, limit)}")
    if limit and isinstance(queue, dict):
        refuse("queue", f"several bounds are a list now; write queue = {limit}")


def _new_codel(codel: object, first: str, limit: str | None) -> str:
    if codel is False:
        return f"queue = {limit}" if limit else "no codel at all"
    given = codel.items() if isinstance(codel, dict) else ()
    parameters = "".join(f", {key} = {shown(value)}" for key, value in given)
    return f'queue = {{ algorithm = "codel", {first}'.rstrip(", ") + parameters + " }"
