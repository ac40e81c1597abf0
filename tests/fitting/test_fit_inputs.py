"""What a fit takes and what it refuses, each with a measurement of that kind."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import anabranch
from anabranch.errors import CaptureError
from anabranch.fitting.exchange import Numbers, read_exchanges
from anabranch.fitting.features import Features
from anabranch.fitting.path import PathModel
from anabranch.fitting.refusals import refusals

from .conftest import Captured

PATH = PathModel(12.0, 30.0, 60_000)
MEASUREMENTS = Path(__file__).parents[1] / "capture" / "measurements"


def refused(*files: Path | str, **options: object) -> str:
    """The message of a fit that is refused."""
    with pytest.raises(CaptureError) as error:
        anabranch.fit(*files, **options)  # type: ignore[arg-type]
    return error.value.report()


def test_too_short(captured: Captured) -> None:
    message = refused(captured(PATH, size="200 kB"))
    assert "too short" in message
    assert "a transfer of 5 s or more" in message


def test_the_receiver_limits(captured: Captured) -> None:
    # 12 Mbps over 30 ms hold 45 kB: a window of 20 kB never fills the path.
    small = {"small": {"preset": "linux-cubic", "receive_buffer": "20 kB"}}
    message = refused(captured(PATH, transport="small", transports=small))
    assert "the receiver limits it" in message
    assert "tcp_rmem" in message


def test_the_application_limits(captured: Captured) -> None:
    """Nobody has data for half a second, again and again: times behind each pause are later."""
    flow = read_exchanges(captured(PATH))[0][0]
    pauses_s = np.arange(1.0, 8.0, 0.5)

    def later(times_s: Numbers) -> Numbers:
        return times_s + 0.5 * np.searchsorted(pauses_s, times_s)

    # What was in flight at a pause arrives before it.
    empty = np.isin(np.arange(flow.ack_s.size), np.searchsorted(flow.ack_s, pauses_s) - 1)
    paused = replace(
        flow,
        sent_s=later(flow.sent_s),
        ack_s=later(flow.ack_s),
        in_flight_bytes=np.where(empty, 0, flow.in_flight_bytes),
    )
    messages = [str(one) for one in refusals("a", paused, Features(paused, paused.duration_s))]
    assert any("the application limits it" in message and "iperf3" in message for message in messages)
    assert refusals("a", flow, Features(flow, flow.duration_s)) == []


def test_a_file_that_is_no_measurement(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "nothing.pcap")
    text = tmp_path / "a.txt"
    text.write_text("hello\n")
    assert "a.txt" in refused(text)
    assert "no measurement" in refused()
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    assert "no TCP data with acknowledgments" in refused(empty)


def test_wrong_options(captured: Captured, tmp_path: Path) -> None:
    file = captured(PATH, duration_s=3.0)
    assert 'nearest: "linux-cubic"' in refused(file, transport="linux-cubc")
    assert "--budget" in refused(file, budget=1)
    assert "give one, or one for each" in refused(file, file, file, transport=["linux-cubic", "linux-bbr"])
    ping = tmp_path / "ping.txt"
    ping.write_text("64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.045 ms\n")
    assert "has 1 answers" in refused(file, ping=ping)
    # What is no number is no answer, be it "1.2.3" or "." or of a million digits.
    strange = ("time=1.2.3 ms", "time=. ms", "time=.. ms", f"time={'9' * 400} ms", "time=٣ ms", "time=-1 ms")
    ping.write_text("\n".join(("time=0.045 ms", *strange * 10)))
    assert "has 1 answers" in refused(file, ping=ping)
    assert "--receiver" not in refused(tmp_path / "x", receiver=tmp_path / "y")


def test_the_same_numbers_by_another_reader(captured: Captured) -> None:
    """RTT and delivery follow from the path: a queue that grows to the buffer and no more."""
    exchanges, notes = read_exchanges(captured(PATH, duration_s=6.0))
    flow = exchanges[0]
    features = Features(flow, 6.0)
    assert notes == []
    assert (flow.mss_bytes, flow.is_at_receiver) == (1448, False)
    # Propagation, and the packets themselves: a segment of 1500 bytes and an ACK of 52 at 12 Mbps.
    bare_ms = 30.0 + (1500 + 52) * 8 / 12e6 * 1e3
    assert features.rtt_ms.min() == pytest.approx(bare_ms, abs=0.15)
    # The queue holds 60 kB at 12 Mbps, which are 40 ms.
    assert features.rtt_ms.max() == pytest.approx(bare_ms + 40.0, abs=1.5)
    assert features.rate_mode_mbps == pytest.approx(12.0 * 1448 / 1500, rel=1e-3)
    assert flow.total_bytes == flow.delivered_bytes.sum()
    # Each byte of the stream was delivered once, and what was sent again was lost.
    assert flow.total_bytes <= flow.bytes[~flow.is_repeated].sum()
    assert flow.is_lost.sum() == flow.is_repeated.sum()


def pings(step_ms: float) -> str:
    """Eighty answers, which rise from 30 ms by nine steps, again and again."""
    return "".join(
        f"64 bytes: icmp_seq={n} ttl=64 time={30 + step_ms * (n % 10):.2f} ms\n" for n in range(80)
    )


def test_a_ping_tells_codel_from_fq_codel(captured: Captured, tmp_path: Path) -> None:
    file = captured(replace(PATH, discipline="fq-codel"))
    quiet = tmp_path / "ping.txt"
    quiet.write_text(pings(0.02))
    busy = tmp_path / "busy.txt"
    busy.write_text(pings(1.0))
    assert anabranch.fit(file, budget=12).model.discipline == "codel"
    path_fit = anabranch.fit(file, ping=quiet, budget=12)
    assert path_fit.model.discipline == "fq-codel"
    assert not any("CoDel" in sentence for sentence in path_fit.unknown)
    assert anabranch.fit(file, ping=busy, budget=12).model.discipline == "codel"


def test_the_receivers_capture_tells_which_direction_queues(captured: Captured) -> None:
    truth = PathModel(20.0, 40.0, 100_000, uplink_mbps=0.3, uplink_packets=40)
    file = captured(truth, receiver=True)
    path_fit = anabranch.fit(file, receiver=file.with_name("dst.pcapng"), budget=20)
    assert path_fit.kind == "slow-uplink"
    assert path_fit.model.uplink_packets == pytest.approx(40, rel=0.1)
    assert not any("which direction queues" in sentence for sentence in path_fit.unknown)
    # Given the other way round, the receiver's capture is taken as one of the same transfer.
    swapped = anabranch.fit(file, file.with_name("dst.pcapng"), budget=20)
    assert swapped.model.uplink_packets == pytest.approx(40, rel=0.1)


def test_the_receiver_alone_gives_rate_and_rtt(captured: Captured) -> None:
    file = captured(PATH, receiver=True).with_name("dst.pcapng")
    path_fit = anabranch.fit(file)
    # The least sample may be that of the handshake, which sends no full packet.
    assert path_fit.ranges[1].high is not None
    assert path_fit.ranges[1].high >= 20.0
    assert path_fit.kind == "coarse"
    assert path_fit.score is None
    assert not path_fit.is_explained
    assert path_fit.model.rate_mbps == pytest.approx(12.0, rel=0.03)
    assert path_fit.model.rtt_ms == pytest.approx(30.0, abs=2)
    assert any("give that of the sender" in note for note in path_fit.notes)


def test_a_second_transfer_is_predicted_from_the_first(captured: Captured) -> None:
    first, second = captured(PATH), captured(PATH, name="b", transport="linux-reno", seed=12)
    path_fit = anabranch.fit(first, second, transport=["linux-cubic", "linux-reno"], budget=20)
    errors = {one.measure: one.error_percent for one in path_fit.held_out}
    assert abs(errors["goodput_mbps"]) < 2
    assert abs(errors["rtt_mean_ms"]) < 5
    assert path_fit.is_explained


def test_logs_without_packets(tmp_path: Path) -> None:
    # A log of ss -ti each 100 ms: 1.25 MB a second, over 20 ms that grow to 60.
    log = tmp_path / "ss.log"
    lines = []
    for tick in range(40):
        acked, rtt_ms = 125_000 * tick, min(60.0, 20.0 + 2 * max(0, tick - 3))
        lines += [
            f"2026-11-28 10:00:{tick // 10:02}.{tick % 10}",
            "State Recv-Q Send-Q Local Address:Port Peer Address:Port",
            "ESTAB 0 0 10.0.0.1:5000 10.0.0.2:5001",
            f"\t cubic wscale:7,7 rto:220 rtt:{rtt_ms}/1 mss:1448 cwnd:40 "
            f"bytes_sent:{acked} bytes_acked:{acked}",
        ]
    log.write_text("\n".join(lines) + "\n")
    path_fit = anabranch.fit(log)
    # 10 Mbps of data.
    assert path_fit.model.rate_mbps == pytest.approx(10.0 * 1500 / 1448, rel=0.02)
    assert path_fit.model.rtt_ms == pytest.approx(20.0 - (1500 + 52) * 8 / 10_359, abs=0.2)
    assert path_fit.kind == "coarse"
    assert "no packets" in path_fit.verdict
    assert path_fit.ranges[0].high is not None
    assert path_fit.ranges[0].high >= 1.9 * path_fit.ranges[0].value
    assert any("tcpdump" in sentence for sentence in path_fit.unknown)
    local = refused(MEASUREMENTS / "iperf3_tcp.json")
    assert "round-trip time" in local


def test_streams_of_iperf3_share_a_path(tmp_path: Path) -> None:
    """Blocks of 128 kB make intervals of one stream uneven; those of both have the link together."""
    blocks = [(9, 9), (6, 5), (5, 6), (6, 6), (5, 5), (6, 5), (5, 6), (6, 6), (5, 5), (6, 5)]

    def stream(socket: int, count: int, second: int) -> dict[str, object]:
        rate = {"bytes": count * 131072, "bits_per_second": count * 131072 * 8}
        return {"socket": socket, "start": second, "end": second + 1, "seconds": 1, "rtt": 40_000} | rate

    connected = [
        {"socket": socket, "local_host": "10.0.0.1", "local_port": 4000 + socket,
         "remote_host": "10.0.0.2", "remote_port": 5201}
        for socket in (5, 7)
    ]  # fmt: skip
    document = {
        "start": {"version": "iperf 3.12", "connected": connected, "test_start": {"protocol": "TCP"}},
        "intervals": [
            {"streams": [stream(5, one, second), stream(7, other, second)]}
            for second, (one, other) in enumerate(blocks)
        ],
        "end": {},
    }
    (tmp_path / "iperf3.json").write_text(json.dumps(document))
    path_fit = anabranch.fit(tmp_path / "iperf3.json")
    mean_blocks = sum(map(sum, blocks[1:])) / (len(blocks) - 1)
    assert path_fit.model.rate_mbps == pytest.approx(mean_blocks * 1.048576 * 1500 / 1448, rel=0.05)
    assert path_fit.ranges[0].low <= mean_blocks * 1.048576 * 1500 / 1448


def test_a_clock_that_jumps(captured: Captured, tmp_path: Path) -> None:
    """The second half of a capture, two seconds earlier."""
    content = bytearray(captured(PATH, duration_s=5.0).read_bytes())
    at, blocks = 0, []
    while at < len(content):
        kind, size = struct.unpack_from("<II", content, at)
        if kind == 6:
            blocks.append(at)
        at += size
    ticks = struct.unpack_from("<II", content, blocks[-1] + 12)
    total = struct.unpack_from("<II", content, blocks[0] + 12)
    spent = ((ticks[0] << 32) | ticks[1]) - ((total[0] << 32) | total[1])
    for at in blocks[len(blocks) // 2 :]:
        high, low = struct.unpack_from("<II", content, at + 12)
        moved = ((high << 32) | low) - spent // 4
        struct.pack_into("<II", content, at + 12, moved >> 32, moved & 0xFFFFFFFF)
    file = tmp_path / "jump.pcapng"
    file.write_bytes(content)
    assert "the clock of the capture went back" in refused(file)
