"""The event log of a flow, as a table and as JSON lines: ``run.log``."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from anabranch import Result, Scenario, Study
from anabranch.results import event_log
from anabranch.results.event_log import event_lines
from anabranch.runs.runner import _full_logs

LOSSY = """
title = "Losses"
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
loss = 7e-4
[[traffic]]
name = "web"
from = "left1"
to = "right1"
flows = 2
transport = "linux-cubic"
size = "2 MB"
[run]
duration = "6 s"
flow_series = false
link_series = false
"""
TWO_PATHS = """
[network]
topology = "parallel"
[network.parameters]
paths = [{ delay = "5 ms" }, { delay = "40 ms" }]
[network.links]
capacity = "10 Mbps"
[[traffic]]
name = "many"
from = "source"
to = "sink"
transport = "mptcp"
size = "5 MB"
[routing]
scheme = "disjoint"
load_balancing = "subflow-round-robin"
[[event]]
at = "1 s"
link = ["source", "path2"]
state = "down"
[run]
duration = "8 s"
log = ["many.0"]
"""
MULTIPATH_EVENTS = {
    "suspected",
    "answered",
    "reinjection",
    "data retransmission",
    "opportunistic retransmission",
    "blocked",
    "unblocked",
    "removed",
    "backup",
    "regular",
    "address announced",
}


def count(log: pl.DataFrame, flow: int, *events: str) -> int:
    return log.filter((pl.col("flow") == flow) & pl.col("event").is_in(events)).height


def trace(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header of a file of JSON lines, and its events."""
    header, *events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return header, events


def test_the_log_of_a_lossy_transfer_agrees_with_the_table_of_flows(tmp_path: Path) -> None:
    plain = Scenario.loads(LOSSY).run()
    result = Scenario.loads(LOSSY + 'log = "*"\n').run(out=tmp_path / "run")
    assert "log" not in plain.tables
    for name, table in plain.tables.items():
        assert table.equals(result.tables[name]), name
    assert set(result.tables) - set(plain.tables) == {"log"}
    log = Result.load(tmp_path / "run").log
    assert log.equals(result.log)
    assert log["flow"].unique().sort().to_list() == [0, 1]
    for row in result.flows.iter_rows(named=True):
        flow = row["flow"]
        assert count(log, flow, "fast recovery entered") == row["fast_recoveries"] > 0
        assert count(log, flow, "timeout") == row["timeouts"]
        assert count(log, flow, "tail loss probe") == row["tail_loss_probes"]
        assert count(log, flow, "undo") == row["undone_recoveries"]
        assert count(log, flow, "opened", "established", "closed") == 3
        rows_of_one = log.filter(pl.col("flow") == flow)
        # The FIN takes a number as well.
        assert rows_of_one["acked_bytes"].sum() == 2_000_001
        assert rows_of_one["time_s"].is_sorted()
        causes = rows_of_one.filter(pl.col("event") == "loss")["cause"].unique().to_list()
        assert "rack" in causes
        assert set(causes) <= {"rack", "timeout"}


def test_a_run_leaves_the_log_of_each_flow_as_json_lines(tmp_path: Path) -> None:
    result = Scenario.loads(LOSSY + 'log = ["web.1"]\n').run(out=tmp_path / "run")
    assert [file.name for file in (tmp_path / "run" / "logs").iterdir()] == ["1-web.1.jsonl"]
    header, events = trace(tmp_path / "run" / "logs" / "1-web.1.jsonl")
    assert header["trace"]["common_fields"]["group_id"] == header["title"] == "web.1"
    log = result.log
    assert len(events) == log.height > 500
    # draft-ietf-quic-qlog-main-schema: each event has a time, a name of category and type, and data.
    for event, row in zip(events, log.iter_rows(named=True), strict=True):
        assert event.keys() == {"time", "name", "data"}
        assert event["time"] == pytest.approx(row["time_s"] * 1e3, abs=1e-9)
        assert event["name"].count(":") == 1
        assert event["data"]
        assert None not in event["data"].values()
    metrics = [event["data"] for event in events if event["name"] == "recovery:metrics_updated"]
    acks = log.filter(pl.col("event") == "ack")
    for field, column, scale in [
        ("congestion_window", "cwnd_bytes", 1),
        ("ssthresh", "ssthresh_bytes", 1),
        ("bytes_in_flight", "in_flight_bytes", 1),
        ("smoothed_rtt", "srtt_ms", 1),
        ("rtt_variance", "rttvar_ms", 1),
        ("min_rtt", "rtt_min_ms", 1),
        ("latest_rtt", "rtt_ms", 1),
        ("rto", "rto_ms", 1),
        ("delivery_rate", "delivery_rate_mbps", 1e6),
    ]:
        entries = [data.get(field, np.nan) for data in metrics]
        wanted = acks[column].cast(pl.Float64).fill_null(np.nan).to_numpy() * scale
        assert np.isfinite(wanted).any()
        np.testing.assert_allclose(entries, wanted, rtol=1e-9, atol=1e-9)
    losses = [event["data"] for event in events if event["name"] == "recovery:packet_lost"]
    assert losses
    assert all(loss["trigger"] == "time_threshold" and loss["rule"] == "rack" for loss in losses)
    states = [event["data"] for event in events if event["name"] == "recovery:congestion_state_updated"]
    # Slow start, congestion avoidance and so on: what is left is what was entered before.
    assert all(before["new"] == after["old"] for before, after in pairwise(states))


