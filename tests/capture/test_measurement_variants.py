"""Files of measurements as shells, loggers and other programs write them: the numbers of the plain file."""

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import CaptureError
from anabranch.runs.capture import CaptureResult, analyze

DATA = Path(__file__).parent / "measurements"
IPERF3 = (DATA / "iperf3_tcp.json").read_text()


def of(folder: Path, content: str | bytes) -> CaptureResult:
    (folder / "x").write_bytes(content if isinstance(content, bytes) else content.encode())
    return analyze([folder / "x"])


AROUND = {
    "messages before": "warning: no IPv6 here - trying IPv4\n{}",
    "a line behind": "{}\niperf Done.\n",
}


@pytest.mark.parametrize("form", AROUND)
def test_text_around_json_is_left_out_and_told(tmp_path: Path, form: str) -> None:
    result = of(tmp_path, AROUND[form].replace("{}", IPERF3))
    assert result.connections.equals(analyze([DATA / "iperf3_tcp.json"]).connections)
    assert any("text around the JSON is left out" in warning for warning in result.summary["warnings"])


@pytest.mark.parametrize("coding", ["utf-16", "utf-8-sig"])
def test_files_of_other_shells(tmp_path: Path, coding: str) -> None:
    """PowerShell redirects into UTF-16, or marks the order of bytes."""
    result = of(tmp_path, IPERF3.replace("\n", "\r\n").encode(coding))
    assert result.connections.equals(analyze([DATA / "iperf3_tcp.json"]).connections)
    log = of(tmp_path, (DATA / "ss_two.txt").read_text().encode(coding))
    assert log.subflows.equals(analyze([DATA / "ss_two.txt"]).subflows)


@pytest.mark.parametrize(
    ("content", "said"),
    [(f"{IPERF3}\n{IPERF3}", "several JSON documents"), (f"[{IPERF3}]", "a list in JSON")],
)
def test_several_documents_are_told_how_to_part_them(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(CaptureError, match=f"{said}.*jq"):
        of(tmp_path, content)


INFO = "\t cubic wscale:7,7 rto:204 rtt:20/2 mss:1448 cwnd:10 bytes_acked:{acked} segs_out:100\n"
STAMPS = {
    "seconds": "{s}", "milliseconds": "{s}000", "microseconds": "{s}000000", "nanoseconds": "{s}000000000",
    "rules": "=== {s} ===", "dashes": "---- {s}", "brackets": "[{s}.0]", "a comment": "# {s}",
}  # fmt: skip


def log(stamp: str, peer: str = "10.0.0.2:5201") -> str:
    return "".join(
        stamp.replace("{s}", str(1_700_000_000 + second)) + f"\nESTAB 0 0 10.0.0.1:40000 {peer}\n"
        + INFO.format(acked=1_250_000 * second)
        for second in range(1, 5)
    )  # fmt: skip


@pytest.mark.parametrize("stamp", STAMPS)
def test_times_between_blocks_of_ss(tmp_path: Path, stamp: str) -> None:
    result = of(tmp_path, log(STAMPS[stamp]))
    assert result.summary["warnings"] == []
    assert result.connections["throughput_mbps"].to_list() == [pytest.approx(10.0)]
    assert result.summary["began_unix_s"] == 1_700_000_001


def test_ss_with_names_in_place_of_numbers(tmp_path: Path) -> None:
    """``ss -ti`` without ``-n`` resolves ports, and ``-r`` hosts."""
    result = of(tmp_path, log("{s}", "server.example.com:http-alt"))
    row = result.connections.row(0, named=True)
    assert (row["client"], row["server"], row["data_from"]) == ("10.0.0.1", "server.example.com", "client")
    assert row["throughput_mbps"] == pytest.approx(10.0)


def mvfst(events: list[list[Any]]) -> str:
    trace = {
        "configuration": {"time_units": "us"}, "common_fields": {"reference_time": "0"},
        "event_fields": ["relative_time", "category", "event", "data"], "events": events,
        "vantage_point": {"type": "client"},
    }  # fmt: skip
    return json.dumps({"qlog_version": "draft-00", "traces": [trace]})


def test_qlog_of_mvfst_has_windows_and_losses_and_names_what_is_not_read(tmp_path: Path) -> None:
    events: list[list[Any]] = [
        ["103453984895", "transport", "packet_sent", {"header": {"packet_size": 1200}}],
        ["103454004895", "recovery", "metric_update", {"latest_rtt": 21000, "smoothed_rtt": 20500}],
        ["103454014895", "metric_update", "congestion_metric_update", {"current_cwnd": 12000}],
        ["103454024895", "loss", "packets_lost", {"lost_packets": 3, "lost_bytes": 3600}],
        ["103454034895", "transport", "pacing_observed", {}],
    ]
    result = of(tmp_path, mvfst(events))
    row = result.subflows.row(0, named=True)
    assert (row["lost"], row["srtt_mean_ms"]) == (3, 20.5)
    assert result.tables["subflow_series"]["cwnd_bytes"].to_list() == [12000]
    assert any("not read: pacing_observed (1)" in note for note in result.summary["notes"])
