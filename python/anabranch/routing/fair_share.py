"""Max-min fair rates of flows that share links, each flow with a largest rate of its own."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ALIKE: Final = 1 + 1e-9
"""Levels within this factor are the same."""


def fair_shares(crossed: Floats, flows: Floats, limits: Floats, capacities: Floats) -> Floats:
    """The rate of one flow of each class, by progressive filling.

    All flows grow together; one stops at its own limit, or where a link on its way is full (Bertsekas and
    Gallager, "Data Networks", second edition, 1992, section 6.5.2).

    Args:
        crossed: 1 for each class (row) and link (column) where the class crosses the link, 0 elsewhere.
        flows: flows of each class, at least 1.
        limits: largest rate of one flow of each class, finite.
        capacities: of the links, above 0, in the unit of the limits.
    """
    rates = np.zeros(len(flows))
    growing = np.ones(len(flows), dtype=bool)
    crosses = crossed > 0
    left = capacities.astype(float)
    while growing.any():
        load = (flows * growing) @ crossed
        level = np.full(len(left), np.inf)
        np.divide(left, load, out=level, where=load > 0)
        # What a flow leaves never lowers the level of a link, so that it gets this at least.
        least = np.minimum(np.where(crosses, level, np.inf).min(axis=1), limits)
        # A link is full for good where nobody on it is held back below its level.
        held = np.where(crosses & growing[:, None], least[:, None], np.inf).min(axis=0)
        full = (load > 0) & (held * _ALIKE >= level)
        stopping = growing & ((limits <= least) | crosses[:, full].any(axis=1))
        rates[stopping] = least[stopping]
        left = np.maximum(left - (flows * rates * stopping) @ crossed, 0.0)
        growing &= ~stopping
    return rates
