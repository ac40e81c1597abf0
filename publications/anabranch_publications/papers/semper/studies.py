"""The shared parts of the figures of Garcia-Aviles 2017: measuring a run, medians over runs, studies."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from anabranch.results.censored import jain
from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.semper.network import EDGES, PAYLOAD, scenario, single_tcps
from anabranch_publications.papers.sql import with_metrics

BASELINE: Final = "single TCPs"
"""Label of the setting that others are put beside."""

RUNS: Final = 10
"""Repetitions of each experiment, as in the thesis: every one draws other source ports."""

USED_PACKETS: Final = 1000
"""A path that carried more of them than a handshake comes to has been in use."""


@dataclass(frozen=True, slots=True)
class Method:
    """How long an experiment lasts (T), how much of its end is measured (T_M), how often it is repeated."""

    duration_s: float
    window_s: float
    runs: int


def static(context: Context) -> Method:
    """Of figures 7, 8 and 10: the thesis's T = 400 s and T_M = 200 s (section V-D)."""
    return Method(15, 5, 3) if context.quick else Method(400, 200, RUNS)


LOSSES: Final = [
    Metric(name="retransmissions", label="retransmissions", column="retransmissions", statistic="sum"),
    Metric(name="timeouts", label="retransmission timeouts", column="timeouts", statistic="sum"),
]


def goodput_sql(after_s: float, until_s: float, samples: float) -> str:
    """Mean goodput of each flow between two instants, by run.

    Args:
        after_s: where it begins.
        until_s: where it ends.
        samples: how many are taken in between.
    """
    return (
        f"select run, flow, sum(goodput_mbps) / {samples} as rate from flow_series "  # noqa: S608 - no input
        f"where time_s > {after_s} + 1e-6 and time_s <= {until_s} + 1e-6 group by run, flow"
    )


def rates_sql(method: Method) -> str:
    """R_i of section V-C, by run and flow: bytes acknowledged on all subflows over the measuring window.

    What its subflows deliver is not what a connection hands on in the same time: up to a receive buffer waits
    for what comes before it. A single TCP flow has no subflows, and its goodput is taken.
    """
    after = method.duration_s - method.window_s
    # A subflow has no samples before it is established.
    samples = method.window_s / sample_s(method)
    single = goodput_sql(after, method.duration_s, samples)
    return (
        f"select run, flow, sum(throughput_mbps) / {samples} as rate from subflow_series "  # noqa: S608 - no input
        f"where time_s > {after} + 1e-6 group by run, flow union all "
        f"select * from ({single}) where run not in (select run from subflow_series)"
    )


def measured(method: Method) -> dict[MetricInfo, str]:
    """Equations 1 and 2, and how many paths carried data."""
    rates = rates_sql(method)
    return {
        MetricInfo("total_mbps", "total throughput (Mbps)"): (
            f"select run, sum(rate) from ({rates}) group by run"  # noqa: S608 - no input
        ),
        MetricInfo("jain", "Jain's index"): (
            f"select run, sum(rate) ** 2 / (count(*) * sum(rate * rate)) from ({rates}) group by run"  # noqa: S608 - no input
        ),
        MetricInfo("used_paths", "paths that carry data"): (
            f"select run, sum(case when packets > {USED_PACKETS} then 1 else 0 end) from links "  # noqa: S608 - no input
            f"where name like '{EDGES[0]}->{EDGES[1]}%' group by run"
        ),
    }


def study(
    context: Context,
    name: str,
    title: str,
    levels: Mapping[str, Mapping[str, Any]],
    method: Method,
    metrics: Mapping[MetricInfo, str] | None = None,
) -> StudyResult:
    """A study over whole scenarios by label, measured as the thesis does.

    Args:
        context: where it is kept.
        name: of its folder.
        title: one line for people.
        levels: scenarios with the same sections, which differ in anything but their runs' length.
        method: how long, measured over what, how often.
        metrics: in place of the thesis's, each with its query.
    """

    def make() -> Study:
        first = dict(next(iter(levels.values())))
        sections = sorted({section for document in levels.values() for section in document} - {"run"})
        factor = Factor(
            label="setting",
            level=[
                Level(label=label, settings={section: document[section] for section in sections})
                for label, document in levels.items()
            ],
        )
        return Study(
            title=title,
            scenario=first,
            factors=[factor],
            metrics=LOSSES,
            replications=method.runs,
            keep="tables",
            output=Output(figures=[]),
        )

    return with_metrics(context.study(name, make), measured(method) if metrics is None else metrics)


def experiment(
    paths: int | Sequence[Mapping[str, Any]], senders: int, subflows: int, method: Method, **choices: Any
) -> dict[str, Any]:
    """The scenario of one setting, sampled a few times in its window."""
    return scenario(
        paths, senders, subflows, duration_s=method.duration_s, sample_s=sample_s(method), **choices
    )


def baseline(paths: int | Sequence[Mapping[str, Any]], method: Method) -> dict[str, Any]:
    """The single TCP flows, sampled alike."""
    document = single_tcps(paths, duration_s=method.duration_s, sample_s=sample_s(method))
    # Levels set the same tables; this one defines a transport that it does not use.
    document["transport"] = {"mptcp": {"path_manager": {"algorithm": "ndiffports", "subflows": 1}}}
    return document


def jain_index(rates: pl.Expr) -> pl.Expr:
    """Jain's index (equation 2) of the rates of a group; null where all are zero."""
    return rates.map_batches(
        lambda group: jain(group.to_list()), return_dtype=pl.Float64, returns_scalar=True
    )


def sample_s(method: Method) -> float:
    """Seconds between samples, of which whole ones make up the window and what comes before it."""
    return 5.0 if method.window_s % 5 == 0 and method.duration_s % 5 == 0 else 1.0


def cells(result: StudyResult, metrics: Sequence[str]) -> pl.DataFrame:
    """Median, least and most over the runs of each setting."""
    return result.runs.group_by("setting", maintain_order=True).agg(
        *(
            expression
            for metric in metrics
            for expression in (
                pl.col(metric).median(),
                pl.col(metric).min().alias(f"{metric}_least"),
                pl.col(metric).max().alias(f"{metric}_most"),
            )
        )
    )


def median(result: StudyResult, metric: str, setting: str) -> float:
    """Median over the runs of a setting.

    Raises:
        LookupError: if nothing was measured there.
    """
    values = result.runs.filter(pl.col("setting").cast(pl.String) == setting)[metric].drop_nulls().to_list()
    if not values:
        raise LookupError(f"no {metric} of {setting!r} in {result.title!r}")
    return float(statistics.median(values))


def mean(result: StudyResult, metric: str, setting: str) -> float:
    """Mean over the runs of a setting, for what has an expectation to compare with."""
    values = result.runs.filter(pl.col("setting").cast(pl.String) == setting)[metric].drop_nulls().to_list()
    return float(statistics.fmean(values))


def usable_mbps(paths: int, path_mbps: float) -> float:
    """The data rate that the paths let through."""
    return paths * path_mbps * PAYLOAD
