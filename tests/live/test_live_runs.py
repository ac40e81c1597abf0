"""Flows of the kernel over links of the engine."""

import sys
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from live_scenarios import LiveRun, paths
from rich.console import Console

import anabranch
from anabranch import Scenario
from anabranch.errors import LiveError
from anabranch.live import Asked, HostProgram, run
from anabranch.live.path_manager import End, PathManager
from anabranch.media.terminal import show
from anabranch.report.views.run import against_pieces
from anabranch.runs.capture import analyze

DATAGRAM = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(3):
    sender.sendto(b"what the program said", ("sink", 9))
"""

pytestmark = pytest.mark.usefixtures("can_run")


def test_a_flow_of_the_kernel_fills_its_path(live_run: LiveRun) -> None:
    scenario = paths(
        "20 Mbps", [10], [{"transport": "linux-cubic"}], run={"duration": "4 s", "flow_series": True}
    )
    result, simulated = live_run(scenario), anabranch.run(scenario)
    flow = result.flows.row(0, named=True)
    # All but the start and 52 of 1500 bytes.
    assert flow["goodput_mbps"] == pytest.approx(simulated.flows["goodput_mbps"][0], rel=0.03)
    assert flow["hosts"] == "kernel"
    assert flow["fast_recoveries"] is None
    assert 20 <= flow["rtt_min_ms"] <= 22
    assert flow["segments_sent"] == flow["packets_received"] + flow["drops_data"] + flow["packets_in_flight"]
    assert flow["delivered_bytes"] <= 1448 * flow["packets_received"]
    sampled = result.flow_series.filter(pl.col("time_s") > 2)
    assert sampled["goodput_mbps"].mean() == pytest.approx(19.3, rel=0.03)
    assert sampled["cwnd_bytes"].min() > 10_000
    live = result.summary["live"]
    assert (live["flows_real"], live["flows_simulated"]) == (1, 0)
    assert live["check"]["packets_read"] > flow["packets_received"]


def test_a_network_without_a_real_time_policy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    summary = run(paths("5 Mbps", [5], [{"transport": "linux-cubic"}])).summary
    assert summary["live"]["real_time"] is False
    assert any("may not have a real-time policy" in warning for warning in summary["warnings"])


def test_what_is_sized_ends_and_what_is_stopped_stops(live_run: LiveRun) -> None:
    traffic = [
        {"transport": "linux-reno", "size": "500 kB", "start": "500 ms"},
        {"transport": "linux-cubic", "stop": "1.5 s"},
    ]
    result = live_run(paths("20 Mbps", [5], traffic, run={"duration": "3 s"}))
    sized, stopped = result.flows.rows(named=True)
    assert sized["delivered_bytes"] == 500_000
    assert 0.2 < sized["completion_s"] < 2
    assert 1.5 <= stopped["completion_s"] < 2
    assert 1.5 <= stopped["fin_s"] < 2


def test_flows_open_when_they_are_due(live_run: LiveRun) -> None:
    """The best of twenty, which other work on the machine does not reach: waits of epoll alone are a whole
    millisecond, and a socket in a host's namespace takes half of one.
    """
    entry = {"transport": "linux-cubic", "size": "1 kB", "flows": 20, "start": "0.1003 s"}
    scenario = paths("100 Mbps", [5], [entry | {"inter_arrival": "50.3 ms"}], run={"duration": "1.4 s"})
    handshakes = live_run(scenario).flows["handshake_s"]
    assert handshakes.null_count() == 0
    assert 0.010 < handshakes.min() < 0.0111


def test_messages_are_those_of_a_simulated_run(live_run: LiveRun) -> None:
    application = {"kind": "poisson", "message": "20 kB", "rate": "4 Mbps"}
    traffic = [{"transport": "linux-cubic", "application": application, "stop": "2 s"}]
    scenario = paths("20 Mbps", [5], traffic, run={"duration": "3 s"})
    result, simulated = live_run(scenario), anabranch.run(scenario)
    assert result.flows["delivered_bytes"].to_list() == simulated.flows["delivered_bytes"].to_list()


def test_what_the_kernel_does_not_speak_is_simulated_beside(live_run: LiveRun) -> None:
    traffic = [{"transport": "linux-cubic"}, {"transport": "mprc"}]
    result = live_run(paths("20 Mbps", [5], traffic, run={"duration": "4 s"}))
    assert result.flows["hosts"].to_list() == ["kernel", "simulated"]
    assert (
        "1 flow of mprc: the kernel does not speak it; simulated, on the same links"
        in result.summary["warnings"]
    )
    # Both share one link, whatever the shares.
    assert result.flows["goodput_mbps"].min() > 1
    assert result.summary["delivered_mbps"] == pytest.approx(19, rel=0.05)
    assert result.flows["fast_recoveries"].null_count() == 1


@pytest.mark.usefixtures("can_join")
def test_subflows_of_the_kernel_take_the_paths_of_the_simulation(live_run: LiveRun) -> None:
    scenario = paths(
        "20 Mbps",
        [5, 5],
        [{"transport": "four"}],
        transport={
            "four": {"preset": "mptcp-cubic", "path_manager": {"algorithm": "ndiffports", "subflows": 4}}
        },
        routing={"scheme": "disjoint", "load_balancing": "hash"},
        run={"duration": "4 s", "flow_series": True},
    )
    result, simulated = live_run(scenario, against_simulation=True, runs=1), anabranch.run(scenario)
    assert result.tables["simulated_subflow_series"].equals(simulated.subflow_series)
    assert result.connections["subflows_established"].to_list() == [4]
    same = ["flow", "subflow", "client", "client_port", "server", "path"]
    assert result.subflows.select(same).equals(simulated.subflows.select(same))
    assert result.subflows["delivered_bytes"].min() > 0
    assert result.subflow_series["subflow"].n_unique() == 4
    assert result.flows["goodput_mbps"][0] > 0.6 * simulated.flows["goodput_mbps"][0]


def test_a_subflow_that_is_not_there_is_opened_again(
    live_run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other host may refuse one, of which the kernel says nothing."""
    ordered: list[int] = []
    create = PathManager.create_subflow

    def forgetful(
        manager: PathManager,
        token: int,
        identifier: int,
        source: End,
        destination: End,
        *,
        is_backup: bool,
    ) -> None:
        ordered.append(identifier)
        if ordered != [1]:
            create(manager, token, identifier, source, destination, is_backup=is_backup)

    monkeypatch.setattr(PathManager, "create_subflow", forgetful)
    manager = {"algorithm": "ndiffports", "subflows": 3}
    scenario = paths(
        "20 Mbps",
        [5, 5],
        [{"transport": "three"}],
        transport={"three": {"preset": "mptcp-cubic", "path_manager": manager}},
        routing={"scheme": "disjoint", "load_balancing": "hash"},
        run={"duration": "2 s", "flow_series": True},
    )
    result = live_run(scenario)
    # The kernel refuses the second until data have been acknowledged.
    assert (ordered[0], set(ordered[1:-1]), ordered[-1]) == (1, {2}, 1)
    assert result.connections["subflows_established"].to_list() == [3]
    assert result.subflows["delivered_bytes"].min() > 0  # type: ignore[operator]


