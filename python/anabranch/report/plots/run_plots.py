"""``result.plot``: every figure of a run, as methods."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.report.plots import decisions, distributions, latency, over_time, subflows
from anabranch.report.plots.choice import Names, TimeRange, recorded_flow, table_of
from anabranch.report.plots.network import By, network_plot
from anabranch.report.plots.over_time import (
    CWND,
    DROPS,
    GOODPUT,
    QUEUE,
    RTT,
    UTILIZATION,
    flows_over_time,
    links_over_time,
)
from anabranch.report.plots.plot import Layout, Plot, Width, finish
from anabranch.report.sequence import sequence_figure
from anabranch.report.style import styled
from anabranch.report.views.link_tables import CAUSES
from anabranch.results.result import Result


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

        ``by`` is ``flow`` for a line each and their sum (up to 8 flows if left out), ``transport`` for mean
        and band (5th to 95th percentile) over the open flows of each transport, ``sum`` for the sum of each
        transport.
        """
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return flows_over_time(self._result, GOODPUT, flows, by, span, layout)

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
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return flows_over_time(self._result, RTT, flows, by, span, layout)

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
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return flows_over_time(self._result, CWND, flows, by, span, layout)

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
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return links_over_time(self._result, QUEUE, links, span, layout)

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
        span, layout = TimeRange(start_s, end_s), Layout(width, title)
        return links_over_time(self._result, UTILIZATION, links, span, layout)

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
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return links_over_time(self._result, DROPS, links, span, layout)

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
        """Distribution of the completion times of each transport's flows, of all that can complete.

        With ``log`` left out, times that span two decades are on a logarithmic axis.
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

        ``measure`` is ``ratio``, the share of reordered packets, or ``extent``, the greatest one of each
        flow.
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

        ``flows`` are those of ``datagram_flows``, the first eight if left out. ``by`` is ``time`` for the
        mean of each sample and a band from its least to its greatest latency, or ``distribution`` for the
        share of packets up to each latency, over the whole run.
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

        ``at_s`` is an instant in seconds, for the sample that it falls into; left out, the whole run is
        shown: mean utilization, longest queue, all drops. ``by`` is what the colour says, and ``pair`` the
        source and the destination whose routes are outlined, with the shares of packets.
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

        Up to eight have a line each. Throughputs of more are stacked, by path where it is known, on no
        logarithmic axis; of windows and round-trip times there are then mean and band. ``flow`` is a name or
        number, the first one that has subflows if left out; ``measure`` is ``throughput``, ``cwnd`` or
        ``rtt``.
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

        ``flow`` is a name or number, the first one that was recorded if left out. The figure's own title, for
        ``title=True``, is the flow's name.
        """
        table = table_of(self._result, "sequence", "plot.sequence")
        lack = "was not recorded; name it in run.sequences and run it again. Recorded are"
        number, name = recorded_flow(self._result, table, flow, "plot.sequence", lack)
        figure = sequence_figure(table, number, start_s, end_s, name=name)
        with styled():
            # Set as the other figures are.
            axes = figure.axes[0]
            axes.set_title("", loc="left")
            figure.legends[0].remove()
            finish(figure, axes, Layout(width, title), name)
        return Plot(figure, "sequence")

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
        """The decisions of a flow that ``run.log`` names, over its windows or round-trip times at each ACK.

        Losses, reductions, undone reductions, probes, timeouts and restarts are marked at the window or
        smoothed RTT that they left. ``flow`` is a name or number, the first one that was recorded if left
        out, and ``subflow`` the number of a subflow of Multipath TCP, the first one if left out. ``measure``
        is ``window`` for congestion window, ssthresh and bytes in flight, or ``rtt`` for the smoothed RTT,
        the samples and the smallest.
        """
        span, layout = TimeRange(start_s, end_s, log), Layout(width, title)
        return decisions.log_plot(self._result, flow, subflow, measure, span, layout)

    def names(self) -> list[str]:
        """The methods for which this run has something to show."""
        return [name for name, shows in _SHOWS.items() if shows(self._result)]

    def __repr__(self) -> str:
        return f"figures of a run: {', '.join(self.names())}"


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
