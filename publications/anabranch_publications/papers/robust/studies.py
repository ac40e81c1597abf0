"""Studies that the figures of Fukushima et al. 2016 share, and the chart that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from anabranch.report.looks import looks
from anabranch.report.style import plain, styled
from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.robust.network import RFC_SENDER, nsfnet, parallel
from anabranch_publications.papers.robust.printed import PERCENTS
from anabranch_publications.papers.robust.splits import by_exchange, over_all_paths

CASE = "case"
DURATION_S = 10.0
QUICK_S = 4.0
"""Of section 4 in quick mode."""
EDGE_SEEDS = 10
"""Where a verdict hangs on a few Mbps."""
BELOW_MS, ABOVE_MS, INSIDE_MS, FURTHER_MS = EDGE_OFFSETS_MS = (-0.1, 0.1, 0.3, 0.5)
"""Of d to an edge: below it, above it, less than 0.4 ms further, and 0.4 ms further."""
METRICS = [
    Metric(name="total_mbps", label="total throughput (Mbps)", column="goodput_mbps", statistic="sum"),
    Metric(name="mean_mbps", label="throughput of a connection (Mbps)", column="goodput_mbps"),
    Metric(name="fast_recoveries", label="fast recoveries", column="fast_recoveries", statistic="sum"),
    Metric(name="segments", label="segments sent", column="segments_sent", statistic="sum"),
    Metric(
        name="spurious", label="spurious retransmissions", column="spurious_retransmissions", statistic="sum"
    ),
]


def hybrid(metric: str, percent: int, **more: str) -> dict[str, Any]:
    """HYBRID-HOP or HYBRID-DELAY with K = 2, split as the solver leaves it: the paper asks for no fewer.

    Args:
        metric: ``hop`` or ``delay``.
        percent: X.
        more: other fields of the scheme, such as its ``splits``.
    """
    scheme = {"algorithm": f"hybrid-{metric}", "k": 2, "single_percent": percent, "splits": "solver"}
    return {"scheme": scheme | more}


EVERYTHING: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "ALL, as link flows": over_all_paths,
    # The same load over far fewer paths.
    "ALL, by column generation": lambda: {"scheme": {"algorithm": "robust", "splits": "solver"}},
    # The same load by the program of section 3.2, over the shortest paths by hops.
    **{
        f"ALL, {k} paths": partial(dict, scheme={"algorithm": "robust", "k": k, "splits": "solver"})
        for k in (8, 12, 16, 20, 30)
    },
}
"""Readings of ALL, ``[routing]`` of each, all of the printed load: the paper does not say how many paths
"all the paths" are."""
SPLITS: Mapping[str, Callable[[str, int], Mapping[str, Any]]] = {
    "the single program": hybrid,
    "the exchange method": by_exchange,
    "fewest splits": lambda metric, percent: hybrid(metric, percent, splits="fewest"),
}
"""Which of the many plans with the least load a hybrid scheme has: that in the middle of the single program
of section 3.2, where an interior point method ends; that of the exchange method of the same section; or, of
the plans with that load, one with the fewest split pairs."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of section 6 that the paper leaves open."""

    split: str
    """Of :data:`SPLITS`."""
    everything: str
    """Of :data:`EVERYTHING`."""

    def hybrid(self, metric: str, percent: int) -> str:
        """The case of HYBRID-HOP or HYBRID-DELAY with that X."""
        return f"HYBRID-{metric.upper()} {percent}, {self.split}"


CHOSEN = Settings("the exchange method", "ALL, 16 paths")
"""The one set that claims are held to; figure ``settings`` holds all of them against all claims."""


def schemes() -> dict[str, Mapping[str, Any]]:
    """Every scheme of section 6 in every reading, ``[routing]`` by name."""
    named = {name: routing() for name, routing in EVERYTHING.items()}
    for split, routing in SPLITS.items():
        settings = Settings(split, "")
        for metric in ("hop", "delay"):
            named |= {settings.hybrid(metric, x): routing(metric, x) for x in PERCENTS}
    return named


def simulated(
    context: Context,
    name: str,
    title: str,
    cases: Mapping[str, Mapping[str, Any]],
    *,
    replications: int = 2,
) -> pl.DataFrame:
    """Simulates whole scenarios, and answers with a row of means for each: ``case`` and the metrics.

    For the arguments see :func:`repeated`.
    """
    seeds = 1 if context.quick else replications
    return cells(repeated(context, name, title, cases, replications=seeds))


def repeated(
    context: Context,
    name: str,
    title: str,
    cases: Mapping[str, Mapping[str, Any]],
    *,
    replications: int,
) -> StudyResult:
    """Simulates whole scenarios with several seeds each.

    Args:
        context: where the study is kept.
        name: of its folder.
        title: of the study.
        cases: scenarios by name, which differ in what they route, send or connect.
        replications: seeds of each.
    """

    def make() -> Study:
        first = next(iter(cases.values()))
        levels = [
            Level(label=label, settings=_settings(first, scenario)) for label, scenario in cases.items()
        ]
        return Study(
            title=title,
            scenario=dict(first),
            factors=[Factor(label=CASE, level=levels)],
            metrics=METRICS,
            replications=replications,
            output=Output(figures=[]),
        )

    return context.study(name, make)


