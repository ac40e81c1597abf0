"""Captures as people have them, of known content, made byte by byte with another library (scapy).

Each has a transfer of 60 segments of 1448 bytes, one each 50 ms, of which two are sent again;
``mixed_vxlan`` has four.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from anabranch.errors import CaptureError
from anabranch.report.html import capture_report
from anabranch.runs.capture import CaptureResult, analyze

from .conftest import Anabranch

DATA = Path(__file__).parent / "data"
MBPS = 1448 * 8 / 0.05 / 1e6
"""What each transfer has while it lasts."""


def read(name: str) -> CaptureResult:
    return analyze([DATA / f"{name}.pcap.gz"])


@pytest.mark.parametrize("name", ["gre", "mpls", "vxlan", "ppp_link9", "wifi_link105", "mirror_dup"])
def test_tunnels_links_and_copies_give_what_the_plain_capture_gives(name: str) -> None:
    plain, other = read("plain").connections, read(name).connections
    for column in plain.drop("copies").columns:
        (expected,), (seen,) = plain[column], other[column]
        assert seen == (pytest.approx(expected, rel=2e-3) if isinstance(expected, float) else expected), (
            column
        )
    assert plain["retransmissions"].to_list() == [2]
    assert plain["throughput_mbps"].to_list() == pytest.approx([MBPS], rel=1e-6)


def test_a_half_close_leaves_the_throughput_of_the_download() -> None:
    (row,) = read("half_close").connections.to_dicts()
    assert row["throughput_mbps"] == pytest.approx(0.232, abs=0.0005)
    assert row["window_throughput_mbps"] == pytest.approx(0.232, rel=0.02)


def test_fast_open_is_one_connection() -> None:
    (row,) = read("tfo").connections.to_dicts()
    assert (row["acked_bytes"], row["reverse_acked_bytes"]) == (86_880, 86)


def test_the_acks_alone_show_what_was_acknowledged(anabranch: Anabranch) -> None:
    result = read("acks_only")
    (row,) = result.connections.to_dicts()
    assert row["acked_bytes"] == 86_880
    assert row["throughput_mbps"] == pytest.approx(MBPS, rel=1e-6)
    assert row["retransmissions"] is row["reordered_packets"] is None
    assert result.subflow_series["retransmissions"].null_count() == result.subflow_series.height
    done = anabranch("capture", DATA / "acks_only.pcap.gz")
    assert "warning: 1 of 1 subflows of which only the ACKs were captured" in done.stderr
    assert "retrans" not in done.stdout
    assert "231.7" in done.stdout


def test_connections_in_a_tunnel_are_listed_beside_others(anabranch: Anabranch) -> None:
    result = read("mixed_vxlan")
    assert result.connections.height == 4
    # Throughputs of three were unknown, with no word of it.
    assert result.connections["throughput_mbps"].to_list() == pytest.approx([MBPS] * 4, rel=0.02)
    inside = result.subflows.filter(pl.col("encapsulation").is_not_null())
    assert inside.height == 3
    assert inside["encapsulation"].str.starts_with("vxlan ").all()
    assert inside["outer_client"].null_count() == 0
    rows = {row["encapsulation"]: row for row in result.protocols.to_dicts()}
    assert {row["protocol"] for row in rows.values()} == {"tcp"}
    assert sum(row["packets"] for row in rows.values()) == result.summary["packets"]
    done = anabranch("capture", DATA / "mixed_vxlan.pcap.gz")
    assert "vxlan" in done.stdout
    document = json.loads(anabranch("capture", DATA / "mixed_vxlan.pcap.gz", "--json").stdout)
    assert [row["encapsulation"] for row in document["protocols"]] == [None, "vxlan"]
    assert 'id="protocol-table"' in capture_report(result)


def test_nothing_is_shown_of_packets_that_are_all_plain(anabranch: Anabranch) -> None:
    done = anabranch("capture", DATA / "plain.pcap.gz")
    assert "Packets" not in done.stdout
    assert "copies" not in done.stdout
    assert 'id="protocol-table"' not in capture_report(read("plain"))


def test_copies_are_counted() -> None:
    result = read("mirror_dup")
    assert result.connections["copies"].to_list() == [128]
    assert any("copies of packets" in warning for warning in result.summary["warnings"])
    assert result.connections["rtt_p50_ms"].to_list() == pytest.approx([20], rel=0.01)


def test_a_link_type_that_cannot_be_read_has_a_name(tmp_path: Path) -> None:
    head = bytes.fromhex("d4c3b2a1020004000000000000000000ffff0000c3000000")
    (tmp_path / "zigbee.pcap").write_bytes(head + bytes(8) + bytes([4, 0, 0, 0, 4, 0, 0, 0]) + bytes(4))
    with pytest.raises(
        CaptureError, match=r"link type 195 \(IEEE802_15_4_WITHFCS\) is not known; capture at"
    ):
        analyze([tmp_path / "zigbee.pcap"])
