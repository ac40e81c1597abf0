"""What the controller of real switches measures and tells, number by number."""

import json
from typing import Any

import polars as pl
import pytest
from live_scenarios import LiveRun
from test_live_switches import can_switch, diamond

from anabranch import _core
from anabranch.live.switches.controller.frames import (
    LLDP,
    PROBE,
    FiveTuple,
    ether_type,
    lldp,
    probe,
    read_lldp,
    read_probe,
)
from anabranch.live.switches.controller.known import KnownNetwork
from anabranch.live.switches.controller.meters import LinkMeter, Reading
from anabranch.live.switches.tables import controller_tables
from anabranch.setup import resolve

__all__ = ["can_switch"]
SMA = {"algorithm": "sma", "window": 3}
MS = 1_000_000


def rounds(meter: LinkMeter, counts: list[tuple[int, int]], late_ms: float = 0.0) -> list[float | None]:
    """The loss after each round of a second; the far end of 5 ms is read so much later than it should."""
    found = []
    for number, (sent, received) in enumerate(counts):
        at = number * 1000 * MS
        meter.on_counters(Reading(at, sent), Reading(at + 5 * MS + round(late_ms * MS), received), 5 * MS)
        found.append(meter.loss)
    return found


def test_losses_are_differences_of_both_ends() -> None:
    """2 of 100 and 6 of 200 are lost, then none of 100: means of 2 %, of 2 and 3 %, and of all three."""
    meter = LinkMeter(SMA, 10)
    found = rounds(meter, [(0, 0), (50, 50), (150, 148), (350, 342), (450, 442)])
    assert found[:2] == [None, None]
    assert found[2:] == pytest.approx([0.02, 0.025, 0.05 / 3])
    assert meter.counted == (400, 8)
    # The first reading gives no rate, and the second one begins.
    assert meter.window_ns == (1000 * MS, 4000 * MS)


def test_what_is_sent_between_the_readings_is_no_loss() -> None:
    """1,000 packets a second, and the far end is read 1 ms late: one more has arrived each time."""
    meter = LinkMeter(SMA, 10)
    assert rounds(meter, [(1000 * n, 1000 * n + 1) for n in range(5)], late_ms=1.0)[-1] == 0.0


def test_a_reading_that_is_far_too_late_does_not_count() -> None:
    """100 ms late at 1,000 packets a second: 100 packets hang on the rate of that moment."""
    meter = LinkMeter(SMA, 10)
    assert rounds(meter, [(1000 * n, 1000 * n + 130) for n in range(5)], late_ms=100.0) == [None] * 5


def test_what_is_counted_too_many_once_is_counted_too_few_then() -> None:
    """A round sees three of 1,000 too few, which come in the next one; of 5,000 in all four are lost."""
    meter = LinkMeter({"algorithm": "sma", "window": 100}, 10)
    counts = [(0, 0), (1000, 1000), (2000, 1997), (3000, 3000), (4000, 4000), (5000, 4999)]
    rounds(meter, counts)
    assert meter.counted == (1000, 3)
    meter.on_counters(Reading(6000 * MS, 6000), Reading(6005 * MS, 5996), 5 * MS)
    assert meter.counted == (5000, 4)


def test_a_link_that_nothing_comes_through_loses_all() -> None:
    meter = LinkMeter(SMA, 1000)
    found = rounds(meter, [(0, 0), (100, 100), (120, 120), (140, 120), (160, 160)])
    assert found == [None, None, None, 1.0, None]


def test_what_a_failure_takes_is_no_loss() -> None:
    meter = LinkMeter(SMA, 10)
    rounds(meter, [(0, 0), (100, 100), (200, 199)])
    assert meter.loss == pytest.approx(0.01)
    meter.on_down()
    at = 10_000 * MS
    for sent, received in [(300, 205), (400, 305)]:
        at += 1000 * MS
        meter.on_counters(Reading(at, sent), Reading(at + 5 * MS, received), 5 * MS)
    assert meter.loss == pytest.approx(0.005)


