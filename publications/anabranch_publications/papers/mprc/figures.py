"""Figures 2.3 to 5.10 of Chang 2024."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from anabranch import Scenario
from anabranch.report.figures import compare_goodput, goodput_over_time
from anabranch.report.study_figures import study_figure
from anabranch.result import Result
from anabranch.study.result import StudyResult
from anabranch_publications.papers.model import Context, FigureResult, Finding
from anabranch_publications.papers.mprc.network import HOW, PAPER, PAYLOAD, USABLE_MBPS, scenario
from anabranch_publications.papers.mprc.studies import SEEDS, compare, median, summary, transports

FAIR = 0.95
"""Jain's index that is wanted while several applications share the paths."""

METRICS = ("goodput_mbps", "spurious_percent", "retransmissions", "timeouts", "queue_max_packets")
Claims = Callable[[StudyResult, float], list[Finding]]


def throughput(
    key: str, title: str, network: str, routing: str, claims: Claims, *, loss: float = 0.0
) -> Callable[[Context], FigureResult]:
    """A figure of throughput over time: every transport once as a curve, and over all seeds as a table."""

    def make(context: Context) -> FigureResult:
        base = scenario(network, routing, loss=loss)
        name = f"{network}-{routing}{'-loss' if loss else ''}".lower().replace(" ", "-")
        words = f"{network}, {routing}{', 0.01 % loss on the critical path' if loss else ''}"
        result = compare(context, name, words, base, [transports(context)])
        usable = USABLE_MBPS[network, routing] * PAYLOAD
        return FigureResult(
            key,
            title,
            tuple(claims(result, usable)),
            {"runs": result.runs},
            {"over-time": over_time(words, base), "goodput": study_figure(result, "goodput_mbps")},
            {f"Median (and range) over {result.replications} seeds": summary(result, METRICS)},
            note=f"Routing: {HOW[routing]}. The links let {usable:.1f} Mbps of data through.",
        )

    return make


def over_time(title: str, base: dict[str, Any]) -> Figure:
    """Throughput over time of the thesis's transports, one run each."""
    runs: dict[str, Result] = {}
    for transport in PAPER:
        (entry,) = base["traffic"]
        runs[transport] = Scenario.from_data({**base, "traffic": [{**entry, "transport": transport}]}).run()
    return compare_goodput({title: runs})


def at_least(
    what: str, result: StudyResult, transport: str, published: str, least: float, reason: str = ""
) -> Finding:
    """A goodput that should be no less than that."""
    ours = median(result, "goodput_mbps", transport=transport)
    return Finding(what, published, f"{ours:.2f} Mbps", ours >= least, reason)


def at_most(
    what: str, result: StudyResult, transport: str, published: str, most: float, reason: str = ""
) -> Finding:
    """A goodput that should be no more than that."""
    ours = median(result, "goodput_mbps", transport=transport)
    return Finding(what, published, f"{ours:.2f} Mbps", ours <= most, reason)


def around(what: str, result: StudyResult, transport: str, published_mbps: float, reason: str) -> Finding:
    """A goodput read off a printed curve or text: within 20 %; the reason is one for too little."""
    ours = median(result, "goodput_mbps", transport=transport)
    ratio = ours / published_mbps
    agrees, known = 0.8 <= ratio <= 1.2, reason if ratio < 0.8 else ""
    return Finding(what, f"about {published_mbps:g} Mbps", f"{ours:.2f} Mbps", agrees, known, ratio)


def single_path(result: StudyResult, usable: float) -> list[Finding]:
    """Figures 2.3, 5.3 and 5.4: everyone fills the path, MPRC as well as CUBIC."""
    findings = [
        at_least(f"{transport} fills the path", result, transport, "10 Mbps", 0.95 * usable)
        for transport in PAPER
    ]
    mprc, cubic = (median(result, "goodput_mbps", transport=name) for name in ("mprc", "cubic"))
    findings.append(
        Finding("MPRC over CUBIC", "comparable", f"{mprc / cubic:.3f}", abs(mprc / cubic - 1) <= 0.02)
    )
    return findings


