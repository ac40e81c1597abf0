"""Figures 6, 7, 8 and 10 of Garcia-Aviles 2017: experiments whose paths all stay up."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from anabranch.models import coverage_distribution, mean_coverage
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding, Prediction, Tolerance, number, predicts
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.semper import drawing
from anabranch_publications.papers.semper.fairness import (
    few_subflows,
    lowest,
    sharing_a_path,
    similar_reasons,
    two_paths,
)
from anabranch_publications.papers.semper.network import (
    PATH_MBPS,
    PATHS_MOST,
    PAYLOAD,
    SINGLE_PAYLOAD,
    STATEFUL,
    STATELESS,
    SUBFLOWS,
    scenario,
)
from anabranch_publications.papers.semper.placement import placed_fairness, placed_scatter
from anabranch_publications.papers.semper.queues import short_queues, short_queues_stateful
from anabranch_publications.papers.semper.studies import (
    BASELINE,
    RUNS,
    Method,
    baseline,
    cells,
    experiment,
    goodput_sql,
    mean,
    median,
    static,
    study,
    usable_mbps,
)
from anabranch_publications.papers.sql import query

METRICS: Final = ("total_mbps", "jain", "used_paths", "retransmissions", "timeouts")
NEAR: Final = 0.95
"""Share of the baseline from which on a total counts as "close to" it."""
FAIR: Final = 0.95
"""Jain's index that rounds to 1.0: what is "close to 1", and "well above 0.9"."""

HEADERS: Final = Tolerance(1.5, "Ethernet's 18 bytes of a packet may count in the thesis's 100 Mbps, or not")
CLOSE: Final = f"{NEAR} or more"
FAR: Final = f"below {NEAR}"

OPEN: Final = (
    "Paths of 50 Mbps; the thesis does not print their delay and queue: 10 ms one way and 100 "
    "packets are taken. "
    "Congestion control is LIA (RFC 6356), which the thesis cites. "
)


def setting(senders: int, subflows: int) -> str:
    """Label of a number of hosts and one of subflows."""
    return f"N = {senders}, K = {subflows}"


def validation(context: Context) -> FigureResult:
    """Figure 6: two hosts on two paths, and what the measuring window does."""
    duration_s, runs = (60, 5) if context.quick else (400, 20)
    windows = (10, 20, 30) if context.quick else (50, 100, 200, 390)
    method = Method(duration_s, windows[-1], runs)
    result = study(
        context,
        "validation",
        "Two hosts, two paths, two subflows each",
        {"stateful": scenario(2, 2, 2, spread=STATEFUL, duration_s=duration_s, sample_s=5)},
        method,
    )
    rates: dict[int, list[tuple[float, float]]] = {
        window: _pairs(result, duration_s - window, duration_s) for window in windows
    }
    totals = {window: statistics.fmean(a + b for a, b in pairs) for window, pairs in rates.items()}
    half_range = {
        window: (max(a for a, _ in pairs) - min(a for a, _ in pairs))
        / 2
        / statistics.fmean(a for a, _ in pairs)
        for window, pairs in rates.items()
    }
    short, long = windows[0], windows[-2]
    findings = [
        number(
            f"total throughput, T_M = {window} s",
            94,
            total,
            unit="Mbps",
            digits=0,
            tolerance=HEADERS,
        )
        for window, total in totals.items()
    ]
    if not context.quick:
        findings += _ranges(half_range, short, long, runs)
        early = _pairs(result, 100 - short, 100)
        findings.append(
            number(
                f"total throughput, T = 100 s, T_M = {short} s",
                94,
                statistics.fmean(a + b for a, b in early),
                unit="Mbps",
                digits=0,
                tolerance=HEADERS,
            )
        )
    findings.append(_complementary([pair for pairs in rates.values() for pair in pairs]))
    table = pl.DataFrame(
        [(window, *pair) for window, pairs in rates.items() for pair in pairs],
        schema=["T_M (s)", "host 1 (Mbps)", "host 2 (Mbps)"],
        orient="row",
    )
    named = {f"T_M = {window} s": pairs for window, pairs in rates.items()}
    return FigureResult(
        "6",
        "Validation: capacity region and measuring window",
        tuple(findings),
        {"rates": table},
        {
            "region": drawing.region("Two hosts on two paths of 50 Mbps", 2 * PATH_MBPS, named),
            "distribution": drawing.distribution(
                "Throughput of host 1",
                "host 1 in Mbps",
                {name: [a for a, _ in pairs] for name, pairs in named.items()},
            ),
        },
        note=OPEN + f"T = {duration_s} s, {runs} runs; the subflows of a host are on different paths.",
    )


