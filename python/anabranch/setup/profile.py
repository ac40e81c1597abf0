"""Measured conditions of links, as changes at their times."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch.scenario.files import FILE
from anabranch.scenario.leaves import CapacityChange, Change, DelayChange, LossChange
from anabranch.scenario.profile import Profile
from anabranch.scenario.quantity import PS_PER_SECOND, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup.files import text_of
from anabranch.setup.model import EventSetup
from anabranch.setup.network import ResolvedNetwork, loss_setup
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import csv_rows, number_of

_COLUMNS: Final = {
    "time_s": ("time", PS_PER_SECOND),
    "capacity_bps": ("capacity", 1),
    "capacity_kbps": ("capacity", 10**3),
    "capacity_mbps": ("capacity", 10**6),
    "capacity_gbps": ("capacity", 10**9),
    "delay_us": ("delay", 10**6),
    "delay_ms": ("delay", 10**9),
    "delay_s": ("delay", PS_PER_SECOND),
    "loss": ("loss", 1),
}
"""What a column has, and how many of our unit one of it is: picoseconds, bits per second, a probability."""
_PS_PER_MS: Final = 10**9
_BITS_PER_OPPORTUNITY: Final = 1500 * 8
_INTERVAL_PS: Final = 100 * _PS_PER_MS
_MOST_CHANGES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Row:
    at: int
    """In picoseconds from the beginning of the file."""
    values: Mapping[str, float]
    place: str
    """File and line, for messages."""


def profile_events(scenario: Scenario, network: ResolvedNetwork, problems: Problems) -> list[EventSetup]:
    """The changes that the profiles of a scenario make; what is wrong with them is noted."""
    events: list[EventSetup] = []
    for number, profile in enumerate(scenario.profile):
        reader = _Reader(profile, f"profile[{number}]", network, problems)
        links = network.links_between(profile.link, profile, f"profile[{number}].link")
        text = text_of(profile.source, scenario.base, f"profile[{number}].from", problems)
        before = len(problems)
        rows = [] if text is None else list(reader.rows(text))
        if rows and len(problems) == before:
            period = profile.repeat or (rows[-1].at if profile.format == "mahimahi" else None)
            events += reader.changes(rows, period, int(scenario.run_settings.duration), links)
    return events


class _Reader:
    """Reads one profile."""

    def __init__(self, profile: Profile, place: str, network: ResolvedNetwork, problems: Problems) -> None:
        self._profile = profile
        self._place = place
        self._network = network
        self._problems = problems
        self._name = profile.source.removeprefix(FILE)

    def rows(self, text: str) -> Iterator[_Row]:
        """The rows of the file, in order of time; what is wrong is noted with its line."""
        last = -1
        found = 0
        for row in self._of_mahimahi(text) if self._profile.format == "mahimahi" else self._of_csv(text):
            if row.at <= last and self._profile.format == "csv":
                self._problems.add(row.place, f"{row.at / PS_PER_SECOND:g} s is not after the row before")
                return
            last, found = row.at, found + 1
            yield row
        if not found:
            self._problems.add(f"{self._place}.from", f"{quoted(self._name)} has no row")

    def changes(
        self, rows: list[_Row], period: int | None, duration: int, links: list[int]
    ) -> Iterator[EventSetup]:
        """An event for each value that changes, over and over where the profile begins anew."""
        if period is not None and period < rows[-1].at:
            message = f"is shorter than the file, which lasts {rows[-1].at / PS_PER_SECOND:g} s"
            self._problems.add(f"{self._place}.repeat", message)
            return
        times = 1 if period is None else -(-duration // period)
        if times * len(rows) * len(links) > _MOST_CHANGES:
            message = f"makes {times * len(rows) * len(links):,} changes; at most {_MOST_CHANGES:,} are made"
            self._problems.add(self._place, message)
            return
        now: dict[str, float] = {}
        for begin in range(0, times * (period or 0) or 1, period or 1):
            for row in rows:
                if begin + row.at > duration:
                    return
                for kind, value in row.values.items():
                    if now.get(kind) != value:
                        now[kind] = value
                        yield EventSetup(begin + row.at, _change(kind, value, links))

    def _of_csv(self, text: str) -> Iterator[_Row]:
        """The rows up to the first one with a mistake."""
        before = len(self._problems)
        for row in csv_rows(self._name, text, _wrong_header, self._problems):
            values = {}
            for column, cell in row.cells.items():
                if len(self._problems) == before:
                    values[_COLUMNS[column][0]] = self._number(column, cell, row.place)
            if len(self._problems) > before:
                return
            yield _Row(round(values.pop("time")), values, row.place)

    def _number(self, column: str, cell: str, place: str) -> float:
        """The value of a cell in our units; a gap, or what cannot be, is noted."""
        if not cell:
            self._problems.add(
                place, f"{column} is empty; a profile has no gaps: repeat the value that holds"
            )
            return 0.0
        kind, unit = _COLUMNS[column]
        stated = number_of(cell)
        number = -1.0 if stated is None else stated * unit
        most = {"loss": 1.0, "capacity": sys.float_info.max}.get(kind, 2.0**62)
        if not 0 <= number <= most:
            self._problems.add(place, f"{quoted(cell)} is no {column}")
        elif kind == "capacity":
            self._network.check_capacity(round(number), place)
        return number

    def _of_mahimahi(self, text: str) -> Iterator[_Row]:
        """The capacity of each interval: its packets over its length. One without any is part of the next."""
        times: list[int] = []
        for line, entry in enumerate(text.splitlines(), start=1):
            word, place = entry.strip(), f"{self._name}, line {line}"
            if not re.fullmatch(r"[0-9]{1,12}", word):
                self._problems.add(place, f"{quoted(word)} is no whole number of milliseconds")
                return
            if times and int(word) < times[-1]:
                self._problems.add(place, f"{word} ms comes after {times[-1]} ms")
                return
            times.append(int(word))
        if not times or times[-1] == 0:
            self._problems.add(f"{self._place}.from", f"{quoted(self._name)} lasts 0 ms; it has no capacity")
            return
        end, step = times[-1] * _PS_PER_MS, int(self._profile.interval or _INTERVAL_PS)
        begin, counted = 0, 0
        for up_to in [*range(step, end, step), end]:
            last = up_to == end
            upper = counted
            while upper < len(times) and (last or times[upper] * _PS_PER_MS < up_to):
                upper += 1
            if upper > counted:
                bps = (upper - counted) * _BITS_PER_OPPORTUNITY * PS_PER_SECOND / (up_to - begin)
                yield _Row(begin, {"capacity": bps}, self._name)
                begin, counted = up_to, upper
        # Where the trace begins anew.
        yield _Row(end, {}, self._name)


def _change(kind: str, value: float, links: list[int]) -> Change:
    """A change as a setup has it."""
    if kind == "loss":
        return LossChange(links=links, loss=loss_setup(value))
    if kind == "delay":
        return DelayChange(links=links, delay=round(value))
    return CapacityChange(links=links, capacity=round(value))


def _wrong_header(header: Sequence[str]) -> str | None:
    kinds = {_COLUMNS[column][0] for column in header if column in _COLUMNS}
    if "time" in kinds and 2 <= len(kinds) == len(header):
        return None
    return "is not a header with time_s and capacity_mbps, delay_ms or loss, each once"
