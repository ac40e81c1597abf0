"""Figures 6 and 9 of Garcia-Aviles 2017 with Linux's Multipath TCP, over bridges of Open vSwitch.

Linux has no coupled congestion control, so that each subflow is a CUBIC of its own. The simulator runs the
same scenario uncoupled, too, which predicts what that changes. Paths have a fifth of the thesis's capacity
and of the queue taken there.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import polars as pl

from anabranch import Scenario
from anabranch.results.censored import jain
from anabranch.results.result import Result
from anabranch_publications.papers.findings import Finding, Prediction, number, predicts
from anabranch_publications.papers.live_runs import LiveRuns, check_live
from anabranch_publications.papers.model import Context, FigureResult, FigureSpec, Paper
from anabranch_publications.papers.semper.failure import PATHS, SCHEMES
from anabranch_publications.papers.semper.figures import HEADERS
from anabranch_publications.papers.semper.network import STATEFUL, down, scenario

CAPACITY_MBPS: Final = 10
_PATH: Final = {"capacity": f"{CAPACITY_MBPS} Mbps", "queue": "20 packets"}
_TRANSPORT: Final = {"preset": "mptcp-cubic"}
_SEEDS: Final = 10
"""Of simulations behind a prediction."""
_NOTE: Final = (
    f"Paths of {CAPACITY_MBPS} Mbps with queues of 20 packets, a fifth of figures 6 and 9 of the simulation. "
    "The kernel's Multipath TCP is uncoupled: each subflow is a CUBIC, where the thesis couples them (LIA). "
    "A host with more subflows on a path thus gets more of it, and shares follow the placement of subflows. "
    "Predictions are those of the simulator with the same uncoupled connections."
)
_STALLS: Final = (
    "Each of SEMPER's 32 subflows of a host has a window of two or three segments, and times out five to "
    "nine times in a run. What waits for such a subflow fills Linux's buffers, and a host then rests for "
    "up to three seconds. So the total before the failure is below what the paths carry, and its share "
    "after it above 0.75. In one run with a send buffer of 16 MB and a receive buffer of 32 MB, set by "
    "hand, both hosts had 36 to 38 Mbps together in most seconds before the failure, and 28.5 in all "
    "behind it; with the receive buffer alone, 28 to 37."
)


def two_hosts(duration_s: int, seed: int) -> dict[str, Any]:
    """Figure 6: two hosts with two subflows each, over two paths in turn."""
    document = scenario(
        [_PATH] * 2, 2, 2, spread=STATEFUL, transport=_TRANSPORT, duration_s=duration_s, sample_s=1
    )
    document["run"]["seed"] = seed
    return document


def failing(scheme: str, duration_s: int, fails_s: int, seed: int) -> dict[str, Any]:
    """Figure 9: one of four paths fails, which no router notices."""
    spread, subflows = SCHEMES[scheme]
    document = scenario(
        [_PATH] * PATHS, 2, subflows, spread=spread, transport=_TRANSPORT, duration_s=duration_s, sample_s=1
    )
    document["event"] = [down(PATHS, fails_s)]
    document["run"]["seed"] = seed
    return document


def rates(result: Result, after_s: float, until_s: float) -> list[float]:
    """Mbps of each host that arrive on its subflows between two instants, as the thesis counts them."""
    window = pl.col("time_s").is_between(after_s + 1e-6, until_s + 1e-6)
    series = result.tables["subflow_series"].filter(window)
    # A sample is of the time since the one before; the last one of a live run may be missing.
    samples = max(series["time_s"].n_unique(), 1)
    sums = dict(series.group_by("flow").agg(pl.col("throughput_mbps").sum() / samples).iter_rows())
    return [float(sums.get(flow, 0.0)) for flow in result.flows["flow"].to_list()]


Measure = Callable[[Result], float]


def total_percent(after_s: float, until_s: float, paths: int) -> Measure:
    """The rate of the two hosts together, in percent of the paths' bit rate."""
    return lambda result: 100 * sum(rates(result, after_s, until_s)) / (paths * CAPACITY_MBPS)


def share_left(settled_s: int, fails_s: int, duration_s: int) -> Measure:
    """Total after a failure over that before; the first second after it is left out."""
    return lambda result: sum(rates(result, fails_s + 1, duration_s)) / sum(rates(result, settled_s, fails_s))


def fairness(after_s: float, until_s: float) -> Measure:
    """Jain's index of the hosts."""
    return lambda result: float(jain(rates(result, after_s, until_s)) or 0.0)


@cache
def _simulated(scheme: str, duration_s: int, fails_s: int) -> tuple[Result, ...]:
    """Simulations of figure 6 (no scheme), or of figure 9."""
    documents = (
        failing(scheme, duration_s, fails_s, 100 + seed) if scheme else two_hosts(duration_s, 100 + seed)
        for seed in range(_SEEDS)
    )
    return tuple(Scenario.from_data(document).run() for document in documents)


def _predicted(values: list[float], runs: int, what: str) -> Prediction:
    error = statistics.stdev(values) * math.sqrt(1.57 / runs + 1 / len(values))
    return Prediction(
        statistics.median(values),
        3 * error,
        f"{what} by the simulator with uncoupled CUBIC, {len(values)} seeds; three standard errors of {runs} "
        "live runs",
    )


@predicts
def uncoupled_total(duration_s: int, window_s: int, runs: int) -> Prediction:
    """Figure 6's total in percent of the paths' bit rate, by uncoupled connections in the simulator."""
    measure = total_percent(duration_s - window_s, duration_s, 2)
    values = [measure(result) for result in _simulated("", duration_s, 0)]
    return _predicted(values, runs, "the total")


