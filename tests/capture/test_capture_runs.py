"""Captures of the simulator against the tables of the same run, which know the answer."""

import re
from pathlib import Path

import polars as pl
import pytest

from anabranch import Result, Scenario
from anabranch.runs.capture import CaptureResult, analyze

ENDS = ("left1", "right1", "left2", "right2")


def captures(folder: Path, *names: str) -> list[Path]:
    return [folder / f"{name}.pcapng" for name in names]


@pytest.mark.parametrize("names", [("left1", "left2"), ("right1", "right2"), ENDS, ENDS[::-1]])
def test_bytes_and_retransmissions_are_those_of_the_run(
    run_with_captures: tuple[Result, Path], names: tuple[str, ...]
) -> None:
    run, folder = run_with_captures
    analysis = analyze(captures(folder, *names))
    flows = run.flows
    assert flows["retransmissions"].min() > 5
    subflows = analysis.subflows.sort("client")
    assert subflows.height == 2
    assert subflows["acked_bytes"].to_list() == flows["delivered_bytes"].to_list()
    # At the sender every transmission is seen. At the receiver those that arrived are.
    if "left1" in names:
        assert subflows["retransmissions"].to_list() == flows["retransmissions"].to_list()
        sent = (flows["segments_sent"]).to_list()
        # The SYN and the FIN are segments without data; the last data segment may carry the FIN.
        assert all(0 <= s - d <= 2 for s, d in zip(sent, subflows["data_packets"], strict=True))
    else:
        assert subflows["data_packets"].to_list() == flows["packets_received"].to_list()
    # Nothing is reordered on one path, however much is lost.
    assert subflows["reordered_packets"].to_list() == flows["reordered_packets"].to_list() == [0, 0]


def test_throughput_is_the_goodput_of_the_run(run_with_captures: tuple[Result, Path]) -> None:
    run, folder = run_with_captures
    analysis = analyze(captures(folder, "right1", "right2"), interval="100 ms")
    # At the receiver, from the first packet to the last ACK: what the run calls completion, less the one-way
    # delay of the SYN, and plus a delayed ACK at most (40 ms).
    for flow, row in zip(run.flows.to_dicts(), analysis.subflows.sort("client").to_dicts(), strict=True):
        length_s = row["fin_s"] - row["first_s"]
        assert length_s == pytest.approx(flow["completion_s"] - 0.015, abs=0.041)
    # The series adds up to everything.
    series = analysis.capture_series
    widths = series["time_s"].diff().fill_null(series["time_s"][0])
    total = (series["throughput_mbps"] * widths).sum() * 1e6 / 8
    assert total == pytest.approx(4_000_000, rel=1e-9)
    by_connection = analysis.connection_series.group_by("time_s").agg(pl.col("throughput_mbps").sum())
    assert by_connection["throughput_mbps"].max() == pytest.approx(series["throughput_mbps"].max())


def test_the_window_is_the_one_of_the_handshakes_and_fins(run_with_captures: tuple[Result, Path]) -> None:
    run, folder = run_with_captures
    analysis = analyze(captures(folder, "left1", "left2"), window="1 s")
    first_fin = (run.flows["start_s"] + run.flows["fin_s"]).min()
    connected = (run.flows["start_s"] + run.flows["handshake_s"]).max()
    # Both begin at time 0 of the run, with a SYN; the handshake's ACK leaves as the SYN/ACK arrives.
    assert analysis.summary["t2_s"] == pytest.approx(first_fin, abs=1e-6)
    assert analysis.summary["t1_s"] == pytest.approx(connected, abs=1e-6)
    assert analysis.summary["window_end_s"] - analysis.summary["window_start_s"] == pytest.approx(1.0)
    # Two flows fill the bottleneck: 10 Mbps, of which 1448 of 1500 bytes are payload.
    assert analysis.summary["throughput_mbps"] == pytest.approx(10 * 1448 / 1500, rel=0.03)
    shares = analysis.connections["window_throughput_mbps"]
    jain = shares.sum() ** 2 / (2 * (shares**2).sum())
    assert analysis.summary["jain_index"] == pytest.approx(jain)