SCATTER: Final = "the range of 20 normal values scatters around its mean by a fifth of it"
HALVES: Final = (0.25, 0.75)
"""What counts as "practically half". The range of 20 normal values scatters around its mean by d3 / d2 =
0.729 / 3.735 of it (constants of control charts), so that half, a ratio of two ranges, scatters by 0.14: here
is room for not quite twice that."""
SPANS: Final = (10, 30)
"""What counts as "about 20 %", for the same reason."""


def _ranges(half_range: Mapping[int, float], short: int, long: int, runs: int) -> list[Finding]:
    """Half the range of host 1's throughput over its mean, and what a longer window makes of it."""
    percent = 100 * half_range[short]
    ratio = half_range[long] / half_range[short]
    return [
        Finding(
            f"range of host 1's throughput over {runs} runs, T_M = {short} s",
            "about +-20 %",
            f"+-{percent:.1f} %",
            SPANS[0] <= percent <= SPANS[1],
            f"{SPANS[0]} to {SPANS[1]} %: {SCATTER}",
        ),
        Finding(
            f"the range for T_M = {long} s over it",
            "practically half",
            f"{ratio:.2f}",
            HALVES[0] <= ratio <= HALVES[1],
            f"{HALVES[0]:g} to {HALVES[1]:g}: {SCATTER}",
        ),
    ]


def _complementary(pairs: Sequence[tuple[float, float]]) -> Finding:
    """Whether host 2 gets what host 1 leaves, in every run and window."""
    whole = usable_mbps(2, PATH_MBPS)
    least = min((a + b) / whole for a, b in pairs)
    return Finding(
        "both hosts together over the capacity for data, least of all runs and windows (footnote 3)",
        "host 2 receives practically all the remaining capacity",
        f"{least:.3f}",
        least >= NEAR,
        CLOSE,
    )


def _pairs(result: StudyResult, after_s: float, duration_s: float) -> list[tuple[float, float]]:
    """Throughputs of both hosts over what follows an instant, for each run; samples are of five seconds."""
    rows = query(result, f"{goodput_sql(after_s, duration_s, (duration_s - after_s) / 5)} order by run, flow")
    rates = rows["rate"].to_list()
    return list(zip(rates[0::2], rates[1::2], strict=True))


def subflow_numbers(context: Context) -> StudyResult:
    """The experiments of figure 7."""
    method = static(context)
    senders, numbers = ((2, 32), (2, 8, 32)) if context.quick else ((2, 32), (2, 4, 8, 16, 32))
    levels: dict[str, dict[str, Any]] = {BASELINE: baseline(PATHS_MOST, method)}
    levels |= {setting(n, k): experiment(PATHS_MOST, n, k, method) for n in senders for k in numbers}
    return study(context, "subflows", "Eight paths, by subflows of a host", levels, method)


def validation_of_k(context: Context) -> FigureResult:
    """Figure 7: throughput and fairness over the number of subflows, against eight single TCP flows."""
    result = subflow_numbers(context)
    base = median(result, "total_mbps", BASELINE)
    settings = _settings(result)
    findings = [_sane_baseline(base)]
    for n, k in settings:
        ours = median(result, "total_mbps", setting(n, k)) / base
        what = f"total of {setting(n, k)} over the baseline"
        if n == 2 and k < PATHS_MOST:
            findings.append(Finding(what, "notably worse", f"{ours:.3f}", ours < NEAR, FAR))
        elif n * k < 2 * SUBFLOWS:
            findings.append(_near_as_covered(what, ours, n, k))
        else:
            findings.append(Finding(what, "close to the baseline", f"{ours:.3f}", ours >= NEAR, CLOSE))
    findings += _covered(result, settings, static(context).runs)
    findings += [fair(result, setting(n, k), "well above 0.9", (n, k)) for n, k in settings]
    findings += _drops(context, result, settings)
    most = setting(2, SUBFLOWS)
    share = median(result, "total_mbps", most) / (PATHS_MOST * PATH_MBPS)
    findings.append(
        Finding(
            f"total of {most} over the links' bit rate",
            "a suitable candidate",
            f"{share:.3f}",
            share > 0.95,
            "above 0.95",
            "bound",
        )
    )
    return _page(
        "7",
        "Number of subflows of a host",
        result,
        findings,
        {f"N = {n}": [(k, setting(n, k)) for m, k in settings if m == n] for n in (2, 32)},
        "subflows of a host",
        base,
        context,
    )


