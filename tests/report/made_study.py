"""Studies to make output of, with numbers that are known by a formula."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from anabranch.results.result import FactorInfo, MetricInfo

Level = float | str
Formula = Callable[[tuple[Level, ...]], float | None]


@dataclass(frozen=True)
class MadeStudy:
    """A study's result without a study."""

    title: str
    confidence: float
    replications: int
    factors: tuple[FactorInfo, ...]
    metrics: tuple[MetricInfo, ...]
    runs: pl.DataFrame
    cells: pl.DataFrame
    live: bool = False
    warnings: Sequence[str] = ()


def index_of(factors: Sequence[FactorInfo], levels: tuple[Level, ...]) -> float:
    """A number that is different for each cell: 1.25, then in steps of 1."""
    place = 0
    for factor, level in zip(factors, levels, strict=True):
        place = place * len(factor.levels) + factor.levels.index(level)
    return place + 1.25


def make(
    *factors: FactorInfo,
    metrics: Sequence[MetricInfo] = (MetricInfo("fct_us", "mean flow completion time in us"),),
    replications: int = 3,
    formula: Formula | None = None,
    title: str = "Incast at one switch",
) -> MadeStudy:
    """A study whose metrics follow a formula of the levels; run r of a cell is r off the mean."""
    formula = formula or (lambda levels: index_of(factors, levels))
    runs: list[dict[str, object]] = []
    cells: list[dict[str, object]] = []
    spread = [r - (replications - 1) / 2 for r in range(replications)]
    for cell, levels in enumerate(itertools.product(*(factor.levels for factor in factors))):
        ours = dict(zip([factor.name for factor in factors], levels, strict=True))
        value = formula(levels)
        for replication, offset in enumerate(spread):
            failed = value is None
            runs.append(
                {"run": len(runs), "cell": cell, "replication": replication, **ours}
                | {"status": "failed" if failed else "ok", "reason": "=no way: ended" if failed else None}
                | {metric.name: None if value is None else value + offset for metric in metrics}
            )
        row: dict[str, object] = {"cell": cell, **ours, "runs": replications}
        row["failed"] = replications if value is None else 0
        for metric in metrics:
            row[metric.name] = value
            row[f"{metric.name}_ci"] = None if value is None or replications < 2 else abs(value) / 10
            row[f"{metric.name}_min"] = None if value is None else value + spread[0]
            row[f"{metric.name}_max"] = None if value is None else value + spread[-1]
        cells.append(row)
    numbers = {f"{m.name}{end}": pl.Float64 for m in metrics for end in ("", "_ci", "_min", "_max")}
    return MadeStudy(
        title,
        0.95,
        replications,
        factors,
        tuple(metrics),
        pl.DataFrame(runs, schema_overrides=numbers | {"reason": pl.String}, infer_schema_length=None),
        pl.DataFrame(cells, schema_overrides=numbers, infer_schema_length=None),
    )


GAP = FactorInfo("gap_us", "inter-arrival time", "continuous", "us", (0.0, 100.0, 200.0, 300.0))
SIZE = FactorInfo("segments", "segments", "continuous", None, (100.0, 500.0, 1000.0))
TRANSPORT = FactorInfo("transport", "transport", "categorical", None, ("cubic", "bbr", "sdn-paced"))
LOSS = FactorInfo("loss", "loss", "continuous", "%", (0.0, 0.1))


def with_levels(factor: FactorInfo, *levels: Level) -> FactorInfo:
    """The factor with other levels."""
    return replace(factor, levels=levels)
