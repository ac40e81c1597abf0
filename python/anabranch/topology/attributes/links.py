"""The quantities of links, from their attributes.

A value is read where its quantity and its unit are sure: the name states the unit (`delay_ms`), or the value
does (`10 Gbps`), or the format does, or the user. Of several attributes that state one quantity, that of the
user's choice comes first, then Anabranch's own, then the format's, then the first in the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from anabranch.topology.draft import DraftLink
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_CAPACITY_BPS, TopologyLink

from .choices import AttributeChoice, text_of
from .spelling import OWN, Meaning, Way, meaning_of
from .units import QUANTITIES, Quantity, measured
from .unread import Tally

_STRICT: Final = frozenset(("capacity_bps", "delay_ms", "length_km", "loss"))
"""Names of Anabranch's own files: a value that cannot be is a mistake in one of these."""
_LABELS: Final = ("linklabel", "label", "name")
_RISK_GROUPS: Final = ("riskgroup", "riskgroups", "srlg", "srlgs")
"""Names of the attribute of groups that share a risk (shared-risk link groups of RFC 4202, section 2.3)."""
_ZOO_SPEED: Final = ("linkspeedraw", "linkspeed", "linkspeedunits")
"""The Topology Zoo's: in bits per second, or as a number and the prefix of its unit."""
_RANGE: Final[Mapping[Quantity, tuple[Decimal, Decimal]]] = {
    "capacity": (Decimal(1), Decimal(MAX_CAPACITY_BPS)),
    "delay": (Decimal(0), Decimal(10**15)),
    "length": (Decimal(0), Decimal(10**6)),
    "loss": (Decimal(0), Decimal(1)),
    "weight": (Decimal(-(10**31)), Decimal(10**31)),
}
"""In bits per second, picoseconds, km and shares of 1: up to 1 Pbps, 1000 s, a million km."""
_EQUAL_WITHIN: Final = Decimal("0.001")
"""Attributes that state one value differ by no more than this share of it: one may be rounded."""

_Outcome = Literal["unsure", "no number"]


@dataclass(frozen=True, slots=True)
class _Stated:
    """An attribute of a link that may state a quantity; an impossible value is an error where `is_strict`."""

    name: str
    text: str
    meaning: Meaning
    is_strict: bool = False
    unit_name: str | None = None
    """A further attribute, which has the unit of this one."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What an attribute of a link says, in the base unit of its quantity, and the unit that it has."""

    number: Decimal
    unit: str


