"""Footnote 4 of Garcia-Aviles 2017: the path that failed comes back, and the throughput with it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.findings import Finding, Prediction, predicts
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.semper.network import STATELESS, SUBFLOWS, down, scenario
from anabranch_publications.papers.semper.studies import Method, study

PATHS: Final = 4
WHOLE: Final = 0.95
"""Share of the total before the failure from which on it counts as whole."""
STEADY_S: Final = 3
"""Seconds in a row that it must be so."""
IMMEDIATE_S: Final = 5
"""Seconds that count as "practically immediate" beside the 400 s of the figure."""

FILLED_S: Final = 3
"""Seconds until subflows of 20 ms have filled a path by slow start, the rest of a sampled second included."""

NOTICED: Final = "routers notice within 100 ms"
RACK: Final = "routers never notice, RACK"
DUPLICATE_ACKS: Final = "routers never notice, duplicate ACKs"


@dataclass(frozen=True, slots=True)
class Variant:
    """The end that finds out about the failure, and how a subflow finds its losses."""

    reaction: str
    loss_detection: str
    first_rto_s: tuple[float, float] | None
    """Least and largest retransmission timeout at the failure, where it decides: 200 ms with duplicate ACKs
    (RFC 6298 with Linux's least), and with RACK that much above a round trip of 20 ms, which a full queue and
    the variation of the samples lengthen."""


VARIANTS: Final = {
    NOTICED: Variant("100 ms", "rack", None),
    RACK: Variant("never", "rack", (0.22, 0.27)),
    DUPLICATE_ACKS: Variant("never", "dupack", (0.2, 0.2)),
}


@dataclass(frozen=True, slots=True)
class Outage:
    """When the path is down, and what is looked at; how long it is down decides who is in luck."""

    settled_s: int
    fails_s: int
    returns_s: int
    duration_s: int
    runs: int


@dataclass(frozen=True, slots=True)
class Return:
    """The outcome: findings, the seconds of each run, and what a reader must know."""

    findings: list[Finding]
    runs: pl.DataFrame
    note: str


def outages(context: Context) -> tuple[Outage, ...]:
    """A minute to settle, 50 or 60 s without the path and 50 s after; the thesis gives no times."""
    return (
        (Outage(5, 10, 20, 40, 1),)
        if context.quick
        else (
            Outage(30, 60, 110, 160, 5),
            Outage(30, 60, 120, 170, 5),
        )
    )


def returning_path(context: Context, senders: int) -> Return:
    """The seconds from a path's return until the total is whole, for so many hosts of 32 subflows."""
    findings, rows = [], []
    for times in outages(context):
        down_s = times.returns_s - times.fails_s
        levels = {name: _document(senders, variant, times) for name, variant in VARIANTS.items()}
        metrics = {MetricInfo("whole_s", "from the return until the total is whole (s)"): whole_sql(times)}
        title = f"One of four paths fails and returns after {down_s} s, N = {senders}"
        method = Method(times.duration_s, times.duration_s - times.returns_s, times.runs)
        result = study(context, f"return-{senders}-{down_s}", title, levels, method, metrics)
        findings += [_finding(result, name, times) for name in VARIANTS]
        whole_s = result.runs.select("run", "setting", "replication", "whole_s")
        rows.append(whole_s.with_columns(pl.lit(down_s).alias("down_s")))
    note = (
        f"For its return one path is down from {times.fails_s} s on, in {times.runs} runs for each length; "
        f"the total is whole from the first of {STEADY_S} seconds in a row with "
        f"{WHOLE:g} of what it was before the failure."
    )
    return Return(findings, pl.concat(rows), note)


def _document(senders: int, variant: Variant, times: Outage) -> Mapping[str, Any]:
    document = scenario(
        PATHS,
        senders,
        SUBFLOWS,
        spread=STATELESS,
        duration_s=times.duration_s,
        reaction=variant.reaction,
        transport={"loss_detection": variant.loss_detection},
    )
    document["event"] = [
        down(PATHS, times.fails_s),
        {**down(PATHS, times.returns_s), "state": "up"},
    ]
    return document


def whole_sql(times: Outage) -> str:
    """Seconds from the return to the end of the first whole second, by run; null if none comes."""
    return (
        "with totals as (select run, time_s, sum(throughput_mbps) as total "  # noqa: S608 - no input
        "from subflow_series group by run, time_s), "
        "base as (select run, median(total) as whole from totals "
        f"where time_s > {times.settled_s} + 1e-6 and time_s <= {times.fails_s} + 1e-6 group by run), "
        "ahead as (select run, time_s, min(total) over (partition by run order by time_s "
        f"rows between current row and {STEADY_S - 1} following) as least from totals) "
        f"select run, min(time_s) - {times.returns_s} from ahead join base using (run) "
        f"where time_s > {times.returns_s} + 1e-6 and time_s <= {times.duration_s - STEADY_S + 1} + 1e-6 "
        f"and least >= {WHOLE} * whole group by run"
    )


def _finding(result: StudyResult, name: str, times: Outage) -> Finding:
    rows = result.runs.filter(pl.col("setting").cast(pl.String) == name)["whole_s"].to_list()
    # A run whose total does not get whole until its end counts as if it did so right after it.
    waits = [float(times.duration_s - times.returns_s if wait is None else wait) for wait in rows]
    middle = statistics.median(waits)
    rto_s = VARIANTS[name].first_rto_s
    down_s = times.returns_s - times.fails_s
    return Finding(
        f"SEMPER, {name}, {down_s} s down: seconds from the path's return until the total is whole",
        "recovery is practically immediate",
        f"{middle:.0f} s ({min(waits):.0f} to {max(waits):.0f} s)",
        middle <= IMMEDIATE_S,
        f"at most {IMMEDIATE_S} s, beside the 400 s of the figure",
        value=middle,
        prediction=None if rto_s is None else next_timeout(down_s, rto_s),
    )


@predicts
def next_timeout(down_s: float, first_rto_s: tuple[float, float]) -> Prediction:
    """When a subflow that nobody told tries the path again, and the total is whole."""
    steps = [first_rto_s[0] + n * (first_rto_s[1] - first_rto_s[0]) / 50 for n in range(51)]
    waits = [next_try_s(rto, down_s) for rto in steps]
    low, high = min(waits), max(waits) + FILLED_S
    firsts = " to ".join(f"{rto:g}" for rto in dict.fromkeys(first_rto_s))
    return Prediction(
        (low + high) / 2,
        (high - low) / 2,
        "a subflow on a dead path tries it again when its retransmission timeout ends, which doubles each "
        f"time (RFC 6298): first after {firsts} s; slow start then takes up to {FILLED_S} s to fill the path",
    )


def next_try_s(first_rto_s: float, down_s: float) -> float:
    """From the return of a path until a subflow on it sends again, if nothing tells it of the return.

    Its n-th timeout ends (2^n - 1) times the first one after the failure (RFC 6298, section 5.5).

    Args:
        first_rto_s: its retransmission timeout at the failure.
        down_s: how long the path was down.
    """
    timeout_s = ends_s = first_rto_s
    while ends_s <= down_s:
        timeout_s *= 2
        ends_s += timeout_s
    return ends_s - down_s
