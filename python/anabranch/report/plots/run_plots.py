"""``result.plot``: every figure of a run, as methods."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.report.causes import CAUSES
from anabranch.report.plots import decisions, distributions, latency, over_time, subflows
from anabranch.report.plots.choice import Names
from anabranch.report.plots.network import By, network_plot
from anabranch.report.plots.over_time import CWND, DROPS, GOODPUT, QUEUE, RTT, UTILIZATION, TimeRange
from anabranch.report.plots.plot import Layout, Plot, Width
from anabranch.report.plots.sequences import sequence_plot
from anabranch.result import Result


class RunPlots:
    """Figures of a run for print, each a :class:`~anabranch.report.plots.plot.Plot`.

    All methods take ``width`` (``"single"`` for a column of 3.4 inches, ``"double"`` for both, 7 inches, or
    inches) and ``title`` (True for the run's own, or a text; papers have captions instead). Most take:

    - ``flows``, ``links``: names, patterns with ``*`` and ``?``, or numbers; all flows, or the foremost
      links, if left out;
    - ``start_s``, ``end_s``: the time that is shown, in seconds since the start of the run;
    - ``log``: a logarithmic axis of values.

    All raise a ResultError with a remedy where the result does not have what they show, or for a name that
    does not exist.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def goodput(
        self,
        *,
        flows: Names | None = None,
        by: over_time.By | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Goodput over time.

        Args:
            flows: which flows.
            by: ``flow`` for a line each and their sum (up to 8 flows if left out), ``transport`` for mean
                and band (5th to 95th percentile) over the open flows of each transport, ``sum`` for the sum
                of each transport.
            start_s: beginning of the time shown.
            end_s: its end.
            log: whether the axis of goodputs is logarithmic.
            width: of the figure.
            title: a line above the axes.
        """
        return self._flows(GOODPUT, flows, by, TimeRange(start_s, end_s, log), Layout(width, title))

    def rtt(
        self,
        *,
        flows: Names | None = None,
        by: over_time.By | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Smoothed RTT (RFC 6298) over time; arguments as of :meth:`goodput`, without sums."""
        return self._flows(RTT, flows, by, TimeRange(start_s, end_s, log), Layout(width, title))

    def cwnd(
        self,
        *,
        flows: Names | None = None,
        by: over_time.By | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Congestion window over time; arguments as of :meth:`goodput`, without sums."""
        return self._flows(CWND, flows, by, TimeRange(start_s, end_s, log), Layout(width, title))

    def queue(
        self,
        *,
        links: Names | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Packets that wait at links, not counting the one being sent; the four longest queues by default."""
        return self._links(QUEUE, links, TimeRange(start_s, end_s, log), Layout(width, title))

    def utilization(
        self,
        *,
        links: Names | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Share of the capacity of links that is used; of the four busiest if none is named."""
        return self._links(UTILIZATION, links, TimeRange(start_s, end_s), Layout(width, title))

    def drops(
        self,
        *,
        links: Names | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Packets that links dropped since the start; of the four that dropped most if none is named."""
        return self._links(DROPS, links, TimeRange(start_s, end_s, log), Layout(width, title))

    def drop_causes(
        self, *, links: Names | None = None, width: Width = "double", title: bool | str = False
    ) -> Plot:
        """Packets that links dropped over the whole run, by cause; of the twelve that dropped most."""
        return distributions.cause_plot(self._result, links, Layout(width, title))

    def completion_times(
        self,
        *,
        flows: Names | None = None,
        log: bool | None = None,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Distribution of the completion times of each transport's flows that were completed.

        Args:
            flows: which flows.
            log: whether times are on a logarithmic axis; None where they span two decades.
            width: of the figure.
            title: a line above the axes.
        """
        return distributions.completion_plot(self._result, flows, log, Layout(width, title))

    def reordering(
        self,
        *,
        flows: Names | None = None,
        measure: distributions.Reordering = "ratio",
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Distribution of reordering (RFC 4737) over the flows of each transport.

        Args:
            flows: which flows.
            measure: ``ratio``, the share of reordered packets, or ``extent``, the greatest one of each flow.
            width: of the figure.
            title: a line above the axes.
        """
        return distributions.reordering_plot(self._result, flows, measure, Layout(width, title))

    def latency(
        self,
        *,
        flows: Names | None = None,
        by: latency.By = "time",
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Latency of pings (round-trip time) and of UDP (one way).

        Args:
            flows: names, patterns or numbers of flows of ``datagram_flows``; the first eight if left out.
            by: ``time`` for the mean of each sample and a band from its least to its greatest latency, or
                ``distribution`` for the share of packets up to each latency, over the whole run.
            start_s: beginning of the time shown.
            end_s: its end.
            log: whether the axis of latencies is logarithmic.
            width: of the figure.
            title: a line above the axes.
        """
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return latency.latency_plot(self._result, flows, by, span, layout)

    def network(
        self,
        *,
        at_s: float | None = None,
        by: By = "utilization",
        pair: tuple[str, str] | None = None,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """The network: on a map where all nodes have places, else by its shape.

        Args:
            at_s: an instant in seconds, for the sample that it falls into; None for the whole run: mean
                utilization, longest queue, all drops.
            by: what the colour says.
            pair: source and destination whose routes are outlined, with the shares of packets.
            width: of the figure.
            title: a line above the map.
        """
        return network_plot(self._result, by, at_s, pair, Layout(width, title))

    def subflows(
        self,
        flow: str | int | None = None,
        *,
        measure: subflows.Measure = "throughput",
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """The subflows of a flow of Multipath TCP over time.

        Up to eight have a line each. Throughputs of more are stacked, by path where it is known; of windows
        and round-trip times there are then mean and band.

        Args:
            flow: name or number; the first one that has subflows if None.
            measure: ``throughput``, ``cwnd`` or ``rtt``.
            start_s: beginning of the time shown.
            end_s: its end.
            log: whether the axis of values is logarithmic; layers have none.
            width: of the figure.
            title: a line above the axes.
        """
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return subflows.subflow_plot(self._result, flow, measure, span, layout)

    def sequence(
        self,
        flow: str | int | None = None,
        *,
        start_s: float | None = None,
        end_s: float | None = None,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """Segments sent and ACKs received of a flow that ``run.sequences`` names.

        Args:
            flow: name or number; the first one that was recorded if None.
            start_s: beginning of the time shown.
            end_s: its end.
            width: of the figure.
            title: a line above the axes; the flow's name if True.
        """
        return sequence_plot(self._result, flow, start_s, end_s, Layout(width, title))

    def log(
        self,
        flow: str | int | None = None,
        *,
        subflow: int | None = None,
        measure: decisions.Measure = "window",
        start_s: float | None = None,
        end_s: float | None = None,
        log: bool = False,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """What a flow that ``run.log`` names decided, over its windows or round-trip times at each ACK.

        Losses, reductions, undone reductions, probes, timeouts and restarts are marked at the window or
        smoothed RTT that they left.

        Args:
            flow: name or number; the first one that was recorded if None.
            subflow: number of a subflow of Multipath TCP; the first one if None.
            measure: ``window`` for congestion window, ssthresh and bytes in flight, ``rtt`` for the smoothed
                RTT, the samples and the smallest.
            start_s: beginning of the time shown.
            end_s: its end.
            log: whether the axis of values is logarithmic.
            width: of the figure.
            title: a line above the axes.
        """
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return decisions.log_plot(self._result, flow, subflow, measure, span, layout)

    def names(self) -> list[str]:
        """The methods for which this run has something to show."""
        return [name for name, shows in _SHOWS.items() if shows(self._result)]

    def __repr__(self) -> str:
        return f"figures of a run: {', '.join(self.names())}"

    def _flows(
        self,
        measure: over_time.FlowMeasure,
        flows: Names | None,
        by: over_time.By | None,
        span: TimeRange,
        layout: Layout,
    ) -> Plot:
        return over_time.flows_over_time(self._result, measure, flows, by, span, layout)

    def _links(
        self, measure: over_time.LinkMeasure, links: Names | None, span: TimeRange, layout: Layout
    ) -> Plot:
        return over_time.links_over_time(self._result, measure, links, span, layout)


def _sampled(result: Result, table: str, column: str) -> bool:
    found = result.tables.get(table)
    # A result of captures has some tables of the same names, and no flows.
    known = found is not None and "flows" in result.tables
    return known and found is not None and bool(found[column].is_not_null().any())


def _some(result: Result, table: str, *columns: str) -> bool:
    """Whether something was counted in one of these columns."""
    found = result.tables.get(table)
    known = [name for name in columns if found is not None and name in found.columns]
    return found is not None and any(bool((found[name] > 0).any()) for name in known)


_SHOWS: dict[str, Callable[[Result], bool]] = {
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
"""Which of the methods have something to show; a line that is zero throughout is nothing."""
