"""Sentences of provenance on a file's attributes, by name: those that are read, and those that are not."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from anabranch.topology.error import TopologyError

from .choices import line_for, quoted
from .spelling import Meaning
from .units import Quantity

UNREAD: Final = "Not read:"
"""How a sentence begins that says which quantities or places of a file are not read. A run hands it on."""
UNUSED: Final = "Not used:"
"""How a sentence begins that names the other attributes which nothing is made of."""
MAX_NAMES: Final = 1000
"""Most attributes that the links, or the nodes, of a file have by name."""
_EXAMPLE_UNIT: Final = {"capacity": "Mbps", "delay": "ms", "length": "km", "loss": "%", "weight": None}
_SHOWN: Final = 30


@dataclass(slots=True)
class _Some:
    """How many links have an attribute, what it is, and one of its values."""

    meaning: Meaning
    example: str
    count: int = 0


@dataclass(slots=True)
class Tally:
    """The attributes of a file by name, each with the number of links or nodes that have it."""

    links: Counter[str] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    settled_links: Counter[str] = field(default_factory=Counter)
    """Links of whose attribute something was made, or of which a sentence of its own is said."""
    settled_nodes: Counter[str] = field(default_factory=Counter)
    unsure: dict[str, _Some] = field(default_factory=dict)
    no_number: dict[str, _Some] = field(default_factory=dict)
    taken: Counter[tuple[str, Quantity, str]] = field(default_factory=Counter)
    """Links by attribute, quantity and unit, where the name is none of Anabranch's own."""
    maybe_places: tuple[str, str, int] | None = None
    """Attributes of so many nodes that may be longitude and latitude, where no others are."""

    def note_unsure(self, name: str, meaning: Meaning, value: str) -> None:
        """Count a value of a quantity whose unit or meaning is not sure."""
        self.unsure.setdefault(name, _Some(meaning, value)).count += 1

    def note_no_number(self, name: str, meaning: Meaning, value: str) -> None:
        """Count a value that is no number with a unit of its quantity."""
        self.no_number.setdefault(name, _Some(meaning, value)).count += 1

    def note_taken(self, name: str, meaning: Meaning, unit: str) -> None:
        """Count a value that was read by what its name or value says."""
        how = f"in {unit}" if unit else ""
        self.taken[
            name, meaning.quantity, f"{how}, half of a round trip" if meaning.is_round_trip else how
        ] += 1

    def check_size(self, where: str) -> None:
        """Raise TopologyError for far too many names."""
        if len(self.links) > MAX_NAMES or len(self.nodes) > MAX_NAMES:
            raise TopologyError(
                where, f"the file has more than {MAX_NAMES} attributes", "leave out what is not needed"
            )

    @property
    def unread_quantities(self) -> frozenset[Quantity]:
        """The quantities of which the file has values that are not read."""
        return frozenset(some.meaning.quantity for some in self.unsure.values())

    def notes(self) -> list[str]:
        """Sentences for whatever there is to say."""
        notes = []
        if self.taken:
            entries = (
                f"{quantity} of {_links(count)} from {shown(name)}{f' {how}' if how else ''}"
                for (name, quantity, how), count in self.taken.items()
            )
            notes.append(f"Read: {', '.join(entries)}.")
        notes += [self._no_number(name, some) for name, some in self.no_number.items()]
        notes += self._unsure()
        if self.maybe_places is not None:
            longitude, latitude, count = self.maybe_places
            notes.append(
                f"{UNREAD} {shown(longitude)} and {shown(latitude)} of {_nodes(count)} may be places or "
                f"points of a drawing; if they are degrees, write {line_for('longitude', longitude, None)} "
                f"and latitude = {{ name = {quoted(latitude)} }}"
            )
        of_links, of_nodes = self.links - self.settled_links, self.nodes - self.settled_nodes
        unused = [f"{shown(name)} ({_links(count)})" for name, count in of_links.items()]
        unused += [f"{shown(name)} ({_nodes(count)})" for name, count in of_nodes.items()]
        if unused:
            notes.append(f"{UNUSED} {', '.join(unused)}.")
        return notes

    def _no_number(self, name: str, some: _Some) -> str:
        return (
            f'{shown(name)} of {_links(some.count)}, such as "{_cut(some.example)}", is no '
            f"{some.meaning.quantity} and counts as not given."
        )

    def _unsure(self) -> Iterable[str]:
        """A sentence for each attribute, and one for both directions of a link."""
        named: set[str] = set()
        for name, some in self.unsure.items():
            if name in named:
                continue
            meaning = some.meaning
            backward = self._backward_of(meaning) if meaning.direction == "forward" else None
            named |= {name} if backward is None else {name, backward}
            names = shown(name) if backward is None else f"{shown(name)} and {shown(backward)}"
            unit = None if meaning.unit is None else meaning.unit.name
            line = line_for(meaning.quantity, name, unit or _EXAMPLE_UNIT[meaning.quantity], backward)
            own_unit = "" if unit or meaning.quantity == "weight" else " (or another unit)"
            yield (
                f'{UNREAD} {names} ({_links(some.count)}, such as "{_cut(some.example)}"), {_doubt(meaning)}'
                f"; to have it read, write {line}{own_unit}"
            )

    def _backward_of(self, forward: Meaning) -> str | None:
        return next(
            (
                name
                for name, some in self.unsure.items()
                if some.meaning.direction == "backward" and some.meaning.quantity == forward.quantity
            ),
            None,
        )


def shown(name: str) -> str:
    """A name in a sentence: in quotes where it is no plain word."""
    return name if re.fullmatch(r"[\w.\[\]@:/-]+", name) and name.isprintable() else quoted(name)


def _doubt(meaning: Meaning) -> str:
    if meaning.doubt:
        return meaning.doubt
    what = _article(meaning.quantity)
    if not meaning.is_sure or meaning.quantity == "weight":
        return f"which sounds like {what} and may be another"
    return f"{what} without a unit"


def _article(quantity: Quantity) -> str:
    return f"a {quantity}"


def _cut(text: str) -> str:
    plain = "".join(c if c.isprintable() else "." for c in " ".join(text.split()))
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."


def _links(count: int) -> str:
    return f"{count} {'link' if count == 1 else 'links'}"


def _nodes(count: int) -> str:
    return f"{count} {'node' if count == 1 else 'nodes'}"
