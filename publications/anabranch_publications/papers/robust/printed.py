"""The numbers that Fukushima et al. 2016 print of the NSFNET (sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping

PERCENTS = (0, 20, 40, 60, 80, 100)
"""X of section 6."""
LOADS: Mapping[str, tuple[float, ...]] = {
    "hop": (0.68, 0.82, 0.98, 1.08, 1.08, 1.08),
    "delay": (0.88, 1.04, 1.24, 1.50, 1.56, 1.56),
}
"""Figures 12 and 13, by X in steps of 20."""
LOAD_ALL = 0.455
THROUGHPUT: Mapping[str, tuple[float, ...]] = {
    "hop": (4.65, 6.89, 8.51, 9.28, 10.0, 10.0),
    "delay": (8.28, 8.32, 8.58, 9.03, 9.84, 10.0),
}
"""Figures 14 and 15, in Mbps."""
THROUGHPUT_ALL = 1.44
IMPROVEMENT_PERCENT: Mapping[str, tuple[int, ...]] = {
    "hop": (322, 478, 591, 644, 695, 695),
    "delay": (575, 578, 596, 627, 683, 695),
}
"""Throughput over that of ALL, as section 6 prints it."""
BEST_PERCENT: Mapping[str, int] = {"hop": 40, "delay": 0}
"""The highest X with a load below 1 (section 6)."""
EXAMPLE_MS: Mapping[tuple[int, int], float] = {
    (1, 2): 9.8,
    (1, 3): 7.5,
    (1, 4): 13.3,
    (1, 5): 21.0,
    (1, 6): 15.9,
}
"""Delay of the longer of two candidates by hops, in ms, by pair of routers (section 5)."""
