"""The measurements of a study as two-way tables: what its spreadsheet and its figures both show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from anabranch.errors import ResultError
from anabranch.media.texts import printable
from anabranch.report.views.outcome import StudyOutcome
from anabranch.results.result import FactorInfo, MetricInfo
from anabranch.text.units import suited_label

Level = float | str
"""One value of a factor."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A metric along the first factor, at one level of the second. What was not measured is None."""

    name: str
    """The level as it is read in a legend; the metric's label where there is no second factor."""
    level: Level | None
    means: tuple[float | None, ...]
    half_widths: tuple[float | None, ...]
    """Half widths of the confidence intervals."""
    lows: tuple[float | None, ...]
    """Smallest value of a run."""
    highs: tuple[float | None, ...]
    """Largest value of a run."""
    more_than: tuple[float | None, ...]
    """What a mean that is None is more than, where unfinished flows leave it open."""


@dataclass(frozen=True, slots=True)
class Block:
    """A two-way table: the first factor down, the second across, all others fixed."""

    title: str
    """The levels of the other factors; empty where there are none."""
    rows: tuple[Level, ...]
    """Levels of the first factor; one empty text where there is no factor."""
    columns: tuple[MetricColumn, ...]


@dataclass(frozen=True, slots=True)
class MetricTable:
    """One metric of a study, as blocks that all have the same rows and columns."""

    metric: MetricInfo
    first: FactorInfo | None
    second: FactorInfo | None
    blocks: tuple[Block, ...]

    @property
    def continuous(self) -> bool:
        """Whether the first factor is an axis of numbers."""
        return self.first is not None and is_continuous(self.first)

    @property
    def has_intervals(self) -> bool:
        """Whether any cell has a confidence interval."""
        columns = (column for block in self.blocks for column in block.columns)
        return any(width is not None for column in columns for width in column.half_widths)

    @property
    def has_bounds(self) -> bool:
        """Whether of any cell only a bound is known."""
        columns = (column for block in self.blocks for column in block.columns)
        return any(bound is not None for column in columns for bound in column.more_than)

    def values(self) -> Iterator[float]:
        """All means that there are, and bounds."""
        for block in self.blocks:
            for column in block.columns:
                yield from (value for value in (*column.means, *column.more_than) if value is not None)

    @property
    def shown(self) -> tuple[float, str]:
        """The factor of values in figures, and their label with the unit that suits them."""
        return suited_label(self.metric.label, max(map(abs, self.values()), default=0.0))

    def starts_at_zero(self) -> bool:
        """Whether the axis of values begins at zero: always under bars, and where no line is far from it."""
        values = [*self.values(), 0.0]
        if min(values) < 0:
            return False
        smallest = min(self.values(), default=0.0)
        return not self.continuous or self.has_bounds or smallest <= max(values) / 2


def find_metric(result: StudyOutcome, name: str) -> MetricInfo:
    """The metric of this name.

    Raises:
        ResultError: if the study has none.
    """
    for metric in result.metrics:
        if metric.name == name:
            return metric
    names = ", ".join(metric.name for metric in result.metrics)
    raise ResultError(f"this study has no metric {name}; it has {names}")


def metric_table(result: StudyOutcome, metric: MetricInfo) -> MetricTable:
    """A metric of a study laid out for people.

    A combination of which no cell is there has no block, unless no cell is there at all.
    """
    first = result.factors[0] if result.factors else None
    second = result.factors[1] if len(result.factors) > 1 else None
    others = result.factors[2:]
    names = [factor.name for factor in result.factors]
    cells = {tuple(row[name] for name in names): row for row in result.cells.iter_rows(named=True)}
    rows = ordered_levels(first) if first else ("",)
    levels: tuple[Level | None, ...] = ordered_levels(second) if second else (None,)
    blocks: list[Block] = []
    empty: list[Block] = []
    for rest in itertools.product(*(ordered_levels(factor) for factor in others)):
        columns, has_values = [], False
        for level in levels:
            keys = [(*_key(first, row), *_key(second, level), *rest) for row in rows]
            chosen = [cells.get(key, {}) for key in keys]
            has_values = has_values or any(chosen)
            name = metric.label if second is None or level is None else level_text(second, level)
            numbers = [
                tuple(number(cell.get(f"{metric.name}{ending}")) for cell in chosen)
                for ending in ("", "_ci", "_min", "_max", "_more_than")
            ]
            columns.append(MetricColumn(printable(name), level, *numbers))
        fixed = [level_in_words(factor, level) for factor, level in zip(others, rest, strict=True)]
        (blocks if has_values else empty).append(Block(", ".join(fixed), rows, tuple(columns)))
    return MetricTable(metric, first, second, tuple(blocks or empty))


def _key(factor: FactorInfo | None, level: Level | None) -> tuple[Level | None, ...]:
    return () if factor is None else (level,)


def is_continuous(factor: FactorInfo) -> bool:
    """Whether a factor's levels are numbers on an axis."""
    return factor.kind == "continuous"


def ordered_levels(factor: FactorInfo) -> tuple[Level, ...]:
    """Each level once: numbers of a continuous factor ascending, all others in the user's order."""
    levels = tuple(dict.fromkeys(factor.levels))
    return tuple(sorted(levels, key=float)) if is_continuous(factor) else levels


def axis_title(factor: FactorInfo) -> str:
    """A factor with its unit, as on an axis."""
    label = printable(factor.label)
    if not factor.unit or label.endswith((f" in {factor.unit}", f"({factor.unit})", f"[{factor.unit}]")):
        return label
    return f"{label} in {factor.unit}"


def level_text(factor: FactorInfo, level: Level) -> str:
    """A level as in a legend: ``cubic``, ``10 ms``, or ``flows = 4`` where a number has no unit."""
    if isinstance(level, str):
        return printable(level) or '""'
    if factor.unit:
        return f"{number_text(level)} {factor.unit}"
    return f"{printable(factor.label)} = {number_text(level)}"


def level_in_words(factor: FactorInfo, level: Level) -> str:
    """A level together with its factor: ``transport = cubic``, ``delay = 10 ms``."""
    text = level_text(factor, level)
    label = printable(factor.label)
    if factor.unit:
        label = label.removesuffix(f" in {factor.unit}").removesuffix(f" ({factor.unit})")
    return text if text.startswith(f"{label} = ") else f"{label} = {text}"


def number_text(value: float) -> str:
    """A number in as few digits as it has."""
    return f"{value:.10g}"


def number(value: Any) -> float | None:
    """A finite number, or None for everything that is none."""
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return float(value)


def failed_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs that failed, each with its reason."""
    return runs.filter(pl.col("status") == "failed")


def interval_words(result: StudyOutcome) -> str:
    """The meaning of an interval in the study's tables and figures."""
    return f"{number_text(100 * result.confidence)} % confidence interval of the mean"
