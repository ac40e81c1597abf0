"""What the simulator does at each measured point: one process a run, the results beside the kernel's."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

import points as measured
import polars as pl
from points import Point

from anabranch import Result, Scenario

MESSAGE_RUNS = 96
"""Of messages with random losses: a run has a standard deviation of a third of the mean, so that the mean of
twelve has a standard error of 9 %."""
MOST_RANDOM_RUNS = 12
"""Runs of a lossy point whose losses are not matched."""
SEGMENT_OVERHEAD = "728 B"
"""What a segment took of the receive buffer beside its payload in the recorded runs (README.md)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A point beside what the simulator made of it; means where it took several runs.

    Attributes:
        point: the measurement.
        simulated: what `point.kernel` is, simulated.
        ratios: simulated over kernel, run by run where the runs are matched.
        retransmitted_percent: of the data segments sent; None where it is not compared.
        srtt_ms: mean over time of the smoothed RTT; None where it is not compared.
    """

    point: Point
    simulated: float
    ratios: tuple[float, ...]
    retransmitted_percent: float | None = None
    srtt_ms: float | None = None

    @property
    def error(self) -> float:
        """Simulated over kernel, less 1; over matched runs the mean of their ratios."""
        return mean(self.ratios) - 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """One run.

    Attributes:
        point: the measurement that it belongs to.
        document: the scenario.
        kernel: what the kernel did in the run, or in all of them.
        seed: seed of the run.
    """

    point: Point
    document: dict[str, Any]
    kernel: float
    seed: int = 1


def tasks_of(point: Point) -> list[Task]:
    """The runs of a point."""
    if point.group == "single":
        return single_tasks(point)
    if point.group == "spray":
        seeds = measured.SCATTERING_SEEDS if "100" in point.name else measured.SPRAY_SEEDS
        return [Task(point, measured.spray(point, seed), point.kernel, seed) for seed in seeds]
    if point.group == "compete":
        pairs = measured.drawn_rtts(point.name)
        return [Task(point, measured.compete(point.name, pair), point.kernel) for pair in pairs]
    if point.group == "slow-start":
        return [Task(point, measured.slow_start(point), point.kernel)]
    if point.group == "messages":
        document = measured.messages(point)
        return [Task(point, document, point.kernel, seed) for seed in range(1, MESSAGE_RUNS + 1)]
    document = measured.mptcp(point, late=True)
    return [Task(point, document, point.kernel, seed) for seed in measured.SPRAY_SEEDS]


def single_tasks(point: Point) -> list[Task]:
    """One flow: a run for each known set of losses, or for each of a dozen seeds where they are not known."""
    if point.loss == 0:
        return [Task(point, measured.single(point, None), point.kernel)]
    if not point.matched:
        document = measured.single(point, point.loss)
        return [Task(point, document, point.kernel, seed) for seed in range(1, MOST_RANDOM_RUNS + 1)]
    runs = []
    for run in measured.lossy_runs()[point.name]:
        most = int(point.rate_mbps * 1e6 * measured.GOODPUT_S / 12_000) + 1000
        packets = list(measured.lost_packets(run.seed, point.loss, most))
        losses = {"algorithm": "trace", "packets": packets}
        runs.append(Task(point, measured.single(point, losses), run.goodput_mbps))
    return runs


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run gave.

    Attributes:
        value: what the point measures.
        retransmitted_percent: of the data segments sent.
        srtt_ms: mean over time of the smoothed RTT.
    """

    value: float
    retransmitted_percent: float
    srtt_ms: float


def measure(task: Task) -> Measured:
    """Runs a task."""
    result = Scenario.from_data(as_received(task.document)).replace({"run.seed": task.seed}).run()
    flow = result.flows.row(0, named=True)
    return Measured(
        value=value_of(task.point, result),
        retransmitted_percent=100 * flow["retransmissions"] / max(flow["segments_sent"], 1),
        srtt_ms=mean_srtt_ms(result),
    )


