"""The cost of the failure of a link: from the total goodput over time to three numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch_publications.comparison.subjects import Failure

Floats = NDArray[np.float64]

BACK = 0.95
"""Share of the lasting level from which on the total counts as back."""
WINDOW_S = 1.0
"""Over so long the total is averaged when it is looked for: longer than a round trip, so that one burst is
not it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a failure."""

    lost_percent: float
    """Goodput from the failure to the end, under the level before, in percent of that level."""
    lasting_percent: float
    """Level at the end, in percent of the level before."""
    back_s: float | None
    """From the failure until the total is back to 95 % of its lasting level: to the begin of the first second
    whose mean is that; None if there is no such second before the lasting part ends."""


def cost(time_s: Floats, total_mbps: Floats, failure: Failure) -> Cost | None:
    """The cost of a failure; None where there was no goodput before it.

    Args:
        time_s: ends of samples, equally far apart, ascending.
        total_mbps: goodput of all flows in each sample.
        failure: when it is, and what is compared.
    """
    level_before = _mean(time_s, total_mbps, failure.before_s, failure.at_s)
    if not level_before > 0:
        return None
    after = _mean(time_s, total_mbps, failure.at_s, failure.until_s)
    lasting = _mean(time_s, total_mbps, failure.lasting_s, failure.until_s)
    return Cost(
        100 * (1 - after / level_before),
        100 * lasting / level_before,
        _back(time_s, total_mbps, failure, BACK * lasting),
    )


def _mean(time_s: Floats, total_mbps: Floats, begin_s: float, end_s: float) -> float:
    """Mean of the samples that lie between two instants, with a hair of tolerance at the ends."""
    step = float(time_s[1] - time_s[0])
    inside = (time_s > begin_s + 0.5 * step) & (time_s < end_s + 0.5 * step)
    return float(total_mbps[inside].mean()) if inside.any() else 0.0


def _back(time_s: Floats, total_mbps: Floats, failure: Failure, wanted_mbps: float) -> float | None:
    step = float(time_s[1] - time_s[0])
    inside = (time_s > failure.at_s + 0.5 * step) & (time_s < failure.until_s + 0.5 * step)
    levels = total_mbps[inside]
    width = max(1, round(min(WINDOW_S, (failure.until_s - failure.at_s) / 8) / step))
    if len(levels) < width:
        return None
    means = np.convolve(levels, np.ones(width) / width, mode="valid")
    reached = np.flatnonzero(means >= wanted_mbps * (1 - 1e-12))
    return float(reached[0] * step) if len(reached) else None
