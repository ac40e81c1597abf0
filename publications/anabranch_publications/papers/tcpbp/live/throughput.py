"""Tables 4 and 5 of Vilela 2022 on real switches: what the kernel's flows get, by the length of trains."""

from __future__ import annotations

import math
import statistics
from functools import cache
from typing import Any, Final

import polars as pl

from anabranch import Scenario
from anabranch.results.censored import jain
from anabranch.results.result import Result
from anabranch_publications.papers.findings import Finding, Prediction, Tolerance, number, predicts
from anabranch_publications.papers.live_runs import LiveRuns, check_live
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.tcpbp.live.testbed import FLOWS, SCALED, network_table
from anabranch_publications.papers.tcpbp.network import ROUTINGS, TRAIN_SEGMENTS
from anabranch_publications.papers.tcpbp.throughput import PUBLISHED_JAIN, PUBLISHED_MBPS, TWO_ROUTES_VARY

TRAINS: Final = (1, 2, TRAIN_SEGMENTS)
"""Segments that a host hands to its links at once: none, Linux's own measure at these rates, and the length
that the simulation needs for table 4."""
DURATION_S: Final = 60
"""As in the thesis. A short run has more of the slow start, which brings most on the route of least loss: the
simulator's ratio of TCPBP over hop count is 1.50 in 15 s, and 1.44 in 60."""
SEEDS: Final = 2
"""A ratio of two runs of a minute has a standard deviation of 0.03 to 0.06 in the simulator."""


def flows(routing: str, train_segments: int, duration_s: int, seed: int) -> dict[str, Any]:
    """Flows of the kernel's CUBIC from 1 to 10 on the route of a routing."""
    start = {"distribution": "uniform", "low": "0 ms", "high": "1 s"}
    entry = {"name": "flow", "from": "1", "to": "10", "flows": FLOWS, "transport": "linux-cubic"}
    return {
        "network": network_table(train_segments),
        "routing": dict(ROUTINGS[routing]),
        "traffic": [{**entry, "start": start}],
        "run": {"duration": f"{duration_s} s", "seed": seed, "flow_series": False, "link_series": False},
    }


def _rate_and_fairness(result: Result) -> tuple[float, float]:
    rates = result.flows["goodput_mbps"].to_list()
    return statistics.fmean(rates), float(jain(rates) or 0.0)


@cache
def _simulated(
    routing: str, train_segments: int, duration_s: int, seeds: int
) -> tuple[tuple[float, float], ...]:
    return tuple(
        _rate_and_fairness(Scenario.from_data(flows(routing, train_segments, duration_s, 100 + seed)).run())
        for seed in range(seeds)
    )


@predicts
def by_simulation(
    routing: str, train_segments: int, duration_s: int, runs: int, over: str | None = None
) -> Prediction:
    """The mean throughput of a flow by the simulator with the same scenario, or its ratio to another one.

    Args:
        routing: whose route.
        train_segments: what hosts send at once.
        duration_s: of each run, in seconds.
        runs: live runs whose mean is predicted.
        over: another routing, for the ratio of both.
    """
    seeds = 10

    def of(name: str) -> tuple[float, float]:
        rates = [rate for rate, _ in _simulated(name, train_segments, duration_s, seeds)]
        return statistics.fmean(rates), statistics.stdev(rates)

    value, spread = of(routing)
    if over is not None:
        below, scatter = of(over)
        value, spread = value / below, value / below * math.hypot(spread / value, scatter / below)
    error = spread * math.sqrt(1 / runs + 1 / seeds)
    return Prediction(
        value,
        3 * error,
        f"the simulator's CUBIC of Linux in the same scenario, {seeds} seeds; three standard errors of "
        f"{runs} live runs",
    )


@predicts
def fairness_by_simulation(routing: str, train_segments: int, duration_s: int, runs: int) -> Prediction:
    """Jain's index by the simulator with the same scenario."""
    values = [index for _, index in _simulated(routing, train_segments, duration_s, 10)]
    error = statistics.stdev(values) * math.sqrt(1 / runs + 1 / len(values))
    return Prediction(
        statistics.fmean(values),
        3 * error,
        f"{FLOWS} flows of {duration_s} s in the simulator: the shorter a run, the less alike are its flows",
    )


