"""Measures of a run of an evaluation: functions of its tables, each after a section of RFC 5166."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from anabranch.media.columns import Better
from anabranch.results.censored import jain, percentile

Tables = Mapping[str, pl.DataFrame]
"""The tables of a run by name."""
Window = tuple[float, float]
"""From and to when, in seconds of the run."""

BOTTLENECK = "router-left->router-right"
"""The link of a dumbbell at which flows meet."""
_INTO_BOTTLENECK = "left1->router-left"
_BACK_SHARE = 0.8
"""The share of its level before at which a flow counts as back after a disturbance."""
_BACK_OVER_S = 1.0


@dataclass(frozen=True, slots=True)
class RunMeasure:
    """A number of a run, and how it is read."""

    name: str
    """For people, with its unit."""
    section: str
    """Of RFC 5166."""
    better: Better
    of: Callable[[Tables], float | None]
    """None where the run does not have it."""
    missing: str = "nothing was delivered"
    """Why a run may not have it."""
    digits: int = 1


def goodput(name: str, group: str, window: Window, whole_mbps: float, better: Better = "more") -> RunMeasure:
    """The goodput of the flows of a group in percent of a rate, over a window."""

    def of(tables: Tables) -> float | None:
        return 100 * sum(_rates_mbps(tables, group, window)) / whole_mbps

    return RunMeasure(f"{name} (%)", "2.1.1", better, of)


def fairness(group: str, window: Window) -> RunMeasure:
    """Jain's index of the goodputs of the flows of a group, over a window."""

    def of(tables: Tables) -> float | None:
        rates = _rates_mbps(tables, group, window)
        return jain(rates) if any(rates) else None

    return RunMeasure("Jain's index of the flows", "2.3.1", "more", of, digits=3)


def queue(window: Window, capacity_mbps: float, share: float | None = None) -> RunMeasure:
    """The waiting time that the bottleneck's queue stands for: its mean, or a percentile of its samples."""

    def of(tables: Tables) -> float | None:
        waits: list[float] = (
            _link_samples(tables, BOTTLENECK, window)["queue_bytes"] * 8 / 1000 / capacity_mbps
        ).to_list()
        if not waits:
            return None
        return sum(waits) / len(waits) if share is None else percentile(waits, share)

    name = "queueing delay, mean (ms)" if share is None else f"queueing delay, p{share:g} (ms)"
    return RunMeasure(name, "2.1.2", "less", of)


def lost(name: str, group: str) -> RunMeasure:
    """Data segments of a group that were lost on their way, of all that it sent."""

    def of(tables: Tables) -> float | None:
        return _share_of_sent(tables, group, "drops_data")

    return RunMeasure(f"{name} (%)", "2.1.3", "less", of, digits=2)


def spurious(group: str) -> RunMeasure:
    """Data segments of a group that arrive though every byte of them was there, of all that it sent."""

    def of(tables: Tables) -> float | None:
        return _share_of_sent(tables, group, "spurious_retransmissions")

    return RunMeasure("sent again for nothing (%)", "2.4", "less", of, digits=2)


def completion(name: str, group: str, statistic: str) -> RunMeasure:
    """The mean or the largest completion time of the transfers of a group that begin in time."""

    def of(tables: Tables) -> float | None:
        begun = _of_group(tables["flows"], group).filter(
            pl.col("completion_s").is_not_null() | pl.col("completion_more_than_s").is_not_null()
        )
        times = begun["completion_s"]
        if times.is_empty() or times.null_count():
            return None
        values: list[float] = times.to_list()
        return 1000 * (sum(values) / len(values) if statistic == "mean" else max(values))

    return RunMeasure(f"{name} (ms)", "2.1.1", "less", of, "a transfer has not ended when the run does", 0)


def sent_without_feedback(window: Window) -> RunMeasure:
    """Packets that the sender puts on its link while everything behind it is lost."""

    def of(tables: Tables) -> float | None:
        samples = _link_samples(tables, _INTO_BOTTLENECK, window).sort("time_s")
        times: list[float] = samples["time_s"].to_list()
        rates_mbps: list[float] = samples["throughput_mbps"].to_list()
        if len(times) < 2:
            return None
        interval_s = (times[-1] - times[0]) / (len(times) - 1)
        return sum(rates_mbps) * interval_s * 1e6 / 8 / _PACKET_BYTES

    return RunMeasure("sent without any feedback (packets of 1500 B)", "2.2.1", "less", of)


