"""The meaning of a link's look on maps, in print and on pages: its width and its colour.

The colours are in ``palette.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from anabranch.media.columns import FULL
from anabranch.text.units import with_unit


class LinkScale(NamedTuple):
    """The scale of the colours of links."""

    full: float
    """The value at the end of the colours."""
    limit: float | None = None
    """A value above it has the colour of an overload; None where there can be none."""


SHARES = LinkScale(1.0, FULL)
"""Of utilization and of loads, as shares of the capacity: above it a link is overloaded."""
PERCENT = LinkScale(100.0, 100.0 * FULL)
"""The same in percent."""


def scale_of_counts(most: float) -> LinkScale:
    """The scale of packets, which no capacity bounds: to the greatest number, and to one at least."""
    return LinkScale(max(most, 1.0))


_FEW_LINKS = 300
"""Directed links that have room for their whole width."""


def link_widths(capacities_mbps: Sequence[float]) -> list[float]:
    """The width of each link, as a share of the widest, by the logarithm of its capacity.

    So 1 and 100 Gbps both show. Where capacities differ by a decade or more, the narrowest link has a third
    of the width of the widest; links that are all alike have five ninths. Where there are more than some
    hundred links, all are thinner, by the root of their number: they would cover each other.
    """
    crowd = math.sqrt(min(1.0, _FEW_LINKS / max(1, len(capacities_mbps))))
    least, most = min(capacities_mbps, default=0.0), max(capacities_mbps, default=0.0)
    if not least > 0 or most == least:
        return [crowd * 5 / 9] * len(capacities_mbps)
    decades = max(1.0, math.log10(most / least))
    return [crowd * (3 + 6 * math.log10(value / least) / decades) / 9 for value in capacities_mbps]


def capacity_words(capacities_mbps: Sequence[float]) -> str:
    """Words for the width of links."""
    least, most = (with_unit(value, "Mbps") for value in (min(capacities_mbps), max(capacities_mbps)))
    return f"each link {most}" if least == most else f"width: capacity, {least} to {most}"
