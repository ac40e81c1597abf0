"""Measurements as readers make them: flows, totals and series; what was not measured is absent."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from anabranch.runs.measurements.reading import MeasurementFile

Side = Literal["client", "server"]

SERIES = (
    "throughput_mbps", "reverse_throughput_mbps", "rtt_ms", "srtt_ms", "retransmissions", "lost",
    "loss_ratio", "cwnd_bytes", "cwnd_packets", "in_flight_bytes", "delivery_rate_mbps", "pacing_rate_mbps",
    "jitter_ms",
)  # fmt: skip
"""Measures over time that a tool may have: means, or the state at the end, of an interval; two are counts."""
COUNTED = ("retransmissions", "lost")
"""Of these, counts in the interval."""
MOST_ROWS = 2_000_000
"""Rows of all series together: what half a gigabyte of memory holds."""
MOST_FLOWS = 100_000
"""Flows that are told apart."""
_LARGEST = 1e18


class MeasurementError(Exception):
    """Why a file cannot be read as what it seems to be: what was read, and what would be right."""


@dataclass
class Doubts:
    """Values that a reader could not take as they stand: each kind once, with its number and first place."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)

    def note(self, what: str, place: str) -> None:
        """Counts something of a kind, such as ``values are no numbers``."""
        self.counts[what] += 1
        self.places.setdefault(what, place)

    def number(self, value: Any, place: str) -> float | None:
        """A finite number from 0 on; what is none is unknown and noted, null is unknown without a note.

        Text that is such a number is one: some tools put theirs into quotation marks.
        """
        if value is None:
            return None
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                value = math.nan
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
            self.note("values are negative, too large or no numbers, and are taken as unknown", place)
            return None
        return float(value)

    def sentences(self) -> list[str]:
        """A sentence for each kind."""
        return [f"{count:,} {what}; first {self.places[what]}" for what, count in self.counts.items()]


@dataclass
class Series:
    """Measures of a flow over intervals that go forward in time."""

    begin_s: array[float] = field(default_factory=lambda: array("d"))
    time_s: array[float] = field(default_factory=lambda: array("d"))
    measures: dict[str, array[float]] = field(default_factory=dict)

    def add(self, begin_s: float, end_s: float, measured: Mapping[str, float | None]) -> bool:
        """Adds an interval; one that goes back in time is not taken, and the answer is no."""
        if end_s < begin_s or (self.time_s and end_s <= self.time_s[-1]):
            return False
        rows = len(self.time_s)
        self.begin_s.append(max(begin_s, self.time_s[-1]) if rows else begin_s)
        self.time_s.append(end_s)
        for name in measured.keys() - self.measures.keys():
            self.measures[name] = array("d", [math.nan]) * rows
        for name, values in self.measures.items():
            value = measured.get(name)
            values.append(math.nan if value is None else value)
        return True

    def __len__(self) -> int:
        return len(self.time_s)


@dataclass
class MeasuredFlow:
    """A connection, a subflow of one, or a ping, as a tool saw it."""

    kind: str
    """``tcp``, ``mptcp``, ``udp``, ``quic``, ``ping`` or ``starlink``."""
    client: str | None = None
    client_port: int | None = None
    server: str | None = None
    server_port: int | None = None
    data_from: Side | None = None
    name: str | None = None
    """How the tool calls it, where it has no addresses."""
    connection: Hashable = None
    """Flows with the same one are subflows of one connection; None for one of its own."""
    totals: dict[str, float] = field(default_factory=dict)
    """Columns of ``subflows`` that the tool itself states, or that follow from its counters."""
    throughput_mbps: float | None = None
    """Over all of its time as the tool states it, where it does."""
    congestion_control: str | None = None
    rtts_ms: array[float] = field(default_factory=lambda: array("d"))
    """Every sample of the round-trip time, where the tool has them one by one."""
    series: Series = field(default_factory=Series)


@dataclass
class Measurement:
    """Everything of a file."""

    tool: str
    """With its version, where the file has it: ``iperf 3.12``."""
    flows: list[MeasuredFlow] = field(default_factory=list)
    began_unix_s: float | None = None
    """What the times of the flows count from; None where the file has no clock of the day."""
    notes: list[str] = field(default_factory=list)
    """What the numbers are, in sentences: what throughput and round-trip times mean here."""
    warnings: list[str] = field(default_factory=list)
    doubts: Doubts = field(default_factory=Doubts)
    interval_s: float | None = None
    """Length of the intervals; None where they are not all the same."""
    rows: int = 0

    def add(self, flow: MeasuredFlow, begin_s: float, end_s: float, **measured: float | None) -> None:
        """Adds an interval to a flow's series.

        Raises:
            MeasurementError: if there are too many.
        """
        self.rows += 1
        if self.rows > MOST_ROWS:
            raise MeasurementError(f"has more than {MOST_ROWS:,} samples, the most that are read; cut it")
        if not flow.series.add(begin_s, end_s, measured):
            self.doubts.note("samples go back in time, and are left out", f"at {end_s:.3f} s")

    def new_flow(self, flow: MeasuredFlow) -> MeasuredFlow:
        """Adds a flow.

        Raises:
            MeasurementError: if there are too many.
        """
        if len(self.flows) >= MOST_FLOWS:
            raise MeasurementError(f"has more than {MOST_FLOWS:,} flows, the most that are read; cut it")
        self.flows.append(flow)
        return flow

    def all_warnings(self) -> list[str]:
        """Sentences that whoever reads the numbers has to know."""
        return [*self.warnings, *self.doubts.sentences()]


@dataclass(frozen=True, slots=True)
class MeasurementFormat:
    """A format of measurements: one file, and one line in ``registry.py``."""

    name: str
    """For ``--format``: ``iperf3``."""
    title: str
    """For people: ``iperf3 JSON``."""
    recognises: Callable[[MeasurementFile], bool]
    """Whether a file is of this format, by its beginning, or by the document of a JSON file."""
    read: Callable[[MeasurementFile, float], Measurement]
    """The measurement in a file, with the interval in seconds for what a tool logs event by event. It raises
    a MeasurementError."""


def port_of(value: Any) -> int | None:
    """A port of TCP or UDP; None for anything else."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 < number < 65536 else None


def text_of(value: Any, most: int = 200) -> str | None:
    """A text of at most so many characters; None for anything else."""
    return value[:most] if isinstance(value, str) and value else None


def table_of(value: Any) -> Mapping[str, Any]:
    """A JSON object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """A JSON array, or an empty one for anything else."""
    return value if isinstance(value, list) else []