def back(group: str, level: Window, since_s: float) -> RunMeasure:
    """The time from an instant until the goodput of a group has 80 % of its level before, over a second."""

    def of(tables: Tables) -> float | None:
        before = sum(_rates_mbps(tables, group, level))
        totals = (
            _samples(tables, group)
            .filter(pl.col("time_s") > since_s)
            .group_by("time_s")
            .agg(pl.col("goodput_mbps").sum())
            .sort("time_s")
        )
        times: list[float] = totals["time_s"].to_list()
        rates: list[float] = totals["goodput_mbps"].to_list()
        if len(times) < 2 or not before:
            return None
        count = max(round(_BACK_OVER_S / (times[1] - times[0])), 1)
        for first in range(len(rates) - count + 1):
            if sum(rates[first : first + count]) / count >= _BACK_SHARE * before:
                return max(times[first] - (times[1] - times[0]) - since_s, 0.0)
        return None

    reason = "it is not back to 80 % of its goodput before the run ends"
    return RunMeasure("until it is back to 80 % (s)", "2.2.1", "less", of, reason, 2)


def oscillation(group: str, window: Window) -> RunMeasure:
    """The coefficient of variation of the goodput of a group over samples of a second (RFC 5166 2.2.2)."""

    def of(tables: Tables) -> float | None:
        seconds = (
            _samples(tables, group)
            .filter(pl.col("time_s").is_between(*window, closed="right"))
            .group_by((pl.col("time_s") - 1e-9).floor())
            .agg(pl.col("goodput_mbps").sum())["goodput_mbps"]
        )
        mean, spread = seconds.mean(), seconds.std()
        if not isinstance(mean, float) or not isinstance(spread, float) or mean == 0:
            return None
        return spread / mean

    return RunMeasure("coefficient of variation of the goodput, by seconds", "2.2.2", "less", of, digits=3)


def latency(name: str) -> RunMeasure:
    """The 95th percentile of the one-way latency of a stream without congestion control."""

    def of(tables: Tables) -> float | None:
        value = _of_group(tables["datagram_flows"], name)["latency_p95_ms"].mean()
        return float(value) if isinstance(value, float) else None

    return RunMeasure("latency of the call, p95 (ms)", "2.1.2", "less", of)


def stream_lost(name: str) -> RunMeasure:
    """The packets of a stream without congestion control that are lost."""

    def of(tables: Tables) -> float | None:
        value = _of_group(tables["datagram_flows"], name)["loss_ratio"].mean()
        return 100 * value if isinstance(value, float) else None

    return RunMeasure("packets of the call lost (%)", "2.1.3", "less", of, digits=2)


_PACKET_BYTES = 1500


def _of_group(table: pl.DataFrame, group: str) -> pl.DataFrame:
    """The rows of the flows of a traffic entry, which are called after it with a number behind."""
    return table.filter(pl.col("name").str.replace(r"\.[0-9]+$", "") == group)


def _share_of_sent(tables: Tables, group: str, column: str) -> float | None:
    """A count of the flows of a group in percent of the data segments that they sent."""
    flows = _of_group(tables["flows"], group)
    sent = sum(flows["segments_sent"].to_list())
    return 100 * sum(flows[column].to_list()) / sent if sent else None


def _samples(tables: Tables, group: str) -> pl.DataFrame:
    """The samples of the flows of a group."""
    flows = _of_group(tables["flows"], group)["flow"].to_list()
    # Samples lie on multiples of the interval; rounding takes what the division left.
    return tables["flow_series"].filter(pl.col("flow").is_in(flows)).with_columns(pl.col("time_s").round(9))


def _rates_mbps(tables: Tables, group: str, window: Window) -> list[float]:
    """The goodput of each flow of a group over a window; one without a row there gets nothing."""
    samples = tables["flow_series"].with_columns(pl.col("time_s").round(9))
    count = samples.filter(pl.col("time_s").is_between(*window, closed="right"))["time_s"].n_unique()
    flows = _of_group(tables["flows"], group).select("flow")
    inside = _samples(tables, group).filter(pl.col("time_s").is_between(*window, closed="right"))
    sums = inside.group_by("flow").agg(pl.col("goodput_mbps").sum())
    rates = flows.join(sums, on="flow", how="left", maintain_order="left")["goodput_mbps"].fill_null(0.0)
    return (rates / max(count, 1)).to_list()


def _link_samples(tables: Tables, name: str, window: Window) -> pl.DataFrame:
    """The samples of a link in a window."""
    links = tables["links"].filter(pl.col("name") == name)["link"].to_list()
    return (
        tables["link_series"]
        .with_columns(pl.col("time_s").round(9))
        .filter(pl.col("link").is_in(links) & pl.col("time_s").is_between(*window, closed="right"))
    )
