"""A run as pieces: its flows, its latencies, what became of them in all, a live run beside its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from polars import selectors

from anabranch.media.pieces import DataTable, Piece, Text, counted
from anabranch.report.views.link_tables import causes_of, impairments_of
from anabranch.results.censored import COMPLETION, MORE_THAN, Times
from anabranch.results.result import LOGS, Result
from anabranch.text.units import NOTHING, plain, with_unit

FLOWS = (
    "name", "from", "to", "transport", "hosts", "start_s", "goodput_mbps", "simulated_goodput_mbps",
    COMPLETION, MORE_THAN, "delivered_bytes", "rtt_min_ms", "rtt_mean_ms", "rtt_max_ms", "segments_sent",
    "retransmissions", "spurious_retransmissions", "timeouts", "fast_recoveries", "packets_received",
    "reordered_packets", "reordering_ratio", "reordering_extent_mean", "reordering_extent_max",
    "drops_data", "drops_acks", "ecn_marks", "failure",
)  # fmt: skip
"""Columns of the table of flows, in every medium; those without a value are left out."""
LATENCIES = (
    "name", "measures", "from", "to", "sent", "received", "loss_ratio", "latency_min_ms", "latency_p50_ms",
    "latency_p95_ms", "latency_p99_ms", "latency_max_ms", "latency_mean_ms", "jitter_ms", "throughput_mbps",
    "reordering_ratio", "drops_forward", "drops_backward",
)  # fmt: skip
"""The same of pings and UDP."""
LINKS = (
    "name", "from", "to", "capacity_mbps", "delay_ms", "utilization", "queue_mean_packets",
    "queue_max_packets", "packets", "ecn_marks",
)  # fmt: skip
"""The same of links; drops by cause apart."""
CONNECTIONS = (
    "name", "from", "to", "transport", "delivered_bytes", "goodput_mbps", COMPLETION, MORE_THAN,
    "rtt_mean_ms", "subflows", "subflows_established", "retransmissions", "timeouts", "reinjected_bytes",
    "opportunistic_retransmissions", "penalties", "suspicions", "duplicate_bytes", "most_waiting_bytes",
    "stalled_s",
)  # fmt: skip
"""The same of connections of Multipath TCP."""
SUBFLOWS = (
    "connection", "subflow", "path", "state", "delivered_bytes", "throughput_mbps", "rtt_min_ms",
    "rtt_mean_ms", "rtt_max_ms", "segments_sent", "retransmissions", "timeouts", "spurious_retransmissions",
    "reordered_packets", "path_changes", "opened_s", "handshake_s", "client_port", "server_port",
)  # fmt: skip
"""The same of their subflows."""
COLLECTIVES = (
    "name", "operation", "hosts", "steps", "flows", "unfinished_flows", "start_s", "completion_s",
    "slowest_chain",
)  # fmt: skip
"""The same of collective operations; one that was not complete has no completion, but unfinished flows."""
COLLECTIVE_STEPS = ("name", "step", "start_s", "completion_s")
"""The same of their steps."""
COLLECTIVE_TABLES = (
    ("collectives", "Collective operations", COLLECTIVES, "operations"),
    ("collective_steps", "Steps of the operations", COLLECTIVE_STEPS, "steps"),
)
"""Name, title and columns of both tables, and what their rows are."""
_AGAINST = (
    "name", "transport", "goodput_mbps", "simulated_goodput_mbps", "difference_percent", "within_spread",
    COMPLETION, f"simulated_{COMPLETION}", "retransmissions", "simulated_retransmissions",
)  # fmt: skip
REORDERING = (
    "transport", "flows", "packets_received", "reordered_packets", "reordering_ratio",
    "reordering_extent_max", "spurious_retransmissions",
)  # fmt: skip
_AS_CONNECTIONS = (
    "flow", "name", "from", "to", "transport", "delivered_bytes", "goodput_mbps", COMPLETION, MORE_THAN,
    "rtt_mean_ms", "retransmissions", "timeouts",
)  # fmt: skip
"""Columns that a connection takes from the table of flows."""
_MEASURES = {"ping": "RTT", "udp": "one way"}
"""What a latency is, by kind of flow."""


def measured(datagram_flows: pl.DataFrame) -> pl.DataFrame:
    """The flows of datagrams with what a latency is in the column ``measures``."""
    return datagram_flows.with_columns(pl.col("kind").replace_strict(_MEASURES).alias("measures"))


def flow_table(result: Result) -> DataTable:
    """All flows, those of a live run with the goodput of its simulation, where there is one."""
    flows = result.flows
    if "against" in result.tables:
        simulated = result.tables["against"].select("flow", "simulated_goodput_mbps")
        flows = flows.join(simulated, on="flow", how="left", maintain_order="left")
    return _table("flows", "Flows", flows, FLOWS)


def latency_table(result: Result) -> DataTable:
    """All flows of datagrams."""
    return _table("datagram_flows", "Latency", measured(result.tables["datagram_flows"]), LATENCIES)


def link_table(result: Result) -> DataTable:
    """All links by their names, with what they dropped by cause."""
    # Of a mean queue, millionths of a packet say nothing.
    links = result.links.with_columns(selectors.by_name("queue_mean_packets", require_all=False).round(4))
    shown = (
        *(name for name in LINKS if name not in ("from", "to")),
        *(name for name, _ in causes_of(links)),
        *impairments_of(links),
    )
    return _table("links", "Links", links, shown)


def reordering_table(result: Result) -> DataTable | None:
    """Reordering (RFC 4737) over all flows of each transport; None where nobody counted it."""
    flows = result.flows
    if not {"packets_received", "reordered_packets"} <= set(flows.columns):
        return None
    sums = flows.group_by("transport").agg(
        pl.len().alias("flows"),
        selectors.by_name(
            "packets_received", "reordered_packets", "spurious_retransmissions", require_all=False
        ).sum(),
        selectors.by_name("reordering_extent_max", require_all=False).max(),
    )
    share = pl.col("reordered_packets") / pl.col("packets_received")
    ratio = pl.when(pl.col("packets_received") > 0).then(share).alias("reordering_ratio")
    return _table("reordering", "Reordering", sums.with_columns(ratio).sort("transport"), REORDERING)


def event_table(result: Result, most: int) -> DataTable:
    """The first changes of the network and its routes."""
    events = result.tables.get("events", pl.DataFrame()).head(most)
    return _table("events", "Changes of the network and its routes", events, ("time_s", "kind", "subject"))


def collective_tables(result: Result) -> list[DataTable]:
    """Collective operations and their steps; none where a run has none."""
    return [
        _table(name, title, result.tables[name], names, things)
        for name, title, names, things in COLLECTIVE_TABLES
        if name in result.tables
    ]


def joined_connections(result: Result) -> pl.DataFrame:
    """The connections of Multipath TCP with what the table of flows has of them."""
    # An earlier version has fewer columns.
    flows = result.flows.select(name for name in _AS_CONNECTIONS if name in result.flows.columns)
    return result.tables["connections"].join(flows, on="flow", how="left", maintain_order="left")


def connection_table(connections: pl.DataFrame) -> DataTable:
    """Connections as of :func:`joined_connections`."""
    return _table("connections", "Connections", connections, CONNECTIONS)


def subflow_table(subflows: pl.DataFrame, connections: pl.DataFrame) -> DataTable:
    """Subflows by the names of their connections."""
    named = connections.select("flow", connection="name")
    shown = subflows.join(named, on="flow", how="left", maintain_order="left")
    if "path" in shown.columns and shown["path"].null_count() < shown.height:
        shown = shown.with_columns(pl.col("path").fill_null(NOTHING))
    return _table("subflows", "Subflows", shown, SUBFLOWS)


def run_tables(result: Result) -> list[DataTable]:
    """Every table of a run that people read, as a workbook has them."""
    tables = [flow_table(result), link_table(result)]
    if "datagram_flows" in result.tables:
        tables.append(latency_table(result))
    if {"connections", "subflows"} <= result.tables.keys():
        connections = joined_connections(result)
        tables += [connection_table(connections), subflow_table(result.tables["subflows"], connections)]
    tables += collective_tables(result)
    reordering = reordering_table(result)
    if reordering is not None:
        tables.append(reordering)
    events = result.tables.get("events")
    if events is not None and events.height:
        tables.append(event_table(result, events.height))
    return [table for table in tables if table.height]


def run_pieces(title: str, result: Result, folder: Path | None = None) -> list[Piece]:
    """The tables of flows, latencies and collectives, the totals, and where everything is, if in a folder."""
    flows, datagrams = result.flows, result.tables.get("datagram_flows")
    pieces: list[Piece] = []
    if flows.height or datagrams is None:
        pieces.append(_table("flows", title, flows, FLOWS))
        title = "packets without a connection"
    if datagrams is not None:
        pieces.append(_table("datagram_flows", title, measured(datagrams), LATENCIES))
    # Of steps there are as many as of flows; what is asked is when an operation was complete.
    pieces += collective_tables(result)[:1]
    lines = [*_failures(flows), *_completion(flows), _totals(result)]
    if folder is not None:
        lines.append(f"results in {folder}")
        if "log" in result.tables:
            lines.append(f"event logs in {folder / LOGS}")
    return [*pieces, *map(Text, lines)]


def against_pieces(result: Result) -> list[Piece]:
    """The flows of a live run beside those of its simulation, and what follows."""
    compared = result.tables["against"]
    table = _table("against", "live against simulation, difference in %", compared, _AGAINST)
    verdict = result.summary["live"]["against"]
    if "refused" in verdict:
        return [table, Text(f"no conclusion: {verdict['refused']}")]
    if verdict["median_difference_percent"] is None:
        return [table]
    return [
        table,
        Text(
            f"goodput differs by {verdict['median_difference_percent']:.2g} % at the median of "
            f"{verdict['flows']} real flows, and by {verdict['largest_difference_percent']:.2g} % at most"
        ),
        *_spread(verdict),
    ]


def _spread(verdict: Mapping[str, Any]) -> list[Piece]:
    """Whether the differences are more than those of the runs of either side."""
    if "beyond_spread" not in verdict:
        return []
    runs = f"{counted(verdict['live_runs'], 'live run')} and {verdict['simulated_runs']} simulated ones"
    if verdict["spread_unknown"]:
        unknown = counted(verdict["spread_unknown"], "flow")
        differing = f"means differ by more than the simulated runs do for {unknown}"
        return [Text(f"{runs}: {differing}; more live runs (--runs) would tell whether that is chance")]
    beyond = counted(verdict["beyond_spread"], "flow")
    return [Text(f"{runs}: means differ by more than the runs of either side for {beyond}")]


def _table(
    name: str, title: str, frame: pl.DataFrame, names: tuple[str, ...], things: str = "flows"
) -> DataTable:
    elsewhere = f"the table {name} ({name}.parquet)"
    return DataTable.of_frame(name, title, frame, names, name, things=things, elsewhere=elsewhere)


def without_connection(flows: pl.DataFrame) -> pl.DataFrame:
    """Flows that are not given up and whose SYN had to be repeated without an answer until the end."""
    if not {"failure", "handshake_s", "timeouts"} <= set(flows.columns):
        return flows.clear()
    # A SYN that has just left is no trouble; one that had to be repeated is.
    return flows.filter(
        pl.col("failure").is_null() & pl.col("handshake_s").is_null() & (pl.col("timeouts") > 0)
    )


def _failures(flows: pl.DataFrame) -> list[str]:
    """How many flows were given up, for each reason, and how many still waited for a connection."""
    failed = flows.filter(pl.col("failure").is_not_null())
    reasons = failed["failure"].value_counts(sort=True, name="flows").sort("failure")
    lines = [f"{counted(count, 'flow')} failed: {reason}" for reason, count in reasons.iter_rows()]
    waiting = without_connection(flows)
    if waiting.height:
        lost = waiting.filter(pl.col("drops_control") > 0).height
        to_controller = (
            f"; packets of {lost:,} of them were lost on the way to or from the controller" if lost else ""
        )
        lines.append(
            f"{counted(waiting.height, 'flow')} had no connection when the run ended, before "
            f"handshake_timeout was over{to_controller}"
        )
    return lines


def _completion(flows: pl.DataFrame) -> list[str]:
    """How many flows of how many are done, and their completion times over all of them."""
    times = Times.of(flows)
    if times.count < 2 and times.done == times.count:
        return []
    unfinished = times.count - times.done
    statistics = ", ".join(
        f"{name} {times.statistic(name).text(lambda value: with_unit(value, 's', 4), '-')}"
        for name in ("median", "p95")
    )
    left = f", {unfinished:,} unfinished" if unfinished else ""
    noun = "flow" if times.count == 1 else "flows"
    return [f"{times.share_done()} {noun} done{left}; completion: {statistics}"]


def _totals(result: Result) -> str:
    summary = result.summary
    parts = []
    if isinstance(total_mbps := summary.get("delivered_mbps"), float):
        parts.append(
            f"delivered in all {with_unit(total_mbps, 'Mbps', 4)} over {plain(float(summary['ended_s']))} s"
        )
    if result.flows.height > 1 and isinstance(jain := summary.get("jain_index"), float):
        parts.append(f"Jain index {jain:.4f}")
    if isinstance(hops := summary.get("packet_hops"), int):
        wall_s = float(summary["wall_s"])
        rate = f" ({hops / wall_s / 1e6:.1f} million/s)" if wall_s > 0 else ""
        parts.append(f"{hops:,} packet-hops in {wall_s:.2f} s{rate}")
    return "; ".join(parts)
