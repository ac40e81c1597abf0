"""Throughput over time, and what Chang 2024 says of its curves, over all seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from anabranch import Scenario
from anabranch.report.figures import compare_goodput
from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.mprc.network import PAPER
from anabranch_publications.papers.mprc.ns3 import not_in_ns3
from anabranch_publications.papers.sql import query, with_metrics

SECOND_S = 1.0
STARTED_S = 0.5
"""Transfers begin within 0.1 s, samples are of half a second: by 1.5 s one second has passed for all."""
SETTLED_S = 5.0
FULL = 0.9
"""Of what the links let through: the curves swing."""
READ_OFF = 0.2
"""Of a number that the thesis reads off a curve."""
_PACKET_MBPS = 1500 * 8 / STARTED_S / 1e6
"""A packet that began to arrive in the sample before counts as a whole."""

ARRIVAL = MetricInfo("arrival_mbps", "arriving at the receiver (Mbps)")


def arrivals_sql(receiver: str) -> str:
    """The arrivals at a node in each sample, by run: IP bytes, headers and duplicates included.

    The thesis plots what ns-3's FlowMonitor counts at the receiver. Goodput in order is another quantity: it
    stands still behind a hole, and is above the capacity when the hole is filled.

    Args:
        receiver: the node, which sends nothing but ACKs.
    """
    return (
        "select s.run, s.time_s, sum(s.throughput_mbps) as mbps from link_series s "  # noqa: S608 - no input
        f"join links l on l.run = s.run and l.link = s.link where l.\"to\" = '{receiver}' group by all"
    )


def with_arrivals(result: StudyResult, receiver: str) -> StudyResult:
    """The study with :data:`ARRIVAL`, the mean over the run."""
    mean = f"select run, avg(mbps) from ({arrivals_sql(receiver)}) group by run"  # noqa: S608 - no input
    return with_metrics(result, {ARRIVAL: mean})


@dataclass(frozen=True, slots=True)
class Curves:
    """The arrivals at the receiver over time."""

    samples: pl.DataFrame
    """Columns ``transport``, ``run``, ``time_s`` and ``mbps``; a run is a seed."""

    @classmethod
    def of(cls, result: StudyResult, receiver: str) -> Curves:
        """Of every run of a study over transports."""
        return cls(
            query(
                result,
                "select cast(r.transport as varchar) as transport, a.* "  # noqa: S608 - no input
                f"from ({arrivals_sql(receiver)}) a join runs r on r.run = a.run order by 1, 2, 3",
            )
        )

    def each(self, transport: str, after_s: float, until_s: float = float("inf")) -> list[list[float]]:
        """Samples in Mbps between two times, a list for each seed."""
        chosen = self.samples.filter(
            (pl.col("transport") == transport)
            & (pl.col("time_s") > after_s + 1e-6)
            & (pl.col("time_s") <= until_s + 1e-6)
        )
        return [
            [float(value) for value in of_run["mbps"].to_list()]
            for of_run in chosen.partition_by("run", maintain_order=True)
        ]

    def mean(self, transport: str, after_s: float, until_s: float = float("inf")) -> float:
        """Median over the seeds of the mean in Mbps between two times."""
        return statistics.median(map(statistics.fmean, self.each(transport, after_s, until_s)))

    def peak(self, transport: str, after_s: float, until_s: float = float("inf")) -> float:
        """Median over the seeds of the highest sample in Mbps between two times."""
        return statistics.median(map(max, self.each(transport, after_s, until_s)))

    def swing(self, transport: str) -> float:
        """Median over the seeds of the standard deviation over the mean, once it has settled."""
        return statistics.median(
            statistics.stdev(values) / statistics.fmean(values) for values in self.each(transport, SETTLED_S)
        )


CurveClaims = Callable[[Curves, float], list[Finding]]


def drawn(title: str, base: dict[str, Any]) -> Figure:
    """Goodput over time of one seed of each of the thesis's transports."""
    (entry,) = base["traffic"]
    runs = {
        name: Scenario.from_data({**base, "traffic": [{**entry, "transport": name}]}).run() for name in PAPER
    }
    return compare_goodput({title: runs})