@pytest.mark.usefixtures("can_join")
def test_connections_whose_first_packets_are_lost_are_plain_tcp_and_said(live_run: LiveRun) -> None:
    """Of 60, all keep Multipath TCP by chance once in a million runs: each loses three packets of three."""
    nodes = ["source", "middle", "sink"]
    ends = {"capacity": "20 Mbps", "delay": "5 ms", "queue": "60 packets", "new": True}
    links: list[dict[str, Any]] = [{**ends, "between": list(pair)} for pair in pairwise(nodes)]
    links.append({"between": nodes[:2], "direction": "forward", "loss": 0.6})
    scenario = Scenario.model_validate(
        {
            "network": {"node": [{"name": name} for name in nodes], "link": links},
            "traffic": [{"from": "source", "to": "sink", "transport": "linux-mptcp", "flows": 60}],
            "run": {"duration": "4 s", "flow_series": True},
        }
    )
    result = live_run(scenario)
    plain = result.summary["live"]["fallen_back"]
    connections = result.connections.filter(pl.col("flow").is_in(plain))
    assert plain
    assert connections["subflows_established"].unique().to_list() == [0]
    subflows = result.subflows.filter(pl.col("flow").is_in(plain))
    assert subflows["segments_sent"].null_count() == 0
    assert any("fell back to plain TCP" in warning for warning in result.summary["warnings"])


def test_a_failure_and_a_repair_come_at_their_times(live_run: LiveRun) -> None:
    down = {"at": "1 s", "link": ["source", "path1"], "state": "down"}
    traffic = [{"transport": "linux-cubic"}]
    scenario = paths(
        "20 Mbps",
        [5],
        traffic,
        event=[down, {**down, "at": "2 s", "state": "up"}],
        run={"duration": "4 s", "sample_interval": "100 ms", "link_series": True},
    )
    result = live_run(scenario)
    there = result.link_series.filter(pl.col("link") == 0).select("time_s", "throughput_mbps")
    during = there.filter((pl.col("time_s") > 1.15) & (pl.col("time_s") < 1.95))
    after = there.filter(pl.col("time_s") > 3.5)
    assert during["throughput_mbps"].sum() == 0
    assert after["throughput_mbps"].mean() > 15
    assert result.flows["drops_down"][0] > 0


