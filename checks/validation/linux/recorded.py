"""Points that are scenarios of their own: three runs between hosts of Linux 6.18.44, and the same seeds here.

No constant of the transports was fitted to them; several of them led to rules. README.md says how they were
measured.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl

from anabranch import Result, Scenario

HERE = Path(__file__).parent
SEEDS = (1, 2, 3)
"""Of the live runs, and of the simulated ones: both draw the same losses."""
SCATTERING = frozenset({"competition", "messages with many losses", "MPTCP"})
"""Groups in which the kernel's own runs differ by more than any bound: held to the spread of runs."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A point.

    Attributes:
        name: of the point.
        group: what it is about.
        metric: what is measured, one of `METRICS`.
        unit: of the metric.
        kernel: a value for each seed.
        scenario: file in `recorded/`.
    """

    name: str
    group: str
    metric: str
    unit: str
    kernel: tuple[float, ...]
    scenario: str

    def document(self) -> dict[str, Any]:
        """The scenario, without captures, and with samples as close as the metric needs them."""
        document = tomllib.loads((HERE / "recorded" / self.scenario).read_text(encoding="utf-8"))
        document.pop("capture", None)
        if self.metric == "msg_mean":
            document["run"]["sample_interval"] = "1 ms"
        return document


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """A point beside its simulated runs, one of each seed."""

    point: Recorded
    simulated: tuple[float, ...]

    @property
    def error(self) -> float:
        """Mean of the simulated runs over that of the kernel's, less 1."""
        return mean(self.simulated) / mean(self.point.kernel) - 1.0

    @property
    def is_within_spread(self) -> bool:
        """Whether the means differ by no more than the runs of either side do."""
        return abs(mean(self.simulated) - mean(self.point.kernel)) <= max(
            _spread(self.simulated), _spread(self.point.kernel)
        )


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def recorded() -> list[Recorded]:
    """Every point of recorded.csv."""
    with (HERE / "recorded.csv").open(encoding="utf-8", newline="") as file:
        return [
            Recorded(
                row["point"],
                row["group"],
                row["metric"],
                row["unit"],
                tuple(float(value) for value in row["kernel"].split(";")),
                row["scenario"],
            )
            for row in csv.DictReader(file)
        ]


def _number(text: str) -> float:
    """Seconds of a time, or bytes of a size, as the scenarios here write them."""
    value, unit = text.split()
    return float(value) * {"s": 1.0, "ms": 1e-3, "kB": 1e3, "B": 1.0}[unit]


def goodput_mbps(document: dict[str, Any], result: Result) -> float:
    """What all flows delivered, over the whole run."""
    return float(result.flows["delivered_bytes"].sum()) * 8e-6 / _number(document["run"]["duration"])


def completion_ms(_document: dict[str, Any], result: Result) -> float:
    """Mean completion time of the flows."""
    return 1e3 * float(result.flows["completion_s"].mean())  # type: ignore[arg-type]


def share_of_first(_document: dict[str, Any], result: Result) -> float:
    """Share of the first flow in what all delivered."""
    delivered = result.flows.sort("flow")["delivered_bytes"]
    return float(delivered[0] / delivered.sum())


def message_ms(document: dict[str, Any], result: Result) -> float:
    """Mean time from the writing of a message until all of it has come in order, by samples of 1 ms."""
    entry = document["traffic"][0]
    size, gap_s = (_number(entry["application"][key]) for key in ("message", "gap"))
    series = result.flow_series
    times = series["time_s"].to_list()
    step_s = times[1] - times[0]
    delivered = (series["goodput_mbps"] * step_s * 1e6 / 8).cum_sum().round()
    count = int(delivered[-1] // size)
    ends = delivered.search_sorted(pl.Series([(place + 1) * size for place in range(count)]))
    start_s = _number(entry["start"])
    # Within a sample, in the mean its middle.
    return 1e3 * mean(
        times[end] - step_s / 2 - start_s - (place + 1) * gap_s for place, end in enumerate(ends)
    )


METRICS = {
    "goodput": goodput_mbps,
    "fct_mean": completion_ms,
    "share1": share_of_first,
    "msg_mean": message_ms,
}


HOST_DELAY = "85 us"
"""What pings of live runs take above the delays of their path, for each host that they come through."""


CHANCE = {"distribution": "exponential", "mean": "5 us"}
"""Processing delay of the hosts of simulated points of MPTCP: nothing else is drawn in them, so that the
runs of all seeds would be one draw of what scatters."""


def _run(task: tuple[Recorded, int], processing_delay: str | None) -> float:
    point, seed = task
    document = point.document()
    delay = processing_delay or (CHANCE if point.group == "MPTCP" else None)
    if delay is not None:
        network = document["network"]
        network["hosts"] = {**network.get("hosts", {}), "processing_delay": delay}
    result = Scenario.from_data(document).replace({"run.seed": seed}).run()
    return METRICS[point.metric](document, result)


def simulate_recorded(
    points: Iterable[Recorded], workers: int = 2, processing_delay: str | None = None
) -> list[RecordedOutcome]:
    """Every point simulated with the seeds of its live runs, in order; a delay is that of every host."""
    chosen = list(points)
    tasks = [(point, seed) for point in chosen for seed in SEEDS]
    # The core runs beside Python; Polars does not survive a fork.
    with ThreadPoolExecutor(workers) as pool:
        values = list(pool.map(partial(_run, processing_delay=processing_delay), tasks))
    count = len(SEEDS)
    return [
        RecordedOutcome(point, tuple(values[place * count : (place + 1) * count]))
        for place, point in enumerate(chosen)
    ]
