"""The event log of a flow as JSON lines in the style of qlog (draft-ietf-quic-qlog-main-schema).

A file is the trace of one flow: a header, then an event on each line, an object with ``time`` (ms from the
start of the run), ``name`` and ``data``. Names and fields are those of draft-ietf-quic-qlog-quic-events
where it has them; what it lacks has the category ``anabranch``. What an event does not have is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

_Fields = Mapping[str, pl.Expr]


def _whole(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Int64)


def _ms(column: str) -> pl.Expr:
    # The engine counts picoseconds: nine decimals of a millisecond, and no more, mean something.
    return pl.col(column).round(9)


def _word(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all("[ -]", "_")


def _bps(column: str) -> pl.Expr:
    return (pl.col(column) * 1e6).round().cast(pl.Int64)


_METRICS: _Fields = {
    "congestion_window": _whole("cwnd_bytes"),
    "bytes_in_flight": _whole("in_flight_bytes"),
    "ssthresh": _whole("ssthresh_bytes"),
    "smoothed_rtt": _ms("srtt_ms"),
    "rtt_variance": _ms("rttvar_ms"),
    "min_rtt": _ms("rtt_min_ms"),
    "latest_rtt": _ms("rtt_ms"),
    "pacing_rate": _bps("pacing_rate_mbps"),
    # Ours from here on.
    "rto": _ms("rto_ms"),
    "acked": _whole("acked_bytes"),
    "delivered": _whole("delivered_bytes"),
    "delivery_rate": _bps("delivery_rate_mbps"),
    "delivery_rate_limit": pl.col("delivery_rate_limit"),
}
_TRIGGER = {
    "sack threshold": "reordering_threshold",
    "duplicate acks": "reordering_threshold",
    "partial ack": "reordering_threshold",
    "rack": "time_threshold",
    "fastrto": "time_threshold",
    "tcp-pr": "time_threshold",
    "timeout": "pto_expired",
}
"""What the draft calls the rules by which a segment is judged lost."""
_LOST: _Fields = {
    "trigger": pl.col("cause").replace(_TRIGGER),
    "rule": _word("cause"),
    "offset": _whole("sequence_bytes"),
    "length": _whole("bytes"),
}
_WINDOW: _Fields = {
    "trigger": _word("cause"),
    "congestion_window_before": _whole("window_before_bytes"),
    "congestion_window": _whole("window_after_bytes"),
    "ssthresh": _whole("ssthresh_bytes"),
    "bytes_in_flight": _whole("in_flight_bytes"),
}
_CONTEXT: _Fields = {
    "trigger": _word("cause"),
    "congestion_window": _whole("cwnd_bytes"),
    "bytes_in_flight": _whole("in_flight_bytes"),
    "length": _whole("bytes"),
    "from_path_id": _whole("from_subflow").cast(pl.String),
}


def _recovery(what: str, kind: str) -> tuple[str, _Fields]:
    return f"anabranch:recovery_{what}", {"kind": pl.lit(kind), **_CONTEXT}


def _timer(kind: str, **more: pl.Expr) -> tuple[str, _Fields]:
    fields = {"event_type": pl.lit("expired"), "timer_type": pl.lit(kind), **more, "rto": _ms("rto_ms")}
    return "recovery:loss_timer_updated", fields


_EVENTS: dict[str, tuple[str, _Fields]] = {
    "opened": ("connectivity:connection_started", {"protocol": pl.lit("TCP")}),
    "established": ("connectivity:connection_state_updated", {"new": pl.lit("established")}),
    "closed": ("connectivity:connection_closed", {"trigger": pl.lit("clean")}),
    "given up": ("connectivity:connection_closed", {"trigger": pl.lit("unspecified")}),
    "ack": ("recovery:metrics_updated", _METRICS),
    "loss": ("recovery:packet_lost", _LOST),
    # The repair of losses and the controller's phase are two states here, of which the draft makes one.
    "fast recovery entered": _recovery("entered", "fast"),
    "loss recovery entered": _recovery("entered", "loss"),
    "fast recovery left": _recovery("left", "fast"),
    "loss recovery left": _recovery("left", "loss"),
    "phase": ("recovery:congestion_state_updated", {"old": _word("phase_before"), "new": _word("phase")}),
    "timeout": _timer("rto", trigger=_word("cause"), backoff=_whole("backoff")),
    # The timer of a tail loss probe is the PTO of RFC 8985, as in QUIC.
    "tail loss probe": _timer("pto"),
    "reduction": ("anabranch:window_reduced", _WINDOW),
    "undo": ("anabranch:reduction_undone", _WINDOW),
    "idle restart": ("anabranch:restarted_after_idle", _WINDOW),
    "suspected": ("anabranch:subflow_suspected", _CONTEXT),
    "answered": ("anabranch:subflow_answered", _CONTEXT),
    "removed": ("anabranch:subflow_removed", _CONTEXT),
    "backup": ("anabranch:subflow_backup", _CONTEXT),
    "regular": ("anabranch:subflow_regular", _CONTEXT),
    "address announced": ("anabranch:address_announced", _CONTEXT),
    "reinjection": ("anabranch:data_reinjected", _CONTEXT),
    "data retransmission": ("anabranch:data_retransmitted", _CONTEXT),
    "opportunistic retransmission": ("anabranch:data_retransmitted_opportunistically", _CONTEXT),
    "blocked": ("anabranch:data_blocked", _CONTEXT),
    "unblocked": ("anabranch:data_unblocked", _CONTEXT),
    "log full": ("anabranch:log_full", _CONTEXT),
}
"""Each event of the table ``log``: its name, and the fields of its ``data``."""


_MOST_LETTERS = 200
"""Letters of a flow's name in that of a file."""


