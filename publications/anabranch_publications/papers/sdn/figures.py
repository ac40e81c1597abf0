"""Figures 5.4 to 5.20 and A.3 to A.5 of Gholizadeh 2019, and what the text says of each."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from anabranch.report.study_figures import study_figure
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding, Prediction, Tolerance, number, predicts
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.sdn.cells import cell, column
from anabranch_publications.papers.sdn.network import FREE_QUEUE_PACKETS, SEGMENT_BYTES
from anabranch_publications.papers.sdn.shapes import (
    at_equal_overlap,
    better_with_gamma,
    helps_at_half,
    more_linear,
    steep_above,
    turns,
)
from anabranch_publications.papers.sdn.studies import (
    CAPACITY_BPS,
    ROUND_TRIP_S,
    SIZES,
    gamma,
    incast,
    inter_arrival,
    number_of_flows,
)

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

LINEAR = 0.99
"""Share of the variance that a straight line explains, from which on growth counts as linear."""

NOT_SEEN = 0.01
"""A relative change that nobody sees in a curve of the size that the thesis prints."""

CROWDED_US = 100.0
"""Between arrivals: flows of all sizes but the smallest overlap with many others then."""

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
        rows = tuple(findings(result))
        return FigureResult(key, title, rows, {metric: table}, {metric: study_figure(result, metric)})

    return make


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
    """The study with a first factor of names, which makes bars of its lines."""
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
        Finding(
            "peak",
            "at inter-arrival time 0",
            f"at {max(curve_, key=lambda point: point[1])[0]:g} us",
            max(curve_, key=lambda point: point[1])[0] == 0,
        ),
        Finding(
            "up to the single flow's completion time",
            "decreases",
            "decreases" if falling == sorted(falling, reverse=True) else "does not",
            falling == sorted(falling, reverse=True),
        ),
        Finding(
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
    shown = next(x for x, _ in curve_[1:] if x in (CROWDED_US, 500.0))
    sizes = [cell(result, "fairness", shown, size) for size in SIZES]
    return [
        Finding("no inter-arrival time", "1", f"{at_zero:.4f}", at_zero > 0.999),
        Finding("no overlap", "1", f"{last:.4f}", last > 0.999),
        Finding(
            "lowest degradation (section 6.2)",
            "30 %",
            f"{100 * (1 - least):.0f} %",
            abs(least - 0.7) < 0.05,
            "within 5 %: the printed number is round",
        ),
        Finding(
            f"fairness at an inter-arrival time of {shown:g} us, {', '.join(SIZES)}",
            "the same for all flow sizes",
            ", ".join(f"{value:.3f}" for value in sizes),
            max(sizes) - min(sizes) < NOT_SEEN,
            "no difference that shows in a printed curve: 0.01",
        ),
        at_equal_overlap(result, dict(zip(SIZES, FIGURE_A3[1000], strict=True))),
        *turns(result, "fairness", "falls", "the text on figure 5.5"),
    ]


def fsd_by_gap(result: StudyResult) -> list[Finding]:
    """Figure 5.6: constant and least without overlap."""
    curve_ = column(result, "fsd_us", "1 MB")
    flat = [y for x, y in curve_ if x >= 1000]
    sizes = [cell(result, "fsd_us", 2000.0, size) for size in SIZES]
    return [
        Finding(
            "without overlap",
            "constant and minimal",
            f"{flat[0]:.2f} us",
            flat[-1] == min(y for _, y in curve_),
        ),
        Finding(
            "effect of the flow size without overlap",
            "none",
            f"{min(sizes):.2f} to {max(sizes):.2f} us",
            max(sizes) - min(sizes) < 0.01,
        ),
        *turns(result, "fsd_us", "rises", "the text on figure 5.6"),
    ]


def rising_to_flat(metric: str) -> Findings:
    """Figures 5.7 and 5.8: "the same analysis applies" as to the set-up delay, which is constant."""

    def findings(result: StudyResult) -> list[Finding]:
        points = [(x, y) for x, y in column(result, metric, "1 MB") if x >= 1000]
        flat = [y for _, y in points]
        spread = max(flat) - min(flat)
        return [
            Finding(
                "without overlap, as of the set-up delay: the same analysis applies",
                "constant",
                f"{min(flat):.2f} to {max(flat):.2f} %",
                spread < 100 * NOT_SEEN,
                "no difference that shows in a printed curve: 1 %",
                value=spread,
                prediction=idle_between([x for x, _ in points]) if metric == "utilization_percent" else None,
            ),
            *turns(
                result,
                metric,
                "falls",
                "if the same analysis as of the set-up delay means that it falls where that rises",
                "question",
            ),
        ]

    return findings


@predicts
def idle_between(gaps_us: Sequence[float]) -> Prediction:
    """By how many percentage points the utilization changes with the gap between flows without overlap."""
    sending_us = 10 * 1000 * 8e6 * SEGMENT_BYTES / CAPACITY_BPS
    shares = [100 * sending_us / (9 * gap + FIGURE_A3[1000][2]) for gap in gaps_us]
    return Prediction(
        max(shares) - min(shares),
        0.1,
        "equation 5.2: the link is idle between flows that do not overlap, the longer the larger the gap",
    )


def breaking_point(metric: str) -> Findings:
    """Figures 5.9 to 5.13: from about 60 flows a queue forms, and completion times rise."""

    def findings(result: StudyResult) -> list[Finding]:
        queues = column(result, "queue_mean_packets", "1 MB")
        breaks = next((x for x, y in queues if y > FREE_QUEUE_PACKETS), None)
        if metric == "queue_mean_packets":
            ours = "none" if breaks is None else f"at {breaks:g} flows"
            agrees = breaks is not None and 55 <= breaks <= 65
            step = "the thesis varies the number of flows in steps of 5"
            return [
                Finding("a persistent queue begins", "above 60 flows", ours, agrees, step),
                Finding(
                    "the same, as section 5.2.3 quotes this study",
                    "50 flows needed to break the solution",
                    ours,
                    breaks is not None and 45 <= breaks <= 55,
                    step,
                    remark="the thesis contradicts itself: section 5.2.2 has 60",
                ),
            ]
        curve_ = column(result, metric, "1 MB")
        middle = [y for x, y in curve_ if 20 <= x < 60]
        above = [y for x, y in curve_ if x > 60]
        at_one, at_20 = curve_[0][1], middle[0]
        rises = at_20 > at_one
        wanted = metric in ("fct_us", "fsd_us")
        rows = [
            Finding(
                "from 1 to 20 flows",
                "increases" if wanted else "decreases",
                f"{at_one:.1f} to {at_20:.1f}",
                rises == wanted and at_20 != at_one,
            )
        ]
        if metric in ("fct_us", "throughput_percent"):
            change, before = max(middle) - min(middle), abs(at_20 - at_one)
            rows.append(
                Finding(
                    "from 20 to 60 flows",
                    "does not change that much",
                    f"by {change:.1f}, from 1 to 20 flows by {before:.1f}",
                    change < before,
                    "less than from 1 to 20 flows",
                )
            )
        if metric == "fct_us":
            steep = above[-1] - above[0] > 2 * (max(middle) - min(middle))
            words = f"{above[0]:.0f} to {above[-1]:.0f} us"
            rows.append(
                Finding(
                    "above 60 flows", "increases drastically", words, steep, "twice as much as from 20 to 60"
                )
            )
        return rows

    return findings


@predicts
def by_whole_segments(counts: Sequence[float], gamma_: float) -> Prediction:
    """The part of completion times that a straight line explains if windows are whole segments.

    1000 segments need ceil(1000 / sWnd) intervals, with sWnd of equation 4.8 for so many flows.
    """
    interval_s = gamma_ * ROUND_TRIP_S
    room = interval_s * CAPACITY_BPS / (8 * SEGMENT_BYTES)
    times = [math.ceil(1000 / max(1, math.floor(room / count) - 1)) * interval_s for count in counts]
    return Prediction(
        statistics.correlation(counts, times) ** 2,
        0.02,
        "sWnd is a whole number of segments less one: completion times are a flight of stairs, whose last "
        "step before the breaking point is the highest; less the start of the last interval",
    )


@predicts
def by_capacity() -> Prediction:
    """The growth of completion times by flow beyond the breaking point over that up to there, with gamma = 1.

    Beyond it each flow adds what its 1000 segments take on the link, which is busy all the time. Up to
    there times grow from those of one flow, whose window is all of an interval's room less a segment, to
    1000 intervals of one segment each.
    """
    segment_s = 8 * SEGMENT_BYTES / CAPACITY_BPS
    most = flows_that_fit(1.0).value
    alone_s = math.ceil(1000 / (most - 1)) * ROUND_TRIP_S
    below_s = (1000 * ROUND_TRIP_S - alone_s) / (most - 1)
    return Prediction(
        1000 * segment_s / below_s,
        0.02,
        "the link is full at the breaking point already, and each further flow adds no more than the time "
        "of its own bytes, whatever the windows; less the start of the last interval",
    )


def incast_times(result: StudyResult) -> list[Finding]:
    """Figure 5.14: completion times grow linearly up to the breaking point (section 6.2), and fast above."""
    findings = [steep_above(result, "fct_us", flows_that_fit(1.0).value, by_capacity())]
    for factor in (1.0, 1.5, 2.0):
        limit = flows_that_fit(factor).value
        points = [(x, y) for x, y in column(result, "fct_us", factor) if x <= limit]
        r = statistics.correlation([x for x, _ in points], [y for _, y in points])
        findings.append(
            Finding(
                f"completion time up to the breaking point, gamma = {factor:g}",
                "increases linearly",
                f"R^2 = {r * r:.4f}",
                r > 0 and r * r >= LINEAR,
                f"a straight line explains {100 * LINEAR:.0f} % of the variance",
                value=r * r,
                prediction=by_whole_segments([x for x, _ in points], factor),
            )
        )
    return findings


@predicts
def flows_that_fit(gamma_: float) -> Prediction:
    """Segments of one flow each that an sInterval of gamma round trips has room for (section 4.3)."""
    return Prediction(
        math.floor(gamma_ * ROUND_TRIP_S * CAPACITY_BPS / (8 * SEGMENT_BYTES)),
        0,
        "sInterval x capacity / segment; the thesis reads its number off a grid of 5 flows",
    )


def incast_limits(result: StudyResult) -> list[Finding]:
    """Figure 5.16: flows that can begin at once without a persistent queue, by gamma."""
    limits = {factor: _without_queue(result, factor) for factor in (1.0, 1.5, 2.0)}
    findings = [
        number(
            f"most flows without a persistent queue, gamma = {factor:g}",
            printed,
            limits[factor],
            unit="",
            digits=0,
            tolerance=Tolerance(5, "the thesis varies the number of flows in steps of 5 (table 5.5)"),
            prediction=flows_that_fit(factor),
        )
        for factor, printed in ((1.0, 55), (1.5, 80))
    ]
    wanted = [flows_that_fit(factor).value for factor in (1.0, 1.5)]
    gain = 100 * (limits[1.5] / limits[1.0] - 1) if limits[1.0] else math.inf
    return [
        *findings,
        Finding(
            "most flows without a persistent queue, gamma = 2",
            "the protocol can handle 100 flows",
            f"{limits[2.0]:g}",
            limits[2.0] >= 100,
            "100 or more: the study ends there (table 5.5)",
        ),
        number(
            "more flows before the breaking point with gamma = 1.5 than with 1 (section 6.2)",
            60,
            gain,
            unit="%",
            digits=0,
            tolerance=Tolerance(5, "printed without a decimal, of numbers of flows in steps of 5"),
            prediction=more_flows(*wanted),
        ),
        steep_above(result, "queue_mean_packets", flows_that_fit(1.0).value),
    ]


def _without_queue(result: StudyResult, factor: float) -> float:
    """The most flows of the study before the first number of them that has a persistent queue."""
    queues = column(result, "queue_mean_packets", factor)
    breaks = min((x for x, y in queues if y > FREE_QUEUE_PACKETS), default=math.inf)
    return max((x for x, _ in queues if x < breaks), default=0.0)


@predicts
def more_flows(at_one: float, at_more: float) -> Prediction:
    """The growth of what an interval has room for, in percent."""
    return Prediction(
        100 * (at_more / at_one - 1), 0.5, "as sInterval grows: section 5.2.3 itself has 55 and 80, 45 % more"
    )


@predicts
def single_flow_gain(metric: str, gammas: Sequence[float], at_one: float) -> Prediction:
    """The effect of gamma on a flow of 1 MB that is alone, over the largest value of the metric.

    The flow sends sWnd = sInterval x capacity / segment - 1 segments an interval, for as many intervals as
    its 1000 segments need, one segment time apart; set-up and the last round trip do not depend on gamma.

    Args:
        metric: ``fct_us``, or one that is inverse to the completion time.
        gammas: of the study.
        at_one: the printed completion time of the flow in us, with gamma = 1.
    """
    segment_s = 8 * SEGMENT_BYTES / CAPACITY_BPS

    def sending_s(factor: float) -> float:
        interval_s = factor * ROUND_TRIP_S
        window = max(1, math.floor(interval_s / segment_s) - 1)
        intervals = math.ceil(1000 / window)
        return (intervals - 1) * interval_s + (1000 - (intervals - 1) * window - 1) * segment_s

    times = [at_one + 1e6 * (sending_s(factor) - sending_s(1.0)) for factor in gammas]
    spread = (max(times) - min(times)) / max(times)
    return Prediction(
        spread,
        0.001,
        "sWnd leaves out one segment in each interval, and intervals become fewer with gamma: a single flow "
        f"gains in {'completion time' if metric == 'fct_us' else 'throughput'}, too little to see in a curve",
    )


def gamma_helps(metric: str) -> Findings:
    """Figures 5.17 to 5.20: gamma helps all but the set-up delay where flows overlap, and nothing else."""

    def findings(result: StudyResult) -> list[Finding]:
        alone = [y for _, y in column(result, metric, 1000.0)]
        together = column(result, metric, 0.0)
        first, last = together[0][1], together[-1][1]
        better = last < first if metric == "fct_us" else last > first
        word = "rises" if last > first else "falls"
        rows = [
            Finding(
                "with all flows at once, gamma from 1 to 200",
                "falls" if metric == "fct_us" else "rises",
                f"{word} from {first:.1f} to {last:.1f}",
                better,
            )
        ]
        spread = (max(alone) - min(alone)) / max(alone)
        gammas = [x for x, _ in column(result, metric, 1000.0)]
        rows.append(
            Finding(
                "without overlap (inter-arrival 1 ms), gamma changes it by",
                "no effect",
                f"{100 * spread:.2f} % ({min(alone):.2f} to {max(alone):.2f})",
                spread < NOT_SEEN,
                "no difference that shows in a printed curve: 1 %",
                value=spread,
                prediction=single_flow_gain(metric, gammas, FIGURE_A3[1000][2])
                if metric in ("fct_us", "throughput_percent")
                else None,
            )
        )
        if metric == "fsd_us":
            rows.append(more_linear(result, metric))
        else:
            rows.append(helps_at_half(result, metric))
        return rows

    return findings


def incast_utilization(result: StudyResult) -> list[Finding]:
    """Figure 5.15."""
    return [better_with_gamma(result, "utilization_percent")]


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
    ("5.10", "Average FSD by number of flows", number_of_flows, "fsd_us", breaking_point("fsd_us")),
    (
        "5.11",
        "Average flow throughput by number of flows",
        number_of_flows,
        "throughput_percent",
        breaking_point("throughput_percent"),
    ),
    (
        "5.12",
        "Bottleneck link utilization by number of flows",
        number_of_flows,
        "utilization_percent",
        breaking_point("utilization_percent"),
    ),
    (
        "5.13",
        "Bottleneck AvgQL by number of flows",
        number_of_flows,
        "queue_mean_packets",
        breaking_point("queue_mean_packets"),
    ),
    ("5.14", "Average FCT of the in-cast problem", incast, "fct_us", incast_times),
    (
        "5.15",
        "Bottleneck link utilization of the in-cast problem",
        incast,
        "utilization_percent",
        incast_utilization,
    ),
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
