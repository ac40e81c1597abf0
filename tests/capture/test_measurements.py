"""Measurements of other tools: what each file says, in the tables of captures; what it does not say is null.

The files of iperf3 were made by iperf 3.12 on the loopback of a host at 20 Mbps, UDP at 5 Mbps; all others
are by hand, so that each number below follows from their text.
"""

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch.errors import CaptureError
from anabranch.runs.capture import CaptureResult, analyze
from anabranch.runs.measurements import model
from anabranch.runs.measurements.reading import MeasurementFile
from anabranch.runs.measurements.registry import READERS, reader_of
from anabranch.runs.measurements.stamps import stamped

DATA = Path(__file__).parent / "measurements"
UNKNOWN = {
    "iperf3_tcp.json": ("rtt_mean_ms", "reordered_packets", "missing_bytes", "data_packets", "fin_s"),
    "ss_two.txt": ("rtt_mean_ms", "reordered_packets", "missing_bytes", "rtt_p99_ms", "established_s"),
    "tcp_1up.flent": ("acked_bytes", "retransmissions", "reordered_packets", "data_packets"),
    "quic_03.qlog": ("acked_bytes", "retransmissions", "reordered_packets", "missing_bytes"),
    "dish.json": ("acked_bytes", "retransmissions", "data_packets", "lost", "srtt_mean_ms"),
}
"""Of each kind of file: columns that its tool does not measure."""


def read(name: str, **options: Any) -> CaptureResult:
    return analyze([DATA / name], **options)


