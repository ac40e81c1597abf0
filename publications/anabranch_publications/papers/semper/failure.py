"""Figures 9 and 11 of Garcia-Aviles 2017: one of four paths fails while the hosts send."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import polars as pl

from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.semper import drawing
from anabranch_publications.papers.semper.figures import OPEN
from anabranch_publications.papers.semper.network import (
    PATH_MBPS,
    STATEFUL,
    STATELESS,
    SUBFLOWS,
    down,
    scenario,
)
from anabranch_publications.papers.semper.recovery import returning_path
from anabranch_publications.papers.semper.studies import RUNS, Method, jain_index, study, usable_mbps
from anabranch_publications.papers.sql import query

PATHS: Final = 4
SCHEMES: Final = {"SEMPER": (STATELESS, SUBFLOWS), "stateful": (STATEFUL, PATHS)}
"""Spread and subflows of a host."""

ADAPTED: Final = 0.95
"""Share of what is left of the capacity from which on a total counts as practically no loss."""
ADAPTED_S: Final = 2
"""Seconds after which applications are to have that as well, in order."""


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
        if senders == 2:
            findings.append(_symmetric(rows, times))
        back = returning_path(context, senders)
        findings += back.findings
        return FigureResult(
            key,
            title,
            tuple(findings),
            {"seconds": rows, "return": back.runs},
            _pictures(rows, senders, title),
            note=OPEN + f"One path of four is down from {times.fails_s} s on; what is sent there is lost, as "
            "routers do not notice. "
            f"{times.runs} runs; the figures show the first. Throughput is what arrives on the subflows, "
            f"as in the thesis. {back.note}",
        )

    return make


def _document(senders: int, scheme: str, times: Timing) -> dict[str, Any]:
    spread, subflows = SCHEMES[scheme]
    document = scenario(PATHS, senders, subflows, spread=spread, duration_s=times.duration_s)
    document["event"] = [down(PATHS, times.fails_s)]
    return document


def _seconds(result: StudyResult) -> pl.DataFrame:
    """Rates of each host and second, with the setting and the run's number within it.

    ``throughput_mbps`` is what arrives on the host's subflows, as the thesis counts it; ``goodput_mbps`` is
    what the application gets of it, in order.
    """
    runs = result.runs.select(
        pl.col("run").cast(pl.Int64), pl.col("setting").cast(pl.String), pl.col("replication").cast(pl.Int64)
    )
    series = query(
        result,
        "select run, flow, flow_series.time_s, goodput_mbps, coalesce(arrived, 0) as throughput_mbps "
        "from flow_series left join (select run, flow, time_s, sum(throughput_mbps) as arrived "
        "from subflow_series group by run, flow, time_s) as subflows using (run, flow, time_s) "
        "order by run, flow_series.time_s, flow",
    )
    return series.with_columns(pl.col("run").cast(pl.Int64)).join(runs, on="run", how="left")


def _totals(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Totals and Jain's index of each run and second."""
    rate = pl.col("throughput_mbps")
    stream = pl.col("goodput_mbps")
    return (
        rows.filter(pl.col("setting") == name)
        .group_by("run", "time_s", maintain_order=True)
        .agg(
            rate.sum().alias("total"),
            jain_index(rate).alias("jain"),
            stream.sum().alias("stream"),
            stream.min().alias("least"),
        )
    )


def _second(totals: pl.DataFrame, column: str, until_s: float) -> float:
    """Median over the runs of the second that ends then."""
    values = totals.filter((pl.col("time_s") - until_s).abs() < 0.5)[column].to_list()
    return float(statistics.median(values))


