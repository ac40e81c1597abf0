"""The measures: each number with its unit and definition, and how it comes from the tables of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from anabranch.media.columns import FULL, Better, Column
from anabranch.results.censored import jain, percentile
from anabranch_publications.comparison.failure import cost
from anabranch_publications.comparison.subjects import Failure, Part


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that systems are compared by."""

    name: str
    """Its column, with the unit at the end."""
    label: str
    better: Better
    meaning: str
    digits: int = 1

    @property
    def column(self) -> Column:
        """The declaration of its column; its label has the unit."""
        return Column(
            self.name, self.label, format=f",.{self.digits}f", better=self.better,
            priority=_PRIORITIES.get(self.name, 0), limit=FULL if self.name == "worst_load" else None,
        )  # fmt: skip


_PRIORITIES = {
    name: priority
    for priority, name in enumerate(
        ("failure_lasting_percent", "unfinished_percent", "flow_goodput_p5_mbps", "retransmitted_percent",
         "control_messages_per_s", "completion_median_ms", "jain_index", "queue_mean_ms"), start=1)
} | dict.fromkeys(
    ("goodput_mbps", "completion_p95_ms", "worst_load", "failure_lost_percent", "entries_max"), 9
)  # fmt: skip
"""Of the measures that a terminal shows; what is low is left out first where there is no room."""

_ALL = (
    Measure(
        "goodput_mbps",
        "goodput Mbps",
        "more",
        "payload that applications get in order in the measured time, of all flows: in the standard "
        "workload, of the long ones",
    ),
    Measure(
        "flow_goodput_mbps",
        "a flow Mbps",
        "more",
        "the same of one flow, on the mean over flows without a size",
        2,
    ),
    Measure(
        "flow_goodput_p5_mbps",
        "p5 flow Mbps",
        "more",
        "5th percentile of these flows: what the worst off get",
        2,
    ),
    Measure("jain_index", "Jain", "more", "Jain's fairness index of the goodputs of these flows", 3),
    Measure(
        "completion_median_ms",
        "FCT median ms",
        "less",
        "median completion time of transfers, from the SYN to the last byte and the FIN; "
        "those that do not end count as longer than all others",
        0,
    ),
    Measure("completion_p95_ms", "FCT p95 ms", "less", "95th percentile of the same", 0),
    Measure(
        "unfinished_percent",
        "un-done %",
        "less",
        "transfers that have not ended when the run does, of those that began in time to count",
        2,
    ),
    Measure(
        "queue_mean_ms",
        "queue ms",
        "less",
        "waiting time at a link between routers, as a packet meets it: samples of queue "
        "over capacity, weighted by the traffic of the link in that sample",
    ),
    Measure("queue_p95_ms", "queue p95 ms", "less", "95th percentile of the same", 0),
    Measure(
        "drops_percent",
        "queue drops %",
        "less",
        "packets that full queues drop in the whole run, starts included, data and acknowledgments, per data "
        "segment sent",
        2,
    ),
    Measure(
        "retransmitted_percent",
        "sent again %",
        "less",
        "data segments sent again in the whole run, of all that were sent",
        2,
    ),
    Measure(
        "spurious_percent",
        "spurious %",
        "less",
        "data segments that arrive in the whole run though every byte of them was there, of all that "
        "were sent",
        2,
    ),
    Measure(
        "crossings",
        "links a byte",
        "less",
        "bytes sent over links between routers in the whole run, headers and acknowledgments among "
        "them, per byte delivered: "
        "how much of the network a byte takes",
        2,
    ),
    Measure(
        "reordered_percent",
        "re-ordered %",
        "",
        "data packets that arrive behind a later one (RFC 4737 section 3), of all that arrive",
        1,
    ),
    Measure(
        "worst_load",
        "worst load",
        "less",
        "highest load of a link over all traffic within the bounds; 1 is a full link",
        2,
    ),
    Measure(
        "worst_failure_load",
        "worst load, failure",
        "less",
        "the same in the worst failure of one edge, with the routes that there are after it",
        2,
    ),
    Measure(
        "stranded_percent",
        "cut off %",
        "less",
        "pairs of routers that have no route in the failure that leaves most without "
        "one; their traffic is in no load",
        1,
    ),
    Measure(
        "failure_lost_percent",
        "lost in failure %",
        "less",
        "goodput from the failure to the end under the level before, in percent of that level",
    ),
    Measure(
        "failure_lasting_percent",
        "lasting %",
        "more",
        "goodput in the last part after the failure, in percent of the level before",
    ),
    Measure(
        "failure_back_s",
        "back s",
        "less",
        "from the failure until the total is back to 95 % of its lasting level, over a second",
    ),
    Measure(
        "entries_mean",
        "entries mean",
        "less",
        "forwarding entries of a router on the mean: of a destination, of each path "
        "through it, or of each flow and direction at the most at once (in the standard workload, of "
        "transfers)",
        0,
    ),
    Measure("entries_max", "entries max", "less", "the same of the router that has most", 0),
    Measure(
        "control_messages_per_s",
        "control msg/s",
        "less",
        "messages between switches and the controller, both ways (in the standard workload, while transfers "
        "run); none without a controller",
        0,
    ),
)

MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}
"""The measures by name, in the order of tables."""

PER_FLOW = ("flow_goodput_mbps", "flow_goodput_p5_mbps", "jain_index")
"""What is about single flows; those of a size are left out of it."""
QUEUES = ("queue_mean_ms", "queue_p95_ms")
"""What is measured at links between routers."""

Values = dict[str, float | None]
Tables = Mapping[str, pl.DataFrame]


def expected(part: Part) -> tuple[str, ...]:
    """The measures that a run of a part should give, without those of a controller."""
    names: list[str] = []
    if part.window_s is not None:
        names += ["goodput_mbps", *PER_FLOW, *QUEUES]
        names += ["drops_percent", "retransmitted_percent", "spurious_percent"]
        names += ["crossings", "reordered_percent"]
    if part.counted_until_s is not None:
        names += ["completion_median_ms", "completion_p95_ms", "unfinished_percent"]
    if part.failure is not None:
        names += ["failure_lost_percent", "failure_lasting_percent", "failure_back_s"]
    return tuple(names)


def measured(part: Part, tables: Tables, router_links: frozenset[str]) -> Values:
    """The measures that a run of a part gives; None where there is nothing to measure.

    Args:
        part: what was run.
        tables: tables of the run by name.
        router_links: names of the links between routers.
    """
    values: Values = {}
    if part.window_s is not None:
        values |= (
            _goodput(tables, part.window_s, part.transfers)
            | _queues(tables, part.window_s, router_links)
            | _packets(tables, router_links)
        )
    if part.counted_until_s is not None:
        values |= _completion(tables["flows"], part.transfers, part.counted_until_s)
    if part.failure is not None:
        values |= _failure(tables, part.failure)
    if "flow_tables" in tables and part.name != "failure":
        values |= _control(tables, part.duration_s)
    return values


def _series(tables: Tables, name: str) -> pl.DataFrame:
    # The samples lie on multiples of the interval; rounding takes what the division left.
    return tables[name].with_columns(pl.col("time_s").round(9))


def _goodput(tables: Tables, window: tuple[float, float], transfers: tuple[str, ...]) -> Values:
    series = _series(tables, "flow_series").filter(pl.col("time_s").is_between(*window, closed="right"))
    samples = series["time_s"].n_unique()
    flows = tables["flows"].filter(pl.col("start_s") < window[1]).select("flow", "name")
    if not samples or flows.is_empty():
        return {}
    sums = series.group_by("flow").agg(pl.col("goodput_mbps").sum())
    # A flow that has no row has ended or not begun; it gets nothing there.
    rates = flows.join(sums, on="flow", how="left", maintain_order="left").select(
        pl.col("goodput_mbps").fill_null(0.0) / samples, sized=_is_of(transfers)
    )
    values: Values = {"goodput_mbps": sum(rates["goodput_mbps"].to_list())}
    # A transfer that ended before the window would be a flow that gets nothing.
    each: list[float] = rates.filter(~pl.col("sized"))["goodput_mbps"].to_list()
    if each:
        values |= {
            "flow_goodput_mbps": sum(each) / len(each),
            "flow_goodput_p5_mbps": percentile(each, 5),
            "jain_index": jain(each),
        }
    return values


