"""The tables of a live run: those of the engine, with what the kernel says of its flows in their place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.live.traffic import FlowRecord, Sample
from anabranch.results.censored import COMPLETION, MORE_THAN, completion_summary
from anabranch.results.result import Result

_UNKNOWN = (
    *("fast_recoveries", "undone_recoveries", "tail_loss_probes", "ecn_reductions"),
    *("spurious_retransmissions", "rtt_max_ms", "ecn_marks"),
)
"""What the kernel does not tell of a flow."""
_UNKNOWN_OF_CONNECTIONS = (
    *("reinjected_bytes", "opportunistic_retransmissions", "penalties", "suspicions"),
    *("duplicate_bytes", "most_waiting_bytes", "stalled_s", "stalled_since_s"),
)
_UNKNOWN_OF_SUBFLOWS = ("handshake_s", "fast_recoveries", "spurious_retransmissions", "rtt_max_ms")


def with_kernel(
    result: Result, records: Sequence[FlowRecord], samples: Sequence[Sample], ended_s: float
) -> dict[str, pl.DataFrame]:
    """The tables of a run with its real flows, of which the engine knows the packets, and not their state."""
    tables = dict(result.tables)
    tables["flows"] = _flows(tables["flows"], records, ended_s)
    if "flow_series" in tables:
        senders = {record.plan.flow for record in records if record.plan.control is not None}
        series = _goodputs(tables["flow_series"], [one for one in samples if one.flow not in senders])
        tables["flow_series"] = _series(series, [one for one in samples if one.flow in senders])
    multipath = [record for record in records if record.plan.is_mptcp]
    if multipath:
        tables["connections"] = _connections(tables["connections"], multipath)
        tables["subflows"] = _subflows(tables["subflows"], multipath, ended_s)
    if multipath and "flow_series" in tables:
        tables["subflow_series"] = _subflow_series(tables.get("subflow_series"), multipath, samples)
    return tables


def totals(tables: Mapping[str, pl.DataFrame], ended_s: float) -> dict[str, Any]:
    """The totals of a summary, over real and simulated flows, pings and UDP."""
    flows, datagrams = tables["flows"], tables.get("datagram_flows")
    opened = flows.filter(pl.col("setup_s").is_not_null())
    delivered, drops = int(flows["delivered_bytes"].sum()), flows["drops_data"]
    # Switches do not say what became of the packets of a flow.
    lost = None if drops.null_count() else int(drops.sum())
    if datagrams is not None:
        delivered += int((datagrams["received"] * datagrams["packet_bytes"]).sum())
        lost = None if lost is None else lost + int(datagrams["lost"].sum())
    return {
        "jain_index": _core.jain_index(opened["goodput_mbps"].drop_nulls().to_list()),
        "delivered_mbps": _mbps(delivered, ended_s),
        "packets_lost": lost,
        "completion": completion_summary(flows),
    }


_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}


def conversations(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pl.DataFrame:
    """The traffic of programs with each other: a row for each five-tuple and its reverse."""
    rows = []
    for one in records:
        (source, source_port), (destination, destination_port) = one["source"], one["destination"]
        rows.append(
            {
                "protocol": _PROTOCOLS.get(one["protocol"], str(one["protocol"])),
                "from": names[one["from"]],
                "to": names[one["to"]],
                "source": source,
                "source_port": source_port,
                "destination": destination,
                "destination_port": destination_port,
                **{name: one[name] for name in _CONVERSATION},
            }
        )
    texts = dict.fromkeys(("protocol", "from", "to", "source"), pl.String)
    ports = {"source_port": pl.UInt64, "destination": pl.String, "destination_port": pl.UInt64}
    return pl.DataFrame(rows, schema={**texts, **ports, **_CONVERSATION})


_CONVERSATION = {
    **dict.fromkeys(("begin_s", "end_s"), pl.Float64),
    **{
        f"{prefix}{what}": pl.UInt64
        for prefix in ("", "back_")
        for what in ("packets_sent", "bytes_sent", "packets_received", "bytes_received")
    },
}


def _mbps(size_bytes: int, span_s: float) -> float | None:
    return size_bytes * 8 / span_s / 1e6 if span_s > 0 else None


_SEEN_BY_RECEIVER = (
    *(COMPLETION, MORE_THAN, "delivered_bytes", "goodput_mbps", "spurious_retransmissions", "ecn_marks"),
)
"""What the receiver of a flow knows, simulated or real; all else is the sender's to say."""