def within_a_second(figure: str) -> CurveClaims:
    """Section 5.1: everyone reaches the bandwidth within a second, CUBIC a little sooner."""

    def claims(curves: Curves, usable: float) -> list[Finding]:
        return [*_started(curves, usable), _first_second(curves, figure)]

    return claims


def _started(curves: Curves, usable: float) -> list[Finding]:
    findings = []
    for name in PAPER:
        ours = curves.mean(name, SECOND_S, SECOND_S + STARTED_S)
        findings.append(
            Finding(
                f"{name} after a second",
                "10 Mbps within one second",
                f"{ours:.2f} Mbps",
                FULL * usable <= ours <= usable + _PACKET_MBPS,
                f"from {FULL} of it to all of it and a packet, in the half second after it",
            )
        )
    return findings


def _first_second(curves: Curves, figure: str) -> Finding:
    first = {name: curves.mean(name, 0, SECOND_S) for name in PAPER}
    ranked = sorted(first, key=lambda name: -first[name])
    return Finding(
        "throughput of the first second",
        "CUBIC has a slight advantage",
        ", ".join(f"{name} {first[name]:.2f}" for name in ranked) + " Mbps",
        first["cubic"] > max(value for name, value in first.items() if name != "cubic"),
        "CUBIC has the most",
        refutation=not_in_ns3(figure, "cubic"),
    )


def steadier(steady: str, other: str, published: str) -> CurveClaims:
    """A transport swings less than another one."""

    def claims(curves: Curves, _usable: float) -> list[Finding]:
        ours, theirs = curves.swing(steady), curves.swing(other)
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
        first, last = curves.peak("bbr", 0, SETTLED_S), curves.mean("bbr", SETTLED_S)
        most = FULL * usable if after_mbps is None else after_mbps
        words = "then drops" if after_mbps is None else f"then below {after_mbps:g} Mbps"
        return [
            Finding(
                f"BBR's highest half second of the first {SETTLED_S:g}, and its mean after them",
                f"{peak_mbps:g} Mbps, {words}",
                f"{first:.1f} and {last:.1f} Mbps",
                abs(first - peak_mbps) <= READ_OFF * peak_mbps and last < most,
                f"within 20 %, read off a curve; and under {most:.1f} Mbps",
            )
        ]

    return claims


def minimal_fluctuation(curves: Curves, _usable: float) -> list[Finding]:
    """Section 5.2: MPRC's throughput is stable."""
    swing = curves.swing("mprc")
    others = min(curves.swing(name) for name in PAPER if name != "mprc")
    return [
        Finding(
            f"MPRC: standard deviation over the mean from {SETTLED_S:g} s on, and the least of the others",
            "stable, with minimal fluctuation",
            f"{swing:.3f} and {others:.3f}",
            swing <= others,
            "no more than any other's",
        )
    ]


def half_of_the_paths(curves: Curves, usable: float) -> list[Finding]:
    """Section 5.3: NewReno's peak with loss and spraying is half of the bandwidth of the paths."""
    peak, half = curves.peak("newreno", SETTLED_S), usable / 2
    return [
        Finding(
            f"NewReno's highest half second from {SETTLED_S:g} s on",
            "only half of the path bandwidth",
            f"{peak:.2f} Mbps",
            abs(peak - half) <= READ_OFF * half,
            f"within 20 % of {half:g} Mbps, read off a curve: the path bandwidth is that of all paths, as in "
            "section 2.3",
        )
    ]


def steadier_than_on_one_path(curves: Curves, alone: Curves) -> list[Finding]:
    """Section 5.3: with errors MPRC is more stable over several paths than over one."""
    several, one = curves.swing("mprc"), alone.swing("mprc")
    return [
        Finding(
            f"MPRC: standard deviation over the mean from {SETTLED_S:g} s on, over two paths and over one",
            "more stable compared to its performance with OSPF",
            f"{several:.3f} and {one:.3f}",
            several < one,
            "the first is less",
        )
    ]
