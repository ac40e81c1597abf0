"""What the controller of real switches measures and tells, number by number."""

import struct
from collections.abc import Callable
from itertools import pairwise

import polars as pl
import pytest
from live_scenarios import LiveRun
from test_live_switches import can_switch, diamond

from anabranch import _core
from anabranch.live.switches.controller.flow_numbers import FlowNumbers
from anabranch.live.switches.controller.frames import (
    LLDP,
    PROBE,
    FiveTuple,
    TcpFields,
    ether_type,
    lldp,
    probe,
    read_lldp,
    read_probe,
    with_window,
)
from anabranch.live.switches.controller.link_prober import LinkCounts, LinkProber, Reading
from anabranch.live.switches.layout import Port, SwitchLayout
from anabranch.live.switches.tables import controller_tables
from anabranch.setup import resolve

__all__ = ["can_switch"]
pytestmark = pytest.mark.usefixtures("whole_machine")
MS = 1_000_000


def rounds(counts: list[tuple[int, int]], late_ms: float = 0.0) -> LinkCounts:
    """A reading each second; the far end of 5 ms is read so much later than it should."""
    readings = [
        (Reading(at, sent), Reading(at + 5 * MS + round(late_ms * MS), received))
        for at, (sent, received) in zip(range(0, len(counts) * 1000 * MS, 1000 * MS), counts, strict=True)
    ]
    outcome = LinkCounts(*readings[0])
    for sent, received in readings[1:]:
        outcome.read(sent, received, 5 * MS)
    return outcome


def test_packets_are_counted_from_the_first_reading_on() -> None:
    """Ports had 50 and 48 before: 8 of 400 are lost."""
    meter = rounds([(50, 48), (150, 146), (350, 340), (450, 440)])
    assert meter.counted == (400, 392)
    assert (meter.since_ns, meter.until_ns) == (0, 3000 * MS)


def test_what_is_sent_between_the_readings_is_no_loss() -> None:
    """1,000 packets a second, and the far end is read 1 ms late: one more has arrived each time."""
    counts = [(1000 * n, 1000 * n + (n > 0)) for n in range(5)]
    assert rounds(counts, late_ms=1.0).counted == (4001, 4001)


def test_a_reading_that_is_far_too_late_does_not_count() -> None:
    """100 ms late at 1,000 packets a second: 100 packets hang on the rate of that moment."""
    assert rounds([(1000 * n, 1000 * n) for n in range(5)], late_ms=100.0).counted == (0, 0)


def test_what_a_failure_takes_is_no_loss() -> None:
    """One of 200 is lost before it, and 95 while the link is down, until the first reading behind it."""
    meter = rounds([(0, 0), (100, 100), (200, 199)])
    meter.on_down()
    for second, (sent, received) in enumerate([(300, 205), (400, 305)], 10):
        at = second * 1000 * MS
        meter.read(Reading(at, sent), Reading(at + 5 * MS, received), 5 * MS)
    assert meter.counted == (300, 299)


class Switches:
    """Switches that are asked for counters, and answer when they are told to."""

    def __init__(self) -> None:
        self.asked: list[Callable[[tuple[int, int], int], None]] = []

    def counter(self, _switch: int, _port: int, then: Callable[[tuple[int, int], int], None]) -> None:
        self.asked.append(then)


def test_switches_answer_in_any_order() -> None:
    """The far end has received 4 packets, and says so before the near one says that it has sent 5."""
    board, layout = Switches(), SwitchLayout((), (), (), {}, ())
    ends = (Port(0, 1, "p1", link_out=7), Port(1, 1, "p2", link_in=7))
    prober = LinkProber(board, layout, {7: ends}, {7: 5 * MS}, lambda _: None, 1)  # type: ignore[arg-type]
    prober.begin()
    start, end = board.asked
    end((4, 0), 11)
    assert not prober.counts
    start((0, 5), 10)
    prober.counts[7].read(Reading(1000 * MS, 105), Reading(1005 * MS, 104), 5 * MS)
    assert prober.counts[7].counted == (100, 100)


