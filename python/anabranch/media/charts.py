"""Charts as data: lines over time, and distribution functions.

A view makes them of a result. Print, pages, notebooks and workbooks draw them and compute nothing of runs:
what samples are of a line, and what several of them become, stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch.media.columns import Column, column
from anabranch.media.palette import TOGETHER, Look
from anabranch.media.pieces import DataTable, TableLine, TableLines
from anabranch.text.units import suited

Numbers = NDArray[np.float64]
Merge = Literal["mean", "max", "sum"]
"""What several samples become where there is room for one."""

WIDE = 100.0
"""Values that reach further by factor suit a logarithmic axis."""


def numbers(values: pl.Series) -> Numbers:
    """A column as numbers; null is NaN."""
    return values.cast(pl.Float64).fill_null(np.nan).to_numpy()


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """An axis of values, and the column of the samples that is drawn on it."""

    column: Column
    heading: str = ""
    """What the values are, where it is not the column's own heading."""
    unit: str | None = None
    """The unit, where it is not the column's own."""
    is_scaled: bool = True
    """Whether another unit may be chosen for small and large values."""
    top: float | None = None
    """The end of the axis; None for that of the values."""
    low: str = ""
    """The column of the lower edge of a band around the lines; empty for none."""
    high: str = ""
    merge: Merge = "mean"

    @property
    def name(self) -> str:
        """The column of the samples."""
        return self.column.name

    @property
    def quantity(self) -> str:
        """The values in words."""
        return self.heading or self.column.label

    @property
    def shown_unit(self) -> str:
        """The unit of the samples; empty for none."""
        return self.column.unit if self.unit is None else self.unit

    def merged(self) -> pl.Expr:
        """The expression that makes one sample of several."""
        values = pl.col(self.name)
        match self.merge:
            case "mean":
                return values.mean()
            case "max":
                return values.max()
            case "sum":
                # Null, and not 0, where nothing is known.
                return pl.when(values.count() > 0).then(values.sum())

    def suited(self, most: float) -> tuple[float, str]:
        """The factor that makes the greatest value read well, and the unit that values are then in."""
        return suited(most, self.shown_unit) if self.is_scaled else (1.0, self.shown_unit)

    def labelled(self, unit: str) -> str:
        """The label of the axis with the unit that suits its values: ``goodput in Mbps``."""
        return f"{self.quantity} in {unit}" if unit else self.quantity


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart; its samples have its place among the lines in their column ``line``."""

    label: str
    look: Look
    detail: str = ""
    """What is in brackets behind the label where there is room: the transport of a flow."""
    is_marked: bool = False
    """Whether it carries the markers of its look."""
    is_of_several: bool = False
    """Whether it is the sum or the mean over several things; a page draws it wide."""
    row: int | None = None
    """Which row of a table it is of, where there is one for it."""

    @property
    def full_label(self) -> str:
        """The label with its detail."""
        return f"{self.label} ({self.detail})" if self.detail else self.label


class Mark(NamedTuple):
    """A change of the network, as an upright in charts over time."""

    time_s: float
    kind: str

    @property
    def is_bad(self) -> bool:
        """Whether something goes down."""
        return self.kind.endswith("down")


class Drawn(NamedTuple):
    """The samples of one line; what was not measured is NaN."""

    times_s: Numbers
    values: Numbers
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over time. Print draws them on the first axis, a page on all of them, one chart each."""

    name: str
    """Of its file and its sheet."""
    title: str
    """Of the run."""
    axes: tuple[ValueAxis, ...]
    lines: tuple[Line, ...]
    samples: pl.DataFrame
    """``line``, ``time_s`` and the columns of the axes. The instants of a line ascend."""
    ended_s: float
    """When the run was over."""
    start_s: float | None = None
    """The begin of the axis of time that was asked for; None for that of the run."""
    end_s: float | None = None
    is_log: bool = False
    """Whether values are to be on a logarithmic axis."""
    is_stacked: bool = False
    """Whether the lines stand on each other."""
    is_joined: bool = False
    """Whether a line goes on over instants without a value of it; otherwise there is a gap."""
    total: str = ""
    """What the lines are of, in the plural, where their sum on the first axis is one more line."""
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    shown: tuple[int, ...] | None = None
    """The lines that a page shows at first; None for all."""
    simulated: pl.DataFrame | None = None
    """Samples of the simulation beside those of a live run, at the same instants."""
    interval_s: float = 0.0
    """From one sample to the next, where a sum over steps is told by their length; 0 where it is not."""

    def drawn(self, line: int, axis: ValueAxis) -> Drawn:
        """The samples of a line from its first to its last value, with the gaps between them."""
        names = [axis.name, *(name for name in (axis.low, axis.high) if name)]
        rows = self.samples.filter(pl.col("line") == line).select("time_s", *names)
        if not self.is_joined:
            instants = self.samples.select(pl.col("time_s").unique().sort())
            rows = instants.join(rows, on="time_s", how="left", maintain_order="left")
        places = rows[axis.name].is_not_null().arg_true()
        if places.is_empty():
            rows = rows.clear()
        else:
            first, last = int(places[0]), int(places[-1])
            rows = rows[first : last + 1]
        if self.is_joined:
            rows = rows.drop_nulls(axis.name)
        low, high = (numbers(rows[name]) if name else None for name in (axis.low, axis.high))
        return Drawn(numbers(rows["time_s"]), numbers(rows[axis.name]), low, high)

    def with_total(self) -> LineChart:
        """The chart with the sum of its lines as one more, where that says something."""
        if not self.total or len(self.lines) < 2:
            return self
        name = self.axes[0].name
        sums = (
            self.samples.drop_nulls(name)
            .group_by("time_s")
            .agg(pl.col(name).sum())
            .sort("time_s")
            .with_columns(line=pl.lit(len(self.lines), self.samples["line"].dtype))
        )
        line = Line(f"all {self.total}", TOGETHER, is_of_several=True)
        samples = pl.concat([self.samples, sums], how="diagonal")
        return replace(self, lines=(*self.lines, line), samples=samples, total="")

    def table(self) -> DataTable:
        """The samples on the first axis, a column for each line: what a file or a sheet has of it."""
        chart = self.with_total()
        axis = chart.axes[0]
        instants = chart.samples.select(pl.col("time_s").unique().sort())
        columns, values = [column("time_s")], [instants["time_s"]]
        for number, line in enumerate(chart.lines):
            corner = chart.samples.filter(pl.col("line") == number).unique("time_s", keep="last")
            joined = instants.join(corner, on="time_s", how="left", maintain_order="left")
            columns.append(_value_column(f"line_{number}", line.full_label, axis.shown_unit))
            values.append(joined[axis.name])
        lines = tuple(
            TableLine(line.full_label, line.look, "time_s", f"line_{number}")
            for number, line in enumerate(chart.lines)
        )
        drawn = TableLines(column("time_s").titled(), axis.labelled(axis.shown_unit), lines)
        caption = " ".join([sentence(axis.labelled(axis.shown_unit)) + ".", *chart.notes])
        return DataTable(self.name, caption, tuple(columns), tuple(values), things="instants", chart=drawn)