def test_a_live_run_is_held_against_its_simulation(live_run: LiveRun) -> None:
    traffic = [{"transport": "linux-cubic", "size": "3 MB"}, {"transport": "mprc", "stop": "1 s"}]
    scenario = paths("20 Mbps", [5], traffic, run={"duration": "4 s"})
    result, simulated = live_run(scenario, against_simulation=True, runs=1), anabranch.run(scenario)
    (row,) = result.tables["against"].rows(named=True)
    assert row["name"] == "traffic[0].0"
    assert row["simulated_goodput_mbps"] == simulated.flows["goodput_mbps"][0]
    assert row["goodput_mbps"] == result.flows["goodput_mbps"][0]
    ratio = row["simulated_goodput_mbps"] / row["goodput_mbps"]
    assert row["difference_percent"] == pytest.approx((ratio - 1) * 100)
    verdict = result.summary["live"]["against"]
    # Nothing is random: the five simulated runs are the same, and one live run says nothing of its spread.
    assert row["within_spread"] == "unknown"
    assert verdict == {
        "flows": 1,
        "live_runs": 1,
        "simulated_runs": 5,
        "beyond_spread": 0,
        "spread_unknown": 1,
        "median_difference_percent": pytest.approx(abs(row["difference_percent"])),
        "largest_difference_percent": pytest.approx(abs(row["difference_percent"])),
    }


def test_three_live_runs_and_five_simulated_ones_tell_chance_from_difference(live_run: LiveRun) -> None:
    """Both sides lose the same packets of the same replication, which are others in each."""
    traffic = [{"name": "lossy", "transport": "linux-cubic"}]
    lossy = [{"between": ["source", "path1"], "loss": 0.01}]
    scenario = paths("20 Mbps", [5], traffic, run={"duration": "3 s"})
    scenario = scenario.model_copy(
        update={"network": scenario.network.model_validate({**scenario.network.data(), "link": lossy})}
    )
    result = live_run(scenario, against_simulation=True)
    (row,) = result.tables["against"].rows(named=True)
    assert (row["live_runs"], row["simulated_runs"]) == (3, 5)
    assert row["goodput_least_mbps"] < row["goodput_largest_mbps"]
    assert row["simulated_goodput_least_mbps"] < row["simulated_goodput_largest_mbps"]
    assert row["goodput_least_mbps"] <= row["goodput_mbps"] <= row["goodput_largest_mbps"]
    assert row["within_spread"] in ("yes", "no")
    with StringIO() as text:
        show(Console(file=text, width=200), against_pieces(result))
        assert "3 live runs and 5 simulated ones: means differ by more than" in text.getvalue()


def test_nothing_follows_from_a_run_that_is_not_valid() -> None:
    scenario = paths("20 Mbps", [5], [{"transport": "linux-cubic"}], run={"duration": "1 s"})
    result = run(scenario, against_simulation=True, runs=1, latest_us=0.001)
    assert result.summary["warnings"][0].startswith("not valid: 1 % of the packets came more than")
    assert result.summary["live"]["against"]["refused"].startswith("the live run is not valid: 1 %")
    with StringIO() as text:
        show(Console(file=text, width=200), against_pieces(result))
        assert "no conclusion: the live run is not valid" in text.getvalue()


def test_a_scenario_runs_live_from_python(live_run: LiveRun) -> None:  # noqa: ARG001 - skips
    scenario = paths("20 Mbps", [5], [{"transport": "linux-reno", "size": "100 kB"}])
    result = anabranch.run(scenario, live=True)
    assert result.flows["delivered_bytes"].to_list() == [100_000]
    assert result.summary["live"]["flows_real"] == 1


def test_a_simulated_sender_speaks_with_a_receiver_of_the_kernel(live_run: LiveRun) -> None:
    traffic = [{"transport": "tcp-pr", "size": "1500 kB"}, {"transport": "cubic", "stop": "2 s"}]
    settings = {"duration": "4 s", "flow_series": True}
    result = live_run(paths("20 Mbps", [5], traffic, run=settings), kernel_receivers=True)
    sized, stopped = result.flows.rows(named=True)
    assert result.flows["hosts"].to_list() == ["kernel receives"] * 2
    # The kernel has read every byte, once, and our FIN.
    assert sized["delivered_bytes"] == 1_500_000
    assert 0.6 < sized["completion_s"] < 3
    assert 2 <= stopped["completion_s"] < 3
    assert sized["spurious_retransmissions"] is None
    assert sized["rtt_min_ms"] >= 10
    assert (
        sized["segments_sent"] == sized["packets_received"] + sized["drops_data"] + sized["packets_in_flight"]
    )
    assert result.flow_series.filter(pl.col("flow") == 1)["goodput_mbps"].max() > 5