def _drops(context: Context, result: StudyResult, settings: Sequence[tuple[int, int]]) -> list[Finding]:
    """The two small drops of fairness in figure 7, and their causes."""
    few = setting(32, 2)
    return [
        *(
            lowest(
                result,
                {f"K = {k}": setting(n, k) for m, k in settings if m == n},
                f"K = {dropped}",
                where=f"N = {n}",
                published="a small drop",
            )
            for n, dropped in ((32, 2), (2, SUBFLOWS))
        ),
        *sharing_a_path(result, static(context), 32, few),
        similar_reasons(result, 2, SUBFLOWS, setting(2, SUBFLOWS)),
    ]


def _sane_baseline(base: float) -> Finding:
    """One CUBIC flow on a path of its own fills it."""
    whole = PATHS_MOST * PATH_MBPS * 1448 / 1500
    return Finding(
        "baseline: eight single TCP flows",
        "400 Mbps less headers",
        f"{base:.1f} Mbps",
        base > 0.98 * whole,
        "0.98 of it or more",
        "bound",
    )


@predicts
def as_covered(n: int, k: int) -> Prediction:
    """The total of so many subflows at random, over that of all paths: a path in use is full."""
    share = mean_coverage(PATHS_MOST, n, k)
    chances = coverage_distribution(PATHS_MOST, n, k)
    squares = sum(chance * (used / PATHS_MOST - share) ** 2 for used, chance in enumerate(chances))
    return Prediction(
        share * PAYLOAD / SINGLE_PAYLOAD,
        # A median scatters by 1.25 times the mean's standard error; and by paths, which are whole.
        2 * 1.25 * (squares / RUNS) ** 0.5 + 1 / PATHS_MOST / 2,
        f"{n * k} subflows at random are on {100 * share:.0f} % of the paths in the mean, whatever carries "
        "them; two standard errors of a median, which is one of whole paths",
    )


def _near_as_covered(what: str, ours: float, n: int, k: int) -> Finding:
    """A total that the thesis calls close, where random subflows leave a path empty now and then."""
    return Finding(
        what, "closer to the baseline", f"{ours:.3f}", ours >= NEAR, CLOSE, value=ours,
        prediction=as_covered(n, k),
    )  # fmt: skip


def _covered(result: StudyResult, settings: Sequence[tuple[int, int]], runs: int) -> list[Finding]:
    """The closed form beside the paths in use, and beside the total that they carry."""
    findings = []
    for n, k in settings:
        if n * k > 2 * SUBFLOWS:
            continue
        share = mean_coverage(PATHS_MOST, n, k)
        ours = mean(result, "used_paths", setting(n, k)) / PATHS_MOST
        carried = mean(result, "total_mbps", setting(n, k)) / usable_mbps(PATHS_MOST, PATH_MBPS)
        squares = sum(
            chance * (used / PATHS_MOST - share) ** 2
            for used, chance in enumerate(coverage_distribution(PATHS_MOST, n, k))
        )
        # Three standard errors of a mean over so many runs, and one path of one run where nothing varies.
        most = max(3 * (squares / runs) ** 0.5, 1 / PATHS_MOST / runs)
        findings.append(
            Finding(
                f"mean share of paths in use, {setting(n, k)}: 1 - (1 - 1/P)^(N K)",
                f"{share:.4f}",
                f"{ours:.4f}; {carried:.4f} of the capacity carried",
                abs(ours - share) <= most and abs(carried - ours) <= 0.03,
                "within three standard errors over the runs; carried within 0.03 of the share in use",
                "bound",
                ratio=ours / share,
            )
        )
    return findings