NS3_GRID = {"newreno": (8.4, 9.3), "cubic": (9.9, 10.3), "bbr": (13.4, 13.7)}
"""An optimised ns-3 3.48 on the same grid with access links of 100 Mbps and 0.1 ms, three seeds, in Mbps."""


def grid(result: StudyResult, _usable: float) -> list[Finding]:
    """Figure 2.4, which has no MPRC; and what ns-3 gives."""
    collapse = "the collapse shows neither here nor in ns-3 3.48, which gives 13.4 to 13.7 Mbps on this grid"
    findings = [
        around("NewReno", result, "newreno", 10, "averages above 10 Mbps are printed; ns-3 gives 8.4 to 9.3"),
        around("CUBIC", result, "cubic", 10, "averages above 10 Mbps are printed; ns-3 gives 9.9 to 10.3"),
        at_most("BBR after its peak of 15 Mbps", result, "bbr", "cannot transmit properly", 2.5, collapse),
    ]
    for transport, (low, high) in NS3_GRID.items():
        ours = median(result, "goodput_mbps", transport=transport)
        within = 0.85 * low <= ours <= 1.15 * high
        what = f"{transport}, ns-3 3.48 as the reference"
        findings.append(Finding(what, f"{low} to {high} Mbps", f"{ours:.2f} Mbps", within))
    findings.append(at_least("MPRC on the grid (18.5 or more wanted)", result, "mprc", "20 Mbps", 18.5))
    return findings


NO_COLLAPSE = "as on the grid: no collapse, here and in ns-3 3.48"

RARE_LOSS = (
    "at a loss of 1e-4 the square-root law 1.22 MSS / (RTT sqrt p) gives 24 Mbps on this path: a loss that "
    "rare does not keep anyone from 10 Mbps"
)

WORST = "the worst of all"
"""What the thesis says of BBR with loss and multipath routing."""

REORDERING = (
    "the paths differ in delay by 5 ms, so that nearly every window brings three duplicate ACKs; which paths "
    "and queues the thesis had is not said"
)


def abilene(result: StudyResult, _usable: float) -> list[Finding]:
    """Figure 5.5: MPRC fills both paths, the others do not."""
    return [
        at_least("MPRC", result, "mprc", "20 Mbps", 18.5),
        around("NewReno", result, "newreno", 10, REORDERING),
        at_most("CUBIC", result, "cubic", "lower than 10 Mbps", 10),
        at_most("BBR after its peak of 15 Mbps", result, "bbr", "below 2.5 Mbps", 2.5, NO_COLLAPSE),
        spurious(result),
    ]


def attmpls(result: StudyResult, _usable: float) -> list[Finding]:
    """Figure 5.6: MPRC fills three paths, the others stay below 5 Mbps."""
    findings = [at_least("MPRC", result, "mprc", "30 Mbps", 28.0)]
    for transport in ("newreno", "cubic", "bbr"):
        reason = NO_COLLAPSE if transport == "bbr" else ""
        findings.append(at_most(transport, result, transport, "below 5 Mbps", 5.0, reason))
    return [*findings, spurious(result)]


def spurious(result: StudyResult) -> Finding:
    """What reordering comes to: retransmissions without need."""
    share = median(result, "spurious_percent", transport="mprc")
    ours = f"{share:.2f} % of segments"
    return Finding("MPRC's spurious retransmissions", "not measured; under 1 % wanted", ours, share < 1)


