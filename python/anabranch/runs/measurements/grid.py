"""Series of intervals of any length on a grid of equal ones: sums and means over time stay what they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def on_grid(
    begin_s: Values, end_s: Values, measures: Mapping[str, Values], edges_s: Values, counted: tuple[str, ...]
) -> dict[str, Values]:
    """Measures of intervals that do not overlap, by the intervals between edges.

    A mean is that over the time in which it is known, NaN where it is not known at all; a count is spread
    evenly over its interval.

    Args:
        begin_s: where intervals begin.
        end_s: where they end; not before they begin, and not after the next begins.
        measures: a value for each interval, NaN where it is not known.
        edges_s: of the grid, ascending.
        counted: the names of counts; all others are means.
    """
    at_s = np.column_stack((begin_s, end_s)).ravel()
    length_s = end_s - begin_s
    columns = {}
    for name, values in measures.items():
        is_known = ~np.isnan(values)
        known_s = _within(at_s, np.where(is_known, length_s, 0.0), edges_s)
        part = np.where(is_known, values, 0.0) * (1.0 if name in counted else length_s)
        total = _within(at_s, part, edges_s)
        with np.errstate(invalid="ignore", divide="ignore"):
            gridded = total if name in counted else total / known_s
        # What rounding leaves of an interval next door is nothing that was known.
        columns[name] = np.where(known_s > 1e-9, gridded, np.nan)
    return columns


def _within(at_s: Values, parts: Values, edges_s: Values) -> Values:
    """How much of what is spread over intervals lies between edges."""
    before = np.concatenate(([0.0], np.cumsum(parts)))
    grown = np.column_stack((before[:-1], before[1:])).ravel()
    if not len(at_s):
        return np.zeros(len(edges_s) - 1)
    return np.diff(np.interp(edges_s, at_s, grown))


def edges(first_s: float, last_s: float, step_s: float, most: int) -> Values:
    """The edges of a grid from a multiple of the step on, until the last time is within.

    The last interval is up to a twentieth longer, rather than that a sliver has one of its own: tools write
    their last sample a little late.

    Raises:
        ValueError: if there are more than so many steps.
    """
    begin, end = np.floor(first_s / step_s + _SLIVER), np.ceil(last_s / step_s - _SLIVER)
    if end - begin > most:
        raise ValueError(f"{(end - begin):,.0f} intervals are more than {most:,}")
    times_s = np.arange(begin, max(end, begin + 1) + 1) * step_s
    times_s[0], times_s[-1] = min(times_s[0], first_s), max(times_s[-1], last_s)
    return times_s


_SLIVER = 0.05
"""Part of an interval."""
