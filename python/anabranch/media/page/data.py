"""Data for the page: columns as base64, text that cannot end a script, samples merged to steps."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from anabranch.media.columns import Column
from anabranch.media.pieces import Badge, Cell, DataTable, Link, Values, Worded, plain_cell
from anabranch.text.units import NOTHING, quantity, suited

_SMALLEST = 0.1
_LARGEST = 1e5
"""Between these, numbers of a column read well."""
_EXACT_ROWS = 10_000
"""In longer tables numbers have seven digits, of which a page shows four; it would be twice as large."""


def column(values: ArrayLike | pl.Series, kind: str = "f4") -> dict[str, Any]:
    """A column of numbers, little-endian, in base64; null is NaN, which the page shows as nothing.

    Args:
        values: numbers of any shape, row by row.
        kind: ``f4``, ``f8``, ``i4`` or ``u2``.
    """
    if isinstance(values, pl.Series):
        values = _numbers(values)
    data = np.ascontiguousarray(np.asarray(values).astype(f"<{kind}"))
    return {"kind": kind, "base64": base64.b64encode(data.tobytes()).decode("ascii")}


def _numbers(values: pl.Series) -> NDArray[np.float64]:
    """A series as numbers; null is NaN. An expression of polars would cost more than a short column has."""
    return values.cast(pl.Float64).to_numpy()


def words(values: Sequence[str | None]) -> dict[str, Any]:
    """A column of texts of which many are the same: each once, and which one where."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(value or "", len(places)) for value in values]
    return {"words": list(places), "index": column(numbers, "i4")}


def table_data(table: DataTable) -> dict[str, Any]:
    """A table for the script of a page, which makes elements of the rows in sight only.

    Returns:
        ``caption``, ``rows`` (their count) and ``columns``: each has ``key`` and ``heading``, and either its
        ``text`` as of :func:`words`, or ``unit``, ``factor`` (to it) and ``data`` as of :func:`column`.
        Numbers that are names, such as ports, are ``plain``.
    """
    shown = [_column_data(about, values) for about, values in zip(table.columns, table.values, strict=True)]
    return {"caption": table.caption, "rows": table.height, "columns": shown}


def _column_data(about: Column, values: Values) -> dict[str, Any]:
    named = {"key": about.name, "heading": about.label}
    if not about.is_number:
        texts = [None if value is None else str(value) for value in map(plain_cell, values)]
        return named | {"text": words(texts), "wide": about.folds}
    series = values if isinstance(values, pl.Series) else pl.Series(list(values), dtype=pl.Float64)
    # Bytes and packets may be more than a 32-bit float can count.
    kind = "f8" if series.dtype.is_integer() or len(series) <= _EXACT_ROWS else "f4"
    numbers = _numbers(series) * about.factor
    sizes = np.abs(numbers[~np.isnan(numbers)])
    positive = sizes[sizes > 0]
    most, least = (float(positive.max()), float(positive.min())) if positive.size else (0.0, 0.0)
    factor, unit = suited(readable(most, least, about.unit), about.unit)
    shown = {"unit": unit, "factor": factor, "data": column(numbers, kind), "plain": about.format == "d"}
    return named | shown


def shown_cell(cell: Cell, column: Column) -> dict[str, Any]:
    """A cell of a table as a template writes it: text, kind, and the value by which it is sorted."""
    shown: dict[str, Any] = {"number": column.is_number, "value": None, "kind": "", "href": "", "text": ""}
    match cell:
        case Badge():
            return shown | {"kind": cell.tone, "text": cell.text}
        case Link():
            return shown | {"href": cell.href, "text": cell.text}
        case str():
            return shown | {"text": cell}
        case Worded():
            value = None if cell.value is None else cell.value * column.factor
            return shown | {"text": cell.text, "value": value}
        case None:
            return shown | {"text": NOTHING if column.is_number else ""}
    value = cell * column.factor
    return shown | {"value": float(value) if math.isfinite(value) else None, "text": _in_full(value)}


def _in_full(value: float) -> str:
    """A number as :func:`quantity` has it, but in full up to a thousand million: a column has one unit."""
    if 999.5 <= abs(value) < 1e9:
        return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return quantity(value)


def readable(most: float, least: float, unit: str) -> float:
    """The magnitude by which a column gets its unit: the largest, or a smaller where that leaves 0.01.

    Links of 10 Mbps beside such of 1 Gbps are of 10 and 1000 Mbps.
    """
    factor, _ = suited(most, unit)
    smaller = most / 1000
    is_small = 0 < least * factor < _SMALLEST and suited(smaller, unit)[0] * most < _LARGEST
    return smaller if is_small else most


@dataclass(frozen=True, slots=True)
class Steps:
    """Samples in time, merged where there are more of them than are drawn.

    Attributes:
        times_s: the end of each step.
        samples_s: the instants of the samples, ascending.
        merged: samples in a step.
    """

    times_s: NDArray[np.float64]
    samples_s: NDArray[np.float64]
    merged: int

    @classmethod
    def of(cls, times_s: pl.Series, most: int) -> Steps:
        """At most so many steps, of equally many samples each, the last one apart."""
        samples = times_s.unique().sort().to_numpy()
        merged = max(1, -(-len(samples) // max(1, most)))
        ends = np.minimum(np.arange(merged - 1, len(samples) + merged - 1, merged), len(samples) - 1)
        return cls(samples[ends], samples, merged)

    def number(self, times_s: pl.Series) -> pl.Series:
        """The step of each instant, which must be one of the samples."""
        return pl.Series("step", np.searchsorted(self.samples_s, times_s.to_numpy()) // self.merged)

    def columns(self, samples: pl.DataFrame, row: str, rows: int, *merge: pl.Expr) -> dict[str, Any]:
        """Samples merged to steps, each measure as a column of rows by steps for the page; NaN for none.

        ``row`` is the column with the number of the row, ``merge`` what the samples of a step become.
        """
        merged = samples.with_columns(self.number(samples["time_s"]))
        if self.merged > 1:
            merged = merged.group_by(row, "step", maintain_order=True).agg(*merge)
        places = merged[row].to_numpy(), merged["step"].to_numpy()
        data = {}
        for name in (expression.meta.output_name() for expression in merge):
            values = np.full((rows, len(self.times_s)), np.nan)
            values[places] = _numbers(merged[name])
            data[name] = column(values)
        return data
