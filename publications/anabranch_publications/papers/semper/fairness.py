"""The drop of fairness in Garcia-Aviles 2017, and its stated reason."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding, Kind, Prediction, predicts
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.semper.network import PATHS_MOST, SUBFLOWS
from anabranch_publications.papers.semper.placement import placed_fairness, placed_scatter
from anabranch_publications.papers.semper.studies import (
    RUNS,
    Method,
    experiment,
    jain_index,
    median,
    rates_sql,
    static,
    study,
)
from anabranch_publications.papers.sql import query

LONG_QUEUE: Final = "1000 packets"
"""What an interface of Linux queues unless it is told otherwise (``txqueuelen``; netem's limit), so what an
emulation has whose queues were left alone."""


SMALL: Final = 0.9
"""The thesis has every median above it, the dropped ones too."""
SURE: Final = 0.9
"""Share of resampled replications in which a drop must show."""


def _resampled(result: StudyResult, labels: Mapping[str, str], dropped: str) -> float:
    """Share of draws of as many runs, with repetition, in which one setting's median is below all others."""
    draw = np.random.default_rng(1)
    runs = result.runs.with_columns(pl.col("setting").cast(pl.String))
    medians = {}
    for name, label in labels.items():
        values = runs.filter(pl.col("setting") == label)["jain"].drop_nulls().to_numpy()
        medians[name] = np.median(draw.choice(values, (2000, len(values))), axis=1)
    others = np.min([of_scheme for name, of_scheme in medians.items() if name != dropped], axis=0)
    return float((medians[dropped] < others).mean())


def lowest(
    result: StudyResult,
    labels: Mapping[str, str],
    dropped: str,
    *,
    where: str,
    published: str,
    kind: Kind = "printed",
    remark: str = "",
) -> Finding:
    """A drop of fairness that the thesis names: the median there is below all others of its line.

    Args:
        result: of the experiments.
        labels: settings of the line, by what they are called in the finding.
        dropped: which of them is said to drop.
        where: the line, for people.
        published: what the thesis says.
        kind: whose claim it is.
        remark: what is suspected, if it does not drop.
    """
    indices = {name: median(result, "jain", label) for name, label in labels.items()}
    others = [index for name, index in indices.items() if name != dropped]
    share = _resampled(result, labels, dropped)
    ends = dict.fromkeys(f"{end(others):.3f}" for end in (min, max))
    return Finding(
        f"Jain's index of {dropped} against the others of {where}",
        published,
        f"{indices[dropped]:.3f}; the others {' to '.join(ends)}; below them in {100 * share:.0f} %",
        indices[dropped] > SMALL and share >= SURE,
        f"above {SMALL}, as all medians are, and below all others in {100 * SURE:.0f} % of resampled runs",
        kind,
        remark=remark,
    )


def sharing_a_path(result: StudyResult, method: Method, n: int, label: str) -> list[Finding]:
    """Hosts whose two subflows are on one path: how many, what they get, and the others without them.

    Args:
        result: of the experiments.
        method: how they were measured.
        n: N, hosts; each has two subflows.
        label: setting of these experiments.
    """
    rows = query(
        result,
        f"with rates as ({rates_sql(method)}), "  # noqa: S608 - no input
        "spread as (select run, flow, count(distinct path) as paths from subflows group by run, flow) "
        "select run, flow, paths, rate from rates join spread using (run, flow) "
        f"join runs using (run) where runs.setting = '{label}' order by run, flow",
    )
    both, apart = (rows.filter(pl.col("paths") == paths) for paths in (1, 2))
    share = both.height / rows.height
    # With no such host there is nothing that the drop could come from.
    lower = (
        statistics.fmean(both["rate"].to_list()) / statistics.fmean(apart["rate"].to_list())
        if both.height
        else 1.0
    )
    whole, rest = (_middle_index(hosts) for hosts in (rows, apart))
    return [
        Finding(
            f"{label}: share of hosts with both subflows on one path, and their mean throughput over the "
            "others'",
            "very few, with a relatively lower throughput",
            f"{share:.3f} (1/{PATHS_MOST} is expected); {lower:.2f}",
            0 < share < 2 / PATHS_MOST and lower < 1,
            f"fewer than {2 / PATHS_MOST:g} of the hosts, and less than the others have",
        ),
        Finding(
            f"{label}: median of Jain's index over the hosts with two paths",
            "the others are the cause of the drop",
            f"{rest:.3f}, for {whole:.3f} with all",
            1 - rest <= (1 - whole) / 2,
            "without the others at least half of what lacks to 1 is gone",
            value=rest,
            prediction=two_paths_each(n),
        ),
    ]


def _middle_index(hosts: pl.DataFrame) -> float:
    """Median over the runs of Jain's index (equation 2) of these hosts."""
    each = hosts.group_by("run").agg(jain_index(pl.col("rate")).alias("jain"))
    return float(statistics.median(each["jain"].to_list()))


@predicts
def two_paths_each(n: int) -> Prediction:
    """The median of Jain's index over hosts whose two subflows are on two paths, in equal parts of these."""
    return Prediction(
        placed_fairness(n, 2, PATHS_MOST, apart=True),
        placed_scatter(n, 2, PATHS_MOST, RUNS),
        "paths that a hash chooses have unlike numbers of subflows, whosever they are: equal parts of random "
        "placements; two standard deviations of a median of ten runs",
    )


def similar_reasons(result: StudyResult, n: int, k: int, label: str) -> Finding:
    """The effect of random placement alone on the fairness of many subflows."""
    placed = placed_fairness(n, k, PATHS_MOST)
    ours = median(result, "jain", label)
    return Finding(
        f"{label}: Jain's index if each subflow had an equal part of its path, and ours",
        "a small drop for similar reasons: random placement",
        f"{placed:.3f} and {ours:.3f}",
        placed < (1 + ours) / 2,
        "random placement makes at least half of what lacks to 1",
        remark=f"{n * k} subflows at random are nearly even; what lacks is what slow start left, "
        "as K like subflows together grow by a K-th of a segment in a round trip (RFC 6356, equation 2)",
    )


def two_paths(
    context: Context, result: StudyResult, labels: Mapping[str, str], dropped: str
) -> list[Finding]:
    """Figure 8's drop at two paths, and what it hangs on.

    Args:
        context: where the experiments are kept.
        result: of figure 8.
        labels: the stateless settings, by number of paths.
        dropped: two paths.
    """
    said = "one small drop, with two paths"
    method = static(context)
    queued = _queues(context, method)
    names = {"P = 2": "P = 2", f"P = {PATHS_MOST}": f"P = {PATHS_MOST}"}
    return [
        lowest(result, labels, dropped, where="the stateless scheme", published=said),
        lowest(
            queued,
            names,
            dropped,
            where=f"the stateless scheme, queues of {LONG_QUEUE}",
            published=said,
            kind="question",
        ),
    ]


def _queues(context: Context, method: Method) -> StudyResult:
    """The stateless scheme on two and on eight paths, with queues as long as Linux has them."""
    levels = {
        f"P = {paths}": experiment([{"queue": LONG_QUEUE}] * paths, 4, SUBFLOWS, method)
        for paths in (2, PATHS_MOST)
    }
    return study(context, "queues", "Four hosts, long queues", levels, method)


def few_subflows(result: StudyResult, few: list[str], many: list[str]) -> Finding:
    """Figure 10's small drops with two subflows: the least median beside that with 32."""
    least = {
        name: min(median(result, "jain", label) for label in labels)
        for name, labels in (("few", few), ("many", many))
    }
    typical = statistics.median(median(result, "jain", label) for label in many)
    return Finding(
        "least median of Jain's index over the numbers of hosts, K = 2 and K = 32",
        "K = 2 has small drops, where both subflows of a host share a path",
        f"{least['few']:.3f} and {least['many']:.3f} (K = 32: {typical:.3f} in the middle)",
        least["few"] < least["many"],
    )