LONG_QUEUE = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 1
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "5 ms"
queue = "2000 packets"
[[traffic]]
from = "left1"
to = "right1"
size = "2 MB"
[[capture]]
file = "left1.pcapng"
host = "left1"
[run]
duration = "20 s"
"""


@pytest.mark.parametrize(("transport", "between_ms"), [("newreno", 0.001), ("cubic", 1.2)])
def test_the_mean_round_trip_time_is_that_of_the_run(
    transport: str, between_ms: float, tmp_path: Path
) -> None:
    run = Scenario.loads(LONG_QUEUE).replace({"traffic[0].transport": transport}).run(out=tmp_path / "run")
    (flow,) = run.flows.to_dicts()
    (row,) = analyze([tmp_path / "run" / "left1.pcapng"]).subflows.to_dicts()
    assert (flow["retransmissions"], row["rtt_samples"]) == (0, 691)
    # The run's mean has the handshake, too. Its other samples are of the older of the two segments of an ACK:
    # with New Reno they leave at once, with CUBIC in the mean at most a transmission of 1.2 ms apart.
    mean_ms = (row["rtt_mean_ms"] * 691 + row["handshake_rtt_ms"]) / 692
    assert -1e-3 < flow["rtt_mean_ms"] - mean_ms < between_ms


def test_percentiles_series_and_distribution_agree(run_with_captures: tuple[Result, Path]) -> None:
    run, folder = run_with_captures
    analysis = analyze(captures(folder, "left1", "left2"), interval="100 ms")
    for flow, row in zip(run.flows.to_dicts(), analysis.subflows.sort("client").to_dicts(), strict=True):
        # With losses the run has further samples of SACK blocks, all of them with a full queue.
        assert 0.9 * flow["rtt_mean_ms"] < row["rtt_mean_ms"] < flow["rtt_mean_ms"]
        assert row["rtt_min_ms"] >= 30
        percentiles = [row[f"rtt_{name}_ms"] for name in ("min", "p50", "p90", "p95", "p99", "max")]
        assert percentiles == sorted(percentiles)
        series = analysis.subflow_series.filter(subflow=row["subflow"])["rtt_ms"].drop_nulls()
        assert row["rtt_min_ms"] <= series.min() <= row["rtt_mean_ms"] <= series.max() <= row["rtt_max_ms"]
        steps = analysis.rtt_distribution.filter(subflow=row["subflow"], data_from="client")
        assert steps["samples"].sum() == row["rtt_samples"]
        assert steps["rtt_ms"].is_sorted()
        assert steps["rtt_ms"].max() == row["rtt_max_ms"]


def test_away_from_the_sender_round_trip_times_are_of_the_rest(
    run_with_captures: tuple[Result, Path],
) -> None:
    _, folder = run_with_captures
    analysis = analyze(captures(folder, "right1"))
    assert analysis.subflows["rtt_p50_ms"][0] < analysis.subflows["handshake_rtt_ms"][0] / 2
    assert any("captured away from the sender of the data" in text for text in analysis.summary["warnings"])


REORDERING = """
[network]
topology = "parallel"
[network.parameters]
paths = [{ capacity = "10 Mbps", delay = "5 ms" }, { capacity = "10 Mbps", delay = "9 ms" }]
[network.links]
queue = "5000 packets"
[routing]
scheme = "disjoint"
load_balancing = "packet"
[[traffic]]
from = "source"
to = "sink"
transport = "tcp-pr"
size = "3 MB"
[[capture]]
file = "sink.pcapng"
host = "sink"
[run]
duration = "10 s"
"""


def test_reordering_is_that_of_the_run(tmp_path: Path) -> None:
    scenario = Scenario.loads(REORDERING)
    run = scenario.run(out=tmp_path / "run")
    analysis: CaptureResult = analyze([tmp_path / "run" / "sink.pcapng"])
    (flow,), (row,) = run.flows.to_dicts(), analysis.subflows.to_dicts()
    # Nothing is lost or sent twice, so that bytes are in the order of transmissions, which the run numbers.
    assert (flow["retransmissions"], row["retransmissions"]) == (0, 0)
    assert flow["reordered_packets"] > 50
    for column in ("reordered_packets", "reordering_extent_max"):
        assert row[column] == flow[column]
    for column in ("reordering_ratio", "reordering_extent_mean"):
        assert row[column] == pytest.approx(flow[column])


def test_a_saved_analysis_loads_again(run_with_captures: tuple[Result, Path], tmp_path: Path) -> None:
    _, folder = run_with_captures
    analysis = analyze(captures(folder, "left1"))
    analysis.save(tmp_path / "tables")
    again = CaptureResult.load(tmp_path / "tables")
    assert set(again.tables) == set(analysis.tables)
    assert again.subflows.equals(analysis.subflows)
    assert again.summary["t2_s"] == analysis.summary["t2_s"]


def test_threads_and_order_of_files_change_nothing(run_with_captures: tuple[Result, Path]) -> None:
    _, folder = run_with_captures
    one = analyze(captures(folder, *ENDS), jobs=1)
    four = analyze(captures(folder, *ENDS), jobs=4)
    for name, table in one.tables.items():
        assert table.equals(four.tables[name]), name


def test_every_column_is_explained(run_with_captures: tuple[Result, Path]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "capture.md").read_text(encoding="utf-8")
    explained = {}
    for name, section in re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
        cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
        explained[name] = {column for cell in cells for column in re.findall(r"`(\w+)`", cell)}
    _, folder = run_with_captures
    tables = analyze(captures(folder, "left1")).tables
    assert len(tables) == 7
    assert explained == {name: set(table.columns) for name, table in tables.items()}
