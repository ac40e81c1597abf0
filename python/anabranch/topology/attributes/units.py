"""The units of link attributes, and values with a unit: ``10 Gbps``, ``5ms``.

Prefixes are decimal (IEC 80000-13 keeps binary ones apart as Ki, Mi). Bytes per second are no unit here,
because files write ``GB/s`` for gigabits as well. Case does not count, but for the B of bytes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final, Literal

Quantity = Literal["capacity", "delay", "length", "loss", "weight"]
QUANTITIES: Final[tuple[Quantity, ...]] = ("capacity", "delay", "length", "loss", "weight")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a quantity; `factor` takes a number to bits per second, picoseconds, km or a share of 1."""

    name: str
    quantity: Quantity
    factor: Decimal


def _with_spellings(
    quantity: Quantity, entries: Mapping[str, tuple[str | int, tuple[str, ...]]]
) -> dict[str, Unit]:
    return {
        spelling: Unit(name, quantity, Decimal(factor))
        for name, (factor, spellings) in entries.items()
        for spelling in (name.lower(), *spellings)
    }


def _rates() -> dict[str, tuple[str | int, tuple[str, ...]]]:
    """Rates by their names, each with its factor and its other spellings."""
    endings = ("bps", "bit/s", "bits/s", "b/s", "bit", "bits", "bit/sec", "bits/sec", "bitps", "bitpersec",
               "bitspersec", "bitpersecond", "bitspersecond", "bit/second", "bits/second")  # fmt: skip
    entries: dict[str, tuple[str | int, tuple[str, ...]]] = {"bps": (1, endings)}
    for word, prefix, exponent in (("kilo", "k", 3), ("mega", "M", 6), ("giga", "G", 9), ("tera", "T", 12)):
        short = tuple(f"{prefix.lower()}{ending}" for ending in endings)
        long = tuple(f"{word}{ending}" for ending in ("bit", "bits", "bps", "bit/s", "bits/s"))
        # "10 Gb" is a rate where a capacity is due; "b" alone says too little.
        entries[f"{prefix}bps"] = (10**exponent, (*short, *long, f"{prefix.lower()}b"))
    return entries


UNITS: Final[Mapping[Quantity, Mapping[str, Unit]]] = {
    "capacity": _with_spellings("capacity", _rates()),
    "delay": _with_spellings(
        "delay",
        {
            "s": (10**12, ("sec", "secs", "second", "seconds")),
            "ms": (10**9, ("msec", "msecs", "millisecond", "milliseconds", "millis")),
            "us": (10**6, ("usec", "usecs", "µs", "μs", "microsecond", "microseconds", "micros")),
            "ns": (10**3, ("nsec", "nsecs", "nanosecond", "nanoseconds", "nanos")),
            "ps": (1, ("psec", "picosecond", "picoseconds")),
        },
    ),
    "length": _with_spellings(
        "length",
        {
            "km": (1, ("kms", "kilometer", "kilometers", "kilometre", "kilometres")),
            "m": ("0.001", ("meter", "meters", "metre", "metres")),
            # The international mile of 1959, exactly.
            "mi": ("1.609344", ("mile", "miles")),
        },
    ),
    "loss": _with_spellings(
        "loss",
        {
            "probability": (1, ("prob", "ratio", "fraction", "share")),
            "%": ("0.01", ("percent", "pct", "percentage")),
        },
    ),
    "weight": {},
}
"""The units of each quantity by their spellings in lower case."""

_PREFIX_ALONE: Final = {"k": "kbps", "m": "mbps", "g": "gbps", "t": "tbps"}
"""`10G` of a capacity is 10 Gbps, as interfaces are called."""
_BYTES: Final = re.compile(r"[kKMGTmgt]?(B(/[sS]|ps|ytes?(/s|ps)?)?|bytes?(/s|ps)?)")
_VALUE: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)", re.ASCII | re.DOTALL)


def unit_named(text: str, quantity: Quantity) -> Unit | None:
    """The unit of a quantity that a text is, or None."""
    plain = text.strip()
    if _BYTES.fullmatch(plain):
        return None
    return UNITS[quantity].get(plain.lower())


def unit_names(quantity: Quantity) -> tuple[str, ...]:
    """The units of a quantity as messages name them."""
    return tuple(dict.fromkeys(unit.name for unit in UNITS[quantity].values()))


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value of a file: its number, and the text after it."""

    number: Decimal
    unit_text: str

    def unit(self, quantity: Quantity) -> Unit | None:
        """The unit that the value states, where it is one of the quantity."""
        if quantity == "capacity" and (alone := _PREFIX_ALONE.get(self.unit_text.lower())) is not None:
            return UNITS["capacity"][alone]
        return unit_named(self.unit_text, quantity)

    def is_of_another(self, quantity: Quantity) -> bool:
        """Whether the stated unit is one of other quantities only."""
        others = (other for other in QUANTITIES if other != quantity)
        return self.unit(quantity) is None and any(self.unit(other) for other in others)


@lru_cache(maxsize=4096)
def measured(text: str) -> StatedValue | None:
    """The number with what follows it, such as (10, "Gbps") of ``10 Gbps``; None for what is no number."""
    match = _VALUE.fullmatch(text.strip())
    number = None if match is None else decimal_number(match[1])
    return None if match is None or number is None else StatedValue(number, match[2].strip())


def decimal_number(text: str) -> Decimal | None:
    """The finite number a text states, exactly, or None; bounded exponents keep integers small."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and (value == 0 or abs(value.adjusted()) <= 30) else None