def test_samples_cover_the_whole_run(live_run: LiveRun) -> None:
    traffic = [{"transport": "linux-cubic", "size": "unlimited"}]
    settings = {"duration": "2 s", "sample_interval": "500 ms", "flow_series": True}
    scenario = paths("10 Mbps", [5], traffic, run=settings)
    scenario = scenario.replace({"network.hosts.processing_delay": "1 ms"})
    result = live_run(scenario)
    series = result.flow_series
    assert series["time_s"].to_list() == [0.5, 1.0, 1.5, 2.0]
    # What the parts delivered is what the flow has: the first part begins at zero.
    delivered = (series["goodput_mbps"] * 1e6 / 8 * 0.5).sum()
    assert delivered == pytest.approx(result.flows["delivered_bytes"].item(), rel=0.05)
    assert sum("processing_delay" in warning for warning in result.summary["warnings"]) == 1


def test_a_sender_of_the_kernel_speaks_with_a_simulated_receiver(live_run: LiveRun) -> None:
    traffic = [{"transport": "linux-cubic", "size": "1500 kB"}, {"transport": "every", "stop": "2 s"}]
    loss = {"algorithm": "bernoulli", "probability": 0.005}
    scenario = paths(
        "20 Mbps",
        [5],
        traffic,
        # An ACK for each segment: the receiver is the scenario's, and not the kernel's.
        transport={"every": {"preset": "linux-reno", "delayed_ack_segments": 1}},
        run={"duration": "6 s", "flow_series": True},
    ).replace({"network.links.loss": loss})
    result = live_run(scenario, simulated_receivers=True, against_simulation=True, runs=1)
    sized, stopped = result.flows.rows(named=True)
    assert result.flows["hosts"].to_list() == ["kernel sends"] * 2
    # Every byte, once, and the kernel's FIN.
    assert sized["delivered_bytes"] == 1_500_000
    assert 0.6 < sized["completion_s"] < 5
    assert 2 <= stopped["completion_s"] < 3
    # What was lost was reported, and sent again.
    assert sized["drops_random"] + stopped["drops_random"] > 0
    assert sized["retransmissions"] + stopped["retransmissions"] > 0
    assert (sized["timeouts"], stopped["timeouts"]) == (0, 0)
    assert sized["rtt_min_ms"] >= 10
    assert result.flow_series["goodput_mbps"].max() > 5
    assert result.tables["against"]["simulated_delivered_bytes"][0] == 1_500_000


def test_who_answers_acknowledges_as_its_table_says(live_run: LiveRun) -> None:
    def acks_per_segment(**receiver: object) -> float:
        transport = {"own": {"preset": "linux-reno", "quick_acks": 0, "autotuning": False, **receiver}}
        # Ends of writes would be acknowledged at once.
        transport["own"]["acks_end_of_write"] = False
        scenario = paths("10 Mbps", [5], [{"transport": "own", "size": "1 MB"}], transport=transport)
        # Nothing is lost: what is missing is told at once.
        scenario = scenario.replace({"run.duration": "3 s", "network.links.queue": "1000 packets"})
        result = live_run(scenario, simulated_receivers=True)
        back = result.links.filter(pl.col("from") == "sink")["packets"].sum()
        return float(back) / float(result.flows["packets_received"][0])

    assert acks_per_segment(delayed_ack_segments=1) == pytest.approx(1, abs=0.05)
    assert acks_per_segment(delayed_ack_segments=4) == pytest.approx(0.25, abs=0.05)


def test_trains_have_two_real_ends() -> None:
    scenario = paths("20 Mbps", [5], [{"transport": "linux-cubic"}])
    scenario = scenario.replace({"network.hosts": {"offload": "4 segments"}})
    with pytest.raises(LiveError, match=r"network\.hosts\.offload: a simulated end of a connection"):
        run(scenario, simulated_receivers=True)


def test_a_capture_has_the_packets_of_the_kernel(live_run: LiveRun, tmp_path: Path) -> None:
    traffic = [{"transport": "linux-cubic", "size": "300 kB"}]
    capture = [{"file": "link.pcapng", "link": ["source", "path1"]}]
    scenario = paths("20 Mbps", [5], traffic, capture=capture, run={"duration": "2 s"})
    asked = Asked((HostProgram("source", f"exec {sys.executable} -c '{DATAGRAM}'"),))
    result = live_run(scenario, asked=asked, out=tmp_path / "out", page=False, replace=True)
    file = tmp_path / "out" / "link.pcapng"
    (row,) = analyze([file]).subflows.rows(named=True)
    assert 300_000 in row.values()
    # UDP is what it was, and no segment.
    assert file.read_bytes().count(b"what the program said") == 3
    (rows_of_one,) = result.tables["conversations"].filter(pl.col("protocol") == "udp").rows(named=True)
    assert rows_of_one["packets_received"] == 3
