"""A study as pieces: its cells with their metrics, what failed, and where everything is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from anabranch.columns import Column
from anabranch.media.pieces import DataTable, Piece, Text
from anabranch.units import estimates, plain

if TYPE_CHECKING:
    from anabranch.result import FactorInfo
    from anabranch.views.outcome import StudyOutcome

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
    failed = runs.filter(pl.col("status") == "failed")
    parts = [f"{runs.height:,} runs over {result.cells.height:,} cells"]
    if result.live:
        parts.append("live beside simulated" if "hosts" in runs.columns else "live")
    if failed.height:
        parts.append(f"{failed.height:,} failed, the first with: {failed['reason'][0]}")
    if result.replications > 1:
        parts.append(result.interval_note)
    return "; ".join(parts)
