"""Quantities with units: ``"10 Mbps"`` is a :class:`Rate`, ``"2.5 ms"`` a :class:`Span`.

Text is parsed by the core, exactly; each type is an ``int`` in its base unit, and writes itself back
in the largest unit that shows it exactly.
"""

from __future__ import annotations

import re
from datetime import date, time
from typing import ClassVar, Self

from anabranch import _core
from anabranch.scenario.record import Record

HALF_CHARACTER = "holds half a character, which no file can"
"""What is wrong with text that UTF-8 cannot have: one surrogate without the other."""

PS_PER_SECOND = 1_000_000_000_000
# Sums of a few spans must stay below the core's 213 days.
_LONGEST_SPAN_DAYS = 30
_SHOWN_CHARACTERS = 60
_LARGEST_SHOWN = 10**40
_NEGATIVE = re.compile(r"\s*-\s*[.\d]")


class Quantity(int):
    """A whole number of base units that is read from, and written as, text with a unit."""

    noun: ClassVar[str]
    example: ClassVar[str]
    base_unit: ClassVar[str]
    largest: ClassVar[int] = 2**63 - 1
    units: ClassVar[tuple[str, ...]]
    """Every unit that the core reads, in its order."""
    # Units to write in besides the base unit, largest first, each with the number of base units in it.
    _written: ClassVar[tuple[tuple[str, int], ...]] = ()
    # The smallest part of a unit that is still written, as in 1.125 ms.
    _parts: ClassVar[int] = 1000

    @staticmethod
    def _parse(text: str) -> int:
        raise NotImplementedError

    def __new__(cls, value: int | str) -> Self:
        """The quantity in a text with a unit, or of ``value`` base units.

        Raises:
            ValueError: if the text is no such quantity, or the value is out of range.
        """
        if isinstance(value, str) and _NEGATIVE.match(value):
            raise ValueError(
                f"{quoted(value)} is below zero; {cls.noun} is written like {quoted(cls.example)}"
            )
        try:
            number = cls._parse(value) if isinstance(value, str) else value
        except UnicodeEncodeError:
            raise ValueError(f"{quoted(str(value))} {HALF_CHARACTER}") from None
        if not 0 <= number <= cls.largest:
            shown = repr(value) if isinstance(value, str) else f"{value} {cls.base_unit}"
            bound = "below zero" if number < 0 else f"above {cls._limit()}, the largest that is allowed"
            raise ValueError(f"{shown} is {bound}")
        return super().__new__(cls, number)

    @classmethod
    def _limit(cls) -> str:
        return f"{cls.largest} {cls.base_unit}"

    @property
    def plain(self) -> str | int:
        """The quantity as plain data has it."""
        return self.text

    @property
    def text(self) -> str:
        """The quantity as one would write it in a scenario; parses back to the same value."""
        for unit, size in self._written:
            if self >= size and (int(self) * self._parts) % size == 0:
                return f"{_decimal(int(self), size)} {unit}"
        return f"{int(self)} {self.base_unit}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __str__(self) -> str:
        return self.text

    @classmethod
    def validate(cls, value: object) -> Self:
        """A quantity from what a scenario holds; numbers without a unit are refused.

        Raises:
            ValueError: with what was read and what would be right.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, int | float) and not isinstance(value, bool | Quantity):
            # The core says what a bare number lacks, and what NaN is not.
            return cls(shown(value))
        raise ValueError(f"{shown(value)} is not {cls.noun}; write text such as {quoted(cls.example)}")


class Span(Quantity):
    """A length of time, or a time since the start of the run, in picoseconds."""

    noun = "a time"
    example = "2.5 ms"
    base_unit = "ps"
    units = ("ps", "ns", "us", "µs", "ms", "s", "min", "h")
    largest = _LONGEST_SPAN_DAYS * 24 * 3600 * PS_PER_SECOND
    _written = (("s", PS_PER_SECOND), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000))
    _parse = staticmethod(_core.parse_span)

    @classmethod
    def _limit(cls) -> str:
        return f"{_LONGEST_SPAN_DAYS} days"

    @property
    def seconds(self) -> float:
        """The span in seconds, rounded to the nearest double."""
        return int(self) / PS_PER_SECOND


class Rate(Quantity):
    """A rate in bits per second."""

    noun = "a rate"
    example = "10 Mbps"
    base_unit = "bps"
    units = ("bps", "kbps", "Mbps", "Gbps", "Tbps", "bit/s", "kbit/s", "Mbit/s", "Gbit/s")
    _written = (("Tbps", 10**12), ("Gbps", 10**9), ("Mbps", 10**6), ("kbps", 10**3))
    _parse = staticmethod(_core.parse_rate)


class ByteCount(Quantity):
    """A size in bytes."""

    noun = "a size"
    example = "64 kB"
    base_unit = "B"
    units = ("B", "bytes", "byte", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB")
    _written = (
        ("GiB", 2**30), ("GB", 10**9), ("MiB", 2**20), ("MB", 10**6), ("KiB", 2**10), ("kB", 10**3),
    )  # fmt: skip
    # 1460 bytes are "1460 B" to everybody, not "1.46 kB".
    _parts = 1
    _parse = staticmethod(_core.parse_bytes)


class PacketCount(Quantity):
    """A number of packets."""

    noun = "a number of packets"
    example = "100 packets"
    base_unit = "packets"
    units = ("packets", "packet")
    _parse = staticmethod(_core.parse_packets)


class SegmentCount(Quantity):
    """A number of TCP segments."""

    noun = "a number of segments"
    example = "44 segments"
    base_unit = "segments"
    units = ("segments", "segment")
    _parse = staticmethod(_core.parse_segments)


class Number(Quantity):
    """A plain number of things, which needs no unit."""

    noun = "a whole number"
    example = "10"
    base_unit = ""
    units = ()

    @property
    def plain(self) -> int:
        """The number itself."""
        return int(self)

    @property
    def text(self) -> str:
        """The number in decimal."""
        return str(int(self))

    @classmethod
    def validate(cls, value: object) -> Self:
        """A number from what a scenario holds; text is refused.

        Raises:
            ValueError: with what was read and what would be right.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, int) and not isinstance(value, bool | Quantity):
            if 0 <= value <= cls.largest:
                return cls(value)
            raise ValueError(f"{shown(value)} is not between 0 and {cls.largest}")
        raise ValueError(f"{shown(value)} is not {cls.noun}{number_hint(value)}")