def test_frames_say_what_was_put_in() -> None:
    said = lldp(7, 12)
    assert (ether_type(said), read_lldp(said), len(said)) == (LLDP, (7, 12), 60)
    assert read_lldp(said.replace(b"dpid:", b"host:")) is None
    assert (ether_type(probe(3, 9)), read_probe(probe(-1, 9))) == (PROBE, (-1, 9))
    packet = bytes.fromhex("4500002c000000004006000001020304050607089c4000500000")
    frame = bytes(12) + b"\x08\x00" + packet
    seen = FiveTuple.of(frame)
    assert seen == FiveTuple(6, ("1.2.3.4", 40000), ("5.6.7.8", 80))
    assert seen is not None
    assert seen.reversed().match()["tcp_dst"] == 40000
    assert FiveTuple.of(said) is None


def segment(flags: int, options: str = "", window: int = 1000) -> bytes:
    """A frame with a segment of TCP from 1.2.3.4:40000 to 5.6.7.8:80, its checksum right."""
    text = f"9c4000500000000000000000{5 + len(options) // 8:x}0{flags:02x}{window:04x}00000000{options}"
    tcp = bytearray.fromhex(text)
    ends = bytes.fromhex("0102030405060708")
    tcp[16:18] = (~ones_sum(ends + bytes([0, 6]) + len(tcp).to_bytes(2) + tcp) & 0xFFFF).to_bytes(2)
    header = bytes.fromhex(f"4500{20 + len(tcp):04x}0000000040060000") + ends
    return bytes(12) + b"\x08\x00" + header + bytes(tcp)