def test_the_log_of_a_multipath_flow_names_its_subflows(tmp_path: Path) -> None:
    result = Scenario.loads(TWO_PATHS).run(out=tmp_path / "run")
    log, connection = result.log, result.connections.row(0, named=True)
    assert sorted(log["subflow"].drop_nulls().unique().to_list()) == [0.0, 1.0]
    # Only what concerns the connection as a whole has no subflow.
    assert set(log.filter(pl.col("subflow").is_null())["event"]) <= {"blocked", "unblocked"}
    assert count(log, 0, "suspected") == connection["suspicions"] > 0
    reinjected = log.filter(pl.col("event") == "reinjection")
    assert reinjected["bytes"].sum() == connection["reinjected_bytes"] > 0
    assert (reinjected["subflow"] != reinjected["from_subflow"]).all()
    for row in result.subflows.iter_rows(named=True):
        rows_of_one = log.filter(pl.col("subflow") == row["subflow"])
        assert count(rows_of_one, 0, "timeout") == row["timeouts"]
        assert count(rows_of_one, 0, "fast recovery entered") == row["fast_recoveries"]
    header, events = trace(tmp_path / "run" / "logs" / "0-many.0.jsonl")
    assert header["trace"]["common_fields"]["protocol_type"] == ["TCP", "MPTCP"]
    (first, *_) = [event for event in events if event["name"] == "anabranch:data_reinjected"]
    assert {first["path_id"], first["data"]["from_path_id"]} == {"0", "1"}


def test_every_event_has_a_name_in_json() -> None:
    names = set(event_log._EVENTS)
    assert len(names) == 28
    assert names >= MULTIPATH_EVENTS
    row = Scenario.loads(LOSSY + 'log = ["web.0"]\n').run().log.head(1)
    row = row.with_columns(pl.col(pl.Float64).fill_null(1.0), pl.col(pl.String).fill_null("some"))
    for name in names:
        (line,) = event_lines(row.with_columns(pl.lit(name).alias("event")))
        assert json.loads(line)["name"] == event_log._EVENTS[name][0]


def test_a_full_log_is_warned_of() -> None:
    log = pl.DataFrame({"time_s": [0.5, 1.5, 2.5], "flow": [1, 1, 0], "event": ["ack", "log full", "ack"]})
    flows = pl.DataFrame({"flow": [0, 1], "name": ["a.0", "b.0"]})
    (warning,) = _full_logs(Result({"log": log, "flows": flows}, {}))
    assert warning.startswith("run.log: the log of b.0 is full at 1.5 s, and what came after is not in it")
    assert _full_logs(Result({"log": log.head(1), "flows": flows}, {})) == []
    assert _full_logs(Result({"flows": flows}, {})) == []


def test_a_study_measures_what_a_log_holds(tmp_path: Path) -> None:
    (tmp_path / "lossy.toml").write_text(LOSSY + 'log = "*"\n', encoding="utf-8")
    (tmp_path / "study.toml").write_text(
        'scenario = "lossy.toml"\nreplications = 1\n'
        '[[metric]]\nname = "reductions"\ntable = "log"\ncolumn = "cause"\nstatistic = "count"\n'
        'where = { event = "reduction", cause = ["loss", "ecn"] }\n',
        encoding="utf-8",
    )
    study = Study.load(tmp_path / "study.toml")
    measured = study.run(jobs=1, out=tmp_path / "out").runs["reductions"].to_list()
    log = Scenario.loads(LOSSY + 'log = "*"\n').run().log
    assert measured == [
        log.filter((pl.col("event") == "reduction") & pl.col("cause").is_in(["loss", "ecn"])).height
    ]
    assert measured[0] > 0


def test_flows_are_recorded_whatever_plans_their_routes() -> None:
    """A robust scheme plans in a network without traffic, where no flow could be recorded."""
    text = """
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
[routing]
scheme = { algorithm = "robust", k = 2 }
demand = { pair = "100 kbps" }
[[traffic]]
name = "web"
from = "Seattle"
to = "Atlanta"
size = "20 kB"
[run]
duration = "1 s"
log = "*"
sequences = "*"
"""
    tables = Scenario.loads(text).run().tables
    assert not tables["log"].is_empty()
    assert not tables["sequence"].is_empty()


def test_an_event_without_any_data_has_an_empty_object() -> None:
    row = Scenario.loads(LOSSY + 'log = ["web.0"]\n').run().log.head(1)
    kept = ("flow", "time_s", "event")
    bare = row.with_columns(
        pl.lit(None).cast(row.schema[name]).alias(name) for name in row.columns if name not in kept
    )
    for name in event_log._EVENTS:
        (line,) = event_lines(bare.with_columns(pl.lit(name).alias("event")))
        assert json.loads(line)["name"] == event_log._EVENTS[name][0]
        assert isinstance(json.loads(line)["data"], dict)