def _adapts(result: StudyResult, rows: pl.DataFrame, name: str, times: Timing) -> list[Finding]:
    totals = _totals(rows, name)
    after = totals.filter(pl.col("time_s") > times.fails_s + 1e-6)
    before = totals.filter((pl.col("time_s") > times.settled_s) & (pl.col("time_s") <= times.fails_s + 1e-6))
    share = statistics.median(after["total"].to_list()) / statistics.median(before["total"].to_list())
    first = [_second(totals, "total", times.fails_s + second) for second in (1, 2, 3)]
    stream = _second(totals, "stream", times.fails_s + ADAPTED_S + 1)
    left = usable_mbps(PATHS - 1, PATH_MBPS)
    stalled = query(
        result,
        "select sum(stalled_s) as s, max(case when stalled_since_s is null then 0 else 1 end) as still "  # noqa: S608 - no input
        f"from connections join runs using (run) where runs.setting = '{name}'",
    )
    seconds, still = float(stalled["s"].item() or 0), int(stalled["still"].item())
    late = after.filter(pl.col("time_s") > times.fails_s + ADAPTED_S + 1e-6)
    least = min(float(value) for value in late["least"].to_list())
    return [
        Finding(
            f"{name}: total after the failure over that before",
            "3/4",
            f"{share:.3f}",
            abs(share - 0.75) <= 0.01,
            "within 0.01: the link's share of the printed curve",
        ),
        Finding(
            f"{name}: total in the first, second and third second after the failure",
            "adapts at once, practically no loss of efficiency",
            f"{first[0]:.1f}, {first[1]:.1f} and {first[2]:.1f} of {left:.1f} Mbps",
            min(first) >= ADAPTED * left,
            f"{ADAPTED} of what is left or more",
        ),
        Finding(
            f"{name}: what applications get in order, third second after the failure",
            "not said; subflows adapt at once",
            f"{stream:.1f} of {left:.1f} Mbps",
            stream >= ADAPTED * left,
            f"{ADAPTED} of what is left or more",
            "bound",
        ),
        Finding(
            f"{name}: connections that stall, in {times.runs} runs",
            "none",
            f"{seconds:.2f} s without a subflow to send on, all together; from the third second on, the "
            f"slowest second of any application {least:.1f} Mbps",
            still == 0 and seconds < 1 and least > 0,
            "less than a second altogether",
            "bound",
        ),
    ]


def _smoothness(rows: pl.DataFrame, times: Timing) -> list[Finding]:
    """How steady a host's throughput and fairness are: from one second to the next, and over all of them."""
    steady = rows.filter(pl.col("time_s") > times.fails_s + 5)
    rate = pl.col("throughput_mbps")
    each = steady.group_by("setting", "run", "flow", maintain_order=True).agg(
        (rate.diff().std() / rate.mean()).alias("step"), (rate.std() / rate.mean()).alias("spread")
    )
    by_scheme = {name: each.filter(pl.col("setting") == name) for name in SCHEMES}
    step, spread = (
        {name: statistics.median(table[column].to_list()) for name, table in by_scheme.items()}
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
            "SEMPER's is smaller by a fifth: the standard deviation of 200 seconds scatters by 5 %",
            remark=DRIFT,
        ),
        Finding(
            "Jain's index of each second: median, and mean change to the next, SEMPER and stateful",
            "SEMPER is stable, the stateful scheme less predictable",
            f"{middle[semper]:.3f} ({change[semper]:.4f}) and {middle[stateful]:.3f} "
            f"({change[stateful]:.4f})",
            change[semper] < change[stateful],
        ),
    ]


def _symmetric(rows: pl.DataFrame, times: Timing) -> Finding:
    """Whether one host has what the other lacks, second by second, under the stateful scheme."""
    after = rows.filter((pl.col("setting") == "stateful") & (pl.col("time_s") > times.fails_s + 5))
    wide = after.pivot(on="flow", index=["run", "time_s"], values="throughput_mbps")
    total = (pl.col("0") + pl.col("1")).std() / (pl.col("0").std() + pl.col("1").std())
    each = wide.group_by("run").agg(total.alias("left"))["left"].to_list()
    middle = statistics.median(each)
    return Finding(
        "stateful: standard deviation of both hosts' sum over the sum of their standard deviations",
        "symmetry between the two lines",
        f"{middle:.3f}",
        middle < 0.1,
        "below 0.1: what one lacks the other has. With full paths nothing else is possible",
        "bound",
    )


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
            of_host = first.filter((pl.col("setting") == name) & (pl.col("flow") == flow))
            hosts[name][f"host {flow + 1}"] = (
                of_host["time_s"].to_list(),
                of_host["throughput_mbps"].to_list(),
            )
        fairness[name] = {"Jain's index": (times, totals["jain"].to_list())}
    return {
        "throughput": drawing.over_time(title, hosts, "Mbps"),
        "fairness": drawing.over_time(title, fairness, "Jain's index"),
    }