def lossy(published: dict[str, str], *, loss_alone: bool) -> Claims:
    """Figures 5.7 and 5.8: 0.01 % loss on the critical path."""

    def claims(result: StudyResult, usable: float) -> list[Finding]:
        findings = [
            at_least(
                "MPRC holds the usable bandwidth",
                result,
                "mprc",
                "the maximum usable bandwidth",
                0.9 * usable,
            )
        ]
        for transport, text in published.items():
            ours = median(result, "goodput_mbps", transport=transport)
            reason = ""
            if text == WORST:
                agrees = ours <= min(median(result, "goodput_mbps", transport=name) for name in PAPER)
                reason = NO_COLLAPSE
            else:
                agrees = ours < 2.5 if "2.5" in text else ours < 0.9 * usable
            if loss_alone and ours >= 0.9 * usable:
                reason = RARE_LOSS
            elif not loss_alone and text != WORST and ours < usable / 2:
                reason = "reordering is what holds it down, as without loss (figure 5.5)"
            findings.append(Finding(transport, text, f"{ours:.2f} Mbps", agrees, "" if agrees else reason))
        return findings

    return claims


def applications(
    key: str, title: str, starts_s: Sequence[int], stops_s: Sequence[int | None], shared: tuple[int, int]
) -> Callable[[Context], FigureResult]:
    """Figures 5.9 and 5.10: several MPRC transfers that begin and end at different times."""

    def make(context: Context) -> FigureResult:
        findings: list[Finding] = []
        pictures: dict[str, Figure] = {}
        tables: dict[str, pl.DataFrame] = {}
        for queue in (50, 100):
            results = [
                Scenario.from_data(transfers(starts_s, stops_s, queue, seed)).run()
                for seed in range(3 if context.quick else SEEDS)
            ]
            findings += shared_findings(results, shared, queue)
            pictures[f"over-time-{queue}"] = goodput_over_time(results[0])
            tables[f"series-{queue}"] = results[0].flow_series
        note = "Abilene, two disjoint paths, sprayed packet by packet; median (and range) over the seeds."
        return FigureResult(key, title, tuple(findings), tables, pictures, note=note)

    return make


def transfers(
    starts_s: Sequence[int], stops_s: Sequence[int | None], queue: int, seed: int
) -> dict[str, Any]:
    """MPRC transfers across Abilene that begin and end at given times."""
    base = scenario("Abilene", "disjoint", queue=f"{queue} packets")
    (entry,) = base["traffic"]
    del entry["start"]
    base["traffic"] = [
        {**entry, "name": f"application{n + 1}", "transport": "mprc", "start": f"{start} s"}
        | ({} if stop is None else {"stop": f"{stop} s"})
        for n, (start, stop) in enumerate(zip(starts_s, stops_s, strict=True))
    ]
    base["run"]["replication"] = seed
    return base


def shared_findings(results: Sequence[Result], shared: tuple[int, int], queue: int) -> list[Finding]:
    """How even and how large the goodputs are while all applications send."""
    each = [shared_goodputs(result, shared) for result in results]
    indices = sorted(sum(own) ** 2 / (len(own) * sum(x * x for x in own)) for own in each)
    sums = sorted(sum(own) for own in each)
    fair, total = statistics.median(indices), statistics.median(sums)
    reason = (
        ""
        if fair > FAIR
        else "a queue of 100 packets takes an additive increase about 10 s to fill, as long as all share the "
        "paths: NewReno alone on one path has 0.87 there"
    )
    return [
        Finding(
            f"Jain index from {shared[0]} to {shared[1]} s, queues of {queue} packets",
            "a fair share for each; above 0.95 wanted",
            f"{fair:.3f} ({indices[0]:.3f} to {indices[-1]:.3f})",
            fair > FAIR,
            reason,
        ),
        Finding(
            f"all together, queues of {queue} packets",
            "about 20 Mbps",
            f"{total:.2f} Mbps",
            total >= 0.9 * 20 * PAYLOAD,
        ),
    ]


def shared_goodputs(result: Result, shared: tuple[int, int]) -> list[float]:
    """Mean goodput in Mbps of each flow over a part of the run."""
    rows = result.flow_series.filter((pl.col("time_s") > shared[0]) & (pl.col("time_s") <= shared[1]))
    return [
        float(x)
        for x in rows.group_by("flow").agg(pl.col("goodput_mbps").mean()).sort("flow")["goodput_mbps"]
    ]
