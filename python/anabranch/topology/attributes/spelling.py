"""Names of links' attributes and their meanings: `bw`, `LinkDelay`, `prop_delay_ms`, `capacity (Mbps)`.

A name is cut into words at punctuation and at capitals. One of them is the stem of a quantity; the last ones
may be a unit; others must be known to change nothing (`link`, `max`). A name with a stem and words that are
not known sounds like the quantity and is never sure: `min_delay_ms` may be one of several delays of a link.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from .units import QUANTITIES, UNITS, Quantity, Unit, unit_named

Way = Literal["both", "forward", "backward"]
"""The directions of a link that an attribute is about."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The quantity that an attribute states, with what its name says of it.

    `unit` is that in the name, if there is one. `is_sure` says that the name leaves no doubt about the
    quantity; a number without a unit is not read even so.
    """

    quantity: Quantity
    unit: Unit | None = None
    direction: Way = "both"
    is_round_trip: bool = False
    is_sure: bool = True
    doubt: str = ""
    """Why a format's own name is not sure, where the name alone does not say it: the end of a sentence."""


OWN: Final[Mapping[str, Meaning]] = {
    "capacity_bps": Meaning("capacity", UNITS["capacity"]["bps"]),
    "delay_ms": Meaning("delay", UNITS["delay"]["ms"]),
    "length_km": Meaning("length", UNITS["length"]["km"]),
    "loss": Meaning("loss", UNITS["loss"]["probability"]),
    "linkspeedraw": Meaning("capacity", UNITS["capacity"]["bps"]),
}
"""Names with a unit by convention, in lower case: of our own files, and the Topology Zoo's raw speed."""

_CAPACITY_STEMS: Final = (
    "capacity capacities cap bw bandwidth bandwith speed linespeed linkspeed rate datarate bitrate linkrate "
    "maxbw linkcap linkbw"
)
_STEMS: Final[Mapping[Quantity, frozenset[str]]] = {
    "capacity": frozenset(_CAPACITY_STEMS.split()),
    "delay": frozenset(("delay", "latency", "lat", "rtt", "propdelay", "linkdelay", "linklatency", "owd")),
    "length": frozenset(("length", "len", "dist", "distance", "linklength")),
    "loss": frozenset(("loss", "plr", "packetloss", "lossrate", "pktloss")),
    "weight": frozenset(
        ("weight", "cost", "metric", "linkcost", "ospfcost", "igpcost", "igpmetric", "linkweight")
    ),
}
_NEUTRAL: Final[Mapping[Quantity, frozenset[str]]] = {
    "capacity": frozenset(("max", "maximum", "total", "nominal", "line", "data", "bit")),
    "delay": frozenset(("prop", "propagation", "one", "way", "oneway", "delay", "latency", "time")),
    "length": frozenset(("fiber", "fibre", "physical", "geo", "geographic", "geographical")),
    "loss": frozenset(("packet", "pkt", "rate")),
    "weight": frozenset(("ospf", "isis", "igp", "routing")),
}
_NEUTRAL_FOR_ALL: Final = frozenset(
    ("link", "edge", "in", "value", "properties", "attributes", "attrs", "attr", "params", "parameters",
    "options", "opts", "vars", "labels", "netem", "tc", "qos", "data")
)  # fmt: skip
"""Also what documents call a table of the attributes of a link."""
_ROUND_TRIP: Final = "rtt"
_OF_OTHER_THINGS: Final = frozenset(("queue", "buffer"))
"""A `queue_length` is no length of a link."""
_FORWARD: Final = frozenset(("fwd", "forward"))
_BACKWARD: Final = frozenset(("bkwd", "bwd", "backward", "rev", "reverse", "back"))
_STEMS_BY_STRENGTH: Final[tuple[Quantity, ...]] = ("loss", "delay", "length", "weight", "capacity")
"""`loss_rate` is a loss, though a rate is a capacity."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zµμ]+|%|[^\W_]+?(?=[A-Za-z]|\b|_)")
"""Words that begin at punctuation or at capitals."""
_PUNCTUATED: Final = re.compile(r"[A-Za-zµμ]+|%|[^\W_]+?(?=[A-Za-z]|\b|_)")
"""Words that begin at punctuation only."""


@lru_cache(maxsize=4096)
def meaning_of(name: str) -> Meaning | None:
    """The meaning of a name by the rules of this module; None for one that sounds like no quantity."""
    format_meaning = OWN.get(name.strip().lower())
    if format_meaning is not None:
        return format_meaning
    parsed = [_parsed(words.findall(name)) for words in (_WORDS, _PUNCTUATED)]
    return next((meaning for meaning in parsed if meaning and meaning.is_sure), parsed[0] or parsed[1])


def _parsed(spelled: Sequence[str]) -> Meaning | None:
    words = _with_round_trip([part for word in spelled for part in _unfused(word)])
    if not _OF_OTHER_THINGS.isdisjoint(word.lower() for word in words):
        return None
    for quantity in _STEMS_BY_STRENGTH:
        stem = next((word for word in words if word.lower() in _STEMS[quantity]), None)
        if stem is None:
            continue
        words.remove(stem)
        before, unit = _without_unit(words, quantity)
        rest = {word.lower() for word in before}
        direction: Way = "forward" if _FORWARD & rest else "backward" if _BACKWARD & rest else "both"
        is_round_trip = stem.lower() == _ROUND_TRIP
        if unit is None and stem.lower() == "plr":  # the packet loss ratio of ITU-T Y.1540
            unit = unit_named("ratio", "loss")
        is_sure = rest <= _NEUTRAL[quantity] | _NEUTRAL_FOR_ALL | _FORWARD | _BACKWARD
        return Meaning(quantity, unit, direction, is_round_trip, is_sure)
    if len(words) == 1 and len(words[0]) > 1:
        return next(
            (Meaning(q, unit, is_sure=False) for q in QUANTITIES if (unit := unit_named(words[0], q))), None
        )
    return None


def _without_unit(words: Sequence[str], quantity: Quantity) -> tuple[Sequence[str], Unit | None]:
    """The words before the unit at the end, and that unit: `mbps`, or `mbit`, `per`, `s`."""
    for count in range(min(4, len(words)), 0, -1):
        of_unit = [word for word in words[-count:] if word.lower() != "per"]
        for spelled in ("".join(of_unit), "/".join(of_unit)):
            unit = None if _MAY_BE_BYTES.fullmatch(spelled) else unit_named(spelled, quantity)
            if unit is not None:
                return words[:-count], unit
    return words, None


_MAY_BE_BYTES: Final = re.compile(r"[kmgt]b(/s)?|[KMGT]B(/S)?|[KMGT]b")
"""`mb_s` in a name without case may be megabytes; `Mb/s` is none."""


def _with_round_trip(words: list[str]) -> list[str]:
    """The words with `rtt` in place of `round` and `trip`."""
    plain = [word.lower() for word in words]
    if not {"round", "trip"} <= set(plain):
        return words
    return [_ROUND_TRIP, *(word for word in words if word.lower() not in ("round", "trip"))]


def _unfused(word: str) -> tuple[str, ...]:
    """`delayms` as `delay`, `ms`; a unit of one letter is not cut off, which might be a plural."""
    plain = word.lower()
    if any(plain in stems for stems in _STEMS.values()):
        return (word,)
    for quantity, stems in _STEMS.items():
        for stem in sorted(stems, key=len, reverse=True):
            ending = word[len(stem) :] if plain.startswith(stem) else ""
            if len(ending) > 1 and unit_named(ending, quantity) is not None:
                return (word[: len(stem)], ending)
    return (word,)
