"""Times at the beginning of lines, as ``date``, ``date +%s.%N``, ``ts`` and flent's scripts write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

_NAMES: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS: Final = {name: number for number, name in enumerate(_NAMES, 1)}
_CLOCK: Final = r"(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<second>\d{2})(?P<part>[.,]\d{1,9})?"
_OFFSET: Final = r"[+-]\d{2}:?\d{2}"
_UNIX = re.compile(r"(?:Time: ?)?(?P<unix>\d{9,11}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19})(?=\s|$)")
_DIGITS_OF_SECONDS: Final = 10
"""Whole numbers of 13, 16 and 19 digits are milliseconds, microseconds and nanoseconds (``date +%s%N``)."""
_RULED = re.compile(r"[-=#*\[( ]+(?P<inside>[^-=#*\[( ].*?)[-=#*\]) ]*")
"""A time between dashes and the like, as scripts print it above each block."""
_LONGEST_RULED: Final = 120
_ISO = re.compile(
    r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})[T ]"
    rf"{_CLOCK}(?: ?(?P<zone>Z|{_OFFSET}))?(?=\s|$)"
)
_DATE = re.compile(
    r"[A-Z][a-z]{2},? "
    r"(?:(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2})|(?P<day_2>\d{1,2}) (?P<month_2>[A-Z][a-z]{2}))"
    rf"(?: (?P<year>\d{{4}}))? {_CLOCK}(?: (?P<half>[AP]M))?(?: (?P<zone>[A-Z]{{2,5}}|{_OFFSET}))?"
    r"(?: (?P<year_2>\d{4}))?(?=\s|$)"
)
_TS = re.compile(rf"(?P<month>[A-Z][a-z]{{2}}) +(?P<day>\d{{1,2}}) {_CLOCK}(?=\s|$)")
_ELAPSED = re.compile(rf"{_CLOCK}(?=\s|$)")
_LEAP_YEAR = 2000
"""Of times that state no year; it has a 29 February."""


class Stamp(NamedTuple):
    """A time."""

    unix_s: float
    """Seconds since 1970, or since whatever beginning the times of the file have."""
    has_day: bool
    """Whether it is the time of the day in a known zone, so that it counts from 1970 indeed."""


def stamped(line: str) -> tuple[Stamp | None, str]:
    """The time at the beginning of a line, if there is one, and what comes behind it and one blank."""
    if line[:1] in ("-", "=", "#", "*", "[", "(") and len(line) < _LONGEST_RULED:
        ruled = _RULED.fullmatch(line.rstrip())
        stamp, rest = (None, line) if ruled is None else stamped(ruled["inside"])
        return (stamp, rest) if stamp is not None and not rest.strip() else (None, line)
    if not line or not (line[0].isdigit() or line[0].isupper()):
        return None, line
    for pattern in (_UNIX, _ISO, _DATE, _TS, _ELAPSED):
        match = pattern.match(line)
        stamp = _stamp(match) if match else None
        if match and stamp:
            rest = line[match.end() :]
            return stamp, rest[1:] if rest.startswith(" ") else rest
    return None, line


def _stamp(match: re.Match[str]) -> Stamp | None:
    """The time of a match; None where it is no time, as the 31st of June."""
    parts = match.groupdict()
    if parts.get("unix"):
        whole, dot, part = parts["unix"].partition(".")
        exponent = 0 if dot or len(whole) <= _DIGITS_OF_SECONDS + 1 else len(whole) - _DIGITS_OF_SECONDS
        return Stamp(float(f"{whole}.{part or 0}") / 10**exponent, has_day=True)
    hour, minute, second = (int(parts[name]) for name in ("hour", "minute", "second"))
    part_s = float((parts["part"] or "0").replace(",", "."))
    day, month = parts.get("day") or parts.get("day_2"), parts.get("month") or parts.get("month_2")
    if day is None:
        return Stamp(hour * 3600 + minute * 60 + second + part_s, has_day=False)
    year = parts.get("year") or parts.get("year_2")
    number = int(parts["number"]) if parts.get("number") else _MONTHS.get(month or "")
    if parts.get("half"):
        hour = hour % 12 + (12 if parts["half"] == "PM" else 0)
    if number is None:
        return None
    try:
        # A leap second is the one before it.
        moment = datetime(
            int(year or _LEAP_YEAR), number, int(day), hour, minute, min(second, 59), tzinfo=UTC
        )
    except ValueError:
        return None
    offset_s = _offset_s(parts.get("zone"))
    is_whole = year is not None and offset_s is not None
    return Stamp(moment.timestamp() + part_s - (offset_s or 0.0), has_day=is_whole)


def _offset_s(zone: str | None) -> float | None:
    """Seconds ahead of UTC; None for a zone that its letters do not tell."""
    if zone in ("UTC", "GMT", "Z"):
        return 0.0
    if zone is None or zone[0] not in "+-":
        return None
    digits = zone[1:].replace(":", "")
    return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0)
