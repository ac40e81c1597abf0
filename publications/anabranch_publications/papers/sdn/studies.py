"""Chapter 5 and appendix A.2 of Gholizadeh 2019: the simulation studies.

The thesis gives no alpha, beta and gamma for chapter 5; figure A.3 comes out to the last digit with all of
them 1, so that is what the figures have, where gamma is not itself the factor. Curves are printed without
numbers: what the text says of them is compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.model import Context
from anabranch_publications.papers.sdn.network import dumbbell, ends, size

CAPACITY_BPS = 10e9
ROUND_TRIP_S = 4 * (5e-6 + 1000 * 8 / CAPACITY_BPS) + 4 * (5e-6 + 40 * 8 / CAPACITY_BPS)
"""rtt(data, ack) over four links of 5 us (table 5.1), without queues."""
BOTTLENECK = "router-left->router-middle1"
DURATION_S = 1.0
SIZES = {"100 KB": 100, "500 KB": 500, "1 MB": 1000}
"""Segments of the thesis's flow sizes."""

TABLES = Output(figures=[])
"""Figures are drawn elsewhere."""

COMPLETION = Metric(name="completion_ms", label="mean completion time (ms)", column="completion_s", scale=1e3)
QUEUE = Metric(
    name="queue_max_packets",
    label="longest queue of the bottleneck (packets)",
    table="links",
    column="queue_max_packets",
    where={"name": BOTTLENECK},
)
DROPS = Metric(name="drops", label="data packets lost", column="drops_data", statistic="sum")

MEAN_QUEUE = Metric(
    name="queue_mean_packets",
    label="bottleneck AvgQL (packets)",
    table="links",
    column="queue_mean_up_packets",
    where={"name": BOTTLENECK},
)

METRICS = [
    Metric(name="fct_us", label="average FCT (us)", column="fin_s", scale=1e6),
    Metric(name="fsd_us", label="average FSD (us)", column="setup_s", scale=1e6),
    QUEUE.model_copy(update={"label": "bottleneck MaxQL (packets)"}),
    Metric(name="throughput_percent", label="average flow throughput (%)", column="throughput_percent"),
    Metric(name="fairness", label="fairness index", column="throughput_percent", statistic="jain"),
    Metric(
        name="utilization_percent",
        label="bottleneck link utilization (%)",
        table="links",
        column="acknowledged_percent",
        where={"name": BOTTLENECK},
    ),
    MEAN_QUEUE,
]
"""The thesis's metrics of section 5.1.1."""


SIZE = Factor(
    label="flow size",
    level=[Level(label=label, settings={"traffic[0].size": size(n)}) for label, n in SIZES.items()],
)


def _gaps(gaps: Sequence[int]) -> Factor:
    return Factor(
        field="traffic[0].stagger", label="inter-arrival time", levels=[f"{gap} us" for gap in gaps]
    )


def flow_numbers(counts: Sequence[int]) -> Factor:
    """The number of flows as a factor, with the hosts that they need."""
    return Factor(
        label="number of flows",
        level=[
            Level(
                label=str(count),
                settings={
                    "network.parameters.left_hosts": count,
                    "network.parameters.right_hosts": count,
                    **{f"traffic[0].{side}": hosts for side, hosts in ends(count).items()},
                },
            )
            for count in counts
        ],
    )


def _study(
    context: Context, name: str, title: str, first: Factor, second: Factor, gap: str = "500 us"
) -> StudyResult:
    """A study of chapter 5; what is no factor has the values of table 5.2."""

    def make() -> Study:
        scenario = dumbbell(10, 1000, inter_arrival=gap, duration=f"{DURATION_S:g} s")
        return Study(
            title=title,
            scenario=scenario,
            factors=[first, second],
            metrics=METRICS,
            output=TABLES,
        )

    return context.study(name, make)


def inter_arrival(context: Context) -> StudyResult:
    """Section 5.2.1; every other level of the first factor is one of figure A.3."""
    gaps = range(0, 2001, 500) if context.quick else range(0, 2001, 100)
    return _study(context, "inter-arrival", "Flow inter-arrival times (section 5.2.1)", _gaps(gaps), SIZE)


def number_of_flows(context: Context) -> StudyResult:
    """Section 5.2.2."""
    counts = [1, 20, 40, 60, 80, 100] if context.quick else [1, *range(5, 101, 5)]
    title = "Number of flows (section 5.2.2)"
    return _study(context, "number-of-flows", title, flow_numbers(counts), SIZE, "100 us")


def incast(context: Context) -> StudyResult:
    """Section 5.2.3, with the numbers of flows beside the breaking points."""
    around = [54, 55, 81, 82, 108, 109]
    counts = [1, 20, 40, *around] if context.quick else sorted({1, *range(5, 101, 5), *around, 120})
    gammas = Factor(field="controller.application.gamma", label="gamma", levels=[1.0, 1.5, 2.0])
    return _study(context, "incast", "In-cast problem (section 5.2.3)", flow_numbers(counts), gammas, "0 us")


def gamma(context: Context) -> StudyResult:
    """Section 5.2.4."""
    values = [1, 2, 5, 20, 60, 200] if context.quick else range(1, 201)
    factor = Factor(
        field="controller.application.gamma", label="gamma", levels=[float(value) for value in values]
    )
    return _study(context, "gamma", "Gamma (section 5.2.4)", factor, _gaps([0, 500, 1000]))