def kernels_throughput(context: Context) -> FigureResult:
    """Tables 4 and 5 on 1 => 10: throughput of a flow and Jain's index, by the length of trains."""
    check_live()
    runs, duration_s = LiveRuns(), 8 if context.quick else DURATION_S
    trains, seeds = (TRAINS[-1:], 1) if context.quick else (TRAINS, SEEDS)
    results: dict[tuple[int, str], tuple[float, float]] = {}
    for segments in trains:
        for name in PUBLISHED_MBPS:
            measured = [
                _rate_and_fairness(runs.run(flows(name, segments, duration_s, seed)))
                for seed in range(1, seeds + 1)
            ]
            results[segments, name] = (
                statistics.fmean(rate for rate, _ in measured),
                statistics.fmean(index for _, index in measured),
            )
    findings = []
    for segments in trains:
        findings += _throughput_findings(results, segments, duration_s, seeds)
    rows = [
        {"train_segments": segments, "routing": name, "flow_mbps": rate, "jain": index}
        for (segments, name), (rate, index) in results.items()
    ]
    table = pl.DataFrame(rows)
    return FigureResult(
        "table-4",
        "Tables 4 and 5: 1 => 10 with and without trains of segments",
        tuple(findings),
        {"throughput": table},
        shown={f"Means of {seeds} runs": table.with_columns(pl.col(pl.Float64).round(3))},
        note=f"{SCALED} Runs of {duration_s} s. The kernel's CUBIC; hosts hand over trains of so "
        "many segments at most, which links take or lose whole (GSO). Linux sizes them by the flow's rate, "
        f"to two segments here; {TRAIN_SEGMENTS} are what the simulation needs for table 4. {runs.note()}",
    )


def _named(segments: int) -> str:
    return "no trains" if segments == 1 else f"trains of {segments} segments"


def _throughput_findings(
    results: dict[tuple[int, str], tuple[float, float]], segments: int, duration_s: int, runs: int
) -> list[Finding]:
    of = _named(segments)
    findings = [
        number(
            f"{name}: throughput of a flow, {of}",
            published,
            results[segments, name][0],
            unit="Mbps",
            digits=1,
            tolerance=Tolerance(0.1 * published, f"{TWO_ROUTES_VARY}, and short runs scatter"),
            prediction=by_simulation(name, segments, duration_s, runs),
        )
        for name, published in PUBLISHED_MBPS.items()
    ]
    rate = {name: results[segments, name][0] for name in PUBLISHED_MBPS}
    ranked, wanted = (
        sorted(rate, key=lambda name: -rate[name]),
        sorted(PUBLISHED_MBPS, key=lambda name: -PUBLISHED_MBPS[name]),
    )
    findings.append(Finding(f"order, {of}", " > ".join(wanted), " > ".join(ranked), ranked == wanted))
    for name in ("TCPBP", "delay"):
        ratio = PUBLISHED_MBPS[name] / PUBLISHED_MBPS["hop count"]
        findings.append(
            number(
                f"{name} over hop count, {of}",
                ratio,
                rate[name] / rate["hop count"],
                unit="",
                digits=2,
                tolerance=Tolerance(0.15 * ratio, f"{TWO_ROUTES_VARY}, and a ratio of two by 15 %"),
                prediction=by_simulation(name, segments, duration_s, runs, "hop count"),
            )
        )
    for name, published in PUBLISHED_JAIN[10].items():
        findings.append(
            number(
                f"{name}: Jain's index, {of}",
                published,
                results[segments, name][1],
                unit="",
                digits=2,
                tolerance=Tolerance(0.035, "half of what the printed values span, 0.88 to 0.95"),
                prediction=fairness_by_simulation(name, segments, duration_s, runs),
            )
        )
    return findings
