"""The charts of a run by name, and when there is something to show in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anabranch.media.charts import DistributionChart, LineChart
from anabranch.report.views.choice import TimeRange
from anabranch.report.views.distributions import completion_distribution, reordering_distribution
from anabranch.report.views.latency import chosen_latencies, latency_chart
from anabranch.report.views.link_tables import CAUSES
from anabranch.report.views.over_time import (
    CWND,
    DROPS,
    GOODPUT,
    QUEUE,
    RTT,
    UTILIZATION,
    flow_chart,
    link_chart,
)
from anabranch.results.result import Result

Chart = LineChart | DistributionChart


def _sampled(result: Result, table: str, column: str) -> bool:
    samples = result.tables.get(table)
    # A result of captures has some tables of the same names, and no flows.
    has_flows = samples is not None and "flows" in result.tables
    return has_flows and samples is not None and bool(samples[column].is_not_null().any())


def _some(result: Result, table: str, *columns: str) -> bool:
    """Whether something was counted in one of these columns."""
    rows = result.tables.get(table)
    present = [name for name in columns if rows is not None and name in rows.columns]
    return rows is not None and any(bool((rows[name] > 0).any()) for name in present)


SHOWS: Mapping[str, Callable[[Result], bool]] = {
    "goodput": lambda result: _sampled(result, "flow_series", "goodput_mbps"),
    "rtt": lambda result: _sampled(result, "flow_series", "srtt_ms"),
    "cwnd": lambda result: _sampled(result, "flow_series", "cwnd_bytes"),
    "queue": lambda result: _some(result, "link_series", "queue_packets"),
    "utilization": lambda result: _sampled(result, "link_series", "throughput_mbps"),
    "drops": lambda result: _some(result, "link_series", "drops"),
    "drop_causes": lambda result: _some(result, "links", *(column for column, _ in CAUSES)),
    "completion_times": lambda result: _sampled(result, "flows", "completion_s"),
    "reordering": lambda result: _some(result, "flows", "reordered_packets"),
    "latency": lambda result: _sampled(result, "datagram_series", "latency_mean_ms"),
    "network": lambda result: _sampled(result, "links", "capacity_mbps"),
    "subflows": lambda result: _sampled(result, "subflow_series", "throughput_mbps"),
    "sequence": lambda result: _sampled(result, "sequence", "time_s"),
    "log": lambda result: _some(result, "log", "acked_bytes"),
}
"""By the name of a figure, whether a run has something to show; a line that is zero throughout is nothing."""

_MADE: Mapping[str, Callable[[Result], Chart]] = {
    "goodput": lambda result: flow_chart(result, "goodput", GOODPUT, None, None, TimeRange()),
    "rtt": lambda result: flow_chart(result, "rtt", RTT, None, None, TimeRange()),
    "cwnd": lambda result: flow_chart(result, "cwnd", CWND, None, None, TimeRange()),
    "queue": lambda result: link_chart(result, "queue", QUEUE, None, TimeRange()),
    "utilization": lambda result: link_chart(result, "utilization", UTILIZATION, None, TimeRange()),
    "drops": lambda result: link_chart(result, "drops", DROPS, None, TimeRange()),
    "completion_times": lambda result: completion_distribution(result, result.flows),
    "reordering": lambda result: reordering_distribution(result, result.flows),
    "latency": lambda result: latency_chart(result, *chosen_latencies(result, None), TimeRange()),
}


def run_charts(result: Result) -> list[Chart]:
    """The charts over time and the distributions of which a run has something, without a choice of flows."""
    return [make(result) for name, make in _MADE.items() if SHOWS[name](result)]