class LinkReader:
    """Reads the links of one file, which have the same attributes."""

    def __init__(
        self, choices: Mapping[str, AttributeChoice], meanings: Mapping[str, Meaning | None], tally: Tally
    ) -> None:
        self._choices = choices
        self._meanings = meanings
        self._tally = tally

    def read(self, link: DraftLink) -> tuple[TopologyLink, ...]:
        """The link; or two, one for each direction, where they are unlike.

        Raises TopologyError for impossible values of Anabranch's own attributes and of chosen ones, and for
        units that contradict the name.
        """
        self._tally.links.update(link.attributes.keys())
        label, groups = self._label(link.attributes), self._risk_groups(link.attributes)
        ways: tuple[dict[Quantity, Decimal], dict[Quantity, Decimal]] = ({}, {})
        open_questions: list[tuple[_Stated, _Outcome]] = []
        for stated in self._stated(link.attributes):
            outcome = self._number(stated, link.where)
            if isinstance(outcome, str):
                open_questions.append((stated, outcome))
            else:
                self._settle(
                    stated, outcome, [ways[direction] for direction in _ways(stated.meaning, link.directed)]
                )
        for stated, outcome in open_questions:
            is_known = all(
                stated.meaning.quantity in ways[direction]
                for direction in _ways(stated.meaning, link.directed)
            )
            self._note_open(stated, outcome, is_known)
        forward, backward = ways
        if link.directed or forward == backward:
            return (_link(link.a, link.b, link.directed, (label, groups), forward),)
        of_both = (label, groups)
        return (
            _link(link.a, link.b, True, of_both, forward),
            _link(link.b, link.a, True, of_both, backward),
        )

    def _stated(self, attributes: Mapping[str, str]) -> Iterator[_Stated]:
        """The attributes that may state quantities, the most trusted first.

        A chosen one is alone where a link has it; another link has its others.
        """
        chosen: set[Quantity] = set()
        for quantity in QUANTITIES:
            choice = self._choices.get(quantity)
            if choice is None:
                continue
            for name, is_back in ((choice.name, False), (choice.backward, True)):
                text = None if name is None else text_of(attributes, name)
                if name is not None and text is not None:
                    chosen.add(quantity)
                    meaning = _chosen_meaning(quantity, choice, name, is_back)
                    yield _Stated(name, text, meaning, is_strict=True)
        by_rank: tuple[list[_Stated], ...] = ([], [], [])
        for name, text, unit_name in _with_speed_units(attributes):
            named = self._meaning(name)
            if named is not None and named.quantity not in chosen:
                plain = name.strip().lower()
                rank = 0 if plain in OWN else 1 if name in self._meanings or plain in _ZOO_SPEED else 2
                by_rank[rank].append(_Stated(name, text, named, plain in _STRICT, unit_name))
        yield from (stated for rank in by_rank for stated in rank)

    def _meaning(self, name: str) -> Meaning | None:
        """What the format says of a name, or else the name itself.

        A format has one unit of a quantity: the user says that of one attribute for all of them.
        """
        if name not in self._meanings:
            return meaning_of(name)
        meaning = self._meanings[name]
        choice = None if meaning is None else self._choices.get(meaning.quantity)
        if meaning is None or choice is None or choice.name not in self._meanings:
            return meaning
        return replace(meaning, unit=choice.unit)

    def _number(self, stated: _Stated, where: str) -> _Value | _Outcome:
        """The value in the base unit of its quantity, or why there is none."""
        meaning, quantity = stated.meaning, stated.meaning.quantity
        value = measured(stated.text)
        unit = None if value is None else value.unit(quantity)
        if value is None or (value.unit_text and unit is None):
            if value is not None and meaning.is_sure and value.is_of_another(quantity):
                raise _clash(stated, f"{value.unit_text} is no unit of a {quantity}", where)
            return self._no_number(stated, where)
        other = meaning.unit if meaning.is_sure and quantity != "loss" else None
        if unit is not None and other is not None and unit != other:  # `loss` may be in percent as well
            raise _clash(stated, f"its name, or the scenario, says {other.name}", where)
        unit = unit or meaning.unit
        if value.number == 0 and quantity == "loss" and meaning.is_sure:
            return _Value(Decimal(0), "")  # no loss in any unit
        if not meaning.is_sure or (unit is None and quantity != "weight"):
            return "unsure"
        number = value.number if unit is None else value.number * unit.factor
        low, high = _RANGE[quantity]
        if not low <= number <= high:
            return self._no_number(stated, where)
        return _Value(number / 2 if meaning.is_round_trip else number, "" if unit is None else unit.name)

    def _no_number(self, stated: _Stated, where: str) -> _Outcome:
        """That a value is none; in a place that must have one, an error."""
        if not stated.is_strict or stated.meaning.quantity == "weight":
            return "no number"
        unit = stated.meaning.unit
        low, high = (bound / unit.factor for bound in _RANGE[stated.meaning.quantity]) if unit else (0, 1)
        name = "" if unit is None or unit.name == "probability" else f" of {unit.name}"
        raise TopologyError(
            where, f'{stated.name} is "{stated.text}"', f"give a number{name} from {low:f} to {high:f}"
        )

    def _settle(self, stated: _Stated, value: _Value, ways: list[dict[Quantity, Decimal]]) -> None:
        """Take a value where none is known yet; one that says the same again is settled, too."""
        quantity = stated.meaning.quantity
        is_new = False
        agrees = bool(ways)
        for direction in ways:
            is_new |= quantity not in direction
            earlier = direction.setdefault(quantity, value.number)
            agrees &= abs(earlier - value.number) <= _EQUAL_WITHIN * abs(earlier)
        if is_new or agrees:
            self._settled(stated)
        if is_new and stated.name.strip().lower() not in (*OWN, *_ZOO_SPEED, "weight"):
            self._tally.note_taken(stated.name, stated.meaning, value.unit)

    def _note_open(self, stated: _Stated, outcome: _Outcome, is_known: bool) -> None:
        """What is said of a value that is not read; a text beside a value of the same quantity repeats it."""
        if is_known and stated.meaning.doubt:
            return
        self._settled(stated)
        if outcome == "no number":
            if not is_known:
                self._tally.note_no_number(stated.name, stated.meaning, stated.text)
        else:
            self._tally.note_unsure(stated.name, stated.meaning, stated.text)

    def _settled(self, stated: _Stated) -> None:
        self._tally.settled_links[stated.name] += 1
        if stated.unit_name is not None:
            self._tally.settled_links[stated.unit_name] += 1

    def _label(self, attributes: Mapping[str, str]) -> str | None:
        choice = self._choices.get("label")
        named = [
            (name, text) for name, text in attributes.items() if choice is not None and name == choice.name
        ]
        if choice is None:
            plain = [(name.strip().lower(), name) for name in attributes]
            named = [(n, attributes[n]) for wanted in _LABELS for lower, n in plain if lower == wanted]
        label = None
        for name, text in named:
            words = " ".join(text.split())
            if label is None or not words or words == label:
                self._tally.settled_links[name] += 1
                label = label or words or None
        return label

    def _risk_groups(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        """The groups that share a risk, of which a link may be in several: semicolons separate them."""
        groups: list[str] = []
        for name, text in attributes.items():
            if _is_of_risks(name):
                self._tally.settled_links[name] += 1
                groups += [group for part in text.split(";") if (group := " ".join(part.split()))]
        return tuple(dict.fromkeys(groups))


@lru_cache(maxsize=4096)
def _is_of_risks(name: str) -> bool:
    return re.sub(r"[\W_]", "", name).lower() in _RISK_GROUPS


def _ways(meaning: Meaning, is_directed: bool) -> tuple[int, ...]:
    """Which directions of a link an attribute states: 0 from the first end to the second, 1 back."""
    stated = {"both": (0, 1), "forward": (0,), "backward": (1,)}[meaning.direction]
    return tuple(direction for direction in stated if direction == 0 or not is_directed)


def _chosen_meaning(quantity: Quantity, choice: AttributeChoice, name: str, is_back: bool) -> Meaning:
    direction: Way = "backward" if is_back else "both" if choice.backward is None else "forward"
    named = meaning_of(name)
    is_round_trip = quantity == "delay" and named is not None and named.is_round_trip
    return Meaning(quantity, choice.unit, direction, is_round_trip)


def _with_speed_units(attributes: Mapping[str, str]) -> Iterator[tuple[str, str, str | None]]:
    """The attributes, the Zoo's LinkSpeed with the prefix of LinkSpeedUnits, and where that is from."""
    by_plain = {name.strip().lower(): name for name in attributes}
    units = by_plain.get("linkspeedunits") if "linkspeed" in by_plain else None
    for name, text in attributes.items():
        if units is not None and name.strip().lower() == "linkspeed":
            yield name, f"{text} {attributes[units]}".strip(), units
        elif name != units:
            yield name, text, None


def _clash(stated: _Stated, why: str, where: str) -> TopologyError:
    return TopologyError(
        where, f'{stated.name} is "{stated.text}", and {why}', "mend the name or the value in the file"
    )


def _link(
    a: str,
    b: str,
    directed: bool,
    label_and_groups: tuple[str | None, tuple[str, ...]],
    numbers: Mapping[Quantity, Decimal],
) -> TopologyLink:
    label, risk_groups = label_and_groups
    capacity, delay = numbers.get("capacity"), numbers.get("delay")
    length, loss, weight = (numbers.get(quantity) for quantity in ("length", "loss", "weight"))
    return TopologyLink(
        a=a,
        b=b,
        directed=directed,
        label=label,
        length_km=None if length is None else float(length),
        capacity_bps=None if capacity is None else round(capacity),
        delay_ps=None if delay is None else round(delay),
        loss=None if loss is None else float(loss),
        weight=None if weight is None else float(weight),
        risk_groups=risk_groups,
    )
