"""Receivers that read slowly."""

from typing import Any

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve


def link(reads: dict[str, Any] | None, transport: dict[str, Any], **tables: Any) -> Scenario:
    """A transfer over 20 Mbps, and an RTT of 20 ms."""
    entry = {"from": "source", "to": "sink", "transport": "it", "reads": reads, **tables.pop("traffic", {})}
    network = {
        "topology": "parallel",
        "parameters": {"paths": [{"capacity": "20 Mbps", "delay": "10 ms"}]},
        "links": {"queue": "100 packets"},
    }
    run = {"duration": "10 s", "sample_interval": "100 ms"}
    data = {"network": network, "traffic": [entry], "transport": {"it": transport}, "run": run, **tables}
    return Scenario.model_validate(data)


def test_the_engine_gets_blocks_and_times() -> None:
    """64,000 bytes are 512 kbit, which take 102.4 ms at 5 Mbps."""
    reads = {"rate": "5 Mbps", "block": "64 kB", "pause": "2 s"}
    setup = resolve(link(reads, {"preset": "cubic"}))
    blocks = {"bytes": 64_000, "interval": 102_400_000_000}
    assert setup.flows[0].reads.core() == {"blocks": blocks, "pause": 2 * 10**12, "resume": None}
    assert resolve(link(None, {"preset": "cubic"})).flows[0].reads is None


@pytest.mark.parametrize("preset", ["newreno", "linux-cubic", "linux-bbr", "mptcp", "linux-mptcp"])
def test_goodput_is_the_rate_of_reading(preset: str) -> None:
    """Over 10 s, less the first round trips: within 3 % of 5 Mbps."""
    result = link({"rate": "5 Mbps"}, {"preset": preset, "receive_buffer": "256 kB"}).run()
    (flow,) = result.flows.rows(named=True)
    assert 4.85 < flow["goodput_mbps"] <= 5.02
    assert (flow["retransmissions"], flow["timeouts"]) == (0, 0)


def test_nothing_is_delivered_in_a_pause() -> None:
    reads = {"rate": "5 Mbps", "pause": "3 s", "resume": "6 s"}
    result = link(reads, {"preset": "linux-cubic", "receive_buffer": "100 kB"}).run()
    series = result.flow_series
    assert series is not None
    goodput = dict(zip(series["time_s"].round(3), series["goodput_mbps"], strict=True))
    assert all(goodput[round(3.2 + n / 10, 3)] == 0 for n in range(28))
    assert goodput[2.5] > 0
    assert goodput[7.0] > 0


def test_a_flow_is_complete_when_all_is_read() -> None:
    """1 MB at 5 Mbps takes 1.6 s, though 20 Mbps bring it in half of that."""
    traffic = {"size": "1 MB"}
    result = link({"rate": "5 Mbps"}, {"preset": "linux-cubic"}, traffic=traffic).run()
    (flow,) = result.flows.rows(named=True)
    assert flow["delivered_bytes"] == 1_000_000
    # Block by block: the last of 62 begins at 61 intervals of 26.2 ms.
    assert 1.59 < flow["completion_s"] < 1.68


def test_a_fixed_window_is_refused() -> None:
    scenario = link({"rate": "5 Mbps"}, {"preset": "sliding-window"})
    with pytest.raises(ScenarioError, match=r"traffic\[0\].reads: .it. has a fixed window"):
        resolve(scenario)


def test_datagrams_have_no_window() -> None:
    with pytest.raises(ScenarioError, match="has no connection, and so no receive window"):
        Scenario.model_validate(
            {
                "network": {"topology": "dumbbell"},
                "traffic": [
                    {
                        "from": "left1",
                        "to": "right1",
                        "application": {"kind": "ping"},
                        "reads": {"rate": "1 Mbps"},
                    }
                ],
                "run": {"duration": "1 s"},
            }
        )
