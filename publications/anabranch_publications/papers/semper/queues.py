"""Figures 8 and 10 of Garcia-Aviles 2017 with short queues: it prints none, and the answer hangs on them."""

from __future__ import annotations

from typing import Final

from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.semper.network import PATH_MBPS, PATHS_MOST, STATEFUL, SUBFLOWS
from anabranch_publications.papers.semper.studies import (
    BASELINE,
    Method,
    baseline,
    experiment,
    median,
    study,
    usable_mbps,
)

SHORT_QUEUE: Final = "10 packets"
_STATEFUL: Final = "stateful"


def _short(context: Context) -> StudyResult:
    """Eight paths with short queues: single TCP flows, many hosts, and the stateful scheme."""
    method = Method(15, 5, 1) if context.quick else Method(60, 30, 3)
    paths = [{"queue": SHORT_QUEUE}] * PATHS_MOST
    levels = {
        BASELINE: baseline(paths, method),
        **{f"N = {n}": experiment(paths, n, SUBFLOWS, method) for n in (16, 32)},
        _STATEFUL: experiment(paths, 4, PATHS_MOST, method, spread=STATEFUL),
    }
    return study(context, "short-queues", f"Eight paths, queues of {SHORT_QUEUE}", levels, method)


def short_queues(context: Context, n: int) -> Finding:
    """Figure 10: whether so many hosts have more than the single TCP flows."""
    result = _short(context)
    ours = median(result, "total_mbps", f"N = {n}") / median(result, "total_mbps", BASELINE)
    return Finding(
        f"total of N = {n}, K = {SUBFLOWS} over the baseline, queues of {SHORT_QUEUE}",
        "above 1",
        f"{ours:.3f}",
        ours >= 1,
        kind="question",
    )


def short_queues_stateful(context: Context) -> Finding:
    """Figure 8: what the stateful scheme has of eight paths."""
    ours = median(_short(context), "total_mbps", _STATEFUL) / usable_mbps(PATHS_MOST, PATH_MBPS)
    return Finding(
        f"stateful over the capacity for data, P = {PATHS_MOST}, queues of {SHORT_QUEUE}",
        "some difference, at eight paths only",
        f"{ours:.4f}",
        ours < 0.9995,
        "below 0.9995",
        "question",
    )