def flow_file_stem(flow: int, name: str) -> str:
    """Name of a file about a flow, without its ending.

    The number tells flows apart whose names have the same letters once a file system accepts them: so many of
    them as leave room for an ending in the 255 bytes that names have at most.
    """
    return f"{flow}-{re.sub(r'[^A-Za-z0-9_.]+', '-', name)[:_MOST_LETTERS]}"


def save_log(log: pl.DataFrame, names: Mapping[int, str], folder: Path) -> list[Path]:
    """Writes the event log of each flow as JSON lines.

    Args:
        log: the table ``log`` of a run.
        names: the flows' names, by number.
        folder: where; made if there is anything to write. Files are named by number and name of the flow.

    Returns:
        The files, in the order of the flows.

    Raises:
        OSError: if a file cannot be written.
    """
    files: list[Path] = []
    for events in log.partition_by("flow", maintain_order=True):
        folder.mkdir(exist_ok=True)
        flow = int(events["flow"][0])
        files.append(folder / f"{flow_file_stem(flow, names[flow])}.jsonl")
        header = json.dumps(_header(names[flow], events), ensure_ascii=False)
        with files[-1].open("w", encoding="utf-8", newline="\n") as file:
            file.write(header + "\n")
            file.writelines(line + "\n" for line in event_lines(events))
    return files


def _header(name: str, log: pl.DataFrame) -> dict[str, object]:
    """What the first line says of the trace."""
    several = log["subflow"].null_count() < log.height
    return {
        "qlog_version": "0.3",
        "qlog_format": "NDJSON",
        "title": name,
        "trace": {
            "vantage_point": {"name": "anabranch", "type": "client"},
            "common_fields": {
                "time_format": "relative",
                "reference_time": 0,
                "protocol_type": ["TCP", "MPTCP"] if several else ["TCP"],
                "group_id": name,
            },
        },
    }


def event_lines(log: pl.DataFrame) -> Sequence[str]:
    """The events of a log as JSON, in their order.

    Args:
        log: rows of the table ``log``.
    """
    parts = [pl.DataFrame(schema={"row": pl.UInt32, "text": pl.String})]
    for events in log.with_row_index("row").partition_by("event"):
        name, fields = _EVENTS[str(events["event"][0])]
        data = events.select(
            "row",
            (pl.col("time_s") * 1e3).round(9).alias("time"),
            _whole("subflow").cast(pl.String).alias("path_id"),
            **{f"data.{key}": expression for key, expression in fields.items()},
        )
        # Rows that lack the same fields are written at once.
        lacks = [pl.col(column).is_null().cast(pl.UInt8) for column in data.columns]
        marked = data.with_columns(pl.concat_str(lacks).alias("lacks"))
        parts.extend(_texts(group, name) for group in marked.partition_by("lacks", include_key=False))
    return pl.concat(parts).sort("row")["text"].to_list()


def _texts(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Rows that have the same fields, as JSON."""
    there = [column for column in rows.columns if rows[column].null_count() == 0]
    data = [pl.col(column).alias(column.removeprefix("data.")) for column in there if "." in column]
    event = [pl.col(column) for column in ("time", "path_id") if column in there]
    event.append(pl.lit(name).alias("name"))
    if data:
        event.append(pl.struct(data).alias("data"))
    text = pl.struct(event).struct.json_encode()
    if not data:  # a struct has at least one field
        text = text.str.strip_suffix("}") + ',"data":{}}'
    return rows.select("row", text.alias("text"))