def fair(result: StudyResult, label: str, published: str, n_and_k: tuple[int, int] | None = None) -> Finding:
    """A median of Jain's index near 1, for so many hosts and subflows on all paths."""
    ours = median(result, "jain", label)
    return Finding(
        f"median of Jain's index, {label}",
        published,
        f"{ours:.3f}",
        ours >= FAIR,
        f"{FAIR} or more, which rounds to 1.0",
        value=ours,
        prediction=None if n_and_k is None else equal_parts(*n_and_k),
    )


@predicts
def equal_parts(n: int, k: int) -> Prediction:
    """The median of Jain's index if each subflow has an equal part of the path that it is on at random."""
    return Prediction(
        placed_fairness(n, k, PATHS_MOST),
        placed_scatter(n, k, PATHS_MOST, RUNS),
        "hosts whose subflows share a path with many others have less, whatever carries them: equal parts of "
        "random placements; two standard deviations of a median of ten runs",
    )


def _settings(result: StudyResult) -> list[tuple[int, int]]:
    """N and K of each setting but the baseline."""
    labels = [str(label) for label in result.runs["setting"].unique(maintain_order=True).to_list()]
    pairs = [label.removeprefix("N = ").split(", K = ") for label in labels if label != BASELINE]
    return [(int(n), int(k)) for n, k in pairs]


def host_numbers(context: Context) -> StudyResult:
    """The numbers of figure 10 beyond those of figure 7."""
    method = static(context)
    levels = {
        setting(n, k): experiment(PATHS_MOST, n, k, method)
        for k in (2, SUBFLOWS)
        for n in ((8,) if context.quick else (4, 8, 16))
    }
    return study(context, "hosts", "Eight paths, by hosts", levels, method)


@predicts
def more_headers() -> Prediction:
    """The load of full paths of Multipath TCP over full paths of TCP."""
    return Prediction(
        PAYLOAD / SINGLE_PAYLOAD,
        0.002,
        "with queues of 100 packets both fill the paths, and Multipath TCP has 20 bytes more of headers in "
        "a packet: 1428 of 1448",
    )


def more_hosts(context: Context) -> FigureResult:
    """Figure 10: from 2 to 32 hosts, with 2 and 32 subflows each."""
    result = merged(subflow_numbers(context), host_numbers(context))
    base = median(result, "total_mbps", BASELINE)
    settings = sorted((k, n) for n, k in _settings(result) if k in (2, SUBFLOWS))
    findings = []
    for k, n in settings:
        ours = median(result, "total_mbps", setting(n, k)) / base
        what = f"total of {setting(n, k)} over the baseline"
        if k == 2 and n < PATHS_MOST:
            findings.append(Finding(what, "poor", f"{ours:.3f}", ours < NEAR, FAR))
        elif k == 2:
            findings.append(_near_as_covered(what, ours, n, k))
        elif n >= 16:
            findings.append(
                Finding(what, "above 1", f"{ours:.3f}", ours >= 1, value=ours, prediction=more_headers())
            )
        else:
            findings.append(Finding(what, "performs well", f"{ours:.3f}", ours >= NEAR, CLOSE))
    findings += [fair(result, setting(n, k), "close to 1", (n, k)) for k, n in settings]
    few, many = ([setting(n, k) for m, n in settings if m == k] for k in (2, SUBFLOWS))
    findings.append(few_subflows(result, few, many))
    findings += [short_queues(context, n) for n in (16, 32)]
    return _page(
        "10",
        "Number of hosts",
        result,
        findings,
        {f"K = {k}": [(n, setting(n, k)) for m, n in settings if m == k] for k in (2, SUBFLOWS)},
        "hosts",
        base,
        context,
    )


def merged(first: StudyResult, second: StudyResult) -> StudyResult:
    """Two studies over the same settings and metrics as one."""
    labels = pl.col("setting").cast(pl.String)
    return StudyResult.from_runs(
        title=first.title,
        confidence=first.confidence,
        replications=first.replications,
        factors=first.factors,
        metrics=first.metrics,
        runs=pl.concat(
            [
                first.runs.with_columns(labels),
                second.runs.with_columns(labels, pl.col("cell") + first.runs["cell"].max() + 1),
            ],
            how="vertical_relaxed",
        ),
        tables={},
    )