@pytest.mark.parametrize("setup", [SMA, {"algorithm": "ewma", "weight": 0.5}])
def test_estimators_are_those_of_the_core(setup: dict[str, Any]) -> None:
    """Of 1, 2 and 6 the mean is 3, and half of each newer one with the rest is 3.75."""
    estimator = _core.LinkEstimator(json.dumps(setup))
    for value in (1.0, 2.0, 6.0):
        estimator.add_value(value)
    assert estimator.estimate() == {"sma": 3.0, "ewma": 3.75}[setup["algorithm"]]
    with pytest.raises(ValueError, match="3 of 2 is no share"):
        estimator.add_share(3, 2)


def test_a_path_beats_another_by_the_threshold() -> None:
    """10 ms sqrt(1 %) is 1 ms, and 9 ms sqrt(1 %) is 0.9 ms: better by a tenth, and not by more."""
    ours, theirs = [(0.01, 9 * 10**9)], [(0.01, 10 * 10**9)]
    assert [_core.tcpbp_beats(ours, theirs, threshold) for threshold in (0.0, 0.09, 0.11)] == [
        True,
        True,
        False,
    ]
    assert not _core.tcpbp_beats(theirs, ours, 0.0)


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


def test_paths_avoid_what_is_down_and_go_by_what_is_measured() -> None:
    """Over c in two links, or over d and e in three: d sqrt(p) prefers these where one of c loses 4 %."""
    setup = resolve(diamond())
    names = [node.name for node in setup.nodes]
    known = KnownNetwork(setup.data())
    pair = (names.index("a"), names.index("b"))
    link = {(link.origin, link.to): number for number, link in enumerate(setup.links)}
    first = link[names.index("s"), names.index("c")]
    (path,) = known.paths("delay", [pair]).values()
    assert known.spelled(path) == "a > s > c > t > b"
    qualities = {
        number: (0.04 if number == first else 1e-4, one.delay) for number, one in enumerate(setup.links)
    }
    (path,) = known.paths("tcpbp", [pair], "exact", qualities).values()
    assert known.spelled(path) == "a > s > d > e > t > b"
    known.set_down([first], down=True)
    (path,) = known.paths("delay", [pair]).values()
    assert known.spelled(path) == "a > s > d > e > t > b"
    assert known.plan(setup.data())["routes"][0]["paths"][0]["links"] == list(path)


def test_tables_have_the_moves_of_flows() -> None:
    """Both ways move at 4 s, which is one move; what a program says to another has no row."""
    forth, back, program = [6, "a", 1, "b", 2], [6, "b", 2, "a", 1], [6, "x", 1, "y", 2]

    def route(time_s: float, ends: list[Any], path: str, choice: int, *, moved: bool) -> dict[str, Any]:
        return {
            "kind": "route",
            "time_s": time_s,
            "ends": ends,
            "path": path,
            "choice": choice,
            "moved": moved,
        }

    told = [
        route(1.0, forth, "A > B", 1, moved=False),
        route(1.1, back, "B > A", 1, moved=False),
        route(4.0, forth, "A > C > B", 2, moved=True),
        route(4.0, back, "B > C > A", 2, moved=True),
        route(5.0, program, "X > Y", 3, moved=True),
        {
            "kind": "estimate",
            "time_s": 3.0,
            "link": 4,
            "loss": None,
            "delay_ms": 2.5,
            "packets": 0,
            "lost": 0,
            "window_s": [1.5, 2.5],
        },
    ]
    tables = controller_tables(told, {(("a", 1), ("b", 2)): 9})
    assert tables["flow_routes"].rows() == [(9, 1.0, 1, "A > C > B", "B > C > A")]
    assert tables["route_changes"].rows() == [(4.0, 9, "A > C > B", "B > C > A")]
    assert tables["link_estimates"].rows() == [(3.0, 4, None, 2.5, 0, 0, 1.5, 2.5)]


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