def _value_column(name: str, heading: str, unit: str) -> Column:
    return Column(name, heading, unit, digits=6)


def sentence(words: str) -> str:
    """Words with a capital letter."""
    return f"{words[:1].upper()}{words[1:]}"


@dataclass(frozen=True, slots=True)
class Curve:
    """A distribution function: values in order, and the share that is no greater."""

    label: str
    look: Look
    values: Numbers
    shares: Numbers
    """The first one is zero; the last one is less than 1 where some values are still to come."""
    sample: Numbers
    """The values one by one, where they are known; empty where only their distribution is."""


@dataclass(frozen=True, slots=True)
class DistributionChart:
    """Distribution functions of one quantity."""

    name: str
    title: str
    axis: ValueAxis
    shares_of: str
    """What a share is one of, in the plural: ``flows``."""
    curves: tuple[Curve, ...]
    is_log: bool | None = False
    """Whether values are on a logarithmic axis; None where they decide themselves."""
    notes: tuple[str, ...] = ()
    left: int = 0
    """How many values are still to come."""

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the greatest value; zeros where there is none."""
        every = np.concatenate([curve.values for curve in self.curves if curve.values.size] or [np.zeros(1)])
        return float(every.min()), float(every.max())

    @property
    def wants_log(self) -> bool:
        """Whether values are drawn on a logarithmic axis."""
        least, most = self.extremes
        return (least > 0 and most > WIDE * least) if self.is_log is None else self.is_log and most > 0

    def table(self) -> DataTable:
        """The corners of the curves, two columns for each: what a file or a sheet has of it."""
        length = max((2 * curve.values.size for curve in self.curves), default=0)
        columns, values, lines = list[Column](), list[Sequence[float | None]](), []
        for number, curve in enumerate(self.curves):
            names = f"value_{number}", f"share_{number}"
            headings = (curve.label, self.axis.shown_unit), (f"share of {self.shares_of}", "")
            # A step has two corners.
            corners = np.repeat(curve.values, 2)[1:], np.repeat(curve.shares, 2)[:-1]
            for name, (heading, unit), corner in zip(names, headings, corners, strict=True):
                columns.append(_value_column(name, heading, unit))
                values.append([*map(float, corner), *[None] * (length - corner.size)])
            lines.append(TableLine(curve.label, curve.look, *names))
        drawn = TableLines(
            self.axis.labelled(self.axis.shown_unit), f"share of {self.shares_of}", tuple(lines)
        )
        caption = " ".join(
            [sentence(f"share of {self.shares_of} up to each {self.axis.quantity}."), *self.notes]
        )
        return DataTable(self.name, caption, tuple(columns), tuple(values), things="corners", chart=drawn)


def steps(values: Numbers, count: int | None = None) -> tuple[Numbers, Numbers]:
    """The distribution function of some values: each once, and the share of ``count`` that are no greater."""
    at, last = np.unique(values, return_counts=True)
    shares = np.cumsum(last) / (count or values.size)
    return np.concatenate([at[:1], at]), np.concatenate([[0.0], shares])


def greatest(columns: Sequence[Numbers]) -> float:
    """The greatest number of some columns; zero where there is none."""
    return max((float(np.nanmax(one)) for one in columns if np.isfinite(one).any()), default=0.0)
