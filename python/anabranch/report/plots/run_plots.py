"""``result.plot``: every figure of a run, as methods."""

from __future__ import annotations

from anabranch.errors import ResultError
from anabranch.report.plots.drop_causes import cause_plot
from anabranch.report.plots.lines import distribution_plot, line_plot
from anabranch.report.plots.network import By, network_plot
from anabranch.report.plots.plot import Layout, Plot, Width, finish
from anabranch.report.sequence import sequence_figure
from anabranch.report.style import styled
from anabranch.report.views import decisions, distributions, latency, over_time, subflows
from anabranch.report.views.charts import SHOWS
from anabranch.report.views.choice import Names, TimeRange, chosen_flows, recorded_flow, table_of
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
        span = TimeRange(start_s, end_s, log)
        chart = over_time.flow_chart(self._result, "goodput", over_time.GOODPUT, flows, by, span)
        return line_plot(chart, Layout(width, title))

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
        span = TimeRange(start_s, end_s, log)
        chart = over_time.flow_chart(self._result, "rtt", over_time.RTT, flows, by, span)
        return line_plot(chart, Layout(width, title))

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
        span = TimeRange(start_s, end_s, log)
        chart = over_time.flow_chart(self._result, "cwnd", over_time.CWND, flows, by, span)
        return line_plot(chart, Layout(width, title))

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
        span = TimeRange(start_s, end_s, log)
        chart = over_time.link_chart(self._result, "queue", over_time.QUEUE, links, span)
        return line_plot(chart, Layout(width, title))

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
        span = TimeRange(start_s, end_s)
        chart = over_time.link_chart(self._result, "utilization", over_time.UTILIZATION, links, span)
        return line_plot(chart, Layout(width, title))

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
        span = TimeRange(start_s, end_s, log)
        chart = over_time.link_chart(self._result, "drops", over_time.DROPS, links, span)
        return line_plot(chart, Layout(width, title))

    def drop_causes(
        self, *, links: Names | None = None, width: Width = "double", title: bool | str = False
    ) -> Plot:
        """Packets that links dropped over the whole run, by cause; of the twelve that dropped most."""
        return cause_plot(self._result, links, Layout(width, title))

    def completion_times(
        self,
        *,
        flows: Names | None = None,
        log: bool | None = None,
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """DistributionChart of the completion times of each transport's flows, of all that can complete.

        With ``log`` left out, times that span two decades are on a logarithmic axis.
        """
        chosen = chosen_flows(self._result, flows, "plot.completion_times")
        shown = distributions.completion_distribution(self._result, chosen, is_log=log)
        if not shown.curves:
            raise ResultError(
                "plot.completion_times: none of these flows was completed; give traffic a size "
                "(traffic[].size), or make run.duration longer"
            )
        return distribution_plot(shown, Layout(width, title))

    def reordering(
        self,
        *,
        flows: Names | None = None,
        measure: distributions.Reordering = "ratio",
        width: Width = "double",
        title: bool | str = False,
    ) -> Plot:
        """DistributionChart of reordering (RFC 4737) over the flows of each transport.

        ``measure`` is ``ratio``, the share of reordered packets, or ``extent``, the greatest one of each
        flow.
        """
        chosen = chosen_flows(self._result, flows, "plot.reordering")
        shown = distributions.reordering_distribution(self._result, chosen, measure)
        if not shown.curves:
            raise ResultError(
                "plot.reordering: none of these flows received a packet; make run.duration longer, or choose "
                "other flows"
            )
        return distribution_plot(shown, Layout(width, title))

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
        latency.check_by(by)
        chosen, notes = latency.chosen_latencies(self._result, flows)
        if by == "distribution":
            shown = latency.latency_distribution(self._result, chosen, notes, is_log=log)
            return distribution_plot(shown, Layout(width, title))
        chart = latency.latency_chart(self._result, chosen, notes, TimeRange(start_s, end_s, log))
        return line_plot(chart, Layout(width, title))

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
        chart = subflows.subflow_chart(self._result, flow, measure, TimeRange(start_s, end_s, log))
        return line_plot(chart, Layout(width, title))

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
        span = TimeRange(start_s, end_s, log)
        chart = decisions.log_chart(self._result, flow, subflow, measure, span)
        return line_plot(chart, Layout(width, title))

    def names(self) -> list[str]:
        """The methods for which this run has something to show."""
        return [name for name, shows in SHOWS.items() if shows(self._result)]

    def __repr__(self) -> str:
        return f"figures of a run: {', '.join(self.names())}"
