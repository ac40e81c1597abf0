"""Throughput over time of single runs, and what Chang 2024 says of its curves."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from anabranch import Scenario
from anabranch.report.figures import compare_goodput
from anabranch.result import Result
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.mprc.network import PAPER, configured

SECOND_S = 1.0
STARTED_S = 0.5
"""Transfers begin within 0.1 s, samples are of half a second: by 1.5 s one second has passed for all."""
SETTLED_S = 5.0
FULL = 0.9
"""Of what the headers leave: the curves swing."""

Curves = Mapping[str, Result]
"""A run of each transport."""
CurveClaims = Callable[[Curves, float], list[Finding]]


def runs(base: dict[str, Any], choice: str) -> Curves:
    """One run of each of the thesis's transports."""
    (entry,) = base["traffic"]
    document = {**base, "transport": configured(choice)}
    return {
        name: Scenario.from_data({**document, "traffic": [{**entry, "transport": name}]}).run()
        for name in PAPER
    }


def drawn(title: str, curves: Curves) -> Figure:
    """Throughput over time."""
    return compare_goodput({title: dict(curves)})


def samples(run: Result, after_s: float, until_s: float) -> list[float]:
    """Goodput in Mbps of every sample between two times."""
    rows = run.flow_series.filter((pl.col("time_s") > after_s + 1e-6) & (pl.col("time_s") <= until_s + 1e-6))
    return [float(value) for value in rows.sort("time_s")["goodput_mbps"].to_list()]


def _swing(run: Result) -> float:
    """Standard deviation of the goodput over its mean, once it has settled."""
    values = samples(run, SETTLED_S, float("inf"))
    return statistics.stdev(values) / statistics.fmean(values)


def within_a_second(curves: Curves, usable: float) -> list[Finding]:
    """Section 5.1: everyone reaches the bandwidth within a second, CUBIC a little sooner."""
    found = []
    for name, run in curves.items():
        (ours,) = samples(run, SECOND_S, SECOND_S + STARTED_S)
        found.append(
            Finding(
                f"{name} after a second",
                "10 Mbps within one second",
                f"{ours:.2f} Mbps",
                ours >= FULL * usable,
                f"{FULL} of what the headers leave, in the half second after it",
            )
        )
    first = {name: sum(samples(run, 0, SECOND_S)) / 2 for name, run in curves.items()}
    ranked = sorted(first, key=lambda name: -first[name])
    found.append(
        Finding(
            "goodput of the first second",
            "CUBIC has a slight advantage",
            ", ".join(f"{name} {first[name]:.2f}" for name in ranked) + " Mbps",
            first["cubic"] > max(value for name, value in first.items() if name != "cubic"),
            "CUBIC has the most",
        )
    )
    return found


def steadier(steady: str, other: str, published: str) -> CurveClaims:
    """A transport swings less than another one."""

    def claims(curves: Curves, _usable: float) -> list[Finding]:
        ours, theirs = _swing(curves[steady]), _swing(curves[other])
        return [
            Finding(
                f"standard deviation over the mean from {SETTLED_S:g} s on, {steady} and {other}",
                published,
                f"{ours:.3f} and {theirs:.3f}",
                ours < theirs,
                "the first is less",
            )
        ]

    return claims


def peak_of_bbr(peak_mbps: float, after_mbps: float | None) -> CurveClaims:
    """BBR reaches a peak at its start, and does not keep it."""

    def claims(curves: Curves, usable: float) -> list[Finding]:
        first = max(samples(curves["bbr"], 0, SETTLED_S))
        last = statistics.fmean(samples(curves["bbr"], SETTLED_S, float("inf")))
        most = FULL * usable if after_mbps is None else after_mbps
        words = "then drops" if after_mbps is None else f"then below {after_mbps:g} Mbps"
        return [
            Finding(
                f"BBR's highest half second of the first {SETTLED_S:g}, and its mean after them",
                f"{peak_mbps:g} Mbps, {words}",
                f"{first:.1f} and {last:.1f} Mbps",
                first >= 0.8 * peak_mbps and last < most,
                f"within 20 %, read off a curve, or more; and under {most:.1f} Mbps",
            )
        ]

    return claims


def minimal_fluctuation(curves: Curves, _usable: float) -> list[Finding]:
    """Section 5.2: MPRC's throughput is stable."""
    swing = _swing(curves["mprc"])
    others = min(_swing(run) for name, run in curves.items() if name != "mprc")
    return [
        Finding(
            f"MPRC: standard deviation over the mean from {SETTLED_S:g} s on, and the least of the others",
            "stable, with minimal fluctuation",
            f"{swing:.3f} and {others:.3f}",
            swing <= others,
            "no more than any other's",
        )
    ]


def half_at_most(curves: Curves, _usable: float) -> list[Finding]:
    """Section 5.3: NewReno's peak with loss and spraying is half of a path's bandwidth."""
    peak = max(samples(curves["newreno"], SETTLED_S, float("inf")))
    return [
        Finding(
            f"NewReno's highest half second from {SETTLED_S:g} s on",
            "half of the path bandwidth",
            f"{peak:.2f} Mbps",
            peak <= 0.6 * 10,
            "at most 6 of 10 Mbps: within 20 %, read off a curve",
        )
    ]
