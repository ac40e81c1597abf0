"""Runs in steps: the bytes of a run at once, what is seen between steps, and what can be changed."""

import os
import random
import runpy
import signal
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import Scenario, ScenarioError
from anabranch.scenario.quantity import Span

SCENARIOS: dict[str, dict[str, Any]] = runpy.run_path(
    str(Path(__file__).parents[1] / "fingerprints" / "cases.py")
)["every_scenario"]()
SAMPLE = sorted(
    {
        *sorted(SCENARIOS)[::5],
        *(name for name, data in SCENARIOS.items() if {"capture", "event"} & data.keys()),
        "traffic/datagrams",
        "link/codel",
    }
)

TWO_HOSTS: dict[str, Any] = {
    "network": {
        "node": [{"name": "a"}, {"name": "b"}],
        "link": [{"between": ["a", "b"], "new": True, "capacity": "10 Mbps", "delay": "5 ms"}],
    },
    "traffic": [{"from": "a", "to": "b", "transport": "linux-cubic"}],
    "run": {"duration": "2 s"},
}


def two_hosts(**changes: Any) -> Scenario:
    return Scenario.from_data({**TWO_HOSTS, **changes})


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    return one.schema == other.schema and one.equals(other, null_equal=True)


def test_the_sample_has_something_of_everything() -> None:
    assert len(SAMPLE) >= 20
    text = str([SCENARIOS[name] for name in SAMPLE])
    for word in ("controller", "mptcp", "event", "capture", "codel", "ping"):
        assert word in text, word


