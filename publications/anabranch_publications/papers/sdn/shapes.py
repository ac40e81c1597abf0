"""The shapes of curves in Gholizadeh 2019: where they turn, and how steep they are."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding, Kind, Prediction
from anabranch_publications.papers.sdn.cells import cell, column

Way = Literal["rises", "falls"]

HALF_US = 450.0
"""Half of the completion time of a single flow of 1 MB: from there on at most two overlap (figure 5.2)."""
SINGLE_US = 900.0
"""That completion time, from where on none do."""
LEVEL, SEEN = 0.001, 0.01
"""Relative changes: up to the first a curve is level, from the second on a printed one shows it."""
TIMES_AS_STEEP = 2.0
"""Reading of "very quickly" and "drastically"."""


def turns(
    result: StudyResult, metric: str, first: Way, published: str, kind: Kind = "printed"
) -> list[Finding]:
    """Section 5.2.1: a curve goes one way while many flows of 1 MB overlap, and the other while few do.

    Args:
        result: of the study of inter-arrival times.
        metric: of the curve.
        first: which way it goes up to half of a flow's completion time.
        published: where the thesis says so.
        kind: a question where the thesis may mean something else.

    Returns:
        Two findings; none if the study has less than two points on a side, as in quick mode.
    """
    curve = column(result, metric, "1 MB")
    sides = (
        ("up to 0.45 ms", first, [y for x, y in curve if x <= HALF_US]),
        ("from 0.45 to 0.9 ms", _OTHER[first], [y for x, y in curve if HALF_US <= x <= SINGLE_US]),
    )
    if any(len(points) < 2 for _, _, points in sides):
        return []
    return [
        Finding(
            f"inter-arrival times {where}",
            f"{direction} ({published})",
            " ".join(f"{y:.4g}" for y in points),
            _goes(points, direction),
            f"never the other way by more than {100 * LEVEL:.1f} %, and by more than {100 * SEEN:g} % in all",
            kind,
        )
        for where, direction, points in sides
    ]


_OTHER: Mapping[Way, Way] = {"rises": "falls", "falls": "rises"}


def _goes(points: Sequence[float], direction: Way) -> bool:
    """Whether a curve rises or falls; it may be level for a part of its way."""
    sign = 1 if direction == "rises" else -1
    never_back = all(sign * (b - a) >= -LEVEL * abs(a) for a, b in pairwise(points))
    return never_back and sign * (points[-1] - points[0]) > SEEN * abs(points[0])


def at_equal_overlap(result: StudyResult, single_us: Mapping[str, float]) -> Finding:
    """Fairness of the sizes where flows of each overlap alike: at half of their completion time.

    Args:
        result: of the study of inter-arrival times.
        single_us: completion time of a single flow by size.
    """
    gaps = sorted({x for x, _ in column(result, "fairness", "1 MB")})
    chosen = {size: min(gaps, key=lambda gap: abs(gap - alone / 2)) for size, alone in single_us.items()}
    values = {size: cell(result, "fairness", gap, size) for size, gap in chosen.items()}
    return Finding(
        "fairness at half of each size's own completion time",
        "the same for all flow sizes, if equal overlap is meant",
        ", ".join(f"{size} at {chosen[size]:g} us {value:.3f}" for size, value in values.items()),
        max(values.values()) - min(values.values()) < 0.01,
        "no difference that shows in a printed curve: 0.01",
        "question",
    )


def steep_above(
    result: StudyResult, metric: str, limit: float, prediction: Prediction | None = None
) -> Finding:
    """Section 5.2.3: with gamma = 1 a curve rises very quickly beyond what an interval has room for.

    Args:
        result: of the study of the in-cast problem.
        metric: of the curve.
        limit: flows that an interval has room for.
        prediction: of the slope beyond over that up to there, where something predicts it.
    """
    points = column(result, metric, 1.0)
    below, above = ([(x, y) for x, y in points if (x <= limit) == inside] for inside in (True, False))
    slopes = [(last[1] - first[1]) / (last[0] - first[0]) for first, *_, last in (below, above)]
    return Finding(
        f"gamma = 1, beyond {limit:g} flows",
        "increases very quickly",
        f"by {slopes[1]:.3g} for each flow, by {slopes[0]:.3g} up to there",
        slopes[1] >= TIMES_AS_STEEP * max(slopes[0], 0.0) and slopes[1] > 0,
        f"{TIMES_AS_STEEP:g} times as steep",
        value=slopes[1] / slopes[0] if prediction else None,
        prediction=prediction,
    )


def better_with_gamma(result: StudyResult, metric: str) -> Finding:
    """Figure 5.15, of which the text says nothing itself: more utilization with a larger gamma."""
    one, two = (dict(column(result, metric, gamma)) for gamma in (1.0, 2.0))
    worse = [count for count in one if two[count] <= one[count]]
    return Finding(
        "gamma = 2 over gamma = 1, for each number of flows",
        "increasing gamma improves the bottleneck link utilization when Int-AT is low (section 5.2.4)",
        f"more for {len(one) - len(worse)} of {len(one)}"
        + (f", not for {', '.join(f'{count:g}' for count in worse)}" if worse else ""),
        not worse,
        "more for each",
        "question",
    )


def helps_at_half(result: StudyResult, metric: str) -> Finding:
    """Section 5.2.4 at an inter-arrival time of 0.5 ms, which is low as well: flows of 1 MB overlap."""
    curve = [y for _, y in column(result, metric, 500.0)]
    falls = metric == "fct_us"
    return Finding(
        "inter-arrival time 0.5 ms, gamma from 1 to 200",
        f"{'falls' if falls else 'rises'}: improves when Int-AT is low",
        f"from {curve[0]:.1f} to {curve[-1]:.1f}",
        curve[-1] < curve[0] if falls else curve[-1] > curve[0],
    )


def more_linear(result: StudyResult, metric: str) -> Finding:
    """Section 5.2.4: the lower the inter-arrival time, the more linear is the growth of the set-up delay."""
    shares = []
    for gap in (0.0, 500.0):
        xs, ys = zip(*column(result, metric, gap), strict=True)
        shares.append(statistics.correlation(xs, ys) ** 2)
    return Finding(
        "what a straight line explains of it, inter-arrival times 0 and 0.5 ms",
        "the lower Int-AT, the more linear",
        f"R^2 = {shares[0]:.4f} and {shares[1]:.4f}",
        shares[0] > shares[1],
        "more at 0",
    )