class Speed(Quantity):
    """A speed of propagation in metres per second."""

    noun = "a speed"
    example = "200 km/ms"
    base_unit = "m/s"
    units = ("km/ms", "km/s", "m/s")
    _written = (("km/ms", 10**6), ("km/s", 10**3))
    _parse = staticmethod(_core.parse_speed)


def quoted(text: str) -> str:
    """Text in double quotes, as TOML writes it, cut to a readable length."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return '"' + _cut(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def number_hint(read: object) -> str:
    """Says how a number is written that was read as text; empty where this is no number."""
    if not isinstance(read, str):
        return ""
    text = read.strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return ""
    if text.endswith("%"):
        return f"; write {number / 100:g}"
    return "; write it without quotes"


def is_unicode(text: str) -> bool:
    """Whether a file in UTF-8 can have this text."""
    return text.isascii() or text == text.encode("utf-8", "ignore").decode()


def shown(value: object) -> str:
    """A value that was read, as a message shows it."""
    match value:
        case str():
            return quoted(str(value))
        case bool():
            return "true" if value else "false"
        case int() if abs(value) > _LARGEST_SHOWN:
            # Python itself refuses to write out thousands of digits.
            return f"a number of {value.bit_length()} bits"
        case None | int() | float() | date() | time():
            return _cut(str(value))
        case _:
            return _named(value)


def _named(value: object) -> str:
    """What is no single value, or no value that a file can have."""
    kind = type(value)
    names: dict[type, str] = {dict: "a table", list: "a list", tuple: "a tuple"}
    if kind in names:
        return names[kind]
    if isinstance(value, Record) or hasattr(kind, "model_fields"):
        return f"a table {kind.__name__}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    # Where the text is an address in memory, the type says more.
    text = "" if " at 0x" in repr(value) else " ".join(str(value).split())
    return f"{_cut(text)} of type {kind.__name__}" if text else f"an object of type {kind.__name__}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _decimal(value: int, size: int) -> str:
    """``value / size`` in decimal, exact: the caller has seen that three places suffice."""
    whole, rest = divmod(value, size)
    if rest == 0:
        return str(whole)
    return f"{whole}.{rest * 1000 // size:03d}".rstrip("0")
