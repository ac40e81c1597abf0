"""Counts in each run of a study beside its metrics, and the warnings that follow from them.

The columns stand before the metrics in the table of runs. Warnings come from the runs, whatever is measured:
a study of goodput alone says as well that flows are unfinished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from anabranch.errors import Problem, StudyError
from anabranch.results.censored import Times, late_note, unfinished_note, without_note
from anabranch.results.result import FactorInfo, MetricInfo
from anabranch.results.stored import is_count
from anabranch.scenario.quantity import quoted, shown
from anabranch.study.description import Metric
from anabranch.study.metrics import completions, rows_chosen
from anabranch.study.up_time import Tables
from anabranch.text.units import plain

ASKED, LATE = "asked_in_run", "late_in_run"
"""Flows that the traffic asks for, UDP and pings included, and those of them that begin too late."""
COMPLETABLE, UNFINISHED = "completable_in_run", "unfinished_in_run"
"""Flows that can complete, and how many of them have not."""
RUN_COUNTS = (ASKED, LATE, COMPLETABLE, UNFINISHED)
"""Columns of every study."""
_ROWS = "_rows"
"""End of the name of the column that a metric with ``where`` has: the rows that it has chosen."""


def count_columns(metrics: Iterable[Metric]) -> tuple[str, ...]:
    """The columns of what is counted, in the order of :func:`counted`."""
    return (*RUN_COUNTS, *(f"{metric.name}{_ROWS}" for metric in metrics if metric.where))


def counted(
    metrics: Iterable[Metric], tables: Tables, late: Mapping[str, tuple[int, int]]
) -> tuple[float | None, ...]:
    """The counts of a run.

    Args:
        metrics: of the study.
        tables: of the run.
        late: how many flows of each traffic entry begin too late, of how many.
    """
    times: Times = completions(tables)
    too_late, asked = (sum(each[place] for each in late.values()) for place in (0, 1))
    flows = (asked, too_late, times.count, times.count - times.done)
    return (*map(float, flows), *(rows_chosen(metric, tables) for metric in metrics if metric.where))


def check_counts(metrics: Iterable[Metric], values: Mapping[str, float | None]) -> None:
    """Makes sure that what a journal says was counted in a run can be.

    Args:
        metrics: of the study.
        values: of a run that went well, by column.

    Raises:
        ValueError: if a count is no whole number from 0, is missing, or is above that of which it is a part.
    """
    for name in count_columns(metrics):
        value = values[name]
        if value is None and name not in RUN_COUNTS:
            continue
        if not is_count(value):
            raise ValueError(f"{name}: {value} is no count")
    for part, whole in ((LATE, ASKED), (UNFINISHED, COMPLETABLE)):
        if (values[part] or 0.0) > (values[whole] or 0.0):
            raise ValueError(f"{part}: {values[part]:g} is above {whole}, {values[whole]:g}")


def check_chosen(
    metrics: Sequence[Metric], runs: Sequence[Mapping[str, float | None]], origin: str | None
) -> None:
    """Makes sure that each metric has found rows in a run, by the counts of the runs that went well.

    A count of nothing is 0, and right, where rows are chosen by whole numbers or where no row has any text.
    It is told then.

    Raises:
        StudyError: with the metrics whose ``where`` matches nothing.
    """
    problems = []
    for number, metric in enumerate(metrics):
        row_counts = [run[f"{metric.name}{_ROWS}"] for run in runs] if metric.where else [1.0]
        if not row_counts or any(row_counts):
            continue
        texts = any(isinstance(each, str) for entry in metric.where.values() for each in _listed(entry))
        if metric.statistic == "count" and not (texts and any(rows is not None for rows in row_counts)):
            continue
        wanted = " and ".join(f"{name} = {shown(entry)}" for name, entry in metric.where.items())
        problems.append(
            Problem(
                f"metric[{number}].where",
                f"no row of {metric.table} has {wanted} in any run, so that {quoted(metric.name)} has no "
                'value; the journal keeps what ran. With keep = "tables" and another metric, the tables show '
                "what rows have",
            )
        )
    if problems:
        raise StudyError(problems, origin)


def _listed(entry: Any) -> list[Any]:
    return entry if isinstance(entry, list) else [entry]


def warnings_of(
    runs: pl.DataFrame, cells: pl.DataFrame, factors: Sequence[FactorInfo], metrics: Sequence[MetricInfo]
) -> list[str]:
    """Warnings of what misleads, a line for each kind, with the cells where it is so."""
    return list(dict.fromkeys(_warnings(_sums(runs, cells), factors, metrics)))


def _warnings(
    sums: pl.DataFrame, factors: Sequence[FactorInfo], metrics: Sequence[MetricInfo]
) -> Iterator[str]:
    def notes_on(part: str, whole: str, note: Callable[[int, int], str | None]) -> Iterator[str]:
        if part in sums.columns and whole in sums.columns:
            yield from _told(sums, part, whole, factors, note)

    yield from notes_on(LATE, ASKED, lambda late, asked: late_note(late, asked) if late else None)
    yield from notes_on(UNFINISHED, COMPLETABLE, lambda left, flows: unfinished_note(flows - left, left))
    for metric in metrics:
        if metric.censored:
            left, flows = f"{metric.name}_left", f"{metric.name}_flows"
            same = (
                UNFINISHED in sums.columns
                and sums[left].equals(sums[UNFINISHED])
                and sums[flows].equals(sums[COMPLETABLE])
            )
            if not same:
                yield from notes_on(left, flows, partial(without_note, metric.name))
        rows = f"{metric.name}{_ROWS}"
        if rows in sums.columns:
            yield from _unmatched(sums, metric.name, rows, factors)


def _sums(runs: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """What is counted in each cell, over its replications, behind the columns of ``cells``.

    A study of an earlier version lacks these columns, and a changed one may have anything there.
    """
    columns = [
        name
        for name, kind in runs.schema.items()
        if kind == pl.Float64 and (name in RUN_COUNTS or name.endswith(_ROWS)) and name not in cells.columns
    ]
    went_well = runs.filter(pl.col("status") == "ok")
    summed = went_well.group_by("cell").agg(pl.col(columns).sum())
    left = [
        (pl.col(f"{name}_flows") - pl.col(f"{name}_done")).alias(f"{name}_left")
        for name in (column.removesuffix("_flows") for column in cells.columns if column.endswith("_flows"))
        if f"{name}_done" in cells.columns
    ]
    return cells.join(summed, on="cell", how="inner", maintain_order="left").with_columns(left)


def _told(
    sums: pl.DataFrame,
    part: str,
    whole: str,
    factors: Sequence[FactorInfo],
    note: Callable[[int, int], str | None],
) -> Iterator[str]:
    """A note on the cell with the largest share, and in how many cells there is one."""
    rows = [row for row in sums.iter_rows(named=True) if note(int(row[part]), int(row[whole]))]
    if not rows:
        return
    worst = max(rows, key=lambda row: row[part] / max(1, row[whole]))
    levels = _levels(worst, factors)
    most = f", most of all where {levels}" if levels else ""
    yield f"{len(rows):,} of {sums.height:,} cells{most}: {note(int(worst[part]), int(worst[whole]))}"


def _unmatched(sums: pl.DataFrame, name: str, rows: str, factors: Sequence[FactorInfo]) -> Iterator[str]:
    empty = [row for row in sums.iter_rows(named=True) if not row[rows]]
    if empty:
        levels = _levels(empty[0], factors)
        first = f", the first where {levels}" if levels else ""
        yield f"{len(empty):,} of {sums.height:,} cells{first}: no row is what {quoted(name)} wants"


def _levels(row: Mapping[str, Any], factors: Sequence[FactorInfo]) -> str:
    """The levels of a cell, for people."""
    return ", ".join(f"{factor.label} = {_level_text(row[factor.name], factor)}" for factor in factors)


def _level_text(level: float | str | None, factor: FactorInfo) -> str:
    text = plain(level, 10) if isinstance(level, float) else str(level)
    return f"{text} {factor.unit}" if factor.unit else text