def _flow(record: FlowRecord, ended_s: float) -> dict[str, Any]:
    """What the kernel knows of a flow, of the ends that are real."""
    infos = list(record.infos.values())
    active_s = record.active_s(ended_s)
    smallest = [info.rtt_min_ms for info in infos if info.rtt_min_ms is not None]
    timeouts = [info.timeouts for info in infos if info.timeouts is not None]
    values = {
        "handshake_s": record.established_s,
        COMPLETION: record.completed_s,
        MORE_THAN: record.unfinished_for_s(ended_s),
        "failure": record.failure,
        "delivered_bytes": record.delivered_bytes,
        "goodput_mbps": _mbps(record.delivered_bytes, active_s),
        "retransmissions": sum(info.retransmissions for info in infos),
        "timeouts": sum(timeouts) if len(timeouts) == len(infos) else None,
        "rtt_min_ms": min(smallest, default=None),
        "rtt_mean_ms": record.rtt_sum_ms / record.rtt_samples if record.rtt_samples else None,
        **dict.fromkeys(_UNKNOWN),
    }
    sends, receives = record.plan.control is not None, record.plan.receives
    columns = {
        name: value for name, value in values.items() if (receives if name in _SEEN_BY_RECEIVER else sends)
    }
    return {"flow": record.plan.flow, **columns}