def cells(result: StudyResult) -> pl.DataFrame:
    """Means over the replications of each case.

    Raises:
        LookupError: if a run failed.
    """
    failed = result.runs.filter(pl.col("status") == "failed")
    if failed.height:
        raise LookupError(
            f"{result.title}: {failed.height} runs failed, the first with {failed['reason'][0]}"
        )
    names = [metric.name for metric in METRICS]
    return result.cells.select(pl.col(result.factors[0].name).alias(CASE), *names)


def _settings(first: Mapping[str, Any], scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The tables in which a scenario differs from the first."""
    differing = {key: value for key, value in scenario.items() if value != first[key]}
    return differing or {"title": ""}


def value(table: pl.DataFrame, case: str, metric: str) -> float:
    """A metric of a case."""
    return float(table.row(by_predicate=pl.col(CASE) == case, named=True)[metric])


def section4(
    context: Context,
    name: str,
    combinations: Sequence[str],
    differences: Sequence[float],
    *,
    spaced: bool = True,
) -> pl.DataFrame:
    """Total throughput of section 4 by combination and d: columns of :func:`simulated`, split up."""
    duration = QUICK_S if context.quick else DURATION_S
    cases = {
        f"{combination} {d:.1f}": parallel(combination, d, spaced=spaced, duration_s=duration)
        for combination in combinations
        for d in differences
    }
    return _split(simulated(context, name, f"Parallel paths, {name} (section 4)", cases))


def near_edges(context: Context, name: str, edges: Mapping[str, float], *, spaced: bool) -> pl.DataFrame:
    """Totals of section 4 just below and above an edge, over :data:`EDGE_SEEDS` seeds.

    Args:
        context: where the study is kept.
        name: of its folder.
        edges: d in ms by combination.
        spaced: as :func:`anabranch_publications.papers.robust.network.parallel` has it.

    Returns:
        A row for each combination and d: means of the metrics, and ``total_error``, the standard error of the
        total in Mbps.
    """
    duration = QUICK_S if context.quick else DURATION_S
    cases = {
        f"{combination} {edge + offset:.1f}": parallel(
            combination, round(edge + offset, 1), spaced=spaced, duration_s=duration
        )
        for combination, edge in edges.items()
        for offset in EDGE_OFFSETS_MS
    }
    title = f"Parallel paths, {name} (section 4)"
    seeds = 3 if context.quick else EDGE_SEEDS
    result = repeated(context, name, title, cases, replications=seeds)
    errors = result.runs.group_by(pl.col(CASE).cast(pl.String)).agg(
        (pl.col("total_mbps").std() / pl.len().sqrt()).alias("total_error")
    )
    return _split(cells(result).with_columns(pl.col(CASE).cast(pl.String)).join(errors, on=CASE))


def _split(table: pl.DataFrame) -> pl.DataFrame:
    """The cases of section 4 as the columns ``combination`` and ``d_ms``."""
    split = table[CASE].cast(pl.String).str.split(" ")
    return table.with_columns(
        split.list.get(0).alias("combination"), split.list.get(1).cast(pl.Float64).alias("d_ms")
    ).drop(CASE)


def section6(context: Context) -> pl.DataFrame:
    """Throughput of every scheme of section 6."""
    duration = 2.0 if context.quick else DURATION_S
    cases = {name: nsfnet(scheme, duration_s=duration) for name, scheme in schemes().items()}
    return simulated(context, "nsfnet", "NSFNET (section 6)", cases, replications=1)


def by_transport(
    context: Context, chosen: Mapping[str, Mapping[str, Any]], transports: Sequence[str]
) -> pl.DataFrame:
    """Throughput of some schemes with each transport; cases are named ``scheme, transport``."""
    duration = 2.0 if context.quick else DURATION_S / 2
    cases = {
        f"{name}, {transport}": nsfnet(
            scheme,
            transport=RFC_SENDER if transport == "newreno" else transport,
            duration_s=duration,
        )
        for name, scheme in chosen.items()
        for transport in transports
    }
    return simulated(context, "transports", "NSFNET, transports beside path selection", cases, replications=1)


Line = tuple[Sequence[float], Sequence[float]]
"""Values on the x axis and on the y axis."""


def chart(x: str, y: str, title: str, lines: Mapping[str, Line]) -> Figure:
    """Lines with markers over a number.

    A name that ends in ``, published`` has a hollow marker, in the colour of the line without that ending.

    Args:
        x: label of the axis.
        y: label of the axis.
        title: of the chart.
        lines: by name.
    """
    with styled():
        figure = Figure(figsize=(5.0, 3.1), layout="constrained")
        axes = figure.subplots()
        bases = list(dict.fromkeys(_base(name) for name in lines))
        look_of = dict(zip(bases, looks(bases), strict=True))
        for name, (xs, ys) in lines.items():
            look, printed = look_of[_base(name)], name.endswith(", published")
            axes.plot(
                xs, ys, label=plain(name), color=look.color, marker=look.marker,
                linestyle="--" if printed else "-", markerfacecolor="white" if printed else look.color,
            )  # fmt: skip
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_title(plain(title), loc="left")
        axes.set_ylim(bottom=0)
        axes.legend(loc="best")
    return figure


def _base(name: str) -> str:
    return name.removesuffix(", published")
