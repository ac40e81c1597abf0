"""Measured conditions in other formats than CSV: delays of LeoCC, histories of Starlink; clocks and ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve

from .test_scenario_profiles import MBPS, MS, changes, data, loaded


def history(**arrays: Any) -> str:
    """The history of a dish, as its gRPC interface gives it in JSON."""
    return json.dumps({"id": "0", "apiVersion": "17", "dishGetHistory": {"current": "3", **arrays}})


def test_delays_are_one_way_and_hold_at_the_end(tmp_path: Path) -> None:
    """LeoCC (traces/README.md): line i is the one-way delay of the i-th interval of 10 ms."""
    scenario = loaded(tmp_path, "24\n18\n18\n20.5\n", {"format": "delays", "interval": "10 ms"})
    assert changes(scenario) == [(0, "delay", 24 * MS), (10, "delay", 18 * MS), (30, "delay", 20.5 * MS)]


def test_delays_begin_anew_after_as_many_intervals_as_lines(tmp_path: Path) -> None:
    profile = {"format": "delays", "interval": "1 s", "at_end": "repeat"}
    rows = changes(loaded(tmp_path, "24\n18\n", profile))
    assert rows == [
        (0, "delay", 24 * MS),
        (1000, "delay", 18 * MS),
        (2000, "delay", 24 * MS),
        (3000, "delay", 18 * MS),
    ]


def test_two_files_have_clocks_of_their_own(tmp_path: Path) -> None:
    """A rate that begins anew after 1 s beside delays that do so after 2 s."""
    (tmp_path / "rate").write_text("\n".join(map(str, range(1001))), encoding="utf-8")
    scenario = loaded(tmp_path, "24\n18\n", {"format": "delays", "interval": "1 s", "at_end": "repeat"})
    both = scenario.data()
    rate = {"link": ["left", "right"], "direction": "forward", "from": "file:rate", "format": "mahimahi"}
    both["profile"].append(rate | {"interval": "500 ms"})
    rows = changes(Scenario.from_data(both, base=tmp_path))
    assert [each for each in rows if each[1] == "delay"][:3] == [
        (0, "delay", 24 * MS),
        (1000, "delay", 18 * MS),
        (2000, "delay", 24 * MS),
    ]
    # 500 opportunities in 500 ms are 12 Mbps; the last interval has those at both of its ends.
    capacities = [(at, value) for at, kind, value in rows if kind == "capacity"]
    assert capacities[:3] == [(0, 12 * MBPS), (500, 12_024_000), (1000, 12 * MBPS)]


def test_a_trace_holds_at_its_end_if_it_is_told_to(tmp_path: Path) -> None:
    trace = "\n".join(map(str, [*range(100), *range(100, 201, 2)]))
    scenario = loaded(tmp_path, trace, {"format": "mahimahi", "at_end": "hold"})
    assert changes(scenario) == [(0, "capacity", 12 * MBPS), (100, "capacity", 6_120_000)]


def test_a_history_of_starlink_is_a_ring(tmp_path: Path) -> None:
    """``current`` is 5 and the rings have 3: the oldest sample is at 5 mod 3 = 2."""
    text = history(
        current="5",
        popPingDropRate=[0.19, 1, 0],
        popPingLatencyMs=[40, 40, 30],
        downlinkThroughputBps=[2e6, 0, 1e6],
        uplinkThroughputBps=[5e5, 6e5, 7e5],
    )
    rows = changes(loaded(tmp_path, text, {}))
    # Half of the round trip; both directions together lose 19 %, one 10 %; without a ping the latency holds.
    assert rows == [
        (0, "capacity", MBPS), (0, "delay", 15 * MS), (0, "loss", {"algorithm": "none"}),
        (1000, "capacity", 2 * MBPS), (1000, "delay", 20 * MS),
        (1000, "loss", {"algorithm": "bernoulli", "probability": pytest.approx(0.1)}),
        (2000, "capacity", 100), (2000, "loss", {"algorithm": "bernoulli", "probability": 1.0}),
    ]  # fmt: skip
    wanted = loaded(tmp_path, text, {"stream": "uplink", "values": ["capacity"]})
    assert [each[2] for each in changes(wanted)] == [700_000, 500_000, 600_000]
    delays = loaded(tmp_path, text, {"values": ["delay", "loss"]})
    assert {kind for _, kind, _ in changes(delays)} == {"delay", "loss"}


def test_the_traffic_of_a_dish_as_capacity_is_a_warning(tmp_path: Path) -> None:
    text = history(popPingLatencyMs=[40, 30, 20], downlinkThroughputBps=[2e6, 2e6, 1e6])
    warning = "profile[0]: capacity is the traffic that the dish had, not what its link could carry"
    assert any(warning in each for each in loaded(tmp_path, text, {}).run().summary["warnings"])
    taken = loaded(tmp_path, text, {"values": ["delay"]})
    assert not any("traffic that the dish had" in each for each in taken.run().summary["warnings"])


def test_times_of_the_day_count_from_the_first_row(tmp_path: Path) -> None:
    text = "time_s,delay_ms\n1700000000.5,1\n1700000001.5,2\n"
    assert changes(loaded(tmp_path, text, {"clock": "first"})) == [(0, "delay", MS), (1000, "delay", 2 * MS)]
    trace = "\n".join(map(str, range(5000, 5201)))
    first = changes(loaded(tmp_path, trace, {"format": "mahimahi", "clock": "first"}))[0]
    assert first == (0, "capacity", 12 * MBPS)


@pytest.mark.parametrize(
    ("text", "profile", "message"),
    [
        ("20\n20\n21\n", {}, "has a number a line and no header; say what they are: format = "),
        ("time_s,delay_ms\n9,1\n", {}, 'begins at 9 s, after the end of the run; clock = "first" lets it'),
        ("time_s,delay_ms\n1700000000,1\n", {}, 'more than 53 days after the beginning; where'),
        ("24\n-1\n", {"format": "delays", "interval": "1 s"}, 'measured, line 2: "-1" is no delay in'),
        ("24\nnan\n", {"format": "delays", "interval": "1 s"}, 'measured, line 2: "nan" is no delay in'),
        ("24 ms\n", {"format": "delays", "interval": "1 s"}, 'measured, line 1: "24 ms" is no delay in'),
        ('{"dishGetHistory": {"popPing', {}, "measured: is no history of a Starlink dish in JSON: EOF"),
        ('{"a": 1}', {}, "popPingDropRate, popPingLatencyMs and the throughputs are missing"),
        (history(popPingDropRate=[0, 2, 0]), {}, "measured, popPingDropRate[1]: 2 is not between 0 and 1"),
        (history(popPingLatencyMs=[1, -2, 3]), {}, "measured, popPingLatencyMs[1]: -2 is not between 0"),
        (history(popPingLatencyMs=[1, "x", 3]), {}, 'measured, popPingLatencyMs[1]: "x" is no number'),
        (history(current="-3", popPingLatencyMs=[1]), {}, "current is no count of samples"),
        (history(popPingLatencyMs=[1, 2], popPingDropRate=[0]), {}, "missing, or not of one length"),
        (history(popPingLatencyMs=[1, 2, 3]), {"values": ["loss"]}, 'values: "measured" has no loss'),
        ("time_s,delay_ms\n0,1\n", {"at_end": "repeat"}, "at_end: needs repeat: a CSV file does not"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_told(
    tmp_path: Path, text: str, profile: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve(loaded(tmp_path, text, profile))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"format": "delays"}, "profile[0].interval: is missing: a list of delays has no times"),
        ({"repeat": "1 s", "at_end": "hold"}, 'profile[0].at_end: is "hold", and repeat says when'),
        ({"format": "starlink", "clock": "first"}, "profile[0].clock: is for CSV and Mahimahi"),
        ({"format": "csv", "stream": "uplink"}, "profile[0].stream: is for the history of a Starlink dish"),
        ({"values": []}, "profile[0].values: names nothing"),
        ({"values": ["jitter"]}, "profile[0].values[0]"),
    ],
)
def test_fields_that_do_not_fit_are_refused(profile: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_data(data({"from": "file:a", **profile}))
    assert message in str(caught.value)