@predicts
def uncoupled_share_left(scheme: str, duration_s: int, fails_s: int, runs: int) -> Prediction:
    """Figure 9's total after the failure over that before, likewise."""
    measure = share_left(fails_s // 2, fails_s, duration_s)
    values = [measure(result) for result in _simulated(scheme, duration_s, fails_s)]
    return _predicted(values, runs, "what is left")


@predicts
def uncoupled_fairness(scheme: str, duration_s: int, fails_s: int, runs: int) -> Prediction:
    """Jain's index of figure 9's hosts before the failure, likewise."""
    measure = fairness(fails_s // 2, fails_s)
    values = [measure(result) for result in _simulated(scheme, duration_s, fails_s)]
    return _predicted(values, runs, "Jain's index")


def capacity_region(context: Context) -> FigureResult:
    """Figure 6: two hosts on two paths, by several windows."""
    check_live(mptcp=True)
    runs = LiveRuns()
    duration_s, times = (10, 1) if context.quick else (40, 3)
    windows = (5,) if context.quick else (5, 10, 20)
    results = [runs.run(two_hosts(duration_s, seed)) for seed in range(1, times + 1)]
    findings = []
    rows = []
    for window_s in windows:
        measure = total_percent(duration_s - window_s, duration_s, 2)
        values = [measure(result) for result in results]
        rows += [
            (run, window_s, *rates(result, duration_s - window_s, duration_s))
            for run, result in enumerate(results, 1)
        ]
        findings.append(
            number(
                f"total throughput over the paths' bit rate, T_M = {window_s} s, median of {times} runs",
                94,
                statistics.median(values),
                unit="%",
                digits=0,
                tolerance=HEADERS,
                prediction=uncoupled_total(duration_s, window_s, times),
            )
        )
    joined = [
        statistics.fmean(result.tables["connections"]["subflows_established"].to_list()) for result in results
    ]
    findings.append(
        Finding(
            f"subflows that Linux has opened, of 2 for each host, fewest of {times} runs",
            "2",
            f"{min(joined):g}",
            min(joined) == 2,
            "all of them",
            "bound",
        )
    )
    table = pl.DataFrame(rows, schema=["run", "window_s", "host_1_mbps", "host_2_mbps"], orient="row")
    return FigureResult(
        "6",
        "Validation: capacity region and measuring window",
        tuple(findings),
        {"rates": table},
        shown={"Throughput of both hosts": table.with_columns(pl.col(pl.Float64).round(2))},
        note=f"{_NOTE} T = {duration_s} s. {runs.note()}",
    )


def path_fails(context: Context) -> FigureResult:
    """Figure 9: one of four paths fails while two hosts send."""
    check_live(mptcp=True)
    runs = LiveRuns()
    duration_s, fails_s, times = (16, 8, 1) if context.quick else (40, 20, 3)
    findings: list[Finding] = []
    rows = []
    for scheme in SCHEMES:
        results = [runs.run(failing(scheme, duration_s, fails_s, seed)) for seed in range(1, times + 1)]
        left = [share_left(fails_s // 2, fails_s, duration_s)(result) for result in results]
        index = [fairness(fails_s // 2, fails_s)(result) for result in results]
        opened = [sum(result.tables["connections"]["subflows_established"].to_list()) for result in results]
        findings += [
            number(
                f"{scheme}: total after the failure over that before, median of {times} runs",
                0.75,
                statistics.median(left),
                unit="",
                digits=2,
                prediction=uncoupled_share_left(scheme, duration_s, fails_s, times),
            ),
            Finding(
                f"{scheme}: Jain's index before the failure, median of {times} runs",
                "above 0.9",
                f"{statistics.median(index):.3f}",
                statistics.median(index) > 0.9,
                "above 0.9",
                value=statistics.median(index),
                prediction=uncoupled_fairness(scheme, duration_s, fails_s, times),
            ),
            Finding(
                f"{scheme}: subflows that Linux has opened, fewest of {times} runs",
                f"{2 * SCHEMES[scheme][1]}",
                f"{min(opened)}",
                min(opened) == 2 * SCHEMES[scheme][1],
                "all of them",
                "bound",
            ),
        ]
        for run, result in enumerate(results, 1):
            for second in range(fails_s - 2, fails_s + 6):
                both = rates(result, second, second + 1)
                rows.append((scheme, run, second + 1, *both, sum(both)))
    table = pl.DataFrame(
        rows,
        schema=["scheme", "run", "until_s", "host_1_mbps", "host_2_mbps", "total_mbps"],
        orient="row",
    )
    return FigureResult(
        "9",
        "A path fails, N = 2",
        tuple(findings),
        {"seconds": table},
        shown={
            "Around the failure, first run": table.filter(pl.col("run") == 1)
            .drop("run")
            .with_columns(pl.col(pl.Float64).round(2))
        },
        note=f"{_NOTE} T = {duration_s} s, one path of four is down from {fails_s} s on. {_STALLS} "
        f"{runs.note()}",
    )


LIVE: Final = Paper(
    "semper-live",
    "SEMPER with Linux's Multipath TCP on real switches",
    "G. Garcia-Aviles, Master's thesis, Universidad Carlos III de Madrid, 2017, section V",
    (
        FigureSpec("6", "Validation: capacity region and measuring window", capacity_region),
        FigureSpec("9", "A path fails, N = 2", path_fails),
    ),
)
"""Figures 6 and 9, live."""
