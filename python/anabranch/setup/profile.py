"""Measured conditions of links, as changes at their times."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from anabranch.scenario.profile import Profile
from anabranch.scenario.quantity import PS_PER_SECOND, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup.files import text_of
from anabranch.setup.model import EventSetup, Tagged
from anabranch.setup.network import ResolvedNetwork, loss_setup
from anabranch.setup.problems import Problems

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
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class _Row:
    at: int
    """In picoseconds from the beginning of the file."""
    values: Mapping[str, float]
    line: int


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
        self._name = profile.source.removeprefix("file:")

    def rows(self, text: str) -> Iterator[_Row]:
        """The rows of the file, in order of time; what is wrong is noted with its line."""
        last = -1
        found = 0
        for row in self._of_mahimahi(text) if self._profile.format == "mahimahi" else self._of_csv(text):
            if row.at <= last and self._profile.format == "csv":
                self._note(row.line, f"{row.at / PS_PER_SECOND:g} s is not after the row before")
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
        try:
            lines = csv.reader(text.splitlines(), skipinitialspace=True)
            header = [column.strip() for column in next(lines, [])]
            kinds = [_COLUMNS.get(column, ("", 1)) for column in header]
            names = [kind for kind, _ in kinds]
            if "time" not in names or len(names) < 2 or "" in names or len(set(names)) < len(names):
                wanted = "time_s and capacity_mbps, delay_ms or loss, each once"
                self._note(1, f"{quoted(','.join(header))} is not a header with {wanted}")
                return
            for cells in lines:
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) != len(kinds):
                    self._note(lines.line_num, f"has {len(cells)} cells in place of {len(kinds)}")
                    return
                values = {}
                for column, (kind, unit), cell in zip(header, kinds, cells, strict=True):
                    number = self._number(lines.line_num, column, kind, cell.strip(), unit)
                    if number is None:
                        return
                    values[kind] = number
                yield _Row(round(values.pop("time")), values, lines.line_num)
        except csv.Error as error:
            self._problems.add(self._name, f"is no CSV: {error}")

    def _number(self, line: int, column: str, kind: str, cell: str, unit: int) -> float | None:
        """The value of a cell in our units; a gap, or what cannot be, is noted."""
        if not cell:
            self._note(line, f"{column} is empty; a profile has no gaps: repeat the value that holds")
            return None
        number = float(cell) * unit if _NUMBER.fullmatch(cell) else math.nan
        longest = 1.0 if kind == "loss" else math.inf
        if not 0 <= number <= longest or (kind in ("time", "delay") and number > 2**62):
            self._note(line, f"{quoted(cell)} is no {column}")
            return None
        if kind == "capacity":
            before = len(self._problems)
            self._network.check_capacity(round(number), f"{self._name}, line {line}")
            if len(self._problems) > before:
                return None
        return number

    def _of_mahimahi(self, text: str) -> Iterator[_Row]:
        """The capacity of each interval: its packets over its length. One without any is part of the next."""
        times: list[int] = []
        for line, entry in enumerate(text.splitlines(), start=1):
            word = entry.strip()
            if not re.fullmatch(r"[0-9]{1,12}", word):
                self._note(line, f"{quoted(word)} is no whole number of milliseconds")
                return
            if times and int(word) < times[-1]:
                self._note(line, f"{word} ms comes after {times[-1]} ms")
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
                yield _Row(begin, {"capacity": bps}, counted + 1)
                begin, counted = up_to, upper
        # Where the trace begins anew.
        yield _Row(end, {}, len(times))

    def _note(self, line: int, message: str) -> None:
        self._problems.add(f"{self._name}, line {line}", message)


def _change(kind: str, value: float, links: list[int]) -> Tagged:
    """A change as the engine reads it."""
    of = loss_setup(value) if kind == "loss" else round(value)
    return {"kind": kind, "links": links, kind: of}