def _is_of(entries: tuple[str, ...]) -> pl.Expr:
    """Whether a flow is of one of these traffic entries, whose name it has with its number behind."""
    return pl.col("name").str.replace(r"\.[0-9]+$", "").is_in(list(entries))


def _queues(tables: Tables, window: tuple[float, float], router_links: frozenset[str]) -> Values:
    links = tables["links"].filter(pl.col("name").is_in(list(router_links))).select("link", "capacity_mbps")
    series = (
        _series(tables, "link_series")
        .filter(pl.col("time_s").is_between(*window, closed="right"))
        .join(links, on="link")
        .filter(pl.col("throughput_mbps") > 0)
    )
    if series.is_empty():
        return {}
    waiting = (series["queue_bytes"] * 8e-3 / series["capacity_mbps"]).to_numpy()
    weight = series["throughput_mbps"].to_numpy()
    order = np.argsort(waiting, kind="stable")
    above = np.searchsorted(np.cumsum(weight[order]), 0.95 * weight.sum())
    return {
        "queue_mean_ms": float(np.average(waiting, weights=weight)),
        "queue_p95_ms": float(waiting[order][min(int(above), len(order) - 1)]),
    }


def _packets(tables: Tables, router_links: frozenset[str]) -> Values:
    flows = tables["flows"]
    links = tables["links"].filter(pl.col("name").is_in(list(router_links)))
    delivered = int(flows["delivered_bytes"].sum())
    sent, received = int(flows["segments_sent"].sum()), int(flows["packets_received"].sum())
    if not sent or not received or not delivered:
        return {}
    return {
        "drops_percent": 100 * int(flows["drops_queue"].sum()) / sent,
        "retransmitted_percent": 100 * int(flows["retransmissions"].sum()) / sent,
        "spurious_percent": 100 * int(flows["spurious_retransmissions"].sum()) / sent,
        "crossings": int(links["bytes"].sum()) / delivered,
        "reordered_percent": 100 * int(flows["reordered_packets"].sum()) / received,
    }


def _completion(flows: pl.DataFrame, entries: tuple[str, ...], until_s: float) -> Values:
    """Completion times of the flows of some traffic entries that begin early enough."""
    counted = flows.filter(_is_of(entries) & (pl.col("start_s") < until_s))
    times = counted["completion_s"]
    ended = sorted(times.drop_nulls().to_list())
    if counted.is_empty():
        return {}
    return {
        "completion_median_ms": _censored(ended, len(times), 50),
        "completion_p95_ms": _censored(ended, len(times), 95),
        "unfinished_percent": 100 * (1 - len(ended) / len(times)),
    }


def _censored(ended_s: list[float], count: int, percent: float) -> float | None:
    """A percentile in ms of ``count`` times, the longest of them unknown; None if it is one of these."""
    position = (count - 1) * percent / 100
    if position > len(ended_s) - 1:
        return None
    # What is not known lies beyond the position, and its value does not matter.
    return 1000 * percentile(ended_s + [ended_s[-1]] * (count - len(ended_s)), percent)


def _failure(tables: Tables, failure: Failure) -> Values:
    series = _series(tables, "flow_series")
    if series.is_empty():
        return {}
    total = series.group_by("time_s").agg(pl.col("goodput_mbps").sum()).sort("time_s")
    losses = cost(total["time_s"].to_numpy(), total["goodput_mbps"].to_numpy(), failure)
    if losses is None:
        return {}
    return {
        "failure_lost_percent": losses.lost_percent,
        "failure_lasting_percent": losses.lasting_percent,
        "failure_back_s": losses.back_s,
    }


def _control(tables: Tables, duration_s: float) -> Values:
    most = tables["flow_tables"]["entries_max"]
    messages = tables["control_messages"].filter(pl.col("kind") != "lost")["messages"].sum()
    return {
        "entries_mean": float(most.sum()) / most.len(),
        "entries_max": float(most.to_numpy().max()),
        "control_messages_per_s": float(messages) / duration_s,
    }
