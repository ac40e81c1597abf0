"""Studies that the figures of Chang 2024 share: transports over networks and routings."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from anabranch.study.metrics import DEFAULTS
from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.mprc.network import PAPER, TODAY
from anabranch_publications.papers.sql import with_metrics

SEEDS = 10
_DEFAULTS = {metric.name: metric for metric in DEFAULTS}
METRICS = [
    Metric(name="goodput_mbps", label="goodput (Mbps)", column="goodput_mbps", statistic="sum"),
    _DEFAULTS["retransmissions"],
    _DEFAULTS["queue_max_packets"],
    Metric(name="timeouts", label="retransmission timeouts", column="timeouts", statistic="sum"),
]
SPURIOUS = {
    MetricInfo("spurious_percent", "spurious retransmissions (% of segments)"): (
        "select run, 100.0 * sum(spurious_retransmissions) / sum(segments_sent) from flows group by run"
    ),
    MetricInfo("reordered_percent", "packets that arrive reordered (%)"): (
        "select run, 100.0 * sum(reordered_packets) / sum(packets_received) from flows group by run"
    ),
}


def transports(context: Context, *more: str, today: bool = True) -> Factor:
    """The transports as a factor: the thesis's, others by name, and today's."""
    names = [*PAPER, *more, *(TODAY if today and not context.quick else ())]
    return Factor(field="traffic[0].transport", label="transport", levels=names)


def compare(
    context: Context,
    name: str,
    title: str,
    scenario: dict[str, Any],
    factors: Sequence[Factor],
    metrics: Sequence[Metric] = (),
) -> StudyResult:
    """A study over at least ten seeds, with spurious retransmissions and reordering as shares."""

    def make() -> Study:
        return Study(
            title=title,
            scenario=scenario,
            factors=list(factors),
            metrics=[*METRICS, *metrics],
            replications=3 if context.quick else SEEDS,
            keep="tables",
            output=Output(figures=[]),
        )

    return with_metrics(context.study(name, make), SPURIOUS)


def variants(label: str, choices: Mapping[str, Mapping[str, Any]]) -> Factor:
    """A factor whose levels set several fields."""
    levels = [Level(label=name, settings=dict(settings)) for name, settings in choices.items()]
    return Factor(label=label, level=levels)


def median(result: StudyResult, metric: str, **levels: object) -> float:
    """Median over the replications of a cell.

    Raises:
        LookupError: if nothing was measured there.
    """
    rows = result.runs
    for column, level in levels.items():
        rows = rows.filter(pl.col(column) == level)
    values = rows[metric].drop_nulls().to_list()
    if not values:
        raise LookupError(f"no {metric} at {levels} in {result.title!r}")
    return float(statistics.median(values))


def summary(result: StudyResult, metrics: Sequence[str]) -> pl.DataFrame:
    """Median, and smallest to largest value over the replications, of each cell."""
    names = [factor.name for factor in result.factors]

    def shown(metric: str) -> pl.Expr:
        low, middle, high = pl.col(metric).min(), pl.col(metric).median(), pl.col(metric).max()
        return pl.format("{} ({} to {})", middle.round(2), low.round(2), high.round(2)).alias(metric)

    return (
        result.runs.group_by("cell", *names, maintain_order=True).agg(shown(m) for m in metrics).drop("cell")
    )
