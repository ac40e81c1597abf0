"""Links so fast that hosts hand over segments together."""

import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from live_scenarios import LiveRun, paths

from anabranch.live import network

pytestmark = pytest.mark.usefixtures("can_run")


@pytest.mark.parametrize(("capacity", "together"), [("500 Mbps", False), ("1 Gbps", True)])
def test_above_500_mbps_hosts_take_segments_together(
    live_run: LiveRun, capacity: str, together: bool
) -> None:
    scenario = paths(capacity, [5], [{"transport": "linux-cubic", "size": "3 MB"}])
    scenario = scenario.replace({"network.links.queue": "5000 packets"})
    result = live_run(scenario)
    (flow,) = result.flows.rows(named=True)
    assert (flow["delivered_bytes"], flow["retransmissions"]) == (3_000_000, 0)
    # Packets of the network are single segments all the same.
    assert flow["packets_received"] >= 3_000_000 // 1448
    acks = result.links.filter(pl.col("from") == "sink")["packets"].sum()
    # One by one, each is acknowledged at first, and every second one later.
    assert (acks < 0.4 * flow["packets_received"]) == together


def test_a_train_is_cut_into_packets_with_right_checksums(
    live_run: LiveRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(network, "_ONE_BY_ONE_BPS", 0)
    traffic = [{"transport": "linux-cubic", "size": "300 kB"}]
    capture = [{"file": "link.pcapng", "link": ["source", "path1"]}]
    scenario = paths("20 Mbps", [5], traffic, capture=capture, run={"duration": "2 s"})
    live_run(scenario, out=tmp_path / "out", page=False, replace=True)
    packets = list(_packets(tmp_path / "out" / "link.pcapng"))
    # 300,000 bytes are 207 whole segments and a short one, if none is lost.
    assert len(packets) >= 208
    assert max(len(packet) for packet in packets) == 1500
    assert all(_sum(_pseudo_header(packet) + packet[20:]) == 0xFFFF for packet in packets)
    assert all(_sum(packet[:20]) == 0xFFFF for packet in packets)


def _packets(file: Path) -> Iterator[bytes]:
    """The IP packets of a capture, which are its enhanced packet blocks."""
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            (captured,) = struct.unpack_from("<I", data, at + 20)
            yield data[at + 28 : at + 28 + captured]
        at += length


def _pseudo_header(packet: bytes) -> bytes:
    return packet[12:20] + struct.pack("!HH", packet[9], len(packet) - 20)


def _sum(data: bytes) -> int:
    """The one's complement sum of RFC 1071."""
    padded = data + bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("option", ["simulated_receivers", "kernel_receivers"])
def test_a_simulated_end_takes_part(live_run: LiveRun, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.setattr(network, "_ONE_BY_ONE_BPS", 0)
    transport = "linux-cubic" if option == "simulated_receivers" else "mprc"
    scenario = paths("20 Mbps", [5], [{"transport": transport, "size": "500 kB"}], run={"duration": "2 s"})
    (flow,) = live_run(scenario, **{option: True}).flows.rows(named=True)
    assert flow["hosts"] == {"simulated_receivers": "kernel sends"}.get(option, "kernel receives")
    assert flow["delivered_bytes"] == 500_000
    assert flow["completion_s"] < 1


@pytest.mark.usefixtures("can_join")
def test_subflows_share_out_a_train(live_run: LiveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_ONE_BY_ONE_BPS", 0)
    two = {"preset": "mptcp-cubic", "path_manager": {"algorithm": "ndiffports", "subflows": 2}}
    scenario = paths(
        "20 Mbps",
        [5, 5],
        [{"transport": "two"}],
        transport={"two": two},
        routing={"scheme": "disjoint", "load_balancing": "subflow-round-robin"},
        run={"duration": "3 s"},
    )
    result = live_run(scenario)
    assert result.connections["subflows_established"].to_list() == [2]
    assert result.flows["goodput_mbps"][0] > 28
