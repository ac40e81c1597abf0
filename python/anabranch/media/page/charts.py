"""Charts as the scripts of a page take them: samples merged to steps, looks as numbers and lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from anabranch.media.charts import (
    Curve,
    DistributionChart,
    LineChart,
    Merge,
    Numbers,
    ValueAxis,
    sentence,
)
from anabranch.media.page.data import Steps, column
from anabranch.media.palette import PALETTE, Look
from anabranch.text.units import measure, quantity

MOST_STEPS = 600
"""Steps of a line, and points of a distribution: more are not told apart on a screen."""
FEWEST_STEPS = 20
_FEWEST_IN_DISTRIBUTION = 5
"""Fewer values are told one by one."""
_MERGED = {"mean": "mean", "max": "maximum", "sum": "sum"}
_DASHES: dict[str, Sequence[int]] = {
    "-": (), "--": (7, 4), ":": (2, 3), "-.": (8, 3, 2, 3), "-..": (12, 4), "-,": (4, 2),
}  # fmt: skip
"""Lengths in pixels."""


def steps_of(chart: LineChart, most_values: int = 0) -> Steps:
    """The steps of a chart: at most 600, and fewer where there are very many lines.

    Args:
        chart: the chart.
        most_values: lines times steps at most, as long as that leaves 20 steps; 0 for any number.
    """
    most = MOST_STEPS
    if most_values:
        most = min(most, max(FEWEST_STEPS, most_values // max(1, len(chart.lines))))
    return Steps.of(chart.samples["time_s"], most)


def merge_note(what: str, chart: LineChart, steps: Steps) -> list[str]:
    """A note that says what a step is, where it is not a single sample."""
    if steps.merged == 1:
        return []
    kinds: dict[Merge, list[str]] = {}
    for axis in chart.axes:
        kinds.setdefault(axis.merge, []).append(axis.quantity)
    merges = ", ".join(f"the {_MERGED[kind]} of {_listed(names)}" for kind, names in kinds.items())
    return [f"{what}: {steps.merged} samples in a row are one step: {merges}."]


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def series_data(chart: LineChart, steps: Steps) -> dict[str, Any]:
    """The values of a chart alone, by the names of their columns: what a map shows step by step."""
    values = zip(chart.axes, _values(chart, chart.samples, steps), strict=True)
    return {"times": column(steps.times_s, "f8"), **{axis.name: column_ for axis, column_ in values}}


def chart_data(chart: LineChart, steps: Steps) -> dict[str, Any]:
    """A chart for the script of a page.

    Args:
        chart: the chart.
        steps: of :func:`steps_of`.

    Returns:
        ``times``; ``lines`` (``label``, ``row``, ``look``, ``wide``); ``axes`` (``title``,
        ``unit``, ``values`` by line and step); ``simulated`` (``values`` of each axis, or None); ``shown``,
        ``total``, ``joined``.
    """
    beside = None if chart.simulated is None else _values(chart, chart.simulated, steps)
    return {
        "times": column(steps.times_s, "f8"),
        "lines": [
            {
                "label": line.full_label, "row": line.row, "wide": line.is_of_several,
                "look": screen_look(line.look),
            }
            for line in chart.lines
        ],
        "axes": [
            {"title": _title(chart, axis, steps), "unit": axis.shown_unit, "values": values}
            for axis, values in zip(chart.axes, _values(chart, chart.samples, steps), strict=True)
        ],
        "simulated": beside,
        "shown": list(range(len(chart.lines)) if chart.shown is None else chart.shown),
        "total": chart.total,
        "joined": chart.is_joined,
    }  # fmt: skip


def _title(chart: LineChart, axis: ValueAxis, steps: Steps) -> str:
    """The quantity of an axis; of a sum also over which time."""
    title, step_s = sentence(axis.quantity), chart.interval_s * steps.merged
    return f"{title} per {measure(step_s, 's')}" if axis.merge == "sum" and step_s else title


def _values(chart: LineChart, samples: pl.DataFrame, steps: Steps) -> list[dict[str, Any]]:
    """The values of each axis at each step."""
    merged = (axis.merged() for axis in chart.axes)
    values = steps.columns(samples, "line", len(chart.lines), *merged)
    return [values[axis.name] for axis in chart.axes]


def screen_look(look: Look) -> dict[str, Any]:
    """A look as a script takes it: the number of the colour in the style, -1 for that of text, and dashes."""
    return {
        "color": PALETTE.index(look.color) if look.color in PALETTE else -1,
        "dash": dash_lengths(look.dash),
    }


def dash_lengths(dash: str) -> Sequence[int]:
    """The lengths of dashes and gaps of a style of lines, in pixels; none of one without gaps."""
    return _DASHES.get(dash, ())


def distribution_data(
    shown: DistributionChart | None, nothing: str, *, none_is_zero: str = ""
) -> dict[str, Any]:
    """Distribution functions for the script of a page, or the words in their place.

    Args:
        shown: the distribution; None where there is none.
        nothing: the words where there is no value.
        none_is_zero: the words where every value is zero; empty if that is a distribution like any other.

    Returns:
        ``title``, ``unit``, ``log``, ``shares_of``, and either ``words`` or ``curves`` (``label``, ``look``,
        ``values``, ``shares``).
    """
    if shown is None:
        return {"words": nothing}
    most = shown.extremes[1]
    factor, unit = shown.axis.suited(most)
    about = {"title": sentence(shown.axis.quantity), "shares_of": shown.shares_of, "log": shown.wants_log}
    every = np.sort(np.concatenate([curve.sample for curve in shown.curves] or [np.empty(0)]))
    words = _told(shown, every, nothing, none_is_zero)
    if words:
        return {**about, "unit": shown.axis.shown_unit, "words": words}
    return {**about, "unit": unit, "curves": [_curve(curve, factor) for curve in shown.curves]}


def _told(shown: DistributionChart, every: Numbers, nothing: str, none_is_zero: str) -> str:
    """The words in place of curves, where values are few or all zero; empty else."""
    rest = f" {quantity(shown.left)} unfinished." if shown.left else ""
    unit = shown.axis.shown_unit
    if not any(curve.values.size for curve in shown.curves):
        return f"{nothing}{rest}"
    if not every.size:
        return ""
    some = every[every > 0] if none_is_zero else every
    if not some.size:
        return none_is_zero
    if some.size >= _FEWEST_IN_DISTRIBUTION:
        return ""
    others = "; the others none" if some.size < every.size else ""
    values = ", ".join(quantity(value, unit) for value in some)
    return f"Too few {shown.shares_of} for a distribution: {values}{others}.{rest}"


def _curve(curve: Curve, factor: float) -> dict[str, Any]:
    """The points of a curve; of more than there are pixels those nearest to equal steps of the share."""
    values, shares = curve.values, curve.shares
    if values.size > 1 and values[0] == values[1]:
        # Paper has the step from nothing to the first share there; on a page the curve begins with it.
        values, shares = values[1:], shares[1:]
    if values.size > MOST_STEPS:
        wanted = np.searchsorted(shares, np.linspace(0, 1, MOST_STEPS) * shares[-1])
        places = np.unique(np.append(wanted.clip(max=values.size - 1), 0))
        values, shares = values[places], shares[places]
    return {
        "label": curve.label,
        "look": screen_look(curve.look),
        "values": column(values * factor, "f8"),
        "shares": column(shares),
    }
