"""Measures points of measured.csv anew, between hosts of this machine's kernel, and simulates them.

    python checks/validation/linux/live_grid.py [--all] [--runs N] [POINT ...]

Linux, root. Without names it takes a part of the points, some minutes; with --all every point, about 40
minutes. It writes live.csv and the last section of docs/linux.md. A run that is not valid by its self-check
is made again, up to three times; then it is left out of the errors. The exit status is 1 if no run is valid.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import points as measured
from live_page import FILE, write_section
from measure import mean_srtt_ms, value_of
from points import Point, points

from anabranch import Result, Scenario
from anabranch.errors import LiveError
from anabranch.live import run as run_live

PART = (
    "reno-10M-10ms-q1-p0",
    "reno-50M-40ms-q1-p0",
    "reno-10M-40ms-q1-p0.01",
    "cubic-10M-40ms-q0.5-p0",
    "cubic-50M-40ms-q1-p0",
    "cubic-10M-40ms-q1-p0.001",
    "cubic-10M-40ms-q1-p0.01",
    "bbr-10M-40ms-q1-p0",
    "bbr-10M-10ms-q4-p0",
    "reno-(10, 10)",
    "cubic-(10, 30)",
    "cubic-(10, 100)",
    "cubic-bbr-20M-40ms-q4",
    "cubic-(10, 10, 0, 0)",
    "cubic-(10, 3, 1, 25)",
)
"""Points of each group that take some minutes together."""
MOST_TRIES = 3
_LONGER = 1.5
"""Time that a transfer gets, over what the kernel took before."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run of a point, live and simulated, as live.csv has it."""

    group: str
    point: str
    run: int
    live: float
    """What the point measures: Mbps, a share or seconds."""
    simulated: float
    live_retransmitted_percent: float
    simulated_retransmitted_percent: float
    live_srtt_ms: float | None
    simulated_srtt_ms: float | None
    tries: int
    not_valid: str
    """Why the last try is not valid; empty if it is."""
    lateness_p99_us: float
    lateness_max_us: float
    load: float
    """Of the machine over the last minute, when the run ended."""
    kernel: str
    machine: str
    cpus: int
    day: str


def document(point: Point, run: int) -> dict[str, Any]:
    """The scenario of a run: where losses are those of a measured run, of another one each time."""
    if point.group == "spray":
        return measured.spray(point, measured.SPRAY_SEEDS[run % len(measured.SPRAY_SEEDS)])
    if point.group == "compete":
        return measured.compete(point.name)
    if point.group == "mptcp":
        made = measured.mptcp(point)
        # A live run lasts to its end, and a transfer does not.
        made["run"]["duration"] = f"{point.kernel * _LONGER + 2:.0f} s"
        return made
    if not point.loss:
        return measured.single(point, None)
    if not point.matched:
        return measured.single(point, point.loss)
    lossy = measured.lossy_runs()[point.name]
    most = int(point.rate_mbps * 1e6 * measured.GOODPUT_S / 12_000) + 1000
    packets = list(measured.lost_packets(lossy[run % len(lossy)].seed, point.loss, most))
    return measured.single(point, {"algorithm": "trace", "packets": packets})


def retransmitted_percent(result: Result) -> float:
    """Of the segments of the first flow."""
    flow = result.flows.row(0, named=True)
    return 100 * float(flow["retransmissions"]) / max(int(flow["segments_sent"]), 1)


def srtt_ms(point: Point, result: Result) -> float | None:
    """Mean over time of the smoothed RTT; None where the point does not have one flow over one path."""
    return mean_srtt_ms(result) if point.group == "single" else None


def row(point: Point, run: int) -> Row | None:
    """A run of a point; None if the transfer did not end live or simulated, which no error can be made of."""
    scenario = Scenario.from_data(document(point, run)).replace({"run.seed": run + 1})
    simulated = scenario.run()
    tries = 0
    while True:
        tries += 1
        result = run_live(scenario)
        live = result.summary["live"]
        if live["valid"] or tries == MOST_TRIES:
            break
    if point.group == "mptcp" and None in (
        result.flows["completion_s"][0],
        simulated.flows["completion_s"][0],
    ):
        return None
    return Row(
        group=point.group,
        point=point.name,
        run=run,
        live=value_of(point, result),
        simulated=value_of(point, simulated),
        live_retransmitted_percent=retransmitted_percent(result),
        simulated_retransmitted_percent=retransmitted_percent(simulated),
        live_srtt_ms=srtt_ms(point, result),
        simulated_srtt_ms=srtt_ms(point, simulated),
        tries=tries,
        not_valid=live["not_valid"] or "",
        lateness_p99_us=live["check"]["lateness_p99_us"],
        lateness_max_us=live["check"]["lateness_max_us"],
        load=live["load_after"][0],
        kernel=live["kernel"],
        machine=live["machine"],
        cpus=os.cpu_count() or 1,
        day=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def measure(chosen: Sequence[Point], runs: int) -> Iterator[Row]:
    """Every run of these points, one at a time; those that gave nothing are said."""
    for point in chosen:
        for run in range(runs):
            outcome = row(point, run)
            if outcome is None:
                print(f"{point.name}: the transfer did not end", flush=True)  # noqa: T201
                continue
            goodput = f"{outcome.live:.4g} live, {outcome.simulated:.4g} simulated"
            line = f"{point.name}: {goodput} {outcome.not_valid}"
            print(line, flush=True)  # noqa: T201
            yield outcome


def main() -> int:
    """Measures, keeps every run as it comes, and writes the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", nargs="*", metavar="POINT", help="names, as in measured.csv")
    parser.add_argument("--all", action="store_true", help="every point of measured.csv")
    parser.add_argument("--runs", type=int, default=1, help="of each point, with other losses (1)")
    parser.add_argument("--out", type=Path, default=FILE, help="file of the runs (live.csv)")
    given = parser.parse_args()
    grid = points()
    wanted = given.points or ([point.name for point in grid] if given.all else list(PART))
    unknown = sorted(set(wanted) - {point.name for point in grid})
    if unknown:
        parser.error(f"no such points in measured.csv: {', '.join(unknown)}")
    if platform.system() != "Linux":
        parser.error("live runs need Linux")
    some = False
    try:
        with given.out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
            writer.writeheader()
            for outcome in measure([point for point in grid if point.name in wanted], given.runs):
                writer.writerow(asdict(outcome))
                file.flush()
                some |= not outcome.not_valid
    except LiveError as error:
        parser.error(str(error))
    if given.out == FILE:
        write_section()
    return 0 if some else 1


if __name__ == "__main__":
    sys.exit(main())