def _page(
    key: str,
    title: str,
    result: StudyResult,
    findings: Sequence[Finding],
    series: Mapping[str, Sequence[tuple[float, str]]],
    x: str,
    base: float | None,
    context: Context,
) -> FigureResult:
    """Throughput and fairness over a number, as in the figures' two parts."""
    table = cells(result, METRICS)
    method = static(context)

    def points(metric: str) -> dict[str, list[drawing.Point]]:
        rows = {str(row["setting"]): row for row in table.iter_rows(named=True)}
        return {
            name: [
                (place, *(float(rows[label][f"{metric}{end}"]) for end in ("", "_least", "_most")))  # type: ignore[misc]
                for place, label in places
            ]
            for name, places in series.items()
        }

    lines = {} if base is None else {BASELINE: base}
    return FigureResult(
        key,
        title,
        tuple(findings),
        {"runs": result.runs, "cells": table},
        {
            "total": drawing.medians(title, x, "total throughput in Mbps", points("total_mbps"), lines=lines),
            "fairness": drawing.medians(title, x, "Jain's index", points("jain")),
        },
        {
            f"Medians over {method.runs} runs": table.select(
                "setting",
                "total_mbps",
                "total_mbps_least",
                "total_mbps_most",
                "jain",
                "jain_least",
                "used_paths",
            )
        },
        note=OPEN + f"T = {method.duration_s:g} s, T_M = {method.window_s:g} s.",
    )


def schemes(context: Context) -> FigureResult:
    """Figure 8: four hosts, two to eight paths, stateless against stateful."""
    method = static(context)
    numbers = (2, 8) if context.quick else (2, 4, 6, 8)
    levels = {
        f"{name}, P = {paths}": experiment(
            paths, 4, SUBFLOWS if name == "stateless" else paths, method, spread=spread
        )
        for name, spread in (("stateless", STATELESS), ("stateful", STATEFUL))
        for paths in numbers
    }
    result = study(context, "paths", "Four hosts, by paths", levels, method)
    findings = []
    for label in levels:
        whole = usable_mbps(int(label.rsplit(" ", 1)[1]), PATH_MBPS)
        ours = median(result, "total_mbps", label) / whole
        findings.append(
            Finding(
                f"total of {label} over the capacity for data",
                "very close to 1",
                f"{ours:.3f}",
                ours >= NEAR,
                CLOSE,
            )
        )
    findings += _eight_paths(context, result)
    findings += [fair(result, label, "very close to one") for label in levels]
    findings += two_paths(
        context, result, {f"P = {paths}": f"stateless, P = {paths}" for paths in numbers}, "P = 2"
    )
    return _page(
        "8",
        "Stateless against stateful",
        result,
        findings,
        {name: [(paths, f"{name}, P = {paths}") for paths in numbers] for name in ("stateless", "stateful")},
        "paths",
        None,
        context,
    )


def _eight_paths(context: Context, result: StudyResult) -> list[Finding]:
    """What figure 8 has below the capacity at eight paths: both schemes a little, the stateless one more."""
    most = f"P = {PATHS_MOST}"
    totals = {name: median(result, "total_mbps", f"{name}, {most}") for name in ("stateless", "stateful")}
    ratio = totals["stateless"] / totals["stateful"]
    share = totals["stateful"] / usable_mbps(PATHS_MOST, PATH_MBPS)
    return [
        Finding(
            f"stateless over stateful, {most}",
            "slightly below 1",
            f"{ratio:.4f}",
            ratio < 0.9995,
            "below 0.9995",
            value=ratio,
            prediction=no_path_empty(),
        ),
        Finding(
            f"stateful over the capacity for data, {most}",
            "some difference, at eight paths only",
            f"{share:.4f}",
            share < 0.9995,
            "below 0.9995",
            remark="the queue, which is not printed, or what a PC loses that emulates 400 Mbps in software "
            "(section V-A)",
        ),
        short_queues_stateful(context),
    ]


@predicts
def no_path_empty() -> Prediction:
    """Figure 8's ratio, if it hangs on paths that stay empty, as the thesis has it."""
    share = mean_coverage(PATHS_MOST, 4, SUBFLOWS)
    empty = 1 - coverage_distribution(PATHS_MOST, 4, SUBFLOWS)[-1]
    return Prediction(
        share,
        0.0005,
        f"128 subflows at random leave one of eight paths empty in {1e7 * empty:.0f} of 10,000,000 cases, so "
        "that the thesis's reason makes no difference",
    )


__all__ = ["RUNS", "more_hosts", "schemes", "validation", "validation_of_k"]