def rows(table: pl.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return list(table.select(names).iter_rows())


@pytest.mark.parametrize("file", sorted(DATA.iterdir()), ids=lambda file: file.name)
def test_every_file_is_recognised_and_has_the_tables_of_captures(file: Path) -> None:
    reader = reader_of(MeasurementFile(file))
    assert reader is not None
    assert (
        file.name.startswith(reader.name)
        or file.suffix in (".flent", ".qlog", ".sqlog")
        or "dish" in file.name
    )
    result = read(file.name)
    assert {"connections", "subflows", "subflow_series", "connection_series", "capture_series",
            "rtt_distribution"} <= result.tables.keys()  # fmt: skip
    assert result.connections.height > 0
    assert result.summary["measured_by"]
    named = read(file.name, form=reader.name)
    assert named.subflows.equals(result.subflows)


def test_every_reader_has_a_file() -> None:
    expected = (reader_of(MeasurementFile(file)) for file in DATA.iterdir())
    assert {reader.name for reader in expected if reader} == set(READERS)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_a_tool_does_not_measure_is_null(name: str) -> None:
    connections = read(name).connections
    for column in UNKNOWN[name]:
        assert connections[column].null_count() == connections.height, column


def test_iperf3_says_what_its_own_end_says() -> None:
    document = json.loads((DATA / "iperf3_tcp.json").read_text())
    result = read("iperf3_tcp.json")
    for row, stream in zip(result.subflows.iter_rows(named=True), document["end"]["streams"], strict=True):
        assert row["throughput_mbps"] == pytest.approx(stream["receiver"]["bits_per_second"] / 1e6)
        assert row["acked_bytes"] == stream["receiver"]["bytes"]
        assert row["retransmissions"] == stream["sender"]["retransmits"]
        assert row["srtt_max_ms"] == pytest.approx(stream["sender"]["max_rtt"] / 1000)
        # Its mean is a whole number of microseconds.
        assert row["srtt_mean_ms"] == pytest.approx(stream["sender"]["mean_rtt"] / 1000, abs=1e-3)
    received = document["end"]["sum_received"]["bits_per_second"] / 1e6
    assert result.summary["throughput_mbps"] == pytest.approx(received, rel=1e-4)
    assert result.summary["began_unix_s"] == document["start"]["timestamp"]["timesecs"]
    series = result.subflow_series.filter(subflow=1)
    sentences = [interval["streams"][1] for interval in document["intervals"]]
    assert series["cwnd_bytes"].to_list() == [each["snd_cwnd"] for each in sentences]
    assert series["throughput_mbps"].to_list() == pytest.approx(
        [each["bits_per_second"] / 1e6 for each in sentences]
    )
    assert result.subflows.equals(read("iperf3_stream.json").subflows)


def test_iperf3_of_every_direction_and_of_udp() -> None:
    assert rows(read("iperf3_rev.json").subflows, "data_from", "retransmissions", "srtt_mean_ms") == [
        ("server", 0, None)
    ]
    bidir = read("iperf3_bidir.json")
    assert rows(bidir.connections, "data_from", "srtt_min_ms") == [("client", 0.061), ("server", None)]
    for name, data_from in (("udp", "client"), ("udpr", "server")):
        result = read(f"iperf3_{name}.json")
        assert rows(result.subflows, "tie", "data_from", "data_packets", "lost", "reordered_packets") == [
            ("udp", data_from, 39, 0, 0)
        ]
        assert result.subflows["retransmissions"][0] is None
        assert any("UDP has no retransmissions" in note for note in result.summary["notes"])
    # A second was omitted: 2 s of 3 are left, and the total is of them.
    omitted = read("iperf3_omit.json")
    assert omitted.summary["throughput_mbps"] == pytest.approx(19.830563320770193)
    assert omitted.subflow_series.height == 2
    assert any("omitted ones (-O)" in warning for warning in omitted.summary["warnings"])


def test_ss_becomes_differences_of_its_counters() -> None:
    result = read("ss_two.txt")
    first, second = (result.subflow_series.filter(subflow=number) for number in (0, 1))
    # 1.25 MB in 1 s, and 2.5 MB in 2 s: 10 Mbps. The second connection came after the first call, 0.5 MB.
    assert rows(first, "time_s", "throughput_mbps", "retransmissions", "srtt_ms", "cwnd_bytes") == [
        (1.0, 10.0, 3.0, 40.0, 30 * 1448.0), (3.0, 10.0, 0.0, 44.0, 25 * 1448.0),
    ]  # fmt: skip
    assert rows(second, "time_s", "throughput_mbps", "delivery_rate_mbps") == [(1.0, 4.0, 5.1)]
    sentences = (
        "acked_bytes", "retransmissions", "retransmitted_bytes", "data_packets", "rtt_min_ms", "cwnd_packets",
        "pacing_rate_mbps", "delivery_rate_mbps", "reordering_packets", "reordering_events",
        "congestion_control", "busy_s", "rwnd_limited_s", "bbr_bandwidth_mbps", "bbr_rtt_min_ms",
    )  # fmt: skip
    assert rows(result.subflows, *sentences) == [
        (4_750_001, 5, 7240, 3390, 30.1, 25, 7.9, 10.0, 5, 3, "cubic", 4.0, None, None, None),
        # ss prints neither reord_seen nor bytes_retrans where they are 0; reordering where it is the usual 3.
        (500_000, 0, 0, 352, 49.5, 10, 5.2, 5.1, None, 0, "bbr", 0.4, 0.1, 5.1, 49.5),
    ]  # fmt: skip
    assert rows(result.connections, "client", "server_port", "data_from", "throughput_mbps") == [
        ("192.0.2.1", 5201, "client", 10.0), ("192.0.2.1", 5201, "client", 4.0),
    ]  # fmt: skip
    assert result.summary["began_unix_s"] == 1_700_000_000
    assert result.summary["throughput_mbps"] == pytest.approx((3.75e6 + 0.5e6) * 8e-6 / 3)


def test_ss_at_the_receiver_ties_subflows_by_their_token() -> None:
    """2 MB and 0.5 MB in 2 s; what the receiver knows of its own sending is not of the data."""
    result = read("ss_mptcp_receiver.txt")
    assert rows(result.connections, "kind", "subflows", "client", "data_from", "throughput_mbps") == [
        ("mptcp", 2, "2001:db8::1", "client", 10.0)
    ]
    assert rows(result.subflows, "throughput_mbps", "acked_bytes", "reverse_rtt_min_ms", "cwnd_bytes") == [
        (8.0, 3_000_000, 19.5, None), (2.0, 700_000, 24.5, None),
    ]  # fmt: skip
    assert result.subflows["retransmissions"].null_count() == 2
    # Without a year there is no time of the day.
    assert result.summary["began_unix_s"] is None


def test_ss_once_has_states_and_no_throughput(tmp_path: Path) -> None:
    text = (DATA / "ss_two.txt").read_text().splitlines()[1:4]
    (tmp_path / "once").write_text("\n".join(text))
    result = analyze([tmp_path / "once"])
    assert rows(result.subflows, "acked_bytes", "cwnd_packets", "throughput_mbps") == [(1_000_001, 20, None)]
    assert result.subflow_series.is_empty()
    assert result.summary["throughput_mbps"] is None
    assert any("no times in the file" in warning for warning in result.summary["warnings"])


def test_ports_used_again_are_another_connection(tmp_path: Path) -> None:
    text = (DATA / "ss_two.txt").read_text().replace("bytes_acked:4750001", "bytes_acked:250000")
    (tmp_path / "again").write_text(text)
    result = analyze([tmp_path / "again"])
    assert rows(result.subflows, "client_port", "acked_bytes") == [
        (40000, 2_250_001),
        (40002, 500_000),
        (40000, 250_000),
    ]
    assert result.subflow_series.filter(subflow=2)["throughput_mbps"].to_list() == [1.0]
    assert any("the ports are of another connection" in warning for warning in result.summary["warnings"])


def test_a_clock_that_jumps_back_is_told_and_left_out(tmp_path: Path) -> None:
    text = (DATA / "ss_two.txt").read_text().replace("1700000003", "1699999990")
    (tmp_path / "back").write_text(text)
    result = analyze([tmp_path / "back"])
    assert result.subflow_series["time_s"].to_list() == [1.0, 1.0]
    assert any("times go back" in each and "by 11.000 s" in each for each in result.summary["warnings"])


@pytest.mark.parametrize(
    ("line", "unix_s", "rest"),
    [
        ("1700000000.25", 1_700_000_000.25, ""),
        ("Time: 1700000000.25", 1_700_000_000.25, ""),
        ("2023-11-14T22:13:20.5+00:00 ESTAB", 1_700_000_000.5, "ESTAB"),
        ("2023-11-14 23:13:20,5+01:00", 1_700_000_000.5, ""),
        ("Tue Nov 14 22:13:20 UTC 2023", 1_700_000_000.0, ""),
        ("Tue 14 Nov 2023 10:13:20 PM UTC", 1_700_000_000.0, ""),
    ],
)
def test_times_of_date_and_ts(line: str, unix_s: float, rest: str) -> None:
    stamp, left = stamped(line)
    assert stamp == (unix_s, True)
    assert left == rest


@pytest.mark.parametrize(
    "line", ["Nov 31 09:35:13 x", "ESTAB 0 0 a:1 b:2", "17 apples", "99999999999999999 x", ""]
)
def test_what_is_no_time_stays_a_line(line: str) -> None:
    assert stamped(line) == (None, line)


def test_flent_says_what_was_measured_and_not_what_it_computes() -> None:
    result = read("tcp_1up.flent")
    assert rows(result.connections, "kind", "name", "data_from") == [
        ("tcp", "TCP upload", "client"), ("ping", "Ping (ms) ICMP", None),
    ]  # fmt: skip
    # (8 + 12 + 10 + 6) / 4 Mbps; pings of 20, 21, 30, 40 and 29 ms.
    assert result.connections["throughput_mbps"].to_list() == [pytest.approx(9.0), None]
    ping = result.connections.row(1, named=True)
    sentences = [ping[f"rtt_{name}"] for name in ("samples", "min_ms", "mean_ms", "p50_ms", "max_ms")]
    assert sentences == [5, 20.0, 28.0, 29.0, 40.0]
    series = result.subflow_series.filter(subflow=0)
    assert series["time_s"].to_list() == pytest.approx([1.0, 1.5, 2.0, 2.5])
    assert series["srtt_ms"].to_list() == [None, 25.5, 25.5, 25.5]
    assert any("not read" in each and "cpu (load)" in each for each in result.summary["warnings"])
    assert rows(result.rtt_distribution, "rtt_ms", "samples") == [(20, 1), (21, 1), (29, 1), (30, 1), (40, 1)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_files_are_read(pack: Any, tmp_path: Path) -> None:
    (tmp_path / "x.flent.gz").write_bytes(pack((DATA / "tcp_1up.flent").read_bytes()))
    assert analyze([tmp_path / "x.flent.gz"]).subflows.equals(read("tcp_1up.flent").subflows)


def test_qlog_in_intervals() -> None:
    result = read("quic_03.qlog")
    # 2000 bytes in the first second, 1250 in the second, none in the third, 500 in the fourth.
    series = result.subflow_series
    assert rows(series, "time_s", "throughput_mbps", "lost", "rtt_ms", "srtt_ms", "cwnd_bytes") == [
        (1.0, 0.016, 0.0, 52.0, 51.5, 12000.0), (2.0, 0.01, 1.0, 70.0, 60.0, 8000.0),
        (3.0, 0.0, None, None, None, None), (4.0, 0.004, 0.0, None, 60.0, 8000.0),
    ]  # fmt: skip
    assert rows(
        result.subflows, "client", "client_port", "server_port", "data_from", "data_packets", "lost"
    ) == [("192.0.2.1", 50000, 443, "client", 4, 1)]
    assert rows(result.subflows, "rtt_samples", "rtt_min_ms", "rtt_mean_ms", "rtt_max_ms") == [
        (3, 50.0, 58.0, 70.0)
    ]
    assert result.summary["began_unix_s"] == 1_600_000_000
    # The same events with times from one to the next; packets of a server are of the other direction.
    other = read("quic_04.sqlog")
    assert rows(other.subflow_series, "time_s", "throughput_mbps") == rows(
        series, "time_s", "throughput_mbps"
    )
    assert rows(other.subflows, "data_from", "client_port") == [("server", 443)]
    half = read("quic_03.qlog", interval="500 ms").subflow_series["time_s"].to_list()
    assert half[:3] == [0.5, 1.0, 1.5]


def test_qlog_of_a_draft_in_microseconds() -> None:
    result = read("quic_draft01.qlog")
    assert rows(result.subflows, "data_from", "rtt_mean_ms", "srtt_mean_ms", "data_packets") == [
        ("client", 45, 46, 1)
    ]
    assert result.summary["began_unix_s"] == 1_600_000_000.5


def test_a_dish_is_a_ring_of_seconds() -> None:
    """``current`` is 5 and there are 3 samples: the oldest is the third of the file."""
    series = read("dish.json").subflow_series
    assert rows(series, "throughput_mbps", "reverse_throughput_mbps", "rtt_ms", "loss_ratio") == [
        (1.0, 0.7, 30.0, 0.25), (2.0, 0.5, 40.0, 0.0), (0.0, None, None, 1.0),
    ]  # fmt: skip


def test_windows_and_intervals_and_ports() -> None:
    last = read("ss_two.txt", window="2 s")
    assert last.summary["window_start_s"] == 1.0
    assert last.connections["throughput_mbps"].to_list() == [10.0, None]
    even = read("ss_two.txt", interval="500 ms").subflow_series.filter(subflow=0)
    assert even["throughput_mbps"].to_list() == pytest.approx([10.0] * 6)
    # Counts are spread over their interval, and their sum stays.
    assert even["retransmissions"].sum() == pytest.approx(3)
    with pytest.raises(CaptureError, match="has no flow with port 80"):
        read("ss_two.txt", ports=[80])
    assert read("ss_two.txt", ports=[40002]).subflows.height == 1
    long = read("ss_two.txt", window="1 min")
    assert any("is less than the window of 60 s" in warning for warning in long.summary["warnings"])


def test_several_files_have_one_clock(tmp_path: Path) -> None:
    """The second log begins 10 s after the first; a file without the time of the day is told."""
    later = (
        (DATA / "ss_two.txt").read_text().replace("17000000", "17000001").replace("192.0.2.1", "192.0.2.2")
    )
    (tmp_path / "later").write_text(
        later.replace("1700000100", "1700000010")
        .replace("1700000101", "1700000011")
        .replace("1700000103", "1700000013")
    )
    both = analyze([DATA / "ss_two.txt", tmp_path / "later"])
    assert both.subflows["last_s"].to_list() == [3.0, 1.0, 13.0, 11.0]
    assert both.connections["connection"].to_list() == [0, 1, 2, 3]
    unknown = analyze([DATA / "ss_two.txt", DATA / "dish.json"])
    assert any("has no time of the day" in warning for warning in unknown.summary["warnings"])


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("iperf3_tcp.json", '"rtt": 86', '"rtt": -86', "values are negative, too large or no numbers"),
        ("iperf3_tcp.json", '"bytes": 2621440', '"bytes": NaN', "values are negative, too large or no"),
        ("iperf3_tcp.json", '"end": 2.000111', '"end": 0.5', "intervals have no length"),
        ("ss_two.txt", "rtt:40/3", "rtt:nan/3", "srtt_ms in line 8"),
        ("dish.json", "0.25", "-7", "popPingDropRate[2]"),
        ("quic_03.qlog", '"latest_rtt": 54', '"latest_rtt": "x"', "latest_rtt in traces[0].events[4]"),
        ("tcp_1up.flent", '"val": 12.0', '"val": -1', "values are negative"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_unknown_and_told(
    name: str, old: str, new: str, said: str, tmp_path: Path
) -> None:
    text = (DATA / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    assert any(said in warning for warning in analyze([tmp_path / name]).summary["warnings"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "unable to connect"}',
         'iperf3 could not measure: "unable to connect"'),
        ('{"start": {"version": "iperf 3.12"}, "intervals": [', "is cut off: its JSON ends in the middle"),
        ('{"a": [1, 2,, 3]}', "it seems to be JSON, and it is no JSON at line 1, column 13"),
        ('{"zebra": 1, "lion": 2}', "JSON of no tool that is known here; its keys are zebra, lion"),
        ("[" * 100_000, "text of no tool that is known here"),
        ('{"a":' * 100_000, "it seems to be JSON, and it is nested too deep"),
        ("State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 0 192.0.2.1:1 192.0.2.2:2\n",
         "has sockets and no TCP information: call ss with -i"),
        ("Connecting to host 192.0.2.1, port 5201\n", "iperf3's output for people: call iperf3 with -J"),
        ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n", "the output of ping"),
        ("a,b\n1,2\n", "a table (CSV), which is not read here"),
        ("0\n1\n2\n", "a trace of Mahimahi is: a [[profile]]"),
        ('{"qlog_version": "0.3", "traces": []}', "has no packets and no metrics of QUIC"),
        ('{"metadata": {}, "results": {}, "x_values": []}', "has no series: x_values and results are empty"),
        ('{"popPingDropRate": [], "popPingLatencyMs": []}', "its arrays are empty, or not of one length"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_what_it_is(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(CaptureError) as caught:
        analyze([tmp_path / "x"])
    assert said in str(caught.value)
    assert "editcap" not in str(caught.value)


def test_a_stream_that_is_cut_off_is_read_until_there(tmp_path: Path) -> None:
    for name, lines in (("iperf3_stream.json", 3), ("quic_04.sqlog", 5)):
        # Not splitlines, which parts at the separator of JSON-SEQ as well.
        whole = (DATA / name).read_text().split("\n")
        (tmp_path / name).write_text("\n".join([*whole[:lines], whole[lines][:40]]))
        result = analyze([tmp_path / name])
        assert 0 < result.subflow_series.height < read(name).subflow_series.height
        assert any("as where the file is cut off" in each for each in result.summary["warnings"])


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JSON document as a whole, a line, samples: each has a bound, and what to do is said."""
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.write(b'{"start": {"version": "iperf 3.12"}, "x": "')
        file.truncate(65 * 2**20)
    with pytest.raises(CaptureError, match="is a JSON document of more than 64 MiB"):
        analyze([large], form="iperf3")
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b'{"start": {"version": "iperf 3.12"}, "x": "' + bytes(65 * 2**20)))
    assert bomb.stat().st_size < 2**20
    with pytest.raises(CaptureError, match="is a JSON document of more than 64 MiB"):
        analyze([bomb], form="iperf3")
    (tmp_path / "line").write_text((DATA / "ss_two.txt").read_text() + "x" * 2**21)
    with pytest.raises(CaptureError, match="has a line of more than 1 MiB, line 15"):
        analyze([tmp_path / "line"])
    monkeypatch.setattr(model, "MOST_ROWS", 1)
    with pytest.raises(CaptureError, match="has more than 1 samples, the most that are read; cut it"):
        read("ss_two.txt")


def test_measurements_and_captures_are_not_one_experiment(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(20))
    with pytest.raises(
        CaptureError, match=r"is ss -ti, and .*x\.pcap a packet capture: give them one after the"
    ):
        analyze([DATA / "ss_two.txt", tmp_path / "x.pcap"])
    with pytest.raises(CaptureError, match=r"--disjoint: is for packet captures; .* is ss -ti"):
        read("ss_two.txt", disjoint=True)
    with pytest.raises(CaptureError, match='--format: "tcpdump" is not known; there are iperf3, ss'):
        read("ss_two.txt", form="tcpdump")