def _replaced(table: pl.DataFrame, keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A table with these values in place of those of the same keys; null, too, is a value."""
    if not rows:
        return table
    names = [name for name in rows[0] if name not in keys]
    schema = {name: table.schema[name] for name in (*keys, *names)}
    fresh = pl.DataFrame(rows, schema=schema).with_columns(_fresh=True)
    joined = table.join(fresh, on=list(keys), how="left", suffix="_of_kernel", maintain_order="left")
    chosen = [
        pl.when(pl.col("_fresh")).then(pl.col(f"{name}_of_kernel")).otherwise(pl.col(name)).alias(name)
        for name in names
    ]
    return joined.with_columns(chosen).select(table.columns)


def _flows(flows: pl.DataFrame, records: Sequence[FlowRecord], ended_s: float) -> pl.DataFrame:
    # Rows of the same ends have the same columns.
    by_hosts: dict[str, list[FlowRecord]] = defaultdict(list)
    for record in records:
        by_hosts[_hosts(record)].append(record)
    for alike in by_hosts.values():
        flows = _replaced(flows, ["flow"], [_flow(record, ended_s) for record in alike])
    names = {record.plan.flow: _hosts(record) for record in records}
    hosts = pl.col("flow").replace_strict(names, default="simulated", return_dtype=pl.String)
    # What left a host is what the network has seen of it.
    arrived = pl.col("packets_received") + pl.col("duplicates_received") - pl.col("duplicated_packets")
    left = arrived + pl.col("drops_data") + pl.col("packets_in_flight")
    sent = pl.when(hosts.is_in(["kernel", "kernel sends"])).then(left).otherwise(pl.col("segments_sent"))
    return flows.with_columns(segments_sent=sent, hosts=hosts)


def _hosts(record: FlowRecord) -> str:
    """Which ends of a flow are real, as the column ``hosts`` says it."""
    if record.plan.control is None:
        return "kernel receives"
    return "kernel" if record.plan.receives else "kernel sends"


def _rates(samples: Sequence[Sample], before: dict[int, int] | None = None) -> list[float | None]:
    """What was delivered of a flow between the samples before and these, in Mbps.

    ``before`` has the bytes that each flow had delivered before these, and is brought up to date.
    """
    before = {} if before is None else before
    rates = []
    for sample in samples:
        delivered = sample.delivered_bytes - before.get(sample.flow, 0)
        rates.append(_mbps(delivered, sample.taken_s - sample.since_s))
        before[sample.flow] = sample.delivered_bytes
    return rates


def _goodputs(series: pl.DataFrame, samples: Sequence[Sample]) -> pl.DataFrame:
    """A series of simulated senders, with the goodput of those whose receivers are real."""
    if not samples:
        return series
    rates = [
        {"time_s": sample.time_s, "flow": sample.flow, "_rate": rate}
        for sample, rate in zip(samples, _rates(samples), strict=True)
    ]
    fresh = pl.DataFrame(rates, schema={"time_s": pl.Float64, "flow": pl.UInt64, "_rate": pl.Float64})
    flows = fresh["flow"].unique().to_list()
    joined = series.join(fresh, on=["time_s", "flow"], how="left", maintain_order="left")
    rate = pl.when(pl.col("flow").is_in(flows)).then(pl.col("_rate")).otherwise(pl.col("goodput_mbps"))
    return joined.with_columns(goodput_mbps=rate).select(series.columns)


def _series(series: pl.DataFrame, samples: Sequence[Sample]) -> pl.DataFrame:
    rows = series_rows(samples, {})
    return pl.concat([series, pl.DataFrame(rows, schema=series.schema)]).sort("time_s", "flow")


def series_rows(samples: Sequence[Sample], before: dict[int, int]) -> list[dict[str, Any]]:
    """A row of the table ``flow_series`` for each sample.

    Args:
        samples: in the order of their times.
        before: what each flow had delivered at the samples before, in bytes; brought up to date.
    """
    rows = []
    for sample, rate in zip(samples, _rates(samples, before), strict=True):
        infos = [info for _, info in sample.infos]
        thresholds = [info.ssthresh_bytes for info in infos if info.ssthresh_bytes is not None]
        trips = [info.srtt_ms for info in infos if info.srtt_ms is not None]
        rows.append(
            {
                "time_s": sample.time_s,
                "flow": sample.flow,
                "goodput_mbps": rate,
                "cwnd_bytes": sum(info.cwnd_bytes for info in infos),
                "ssthresh_bytes": float(sum(thresholds)) if thresholds else None,
                "srtt_ms": min(trips, default=None),
                "rtt_ms": None,
                "in_flight_bytes": sum(info.in_flight_bytes for info in infos),
                "retransmissions": sum(info.retransmissions for info in infos),
            }
        )
    return rows


def _connections(table: pl.DataFrame, records: Sequence[FlowRecord]) -> pl.DataFrame:
    rows = [
        {
            "flow": record.plan.flow,
            "subflows": len(record.plan.ends),
            "subflows_established": 0 if record.fallen_back else len(record.joined),
            "acknowledged_bytes": sum(info.bytes_acked for info in record.infos.values()),
            **dict.fromkeys(_UNKNOWN_OF_CONNECTIONS),
        }
        for record in records
    ]
    return _replaced(table, ["flow"], rows)


def _subflows(table: pl.DataFrame, records: Sequence[FlowRecord], ended_s: float) -> pl.DataFrame:
    rows = []
    for record in records:
        active_s = record.active_s(ended_s)
        for number, info in record.infos.items():
            at_receiver = record.receiver.get(number)
            received = 0 if at_receiver is None else at_receiver.bytes_received
            rows.append(
                {
                    "flow": record.plan.flow,
                    "subflow": number,
                    "state": "established",
                    "delivered_bytes": received,
                    "throughput_mbps": _mbps(received, active_s),
                    "acknowledged_bytes": info.bytes_acked,
                    "segments_sent": info.data_segments_sent,
                    "retransmissions": info.retransmissions,
                    "timeouts": info.timeouts,
                    "rtt_min_ms": info.rtt_min_ms,
                    "rtt_mean_ms": info.srtt_ms,
                    **dict.fromkeys(_UNKNOWN_OF_SUBFLOWS),
                }
            )
    return _replaced(table, ["flow", "subflow"], rows)


def _subflow_series(
    series: pl.DataFrame | None, records: Sequence[FlowRecord], samples: Sequence[Sample]
) -> pl.DataFrame:
    multipath = {record.plan.flow for record in records}
    before: dict[tuple[int, int], int] = {}
    rows = []
    for sample in samples:
        if sample.flow not in multipath:
            continue
        for number, info in sample.infos:
            acked = info.bytes_acked - before.get((sample.flow, number), 0)
            rows.append(
                {
                    "time_s": sample.time_s,
                    "flow": sample.flow,
                    "subflow": number,
                    "throughput_mbps": _mbps(acked, sample.taken_s - sample.since_s),
                    "cwnd_bytes": info.cwnd_bytes,
                    "srtt_ms": info.srtt_ms,
                    "in_flight_bytes": info.in_flight_bytes,
                    "retransmissions": info.retransmissions,
                }
            )
            before[sample.flow, number] = info.bytes_acked
    schema = _SUBFLOW_SERIES if series is None else series.schema
    fresh = pl.DataFrame(rows, schema=schema)
    return (fresh if series is None else pl.concat([series, fresh])).sort("time_s", "flow", "subflow")


_SUBFLOW_SERIES = pl.Schema(
    {
        "time_s": pl.Float64(),
        "flow": pl.UInt64(),
        "subflow": pl.UInt64(),
        "throughput_mbps": pl.Float64(),
        "cwnd_bytes": pl.UInt64(),
        "srtt_ms": pl.Float64(),
        "in_flight_bytes": pl.UInt64(),
        "retransmissions": pl.UInt64(),
    }
)
