"""Figures 9 and 11 of Garcia-Aviles 2017: one of four paths fails while the hosts send."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import polars as pl

from anabranch.papers.model import Context, FigureResult, Finding
from anabranch.papers.semper import drawing
from anabranch.papers.semper.figures import OPEN
from anabranch.papers.semper.network import (
    PATH_MBPS,
    STATEFUL,
    STATELESS,
    SUBFLOWS,
    down,
    scenario,
)
from anabranch.papers.semper.studies import RUNS, Method, study, usable_mbps
from anabranch.study.result import StudyResult

PATHS: Final = 4
SCHEMES: Final = {"SEMPER": (STATELESS, SUBFLOWS), "stateful": (STATEFUL, PATHS)}
"""Spread and subflows of a host."""

ADAPTED_S: Final = 2
"""Seconds after which what is left of the capacity is to be in use."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When the path fails, and what is looked at."""

    duration_s: int
    fails_s: int
    settled_s: int
    """From when on the time before the failure counts."""
    runs: int


def timing(context: Context) -> Timing:
    """The thesis's 400 s with a failure at 200 s."""
    return Timing(40, 20, 10, 2) if context.quick else Timing(400, 200, 100, RUNS)


def failing_path(key: str, senders: int) -> Callable[[Context], FigureResult]:
    """Figure 9 (two hosts) or 11 (four): throughput and fairness second by second."""
    title = f"A path fails, N = {senders}"

    def make(context: Context) -> FigureResult:
        times = timing(context)
        method = Method(times.duration_s, times.duration_s - times.fails_s, times.runs)
        levels = {name: _document(senders, name, times) for name in SCHEMES}
        result = study(
            context, f"failure-{senders}", f"One of four paths fails, N = {senders}", levels, method
        )
        rows = _seconds(result)
        findings = [finding for name in SCHEMES for finding in _adapts(result, rows, name, times)]
        findings += _smoothness(rows, times)
        return FigureResult(
            key,
            title,
            tuple(findings),
            {"seconds": rows},
            _pictures(rows, senders, title),
            note=OPEN + f"One path of four is down from {times.fails_s} s on; what is sent there is lost, as "
            "routers do not notice. "
            f"{times.runs} runs; the figures show the first.",
        )

    return make


def _document(senders: int, scheme: str, times: Timing) -> dict[str, Any]:
    spread, subflows = SCHEMES[scheme]
    document = scenario(PATHS, senders, subflows, spread=spread, duration_s=times.duration_s)
    document["event"] = [down(PATHS, times.fails_s)]
    return document


def _seconds(result: StudyResult) -> pl.DataFrame:
    """Throughput of each host and second, with the setting and the run's number within it."""
    runs = result.runs.select(
        pl.col("run").cast(pl.Int64), pl.col("setting").cast(pl.String), pl.col("replication").cast(pl.Int64)
    )
    series = result.query(
        "select run, flow, time_s, goodput_mbps from flow_series order by run, time_s, flow"
    )
    return series.with_columns(pl.col("run").cast(pl.Int64)).join(runs, on="run", how="left")


