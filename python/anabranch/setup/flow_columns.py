"""The flows of a run as columns: an entry of the scenario may stand for a million of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anabranch.scenario.leaves import SizedSource, UnlimitedSource
from anabranch.scenario.record import Record

if TYPE_CHECKING:
    from anabranch.scenario.leaves import ReadingSetup, Source

NEVER = 2**64 - 1
"""In the place of a stop that never comes."""

Ids = NDArray[np.uint32]
_COLUMNS = ("entry", "number", "origin", "to", "bytes", "start", "stop")


def pair_code(origin: ArrayLike, to: ArrayLike) -> NDArray[np.uint64]:
    """Two nodes as one number; pairs are in the order of their numbers."""
    return np.asarray(origin, dtype=np.uint64) << np.uint64(32) | np.asarray(to, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class FlowSetup:
    """A flow; its id is its index."""

    name: str
    origin: int
    to: int
    transport: int
    routing: int
    """Place of its routes: 0 for those of ``[routing]``, n for number n - 1 of ``Setup.own_routes``."""
    source: Source
    start: int
    stop: int | None
    reads: ReadingSetup | None = None
    """How its receiving application reads; None: at once."""


@dataclass(frozen=True, slots=True)
class EntrySetup:
    """The choices that all flows of an entry have in common."""

    name: str
    """A flow has this name, a dot, and its number."""
    transport: int
    source: Source
    """What applications send; of a size only that there is one."""
    routing: int = 0
    """As that of a :class:`FlowSetup`."""
    reads: ReadingSetup | None = None
    """As that of a :class:`FlowSetup`."""


@dataclass(frozen=True, eq=False)
class FlowColumns(Sequence[FlowSetup]):
    """All flows, in the order of their ids; one that is asked for is made then."""

    entries: tuple[EntrySetup, ...]
    entry: Ids
    """Place of each flow's entry among all."""
    number: Ids
    """Its number in the entry."""
    origin: Ids
    to: Ids
    bytes: NDArray[np.uint64]
    """What it sends, where its entry has a size."""
    start: NDArray[np.uint64]
    """In picoseconds."""
    stop: NDArray[np.uint64]
    """In picoseconds; ``NEVER`` for never."""

    @classmethod
    def of_core(cls, entries: Sequence[EntrySetup], columns: Mapping[str, NDArray[Any]]) -> FlowColumns:
        """The flows as the core gives them; their columns are its own."""
        named = {name: columns["from" if name == "origin" else name] for name in _COLUMNS}
        return cls(tuple(entries), **named)

    @classmethod
    def joined(cls, parts: Sequence[FlowColumns]) -> FlowColumns:
        """The flows of several entries, one after the other."""
        if not parts:
            ids, numbers = np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint64)
            return cls((), ids, ids, ids, ids, numbers, numbers, numbers)
        before = np.cumsum([0, *(len(part.entries) for part in parts)])
        entry = [part.entry + np.uint32(first) for part, first in zip(parts, before, strict=False)]
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS[1:]}
        entries = tuple(one for part in parts for one in part.entries)
        return cls(entries, np.concatenate(entry), **columns)

    def where(self, which: NDArray[np.bool_]) -> FlowColumns:
        """Some of the flows."""
        return FlowColumns(self.entries, **{name: getattr(self, name)[which] for name in _COLUMNS})

    @classmethod
    def of_pairs(cls, ends: NDArray[np.integer[Any]], routing: int = 0) -> FlowColumns:
        """A flow without end between the nodes of each row, by the first transport, with these routes."""
        origin, to = np.array(ends.T, dtype=np.uint32, order="C")
        numbers, zeros = np.arange(len(ends), dtype=np.uint32), np.zeros(len(ends), dtype=np.uint64)
        entry = EntrySetup("pair", 0, UnlimitedSource(), routing)
        never = np.full(len(ends), NEVER, dtype=np.uint64)
        return cls((entry,), np.zeros(len(ends), np.uint32), numbers, origin, to, zeros, zeros, never)

    def like_first(self, ends: NDArray[np.integer[Any]], routing: int = 0) -> FlowColumns:
        """A flow like the first one between the nodes of each row, with these routes."""
        origin, to = np.array(ends.T, dtype=np.uint32, order="C")
        first = np.zeros(len(ends), dtype=np.intp)
        return FlowColumns(
            (replace(self.entries[self.entry[0]], routing=routing),),
            np.zeros(len(ends), dtype=np.uint32),
            np.arange(len(ends), dtype=np.uint32),
            origin,
            to,
            self.bytes[first],
            self.start[first],
            self.stop[first],
        )

    def __len__(self) -> int:
        return len(self.entry)

    @overload
    def __getitem__(self, index: int) -> FlowSetup: ...
    @overload
    def __getitem__(self, index: slice) -> list[FlowSetup]: ...
    def __getitem__(self, index: int | slice) -> FlowSetup | list[FlowSetup]:
        if isinstance(index, slice):
            return list(self._made(index))
        at = range(len(self))[index]
        return next(self._made(slice(at, at + 1)))

    def __iter__(self) -> Iterator[FlowSetup]:
        return self._made(slice(None))

    def _made(self, which: slice) -> Iterator[FlowSetup]:
        columns = (getattr(self, name)[which].tolist() for name in _COLUMNS)
        for index, number, origin, to, size, start, stop in zip(*columns, strict=True):
            entry = self.entries[index]
            source = SizedSource(bytes=size) if isinstance(entry.source, SizedSource) else entry.source
            name = f"{entry.name}.{number}"
            end = None if stop == NEVER else stop
            ends = (origin, to, entry.transport, entry.routing)
            yield FlowSetup(name, *ends, source, start, end, entry.reads)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FlowColumns):
            return self.entries == other.entries and all(
                np.array_equal(getattr(self, name), getattr(other, name)) for name in _COLUMNS
            )
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def can_complete(self) -> NDArray[np.bool_]:
        """Whether the stream of each flow has an end: a size, or a time to stop at."""
        sized = np.array([isinstance(entry.source, SizedSource) for entry in self.entries], dtype=np.bool_)
        ends: NDArray[np.bool_] = self.stop != NEVER
        return ends | sized[self.entry] if len(self) else ends

    @property
    def transport(self) -> Ids:
        """The transport of each flow."""
        return np.array([entry.transport for entry in self.entries], dtype=np.uint32)[self.entry]

    @property
    def routing(self) -> Ids:
        """The place of each flow's routes."""
        return np.array([entry.routing for entry in self.entries], dtype=np.uint32)[self.entry]

    @cached_property
    def pairs(self) -> NDArray[np.uint64]:
        """Origin and destination of each flow as one number, as :func:`pair_code` makes it."""
        return pair_code(self.origin, self.to)

    @cached_property
    def _by_pair(self) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        """The flows, those of a pair together in their own order, and their pairs."""
        order = np.argsort(self.pairs, kind="stable")
        return order, self.pairs[order]

    def connect(self, pairs: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each of these pairs has a flow."""
        _, pairs_listed = self._by_pair
        if not len(pairs_listed):
            return np.zeros(len(pairs), dtype=bool)
        is_listed: NDArray[np.bool_] = (
            pairs_listed[np.minimum(np.searchsorted(pairs_listed, pairs), len(pairs_listed) - 1)] == pairs
        )
        return is_listed

    def between(self, origin: int, to: int) -> Counter[int]:
        """The transports of a pair, and how many flows have them, in the order of the first ones."""
        order, pairs = self._by_pair
        first, last = np.searchsorted(pairs, [code := pair_code(origin, to), code + np.uint64(1)])
        return Counter(self.entries[entry].transport for entry in self.entry[order[first:last]].tolist())

    def pairs_with(self, kind: type[Source]) -> list[tuple[int, int, int]]:
        """The pairs with flows whose source is of a class, and how many; those of the first flows first."""
        of_kind = np.array([isinstance(entry.source, kind) for entry in self.entries], dtype=bool)[self.entry]
        pairs, first, counts = np.unique(self.pairs[of_kind], return_index=True, return_counts=True)
        order = np.argsort(first)
        return [
            (pair >> 32, pair & 0xFFFF_FFFF, count)
            for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
        ]

    def core(self) -> dict[str, Any]:
        """As the core takes them."""
        columns = {"from" if name == "origin" else name: getattr(self, name) for name in _COLUMNS}
        entries = [
            {entry.name: _plain(getattr(table, entry.name)) for entry in fields(table)}
            for table in self.entries
        ]
        return {"entries": json.dumps(entries), **columns}


def _plain(value: Any) -> Any:
    return value.core() if isinstance(value, Record) else value
