"""A study as pieces: its cells with their metrics, what failed, and where everything is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from anabranch.media.columns import Column
from anabranch.media.pieces import Card, DataTable, Piece, Text, columns
from anabranch.report.views.study_table import axis_title, failed_runs, is_continuous
from anabranch.text.units import estimates, plain, quantity, suited_label

if TYPE_CHECKING:
    from anabranch.report.views.outcome import StudyOutcome
    from anabranch.results.result import FactorInfo

_MOST_ROWS = 40
_ALWAYS = 9


def study_pieces(title: str, result: StudyOutcome, folder: Path | None = None) -> list[Piece]:
    """A table of the cells with their metrics, the reasons of failures, and the folder if there is one."""
    cells = result.cells.head(_MOST_ROWS)
    columns = [_factor(factor, cells[factor.name].to_list()) for factor in result.factors]
    metrics = _metrics(result, cells)
    # Of the metrics those without a value go first, and then the last; the first one stays.
    empty = [(about, texts) for about, texts in metrics[1:] if set(texts) == {"-"}]
    for place, (about, texts) in enumerate(metrics):
        kept = _ALWAYS if place == 0 else 1 if (about, texts) in empty else 2
        columns.append((_prioritised(about, kept), texts))
    table = DataTable(
        "cells", title, tuple(about for about, _ in columns), tuple(texts for _, texts in columns),
        things="cells", elsewhere="cells.csv" if folder else "result.cells",
    )  # fmt: skip
    lines = [_counts(result)]
    if result.cells.height > _MOST_ROWS:
        lines.insert(0, f"... and {result.cells.height - _MOST_ROWS:,} more cells")
    if folder is not None:
        lines.append(f"results in {folder}")
    return [table, *map(Text, lines)]


def _metrics(result: StudyOutcome, cells: pl.DataFrame) -> list[tuple[Column, Sequence[str]]]:
    """The means with their intervals; before a censored one how many of its flows are done, said once."""
    columns: list[tuple[Column, Sequence[str]]] = []
    said: set[tuple[str, ...]] = set()
    for metric in result.metrics:
        means, widths = (cells[name].to_list() for name in (metric.name, f"{metric.name}_ci"))
        bounds = cells[f"{metric.name}_more_than"].to_list() if metric.censored else None
        texts, label = estimates(metric.label, means, widths, bounds)
        if metric.censored:
            counts = zip(cells[f"{metric.name}_done"], cells[f"{metric.name}_flows"], strict=True)
            shares = tuple("-" if not flows else f"{done:,} of {flows:,}" for done, flows in counts)
            # Of metrics over the same flows the first one says it.
            if shares not in said and any(share != "-" for share in shares):
                columns.append((Column(f"{metric.name}_done", "flows done", digits=5), shares))
            said.add(shares)
        columns.append((Column(metric.name, label, digits=5), texts))
    return columns


def _prioritised(about: Column, priority: int) -> Column:
    return Column(about.name, about.heading, digits=about.digits, priority=priority)


def _factor(factor: FactorInfo, levels: Sequence[float | str | None]) -> tuple[Column, Sequence[str | None]]:
    """The levels in the study's own unit."""
    heading = factor.label if factor.unit is None else f"{factor.label} ({factor.unit})"
    texts = [plain(level, 10) if isinstance(level, float) else level for level in levels]
    heading = heading.replace(" ", "\N{NO-BREAK SPACE}")
    digits = 10 if factor.kind == "continuous" else 0
    return Column(factor.name, heading, digits=digits, priority=_ALWAYS), texts


def _counts(result: StudyOutcome) -> str:
    runs = result.runs
    failed = failed_runs(runs)
    parts = [f"{runs.height:,} runs over {result.cells.height:,} cells"]
    if result.live:
        parts.append("live beside simulated" if "hosts" in runs.columns else "live")
    if failed.height:
        parts.append(f"{failed.height:,} failed, the first with: {failed['reason'][0]}")
    if result.replications > 1:
        parts.append(result.interval_note)
    return "; ".join(parts)


def study_cards(result: StudyOutcome) -> list[Card]:
    """The size of a study: runs, cells, factors."""
    failed = failed_runs(result.runs).height
    replications = f"{quantity(result.replications)} replications each"
    return [
        Card("Runs", quantity(result.runs.height), f"{_live(result)}{quantity(failed)} failed"),
        Card("Cells", quantity(result.cells.height), replications),
        *(
            Card("Factor", factor.label, f"{quantity(len(factor.levels))} levels")
            for factor in result.factors
        ),
    ]


def _live(result: StudyOutcome) -> str:
    """How many runs were live, if any."""
    if not result.live:
        return ""
    # A study beside its simulation has a factor that says which were.
    beside = "hosts" in result.runs.columns
    count = result.runs.filter(pl.col("hosts") == "live").height if beside else result.runs.height
    return f"{quantity(count)} live, "


ENDINGS = {
    "_ci": "\N{PLUS-MINUS SIGN}", "_min": "smallest", "_max": "largest", "_more_than": "more than",
    "_done": "flows done", "_flows": "of flows",
}  # fmt: skip
"""Headings of what a metric has beside its mean, by the ends of the columns' names."""


def cell_table(result: StudyOutcome) -> DataTable:
    """All cells: levels, counts of runs, and of each metric all numbers in the unit that suits them."""
    about = [
        Column(factor.name, axis_title(factor), digits=10)
        if is_continuous(factor)
        else Column(factor.name, factor.label)
        for factor in result.factors
    ]
    about += columns("runs", "failed")
    for metric in result.metrics:
        bounds = [f"{metric.name}_more_than"] if metric.censored else []
        most = max(float(result.cells[name].abs().max() or 0.0) for name in (metric.name, *bounds))  # type: ignore[arg-type]
        factor, label = suited_label(metric.label, most)
        about.append(Column(metric.name, label, digits=5, factor=factor))
        for ending, heading in ENDINGS.items():
            name = f"{metric.name}{ending}"
            is_count = ending in ("_done", "_flows")
            if name in result.cells.columns and result.cells[name].null_count() < result.cells.height:
                scale = 1.0 if is_count else factor
                about.append(Column(name, heading, digits=5, factor=scale))
    return DataTable("cells", "Cells", tuple(about), tuple(result.cells[one.name] for one in about))