def _totals(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Total and Jain's index of each run and second."""
    rate = pl.col("goodput_mbps")
    return (
        rows.filter(pl.col("setting") == name)
        .group_by("run", "time_s", maintain_order=True)
        .agg(
            rate.sum().alias("total"),
            (rate.sum() ** 2 / (rate.len() * (rate**2).sum())).alias("jain"),
            rate.min().alias("least"),
        )
    )


def _adapts(result: StudyResult, rows: pl.DataFrame, name: str, times: Timing) -> list[Finding]:
    totals = _totals(rows, name)
    after = totals.filter(pl.col("time_s") > times.fails_s + ADAPTED_S + 1e-6)
    before = totals.filter((pl.col("time_s") > times.settled_s) & (pl.col("time_s") <= times.fails_s + 1e-6))
    share = statistics.median(after["total"].to_list()) / statistics.median(before["total"].to_list())
    (worst,) = (
        totals.filter(
            (pl.col("time_s") > times.fails_s + ADAPTED_S + 1e-6)
            & (pl.col("time_s") <= times.fails_s + ADAPTED_S + 1 + 1e-6)
        )
        .select(pl.col("total").median())
        .to_series()
        .to_list()
    )
    left = usable_mbps(PATHS - 1, PATH_MBPS)
    stalled = result.query(
        "select sum(stalled_s) as s, max(case when stalled_since_s is null then 0 else 1 end) as still "  # noqa: S608 - no input
        f"from connections join runs using (run) where runs.setting = '{name}'"
    )
    seconds, still = float(stalled["s"].item() or 0), int(stalled["still"].item())
    least = min(float(value) for value in after["least"].to_list())
    return [
        Finding(
            f"{name}: total after the failure over that before",
            "3/4",
            f"{share:.3f}",
            abs(share - 0.75) <= 0.01,
        ),
        Finding(
            f"{name}: total in the third second after the failure",
            "adapts at once, practically no loss of efficiency",
            f"{worst:.1f} of {left:.1f} Mbps",
            worst >= 0.95 * left,
        ),
        Finding(
            f"{name}: connections that stall, in {times.runs} runs",
            "none",
            f"{seconds:.2f} s without a subflow to send on, all together; slowest second of any host "
            f"{least:.1f} Mbps",
            still == 0 and seconds < 1 and least > 0,
        ),
    ]


def _smoothness(rows: pl.DataFrame, times: Timing) -> list[Finding]:
    """How steady a host's throughput and fairness are: from one second to the next, and over all of them."""
    steady = rows.filter(pl.col("time_s") > times.fails_s + 5)
    rate = pl.col("goodput_mbps")
    each = steady.group_by("setting", "run", "flow", maintain_order=True).agg(
        (rate.diff().std() / rate.mean()).alias("step"), (rate.std() / rate.mean()).alias("spread")
    )
    by_scheme = {name: each.filter(pl.col("setting") == name) for name in SCHEMES}
    step, spread = (
        {name: statistics.median(own[column].to_list()) for name, own in by_scheme.items()}
        for column in ("step", "spread")
    )
    jain = {
        name: _totals(rows, name).filter(pl.col("time_s") > times.fails_s + 5)["jain"].to_list()
        for name in SCHEMES
    }
    middle = {name: statistics.median(values) for name, values in jain.items()}
    change = {
        name: statistics.fmean(abs(b - a) for a, b in pairwise(values)) for name, values in jain.items()
    }
    semper, stateful = SCHEMES
    return [
        Finding(
            "a host's throughput from one second to the next: standard deviation of the change over "
            "the mean, "
            "SEMPER and stateful",
            "SEMPER is very smooth, the stateful scheme varies",
            f"{step[semper]:.3f} and {step[stateful]:.3f}",
            step[semper] < step[stateful],
        ),
        Finding(
            "a host's throughput over all seconds: standard deviation over the mean, SEMPER and stateful",
            "SEMPER is very smooth, the stateful scheme varies",
            f"{spread[semper]:.3f} and {spread[stateful]:.3f}",
            spread[semper] < 0.8 * spread[stateful],
            DRIFT,
        ),
        Finding(
            "Jain's index of each second: median, and mean change to the next, SEMPER and stateful",
            "SEMPER is stable, the stateful scheme less predictable",
            f"{middle[semper]:.3f} ({change[semper]:.4f}) and {middle[stateful]:.3f} "
            f"({change[stateful]:.4f})",
            change[semper] < change[stateful],
        ),
    ]


DRIFT: Final = (
    "SEMPER's 32 subflows make small steps, and what they add up to drifts slowly: K like subflows "
    "together grow by a "
    "K-th of a segment in a round trip (RFC 6356, equation 2); over 200 s that is as wide as the "
    "steps of four subflows"
)


def _pictures(rows: pl.DataFrame, senders: int, title: str) -> dict[str, Any]:
    first = rows.filter(pl.col("replication") == rows["replication"].min())
    hosts: dict[str, dict[str, tuple[Sequence[float], Sequence[float]]]] = {}
    fairness: dict[str, dict[str, tuple[Sequence[float], Sequence[float]]]] = {}
    for name in SCHEMES:
        totals = _totals(first, name)
        times = totals["time_s"].to_list()
        hosts[name] = {"all": (times, totals["total"].to_list())}
        for flow in range(senders):
            own = first.filter((pl.col("setting") == name) & (pl.col("flow") == flow))
            hosts[name][f"host {flow + 1}"] = (own["time_s"].to_list(), own["goodput_mbps"].to_list())
        fairness[name] = {"Jain's index": (times, totals["jain"].to_list())}
    return {
        "throughput": drawing.over_time(title, hosts, "Mbps"),
        "fairness": drawing.over_time(title, fairness, "Jain's index"),
    }
