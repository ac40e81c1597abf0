"""The handover of examples/handover.toml: its interruption by make-before-break and by break-before-make."""

from pathlib import Path

import polars as pl
import pytest

from anabranch import Result, Scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "handover.toml"
ONE_WAY_S, RTT_S = 0.035, 0.070
"""By LTE: 25 + 5 + 5 ms."""


def without(text: str, *parts: str) -> str:
    """The scenario without the events that have all these parts."""
    head, *events = text.split("[[event]]")
    events[-1], tail = events[-1].split("[run]")
    kept = [event for event in events if not all(part in event for part in parts)]
    assert len(kept) == len(events) - 1
    return "[[event]]".join([head, *kept]) + "[run]" + tail


def interruption_s(result: Result) -> float:
    """From the moment at which Wi-Fi goes to the next data that are delivered, within a sample of 10 ms."""
    later = result.flow_series.filter((pl.col("time_s") > 10.015) & (pl.col("goodput_mbps") > 0))
    return float(later["time_s"][0]) - 10.0


def carried_mb(result: Result, subflow: int, first_s: float, last_s: float) -> float:
    rows = result.subflow_series.filter(
        (pl.col("subflow") == subflow) & pl.col("time_s").is_between(first_s, last_s, closed="right")
    )
    return float(rows["throughput_mbps"].sum()) * 0.010 / 8


def decisions(result: Result, *events: str) -> list[tuple[float, int, str, str | None]]:
    rows_of_one = result.log.filter(pl.col("event").is_in(events))
    return [
        (round(time, 3), int(subflow), event, cause)
        for time, subflow, event, cause in rows_of_one.select("time_s", "subflow", "event", "cause").rows()
    ]


@pytest.fixture(scope="module")
def handed_over() -> Result:
    return Scenario.load(EXAMPLE).run()


def test_a_backup_that_is_open_takes_over_within_a_way(handed_over: Result) -> None:
    """Make before break: what Wi-Fi had not delivered leaves by LTE at once."""
    # Linux queues blocks of 32 kB to a subflow: what comes again is behind some of them.
    assert ONE_WAY_S < interruption_s(handed_over) < ONE_WAY_S + 0.080
    assert handed_over.connections["stalled_s"].to_list() == [0.0]
    assert handed_over.flows["timeouts"].to_list() == [0]
    assert handed_over.connections["reinjected_bytes"][0] > 0


def test_each_subflow_carries_its_time(handed_over: Result) -> None:
    assert carried_mb(handed_over, 1, 0, 10) == 0, "LTE is a backup"
    # Of 50 Mbps less headers 47.6, for 6 s; of 20 Mbps 19.04, for 8 s.
    assert 0.95 * 6 * 47.6 / 8 < carried_mb(handed_over, 0, 0, 6) < 6 * 47.6 / 8
    assert 0.95 * 8 * 19.04 / 8 < carried_mb(handed_over, 1, 10, 18.1) < 8.1 * 19.04 / 8
    # Wi-Fi is back; LTE still sends what it was given before.
    assert carried_mb(handed_over, 1, 19.5, 24) == 0
    assert carried_mb(handed_over, 2, 19.5, 24) > 0.95 * 4.5 * 47.6 / 8
    assert handed_over.subflows["state"].to_list() == ["removed", "established", "established"]
    assert handed_over.subflows["client"].to_list() == ["10.0.0.0", "11.0.0.0", "10.0.0.0"]


def test_the_log_has_what_became_of_the_subflows(handed_over: Result) -> None:
    assert decisions(handed_over, "opened", "removed", "backup", "regular") == [
        (0.0, 0, "opened", None),
        (0.052, 1, "opened", None),
        (10.0, 0, "removed", "own address"),
        (18.0, 2, "opened", None),
    ]


def test_a_host_that_does_not_notice_waits_for_two_timeouts() -> None:
    """Wi-Fi fails, and keeps its address: the timer of the connection must tell.

    It waits as long as that of the subflow, SRTT + 200 ms. Linux has a backup repeat data from its second
    expiry on. Whether the block that is repeated first has what is missing is chance: another comes an expiry
    later.
    """
    text = without(EXAMPLE.read_text(encoding="utf-8"), 'at = "10 s"', "address = ")
    result = Scenario.loads(text, {"run.log": "*"}).run()
    repeated = result.tables["log"].filter(pl.col("event") == "data retransmission", pl.col("subflow") == 1)
    repeated_s = repeated.filter(pl.col("time_s") > 10)["time_s"].to_list()
    assert 2 * 0.2 < repeated_s[0] - 10 < 2 * 0.4
    assert repeated_s[0] - 10 + ONE_WAY_S < interruption_s(result) < repeated_s[1] - 10 + 2 * ONE_WAY_S
    assert result.connections["suspicions"].to_list() == [1]


@pytest.mark.parametrize("later_s", [0.5, 2.0])
def test_break_before_make_waits_for_the_address_and_for_its_handshake(later_s: float) -> None:
    """MP_JOIN takes a round trip, and another until its ACK is answered (RFC 8684 section 3.2)."""
    run = Scenario.load(EXAMPLE).replace({"event[0].state": "down"}).start()
    run.advance(until=f"{10 + later_s} s")
    run.set(address=["phone", "lte"], state="up")
    result = run.finish() if later_s > 2 else run.advance(until="18 s").finish()
    expected = later_s + 2 * RTT_S
    assert expected < result.connections["stalled_s"][0] < expected + 0.001
    assert expected + ONE_WAY_S < interruption_s(result) < expected + ONE_WAY_S + 0.020
    assert carried_mb(result, 1, 0, 10 + later_s) == 0
    assert decisions(result, "opened")[1] == (10 + later_s, 1, "opened", None)


def test_priorities_hand_over_while_both_work() -> None:
    """MP_PRIO before the signal fades: LTE is at its rate when Wi-Fi goes, and nothing is interrupted."""
    text = EXAMPLE.read_text(encoding="utf-8").replace(
        "[run]",
        '[[event]]\nat = "5 s"\naddress = ["phone", "wifi"]\nbackup = true\n'
        '[[event]]\nat = "5 s"\naddress = ["phone", "lte"]\nbackup = false\n[run]',
    )
    result = Scenario.loads(text).run()
    assert interruption_s(result) <= 0.0201
    assert decisions(result, "backup", "regular") == [
        (5.0, 0, "backup", "own address"),
        (5.0, 1, "regular", "own address"),
    ]
    assert carried_mb(result, 0, 7, 24) == 0
    assert carried_mb(result, 1, 7, 18) > 0.99 * 11 * 19.04 / 8
