"""Figures 5.4 to 5.20 and A.3 to A.5 of Gholizadeh 2019, and what the text says of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from anabranch.report.study_figures import study_figure
from anabranch.study.result import StudyResult
from anabranch_publications.papers.model import Context, FigureResult, Finding, number
from anabranch_publications.papers.sdn.studies import SIZES, gamma, incast, inter_arrival, number_of_flows

FIGURE_A3: dict[int, tuple[float, float, float]] = {
    0: (1172.17, 5504.97, 10920.97),
    100: (308.17, 4100.26, 9516.26),
    200: (184.77, 3010.50, 8194.72),
    300: (184.77, 1844.28, 6922.44),
    400: (184.77, 848.92, 5956.31),
    500: (184.77, 512.34, 4700.74),
    600: (184.77, 512.19, 3500.65),
    700: (184.77, 512.19, 2350.79),
    800: (184.77, 512.19, 1378.46),
    900: (184.77, 512.19, 920.69),
    1000: (184.77, 512.19, 920.54),
}
"""Mean flow completion time in us by inter-arrival time in us, for 100, 500 and 1000 segments."""

FREE_QUEUE_PACKETS = 2
"""A queue of no more than that is transient: a SYN or FIN and a data packet beside the one being sent."""

LITTLE = 0.03
"""A relative change that nobody sees in a curve of the size that the thesis prints."""

Findings = Callable[[StudyResult], list[Finding]]


def curve(
    key: str, title: str, study: Callable[[Context], StudyResult], metric: str, findings: Findings
) -> Callable[[Context], FigureResult]:
    """A figure that shows one metric of a study."""

    def make(context: Context) -> FigureResult:
        result = study(context)
        table = result.cells.select(
            *(factor.name for factor in result.factors), *(m.name for m in result.metrics if m.name == metric)
        )
        found = tuple(findings(result))
        return FigureResult(key, title, found, {metric: table}, {metric: study_figure(result, metric)})

    return make


def cell(result: StudyResult, metric: str, *levels: float | str) -> float:
    """A metric of the cell with these levels.

    Raises:
        LookupError: if there is no such cell, or nothing was measured in it.
    """
    rows = result.cells
    for factor, level in zip(result.factors, levels, strict=True):
        rows = rows.filter(pl.col(factor.name) == level)
    if rows.height != 1 or rows[metric][0] is None:
        raise LookupError(f"no {metric} at {levels} in {result.title!r}")
    return float(rows[metric][0])


def column(result: StudyResult, metric: str, second: float | str) -> list[tuple[float, float]]:
    """First factor and metric, for one level of the second factor."""
    first, other = result.factors
    rows = result.cells.filter(pl.col(other.name) == second).sort(first.name)
    return [(float(x), float(y)) for x, y in rows.select(first.name, metric).iter_rows()]


def statement(what: str, published: str, ours: str, agrees: bool, reason: str = "") -> Finding:
    """Something that the text says, and what came out."""
    return Finding(what, published, ours, agrees, reason)


def table_a3(context: Context) -> FigureResult:
    """Figures A.3 to A.5: all printed values, and the study as a line chart and a bar chart."""
    result = inter_arrival(context)
    present = {gap for gap, _ in column(result, "fct_us", "1 MB")}
    findings = [
        number(
            f"{gap} us, {segments} segments",
            published,
            cell(result, "fct_us", float(gap), size),
            unit="us",
            digits=2,
        )
        for gap, row in FIGURE_A3.items()
        if gap in present
        for (size, segments), published in zip(SIZES.items(), row, strict=True)
    ]
    bars = as_categories(result)
    return FigureResult(
        "A.3",
        "Output of a study: table, line graph and bar graph (figures A.3 to A.5)",
        tuple(findings),
        {"fct_us": result.cells.select(*(factor.name for factor in result.factors), "fct_us")},
        {"line": study_figure(result, "fct_us"), "bars": study_figure(bars, "fct_us")},
        note="The spreadsheet with native charts is in the study's folder.",
    )


def as_categories(result: StudyResult) -> StudyResult:
    """The same study with a first factor of names, which makes bars of its lines."""
    first = result.factors[0]
    names = tuple(f"{level:g}" if isinstance(level, float) else level for level in first.levels)
    text = pl.col(first.name).replace_strict(list(first.levels), list(names), return_dtype=pl.String)
    return replace(
        result,
        factors=(replace(first, kind="categorical", levels=names), *result.factors[1:]),
        runs=result.runs.with_columns(text),
        cells=result.cells.with_columns(text),
    )


def fct_by_gap(result: StudyResult) -> list[Finding]:
    """Figure 5.4: the mean falls until flows no longer overlap, and is constant from there."""
    single = cell(result, "fct_us", 2000.0, "1 MB")
    curve_ = column(result, "fct_us", "1 MB")
    falling = [y for x, y in curve_ if x <= 900]
    flat = [y for x, y in curve_ if x >= 1000]
    return [
        number("completion time of a single flow of 1 MB", 0.9, single / 1000, unit="ms", digits=1),
        statement(
            "peak",
            "at inter-arrival time 0",
            f"at {max(curve_, key=lambda point: point[1])[0]:g} us",
            max(curve_, key=lambda point: point[1])[0] == 0,
        ),
        statement(
            "up to the single flow's completion time",
            "decreases",
            "decreases" if falling == sorted(falling, reverse=True) else "does not",
            falling == sorted(falling, reverse=True),
        ),
        statement(
            "beyond it",
            "constant",
            f"{min(flat):.2f} to {max(flat):.2f} us",
            max(flat) - min(flat) < 0.01,
        ),
    ]


def fairness_by_gap(result: StudyResult) -> list[Finding]:
    """Figure 5.5: 1 for no and for full overlap, and no less than 0.7 in between."""
    curve_ = column(result, "fairness", "1 MB")
    least = min(y for size in SIZES for _, y in column(result, "fairness", size))
    at_zero, last = curve_[0][1], curve_[-1][1]
    return [
        statement("no inter-arrival time", "1", f"{at_zero:.4f}", at_zero > 0.999),
        statement("no overlap", "1", f"{last:.4f}", last > 0.999),
        statement(
            "lowest degradation (section 6.2)",
            "30 %",
            f"{100 * (1 - least):.0f} %",
            abs(least - 0.7) < 0.05,
        ),
    ]


def fsd_by_gap(result: StudyResult) -> list[Finding]:
    """Figure 5.6: constant and least without overlap."""
    curve_ = column(result, "fsd_us", "1 MB")
    flat = [y for x, y in curve_ if x >= 1000]
    sizes = [cell(result, "fsd_us", 2000.0, size) for size in SIZES]
    return [
        statement(
            "without overlap",
            "constant and minimal",
            f"{flat[0]:.2f} us",
            flat[-1] == min(y for _, y in curve_),
        ),
        statement(
            "effect of the flow size without overlap",
            "none",
            f"{min(sizes):.2f} to {max(sizes):.2f} us",
            max(sizes) - min(sizes) < 0.01,
        ),
    ]


def rising_to_flat(metric: str) -> Findings:
    """Figures 5.7 and 5.8: constant without overlap, as the text says of the set-up delay."""

    def findings(result: StudyResult) -> list[Finding]:
        flat = [y for x, y in column(result, metric, "1 MB") if x >= 1000]
        if metric == "throughput_percent":
            steady = max(flat) - min(flat) < 0.01
            return [statement("without overlap", "constant", f"{min(flat):.2f} to {max(flat):.2f} %", steady)]
        busiest = max(column(result, metric, "1 MB"), key=lambda point: point[1])
        words = f"highest ({busiest[1]:.1f} %) at {busiest[0]:g} us"
        return [statement("with less overlap", "the link is idle more often", words, busiest[0] < 1000)]

    return findings


def breaking_point(metric: str) -> Findings:
    """Figures 5.9 to 5.13: from about 60 flows a queue forms, and completion times rise."""

    def findings(result: StudyResult) -> list[Finding]:
        queues = column(result, "queue_mean_packets", "1 MB")
        breaks = next((x for x, y in queues if y > FREE_QUEUE_PACKETS), None)
        if metric == "queue_mean_packets":
            ours = "none" if breaks is None else f"at {breaks:g} flows"
            agrees = breaks is not None and 55 <= breaks <= 65
            return [statement("a persistent queue begins", "above 60 flows", ours, agrees)]
        below = [y for x, y in column(result, metric, "1 MB") if 20 < x < 60]
        above = [y for x, y in column(result, metric, "1 MB") if x > 60]
        if metric != "fct_us":
            return []
        steep = (above[-1] - above[0]) > 2 * abs(below[-1] - below[0]) if below and above else False
        words = f"{below[0]:.0f} to {below[-1]:.0f} us, then {above[0]:.0f} to {above[-1]:.0f} us"
        return [
            statement(
                "completion time between 20 and 60 flows, and above",
                "hardly changes, then rises",
                words,
                steep,
            )
        ]

    return findings


def incast_limits(result: StudyResult) -> list[Finding]:
    """Figure 5.16: flows that can begin at once without a persistent queue, by gamma."""
    findings = []
    for factor, printed, exact in ((1.0, 55, 54), (1.5, 80, 81), (2.0, 100, 108)):
        queues = column(result, "queue_mean_packets", factor)
        fits = [x for x, y in queues if y <= FREE_QUEUE_PACKETS]
        breaks = [x for x, y in queues if y > FREE_QUEUE_PACKETS]
        found = max((x for x in fits if not breaks or x < min(breaks)), default=0.0)
        findings.append(
            Finding(
                f"most flows without a persistent queue, gamma = {factor:g}",
                f"{printed}",
                f"{found:g}",
                found == exact,
                # It explains the printed number, and no other one that might come out here.
                f"the thesis reads it off a grid of 5 flows; sInterval x capacity / segment gives {exact}"
                if found == exact
                else "",
                found / printed,
            )
        )
    return findings


def gamma_helps(metric: str) -> Findings:
    """Figures 5.17 to 5.20: gamma helps all but the set-up delay where flows overlap, and nothing else."""

    def findings(result: StudyResult) -> list[Finding]:
        alone = [y for _, y in column(result, metric, 1000.0)]
        together = column(result, metric, 0.0)
        first, last = together[0][1], together[-1][1]
        better = last < first if metric == "fct_us" else last > first
        word = "rises" if last > first else "falls"
        found = [
            statement(
                "with all flows at once, gamma from 1 to 200",
                "falls" if metric == "fct_us" else "rises",
                f"{word} from {first:.1f} to {last:.1f}",
                better,
            )
        ]
        spread = (max(alone) - min(alone)) / max(alone)
        found.append(
            statement(
                "without overlap (inter-arrival 1 ms)",
                "no effect",
                f"{min(alone):.2f} to {max(alone):.2f}",
                spread < 0.01,
                "sWnd leaves out one segment in each interval, and intervals become fewer with gamma: "
                "a single flow gains a little, too little to see in the printed curve"
                if 0.01 <= spread < LITTLE
                else "",
            )
        )
        return found

    return findings


def nothing(_: StudyResult) -> list[Finding]:
    """The text says nothing of the figure that could be checked."""
    return []


CURVES: Sequence[tuple[str, str, Callable[[Context], StudyResult], str, Findings]] = (
    ("5.4", "Average FCT by inter-arrival time", inter_arrival, "fct_us", fct_by_gap),
    ("5.5", "Fairness index by inter-arrival time", inter_arrival, "fairness", fairness_by_gap),
    ("5.6", "Average FSD by inter-arrival time", inter_arrival, "fsd_us", fsd_by_gap),
    (
        "5.7",
        "Average flow throughput by inter-arrival time",
        inter_arrival,
        "throughput_percent",
        rising_to_flat("throughput_percent"),
    ),
    (
        "5.8",
        "Bottleneck link utilization by inter-arrival time",
        inter_arrival,
        "utilization_percent",
        rising_to_flat("utilization_percent"),
    ),
    ("5.9", "Average FCT by number of flows", number_of_flows, "fct_us", breaking_point("fct_us")),
    ("5.10", "Average FSD by number of flows", number_of_flows, "fsd_us", nothing),
    ("5.11", "Average flow throughput by number of flows", number_of_flows, "throughput_percent", nothing),
    (
        "5.12",
        "Bottleneck link utilization by number of flows",
        number_of_flows,
        "utilization_percent",
        nothing,
    ),
    (
        "5.13",
        "Bottleneck AvgQL by number of flows",
        number_of_flows,
        "queue_mean_packets",
        breaking_point("queue_mean_packets"),
    ),
    ("5.14", "Average FCT of the in-cast problem", incast, "fct_us", nothing),
    ("5.15", "Bottleneck link utilization of the in-cast problem", incast, "utilization_percent", nothing),
    ("5.16", "Bottleneck AvgQL of the in-cast problem", incast, "queue_mean_packets", incast_limits),
    ("5.17", "Average FCT by gamma", gamma, "fct_us", gamma_helps("fct_us")),
    (
        "5.18",
        "Average flow throughput by gamma",
        gamma,
        "throughput_percent",
        gamma_helps("throughput_percent"),
    ),
    (
        "5.19",
        "Bottleneck link utilization by gamma",
        gamma,
        "utilization_percent",
        gamma_helps("utilization_percent"),
    ),
    ("5.20", "Average FSD by gamma", gamma, "fsd_us", gamma_helps("fsd_us")),
)