def ones_sum(data: bytes) -> int:
    """The sum of RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_segments_say_what_was_put_in() -> None:
    """MSS 1460 (RFC 9293 section 3.2) behind two of no operation, and a scale of 7 (RFC 7323 section 2.2)."""
    assert TcpFields.of(segment(0x02, "0101020405b4010303070000")) == TcpFields(
        syn=True, fin=False, ack=False, mss=1460, scale=7
    )
    assert TcpFields.of(segment(0x11)) == TcpFields(syn=False, fin=True, ack=True)
    # A length of nothing, and one beyond the end.
    assert TcpFields.of(segment(0x02, "02000000")) == TcpFields(syn=True, fin=False, ack=False)
    later = bytearray(segment(0x10))
    later[20:22] = (5).to_bytes(2)
    assert TcpFields.of(bytes(later)) is None
    assert TcpFields.of(lldp(1, 1)) is None


@pytest.mark.parametrize(("most", "expected"), [(64_000, 500), (64_001, 501), (10**9, 1000)])
def test_a_lower_window_has_a_right_checksum(most: int, expected: int) -> None:
    """64,000 bytes are 500 of 128, one more needs one more, and a window is never raised."""
    frame = with_window(segment(0x10), most, 7)
    assert int.from_bytes(frame[48:50]) == expected
    tcp = frame[34:]
    assert ones_sum(frame[26:34] + bytes([0, 6]) + len(tcp).to_bytes(2) + tcp) == 0xFFFF


def test_flows_have_their_numbers_and_others_come_behind() -> None:
    owners = {"1.2.3.4": 1, "5.6.7.8": 2}
    flows = FlowNumbers([[(("1.2.3.4", 40000), ("5.6.7.8", 80))], [], []], owners)
    seen = flows.seen(segment(0x02))
    assert seen is not None
    assert seen.header() == (0, "forward", 1, 2, True, False, 0)
    swapped = segment(0x02)
    swapped = swapped[:26] + swapped[30:34] + swapped[26:30] + swapped[34:]
    other = flows.seen(swapped)
    assert other is not None
    assert other.header()[:4] == (3, "forward", 2, 1)
    # Its ports are used again after its FIN; those of a flow in progress are its own.
    assert flows.seen(swapped) == other
    fin = bytearray(swapped)
    fin[47] = 0x11
    flows.seen(bytes(fin))
    again = flows.seen(swapped)
    assert again is not None
    assert again.flow == 4
    assert flows.ends(9, "forward") is None


def test_routes_are_made_without_what_is_down() -> None:
    """Over c in two links, or over d and e in three; links keep their numbers."""
    setup = resolve(diamond())
    names = [node.name for node in setup.nodes]
    link = {(names[link.origin], names[link.to]): number for number, link in enumerate(setup.links)}
    pair = (names.index("a"), names.index("b"))
    for down, route in (
        ([], "asctb"),
        ([link["s", "c"]], "asdetb"),
        ([link["s", "c"], link["d", "e"]], None),
    ):
        paths = setup.core().plan(down=down).paths(*pair)
        expected = None if route is None else [([link[hop] for hop in pairwise(route)], 1.0)]
        assert paths == expected
    with pytest.raises(_core.SetupError, match="no link number 99"):
        setup.core().plan(down=[99])


def test_tables_have_the_flows_of_the_scenario_and_when_packets_were_counted() -> None:
    """Flow 9 is of a program; the second estimate was made behind the second probe."""
    facts = {
        "tables": {
            "flow_routes": {"flow": [0, 9], "since_s": [1.0, 2.0], "route_changes": [1, 0]},
            "route_changes": {"time_s": [], "flow": []},
            "link_estimates": {"time_s": [2.0, 3.0], "link": [4, 4], "loss": [float("nan"), 0.5]},
        },
        "counted": [[1.9, 4, 0.0, 1.5], [3.0, 4, 0.0, 2.5]],
    }
    tables = controller_tables(facts, 3)
    assert tables["flow_routes"].rows() == [(0, 1.0, 1)]
    assert tables["link_estimates"].rows() == [(2.0, 4, None, 0.0, 1.5), (3.0, 4, 0.5, 0.0, 2.5)]
    assert "route_changes" not in tables


@pytest.mark.usefixtures("can_switch")
def test_tcpbp_moves_flows_off_a_link_that_loses(live_run: LiveRun) -> None:
    """The short way loses 3 %, which only its counters show."""
    controller = {
        "application": {"algorithm": "tcpbp", "sample_packets": 100},
        "statistics_interval": "1 s",
        "links": {"capacity": "1 Gbps", "delay": "1 ms"},
    }
    lossy = {"at": "0 s", "link": ["s", "c"], "direction": "forward", "loss": 0.03}
    settings = {"duration": "9 s", "link_series": True, "sample_interval": "10 ms"}
    result = live_run(diamond(controller=controller, event=[lossy], run=settings), switches="ovs")
    # The first move is off that link. The queue of the new way may drop, too, and the flow may come back.
    moves = result.tables["route_changes"].filter(pl.col("time_s") > 1)
    assert moves["data_path"][0] == "a > s > d > e > t > b"
    link = result.links.filter((pl.col("from") == "s") & (pl.col("to") == "c"))
    estimates = result.tables["link_estimates"].filter(pl.col("link") == link["link"][0])
    last = estimates.sort("time_s").row(-1, named=True)
    packets, lost = last["packets"], last["lost"]
    assert packets is not None
    assert packets > 100
    drops = result.tables["link_series"].filter(pl.col("link") == link["link"][0]).select("time_s", "drops")
    until, since = (
        drops.filter(pl.col("time_s") <= last[end])["drops"].max() or 0
        for end in ("counted_to_s", "counted_from_s")
    )
    # Between the two readings at either end there may be some packets of a busy machine.
    assert lost / packets == pytest.approx((until - since) / packets, abs=0.015)
    late = estimates["delay_ms"].drop_nulls()[-1]
    # What switches take of it is known by the cable; a busy machine adds to it now and then.
    assert late == pytest.approx(2.0, abs=0.5)