def as_received(document: dict[str, Any]) -> dict[str, Any]:
    """The scenario with receivers whose buffers hold as much as those of the recorded runs."""
    presets = {entry["transport"] for entry in document["traffic"]}
    overhead = {"segment_overhead": SEGMENT_OVERHEAD}
    transports = {f"recorded-{preset}": {"preset": preset, **overhead} for preset in presets}
    traffic = [{**entry, "transport": f"recorded-{entry['transport']}"} for entry in document["traffic"]]
    return {**document, "transport": transports, "traffic": traffic}


def mean_srtt_ms(result: Result) -> float:
    """Mean over time of the first flow's smoothed RTT."""
    series = result.flow_series.filter(pl.col("flow") == 0)["srtt_ms"].drop_nulls()
    return float(series.mean() or 0.0)


def value_of(point: Point, result: Result) -> float:
    """What the point measures."""
    flow = result.flows.row(0, named=True)
    if point.group == "mptcp":
        return float(flow["completion_s"])
    if point.group == "slow-start":
        return float(result.flow_series["ssthresh_bytes"].drop_nulls()[0]) / measured.PAYLOAD_BYTES
    if point.group == "compete":
        return share_of_first(result)
    if point.group == "messages":
        return mean_latency_ms(result)
    seconds = measured.SPRAY_S if point.group == "spray" else measured.GOODPUT_S
    return float(flow["delivered_bytes"]) * 8 / 1e6 / seconds


def share_of_first(result: Result) -> float:
    """Share of the first flow in what both delivered from 5 s to the end."""
    series = result.flow_series.filter(pl.col("time_s") > measured.SHARE_FROM_S)
    by_flow = dict(series.group_by("flow").agg(pl.col("goodput_mbps").sum()).iter_rows())
    return float(by_flow[0] / sum(by_flow.values()))


def mean_latency_ms(result: Result) -> float:
    """Mean time from the writing of a message to the delivery of its last byte, within a sample."""
    series = result.flow_series
    times = series["time_s"].to_list()
    step_s = times[1] - times[0]
    delivered = (series["goodput_mbps"] * step_s * 1e6 / 8).cum_sum().round()
    whole = int(delivered[-1]) // measured.MESSAGE_BYTES
    wanted = pl.Series([(count + 1) * measured.MESSAGE_BYTES for count in range(whole)], dtype=pl.Float64)
    ends = delivered.search_sorted(wanted)
    return 1e3 * mean(times[end] - (count + 1) * measured.MESSAGE_GAP_S for count, end in enumerate(ends))


def outcome(point: Point, tasks: list[Task], runs: list[Measured]) -> Outcome:
    """The runs of one point together."""
    values = [run.value for run in runs]
    if point.matched:
        ratios = [run.value / task.kernel for task, run in zip(tasks, runs, strict=True)]
    else:
        ratios = [mean(values) / point.kernel]
    compared = point.retransmitted_percent is not None
    return Outcome(
        point=point,
        simulated=mean(values),
        ratios=tuple(ratios),
        retransmitted_percent=mean(run.retransmitted_percent for run in runs) if compared else None,
        srtt_ms=mean(run.srtt_ms for run in runs) if point.srtt_ms is not None else None,
    )


def with_hosts(task: Task, hosts: dict[str, Any]) -> Task:
    """The same run with these settings of all hosts (`network.hosts` of a scenario)."""
    network = {**task.document["network"], "hosts": hosts}
    return replace(task, document={**task.document, "network": network})


def simulate(chosen: Iterable[Point], workers: int = 2, hosts: dict[str, Any] | None = None) -> list[Outcome]:
    """Every point simulated, in order; `hosts` as in `network.hosts` of a scenario."""
    by_point = [(point, [with_hosts(task, hosts or {}) for task in tasks_of(point)]) for point in chosen]
    with ProcessPoolExecutor(workers) as pool:
        runs = pool.map(measure, [task for _, tasks in by_point for task in tasks], chunksize=4)
        return [outcome(point, tasks, [next(runs) for _ in tasks]) for point, tasks in by_point]
