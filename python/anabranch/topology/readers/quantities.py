"""Numbers and quantities as text formats write them, exact and bounded, with messages that name the place.

Rates and times have the units of ns-3's DataRate and Time, which other formats share: `100Gbps`, `10Mb/s`,
`5MB/s`, `1Gib/s`; `1000ns`, `0.001ms`, `5us`, and seconds where a time has no unit.
"""

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from anabranch.topology.error import TopologyError

_PREFIX: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY: Final = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_MS_PER_UNIT: Final = {
    "ns": Decimal("1e-6"),
    "us": Decimal("1e-3"),
    "µs": Decimal("1e-3"),
    "μs": Decimal("1e-3"),
    "ms": Decimal(1),
    "s": Decimal(1000),
    "": Decimal(1000),
}
_QUANTITY: Final = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*", re.ASCII)
_RATE: Final = re.compile(r"([kKmMgGtT]?)(i?)([bB])(?:it|yte)?s?(?:ps|/s|)")
_MOST_DIGITS: Final = 30


def number(text: str, what: str, where: str, low: int | None = None) -> Decimal:
    """The finite number that a text states, exactly; `what` names it in the message.

    Raises TopologyError for anything else, for a number below `low` and beyond 10^30.
    """
    value = _decimal(text)
    if value is None:
        raise TopologyError(where, f'{what} is "{text[:40]}"', "give a number")
    if low is not None and value < low:
        raise TopologyError(where, f'{what} is "{text[:40]}"', f"give a number from {low}")
    return value


def whole(text: str, what: str, where: str, low: int, high: int) -> int:
    """The whole number that a text states. Raises TopologyError for any other, and out of `low`..`high`."""
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII) or not low <= int(text) <= high:
        raise TopologyError(where, f'{what} is "{text[:40]}"', f"give a whole number from {low} to {high}")
    return int(text)


def rate_bps(text: str, what: str, where: str) -> Decimal:
    """A rate with its unit, in bits per second: `100Gbps`. Raises TopologyError for anything else."""
    value, unit = _split(text)
    match = _RATE.fullmatch(unit)
    if value is None or value < 0 or match is None:
        raise TopologyError(where, f'{what} is "{text[:40]}"', "give a rate with its unit, such as 10Gbps")
    prefix, binary, bits = match[1].lower(), match[2], match[3]
    if binary and not prefix:
        raise TopologyError(where, f'{what} is "{text[:40]}"', "give a rate with its unit, such as 10Gbps")
    return value * (_BINARY if binary else _PREFIX)[prefix] * (8 if bits == "B" else 1)


def time_ms(text: str, what: str, where: str) -> Decimal:
    """A time in milliseconds; without a unit it is in seconds. Raises TopologyError for anything else."""
    value, unit = _split(text)
    factor = _MS_PER_UNIT.get(unit)
    if value is None or value < 0 or factor is None:
        raise TopologyError(where, f'{what} is "{text[:40]}"', "give a time with its unit, such as 5ms")
    return value * factor


def plain(value: Decimal) -> str:
    """A number without an exponent, as attributes of links have it."""
    return format(value, "f")


def _split(text: str) -> tuple[Decimal | None, str]:
    match = _QUANTITY.fullmatch(text)
    return (None, "") if match is None else (_decimal(match[1]), match[2])


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and (value == 0 or abs(value.adjusted()) <= _MOST_DIGITS) else None
