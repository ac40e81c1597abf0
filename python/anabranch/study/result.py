"""The measurements of a study: a row for each run, a row for each cell, and SQL over all of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import polars as pl

from anabranch.errors import Problem, StudyError
from anabranch.results.result import FactorInfo, MetricInfo, pandas_frame
from anabranch.study.counts import warnings_of
from anabranch.study.store import load
from anabranch.study.student import LEAST_VALUES, half_width

if TYPE_CHECKING:
    import pandas

    from anabranch.report.plots.study_plots import StudyPlots


__all__ = ["FactorInfo", "MetricInfo", "StudyResult"]


@dataclass(frozen=True)
class StudyResult:
    """The measurements of a study.

    Attributes:
        title: one line for people.
        confidence: probability with which an interval holds the true mean.
        replications: runs of each cell.
        factors: the factors, slowest first.
        metrics: the metrics.
        runs: a row for each run: ``run``, ``cell``, ``replication``, a column for each factor, ``status``
            (``ok`` or ``failed``), ``reason`` (null for what did not fail), what was counted, and a column
            for each metric. Counted are the flows that the traffic asks for (``asked_in_run``), those of them
            that begin when the run is over (``late_in_run``), those that can complete
            (``completable_in_run``), those of them that have not (``unfinished_in_run``), and the rows that
            ``where`` of a metric has chosen (``_rows``).
        cells: a row for each combination of levels: ``cell``, a column for each factor, ``runs``,
            ``failed``, and for each metric its mean over the replications, the half width of the mean's
            confidence interval (``_ci``; null for fewer than three values, and for equal ones),
            ``_min`` and ``_max``. A metric of times of flows is null where unfinished flows leave it open
            in a run; ``_more_than`` is then what the mean is more than. It has ``_done`` and ``_flows``, too:
            how many flows are done, of how many, in all replications together.
        tables: tables of all the runs by name, where the study kept them: a frame, or the folder of files. A
            live study has ``live``, with the self-check of each live run.
        live: whether runs were live.
        repeated: of runs that were done again, because their line in the journal was damaged: what was wrong.
    """

    title: str
    confidence: float
    replications: int
    factors: tuple[FactorInfo, ...]
    metrics: tuple[MetricInfo, ...]
    runs: pl.DataFrame
    cells: pl.DataFrame
    tables: Mapping[str, pl.DataFrame | Path] = field(default_factory=dict)
    live: bool = False
    repeated: tuple[str, ...] = ()

    @classmethod
    def from_runs(
        cls,
        *,
        title: str,
        confidence: float,
        replications: int,
        factors: Sequence[FactorInfo],
        metrics: Sequence[MetricInfo],
        runs: pl.DataFrame,
        tables: Mapping[str, pl.DataFrame | Path] | None = None,
        live: bool = False,
    ) -> Self:
        """The result of a study whose runs are done; ``cells`` follows from them."""
        cells = summarize(runs, factors, metrics, confidence)
        parts = (tuple(factors), tuple(metrics), runs, cells, dict(tables or {}))
        return cls(title, confidence, replications, *parts, live=live)

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """The result in the folder of a study whose runs are all done.

        Raises:
            StudyError: if there is none.
        """
        return load(Path(folder), cls)

    @property
    def interval_note(self) -> str:
        """The meaning of the intervals, or why there are none."""
        if self.replications < LEAST_VALUES:
            return f"no intervals: they take {LEAST_VALUES} replications at least"
        return f"intervals hold the mean with probability {self.confidence:g}"

    @property
    def warnings(self) -> list[str]:
        """Warnings of what misleads, and in which cells: see :mod:`anabranch.study.counts`."""
        return warnings_of(self.runs, self.cells, self.factors, self.metrics)

    @property
    def plot(self) -> StudyPlots:
        """Figures of the study: ``plot.metric(name)`` for each of ``plot.names()``."""
        from anabranch.report.plots.study_plots import StudyPlots  # noqa: PLC0415 - slow to import

        return StudyPlots(self)

    def with_metrics(self, metrics: Mapping[MetricInfo, str | pl.DataFrame]) -> StudyResult:
        """The result with further metrics, each from a frame of runs and values or from a query.

        For what a column alone does not say, such as a ratio of two: ``select run, avg(delivered_bytes /
        completion_s) from flows group by run``. Runs that are not in the frame have null.

        Raises:
            StudyError: if a query is refused, or a frame has other than two columns.
        """
        runs = self.runs
        for metric, source in metrics.items():
            answer = self.query(source) if isinstance(source, str) else source
            if answer.width != 2:
                raise StudyError([Problem(metric.name, f"has {answer.width} columns, not run and value")])
            values = pl.DataFrame(
                {
                    "run": answer.to_series(0).cast(pl.Int64),
                    metric.name: answer.to_series(1).cast(pl.Float64).fill_nan(None),
                }
            )
            runs = runs.join(values, on="run", how="left", maintain_order="left")
        every = (*self.metrics, *metrics)
        cells = summarize(runs, self.factors, every, self.confidence)
        return replace(self, metrics=every, runs=runs, cells=cells)

    def to_pandas(self, table: str = "cells") -> pandas.DataFrame:
        """``cells``, ``runs`` or a table that the study kept as a frame of pandas; null is NaN.

        Raises:
            ResultError: if pandas is not installed.
            StudyError: if there is no such table.
        """
        if table in ("cells", "runs"):
            return pandas_frame(self.cells if table == "cells" else self.runs)
        if table not in self.tables:
            names = ", ".join(["cells", "runs", *self.tables])
            raise StudyError([Problem("to_pandas", f"this study has no table {table}; it has {names}")])
        kept = self.tables[table]
        return pandas_frame(kept if isinstance(kept, pl.DataFrame) else pl.read_parquet(kept / "*.parquet"))

    def query(self, sql: str) -> pl.DataFrame:
        """The answer to an SQL query (polars' dialect) over ``runs``, ``cells`` and the tables kept.

        Tables of the runs, such as ``flows`` and ``links``, have a column ``run`` to join them by.

        Raises:
            StudyError: if polars refuses the query, with what it says.
        """
        sources = {**self.tables, "runs": self.runs, "cells": self.cells}
        frames = {
            name: source.lazy() if isinstance(source, pl.DataFrame) else pl.scan_parquet(source / "*.parquet")
            for name, source in sources.items()
        }
        try:
            return pl.SQLContext(frames).execute(sql, eager=True)
        except pl.exceptions.PolarsError as error:
            # What follows is the plan as polars sees it.
            raise StudyError([Problem("query", str(error).partition("\n\n")[0])]) from None


def summarize(
    runs: pl.DataFrame, factors: Sequence[FactorInfo], metrics: Sequence[MetricInfo], confidence: float
) -> pl.DataFrame:
    """The table ``cells`` of a study's ``runs``, which must be in order."""
    names = [factor.name for factor in factors]
    grouped = runs.group_by("cell", maintain_order=True).agg(
        *(pl.col(name).first() for name in names),
        pl.len().cast(pl.Int64).alias("runs"),
        (pl.col("status") == "failed").sum().cast(pl.Int64).alias("failed"),
        *(pl.col(name).drop_nulls() for metric in metrics for name in metric.columns),
    )
    columns: list[pl.Series] = [grouped[name] for name in ("cell", *names, "runs", "failed")]
    for metric in metrics:
        values: list[list[float]] = grouped[metric.name].to_list()
        bounds = grouped[f"{metric.name}_more_than"].to_list() if metric.censored else [[]] * len(values)
        cells = [
            _cell(values_of_cell, open_runs, confidence)
            for values_of_cell, open_runs in zip(values, bounds, strict=True)
        ]
        endings = ("", "_ci", "_min", "_max", *(("_more_than",) if metric.censored else ()))
        columns += [
            pl.Series(f"{metric.name}{ending}", [cell[place] for cell in cells], dtype=pl.Float64)
            for place, ending in enumerate(endings)
        ]
        if metric.censored:
            counts = [grouped[f"{metric.name}_{end}"].list.sum() for end in ("done", "flows")]
            columns += [count.cast(pl.Int64) for count in counts]
    return pl.DataFrame(columns)


def _cell(
    values: Sequence[float], bounds: Sequence[float], confidence: float
) -> tuple[float | None, float | None, float | None, float | None, float | None]:
    """Mean, half width, smallest and largest value over runs, and what the mean is more than.

    ``bounds`` are of the runs in which unfinished flows leave the metric open; one of them leaves the mean
    open.
    """
    least = [*values, *bounds]
    smallest = min(values, default=None)
    if bounds:
        is_bound = smallest is not None and smallest <= min(bounds)
        return None, None, smallest if is_bound else None, None, math.fsum(least) / len(least)
    # Exact sums: the mean of equal values is that value, in whatever order they came.
    mean = math.fsum(values) / len(values) if values else None
    return mean, half_width(list(values), confidence), smallest, max(values, default=None), None
