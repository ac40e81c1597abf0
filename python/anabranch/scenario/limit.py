"""Room for the packets that wait in front of a link."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WithJsonSchema

from anabranch.scenario.quantity import ByteCount, PacketCount, PositiveSpan, Quantity, Span, quoted, shown
from anabranch.scenario.table import Table, alternative, either, is_word

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
    if is_word(value, "unlimited"):
        return alternative("unlimited")
    if _has_unit(value, Span):
        return alternative("time")
    in_bytes = isinstance(value, ByteCount) or (
        isinstance(value, str) and value.rstrip().endswith(("B", "bytes", "byte"))
    )
    return alternative("bytes" if in_bytes else "packets")


_ANY_UNIT = re.compile(r"\s*[\d.]++\s*+(?!packets?\s*$)[^\d.]*")


def _has_known_unit(value: object) -> object:
    """Refuses a number without a unit, or with one that no room has, with the kinds of room there are."""
    number = isinstance(value, int | float) and not isinstance(value, bool | Quantity)
    if number or (isinstance(value, str) and _ANY_UNIT.fullmatch(value)):
        raise ValueError(
            f'{shown(value)} has no unit of a queue\'s room; write packets ("100 packets"), a size '
            '("64 kB"), a time at the capacity of the link ("20 ms"), bandwidth-delay products ("1 BDP") or '
            '"unlimited"'
        )
    return value


Bound = Annotated[
    Annotated[PacketCount, BeforeValidator(_has_known_unit), Tag("<packets>")]
    | Annotated[ByteCount, Tag("<bytes>")]
    | Annotated[Span, Tag("<time>")]
    | Annotated[Products, Tag("<products>")]
    | Annotated[BandwidthDelay, Tag("<products-of-rtt>")]
    | Annotated[Literal["unlimited"], Tag("<unlimited>")],
    Discriminator(_bound_kind),
]
Bounds = Annotated[list[Bound], Field(min_length=1)]
Limit = Annotated[
    Annotated[Bound, Tag("<bound>")] | Annotated[Bounds, Tag("<bounds>")], either(list, "bounds", "bound")
]