@pytest.mark.parametrize("name", SAMPLE)
def test_steps_do_not_show(name: str, tmp_path: Path) -> None:
    scenario = Scenario.from_data(SCENARIOS[name])
    at_once = scenario.run(tmp_path / "at once", page=False)
    simulation = scenario.start()
    draw = random.Random(name)  # noqa: S311 - nothing is kept secret
    steps = 0
    while simulation.now < simulation.end:
        match draw.choice(["span", "span", "event", "zero", "look"]):
            case "span":
                simulation.advance(Span(draw.randrange(int(simulation.end) // 10)))
            case "event" if (following := simulation.next_event) is not None:
                simulation.advance(until=following)
            case "look":
                assert same(simulation.flows, simulation.flows)
                assert simulation.links["state"].is_in(["up", "down"]).all()
            case _:
                simulation.advance("0 s")
        steps += 1
    # Some of the scenarios end soon: once their flows are done.
    assert steps > (2 if name == "run/until-done" or name.startswith("spray/") else 10)
    stepped = simulation.finish(tmp_path / "stepped", page=False)
    assert stepped.tables.keys() == at_once.tables.keys()
    assert [table for table in at_once.tables if not same(stepped.tables[table], at_once.tables[table])] == []
    own_fields = {"wall_s": 0, "started": ""}
    assert {**stepped.summary, **own_fields} == {**at_once.summary, **own_fields}
    for capture in scenario.capture:
        files = [(tmp_path / folder / capture.file).read_bytes() for folder in ("at once", "stepped")]
        assert files[0] == files[1]


def test_time_and_events_are_told() -> None:
    simulation = two_hosts().start()
    assert (simulation.now, simulation.end) == (Span("0 s"), Span("2 s"))
    assert simulation.next_event == Span("0 s")
    # The SYN, 60 B, takes 48 us and the way.
    assert simulation.advance("0 s").next_event == Span("5.048 ms")
    assert simulation.flows["state"].to_list() == ["opening"]
    assert simulation.advance("20 ms").now == Span("20 ms")
    assert simulation.flows["state"].to_list() == ["open"]
    assert simulation.advance(until="1 s").now.seconds == 1.0
    # Ten segments of initial window at first, more by now; the queue is that of a full link.
    (flow,) = simulation.flows.iter_rows(named=True)
    link = simulation.links.row(by_predicate=pl.col("name") == "a->b", named=True)
    assert flow["in_flight_bytes"] <= flow["cwnd_bytes"]
    assert flow["srtt_ms"] > 10
    assert link["queue_packets"] > 0
    assert link["queue_bytes"] >= link["queue_packets"] * 1000
    assert simulation.advance("1 h").now == Span("2 s"), "a step ends with the run"
    assert simulation.next_event is None
    result = simulation.finish()
    assert result.summary["interrupted"] is False
    # 1448 B of each 1500 B are payload.
    assert 8.0 < result.flows["goodput_mbps"][0] < 10 * 1448 / 1500


def test_pings_are_counted_between_steps() -> None:
    ping = {"from": "a", "to": "b", "application": {"kind": "ping", "interval": "100 ms"}}
    simulation = two_hosts(traffic=[ping]).start()
    simulation.advance("305 ms")
    (row,) = simulation.datagram_flows.to_dicts()
    assert (row["sent"], row["received"], row["packets_in_flight"]) == (4, 3, 1)
    assert simulation.flows.is_empty()
    simulation.set(link=["a", "b"], delay="10 ms")
    result = simulation.advance("1 h").finish()
    # 84 B take 67.2 us each way; the answer under way at 305 ms came over the old delay, the request too.
    assert result.datagram_flows["latency_min_ms"].to_list() == [10.1344]
    assert result.datagram_flows["latency_max_ms"].to_list() == [20.1344]


def test_what_is_set_between_steps_is_an_event_of_the_scenario() -> None:
    # A time at which nothing else happens.
    at = "700.000000123 ms"
    changes: dict[str, Any] = {"link": ["a", "b"], "capacity": "5 Mbps", "delay": "1 ms", "loss": 1e-3}
    announced = two_hosts(event=[{"at": at, **changes}]).run()
    simulation = two_hosts().start().advance(until=at)
    simulation.set(**changes)
    assert simulation.links["capacity_mbps"].to_list() == [5.0, 5.0]
    simulation.advance("2 s")
    result = simulation.finish()
    for name in ("flows", "links", "events"):
        assert same(result.tables[name], announced.tables[name]), name
    assert result.events["kind"].to_list() == [
        *["capacity"] * 2, *["delay"] * 2, *["loss"] * 2, "new routes"
    ]  # fmt: skip


def test_a_queue_that_is_set_takes_over_what_waits() -> None:
    at = "700.000000123 ms"
    queue = {"algorithm": "codel", "limit": ["20 ms", "12 packets"], "target": "3 ms"}
    changes: dict[str, Any] = {"link": ["a", "b"], "direction": "forward", "queue": queue}
    announced = two_hosts(event=[{"at": at, **changes}]).run()
    simulation = two_hosts().start().advance(until=at)
    before = simulation.links.row(0, named=True)
    simulation.set(**changes)
    after = simulation.links.row(0, named=True)
    assert before["queue_packets"] > 12 == after["queue_packets"]
    assert after["drops_queue"] - before["drops_queue"] == before["queue_packets"] - 12
    simulation.advance("2 s")
    result = simulation.finish()
    for name in ("flows", "links", "events"):
        assert same(result.tables[name], announced.tables[name]), name
    assert result.links["drops_codel"].to_list()[0] > 0
    assert result.events["kind"].to_list() == ["queue"], "routing has nothing to react to"


def test_links_and_nodes_fail_and_come_back() -> None:
    simulation = two_hosts().start().advance("500 ms")
    simulation.set(link=["a", "b"], state="down")
    before = simulation.flows["delivered_bytes"][0]
    assert simulation.links["state"].to_list() == ["down", "down"]
    assert simulation.links["queue_packets"].to_list() == [0, 0]
    assert simulation.advance("300 ms").flows["delivered_bytes"][0] == before
    simulation.set(link=["a", "b"], state="up")
    simulation.set(node="b", state="down")
    assert simulation.links["state"].to_list() == ["down", "down"]
    simulation.set(node="b", state="up")
    assert simulation.advance("1.2 s").flows["delivered_bytes"][0] > before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link": ["a", "c"], "state": "down"}, 'set.link[1]: no node "c" in '),
        ({"node": "c", "state": "down"}, 'set.node: no node "c" in '),
        ({"link": ["a", "b"]}, "set.state: nothing changes; give state, capacity, delay, loss or queue"),
        ({"link": ["a", "b"], "capacity": "5 m"}, "set.capacity: "),
        ({"link": ["a", "b"], "capasity": "5 Mbps"}, "capasity"),
        (
            {"link": ["a", "b"], "queue": "2 BDP"},
            'set.queue: "2 BDP" needs a round-trip time here; write { bdp = 2, rtt = "50 ms" }',
        ),
        (
            {"link": ["a", "b"], "queue": {"algorithm": "red", "max_threshold": "5 packets"}},
            "set.queue.max_threshold: is 5; it must be above min_threshold",
        ),
        ({"node": "a", "queue": "fifo"}, "set.queue: only a link has one"),
        ({"link": ["a", "b"], "capacity": "5 bps"}, "set.capacity: 5 bps is not between 100 bps"),
        ({"link": ["a", "b"], "state": "down", "at": "1 s"}, "set.at: a change is made now"),
    ],
)
def test_a_wrong_change_is_refused_and_changes_nothing(change: dict[str, Any], message: str) -> None:
    simulation = two_hosts().start().advance("100 ms")
    before = simulation.links
    with pytest.raises(ScenarioError) as error:
        simulation.set(**change)
    assert message in str(error.value)
    assert same(simulation.links, before)
    # A mistake is told once.
    simulation.set(link=["a", "b"], delay="6 ms")
    assert simulation.links["delay_ms"].to_list() == [6.0, 6.0]


def test_steps_that_cannot_be_are_refused() -> None:
    simulation = two_hosts().start().advance("100 ms")
    for wrong in ({}, {"span": "1 ms", "until": "1 s"}):
        with pytest.raises(ValueError, match="give how far to go on"):
            simulation.advance(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a unit of a time"):
        simulation.advance("3 m")
    with pytest.raises(ValueError, match=r"the run is at 0\.1 s and cannot go back to "):
        simulation.advance(until="50 ms")
    assert simulation.finish().summary["interrupted"] is True
    with pytest.raises(RuntimeError, match="the simulation is finished; start another one"):
        simulation.advance("1 ms")


def test_a_step_that_ctrl_c_has_ended_goes_on() -> None:
    scenario = two_hosts(
        run={"duration": "2000 s"},
        network={
            **TWO_HOSTS["network"],
            "link": [{"between": ["a", "b"], "new": True, "capacity": "1 Gbps", "delay": "1 us"}],
        },
    )
    simulation = scenario.start()
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(until="2000 s")
    stopped = simulation.now
    assert Span("0 s") < stopped < Span("2000 s")
    assert simulation.flows["delivered_bytes"][0] > 0
    assert simulation.advance("1 ms").now == Span(int(stopped) + 1_000_000_000)
