"""Runs on several cores: the same tables, and a reason where a run stays on one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch import Result, Scenario
from anabranch.errors import ScenarioError
from anabranch.process import memory
from anabranch.runs import runner


def ring(**more: Any) -> Scenario:
    """Twelve routers in a ring, each of which sends to the next but two, a millisecond a link."""
    routers = [f"r{number}" for number in range(12)]
    links = [
        {"between": [a, b], "new": True, "capacity": "50 Mbps", "delay": "1 ms"}
        for a, b in zip(routers, routers[1:] + routers[:1], strict=True)
    ]
    traffic = [
        {"from": a, "to": routers[(number + 3) % 12], "transport": "cubic", "start": f"{number} ms"}
        for number, a in enumerate(routers)
    ]
    return Scenario.from_data(
        {
            "network": {"node": [{"name": name} for name in routers], "link": links},
            "traffic": traffic,
            "run": {"duration": "1 s", "seed": 3},
        }
        | more
    )


FAILING = {
    "event": [
        {"at": "0.3 s", "link": ["r0", "r1"], "state": "down"},
        {"at": "0.6 s", "link": ["r0", "r1"], "state": "up"},
    ]
}
PINGS = {"from": "r2", "to": "r7", "application": {"kind": "ping", "interval": "5 ms"}}


def same(one: Result, other: Result) -> None:
    """Fails where a table differs."""
    assert one.tables.keys() == other.tables.keys()
    for name, table in one.tables.items():
        assert table.equals(other.tables[name]), name
    assert one.summary["packet_hops"] == other.summary["packet_hops"] > 10_000


@pytest.mark.parametrize("cores", [2, 3, 8])
@pytest.mark.parametrize("more", [{}, FAILING], ids=["calm", "failing"])
def test_tables_are_the_same_on_any_number_of_cores(cores: int, more: dict[str, Any]) -> None:
    scenario = ring(**more)
    many = scenario.run(cores=cores)
    assert not [text for text in many.summary["warnings"] if "has one core" in text]
    same(scenario.run(), many)


def test_pings_and_captures_are_divided_as_well(tmp_path: Path) -> None:
    """On a link that packets of others pass, and at a host with flows from other parts."""
    captures = [{"link": ["r0", "r1"], "file": "link.pcapng"}, {"host": "r3", "file": "host.pcapng"}]
    data = ring(capture=captures).data()
    data["traffic"].append(PINGS)
    scenario = Scenario.from_data(data)
    one = scenario.run(out=tmp_path / "one", page=False)
    many = scenario.run(out=tmp_path / "many", page=False, cores=3)
    assert not [text for text in many.summary["warnings"] if "has one core" in text]
    same(one, many)
    for capture in captures:
        name = capture["file"]
        captured = [(tmp_path / out / name).read_bytes() for out in ("one", "many")]
        assert captured[0] == captured[1], name
        assert len(captured[0]) > 100_000, name


def test_all_cores_are_those_that_the_program_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "available_cores", lambda: 3)
    all_of_them = ring().run(cores="all")
    assert not [text for text in all_of_them.summary["warnings"] if "core" in text]
    same(ring().run(), all_of_them)


def test_more_cores_than_nodes_or_than_the_machine_has_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "available_cores", lambda: 1)
    warnings = ring().run(cores=1000).summary["warnings"]
    assert [text for text in warnings if "though 1000 were asked for" in text]
    assert [text for text in warnings if "this network in more parts promises no more speed" in text]
    assert [text for text in warnings if "this program may use 1 of this machine" in text]
    assert [text for text in warnings if "and the run is slower than with cores" in text]


def test_what_cannot_be_divided_runs_on_one_core_and_says_why() -> None:
    data = ring().data()
    data["run"]["until"] = "done"
    data["traffic"][0]["size"] = "100 kB"
    result = Scenario.from_data(data).run(cores=2)
    why = "it ends when all flows are done (run.until), which no part knows in time"
    assert f"the run has one core, though more were asked for: {why}" in result.summary["warnings"]
    assert result.flows["delivered_bytes"].sum() > 0


def test_a_network_without_delays_is_not_divided() -> None:
    data = ring().data()
    for link in data["network"]["link"]:
        link["delay"] = "0 ms"
    result = Scenario.from_data(data).run(cores=4)
    assert [text for text in result.summary["warnings"] if "through a link without a delay" in text]


@pytest.mark.parametrize("cores", [0, -1, 5000, "two", 1.5, True])
def test_what_is_no_number_of_cores_is_refused(cores: Any) -> None:
    with pytest.raises(ScenarioError, match=r"cores: .* is no number of cores from 1 to 1024"):
        ring().run(cores=cores)


def test_a_live_run_is_not_divided() -> None:
    with pytest.raises(ScenarioError, match="the network of a live run works on one"):
        ring().run(live=True, cores=2)


@pytest.mark.parametrize(("cores", "calls"), [(1, 0), (3, 1)])
def test_memory_of_parts_is_given_back_before_tables_are_made(
    cores: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(memory, "give_back", lambda: given_back.append(cores))
    assert len(ring().run(cores=cores).tables["flows"]) == 12
    assert len(given_back) == calls


def test_memory_is_given_back_where_the_c_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    memory.give_back()

    def missing(_name: object) -> object:
        raise OSError

    monkeypatch.setattr(memory.ctypes, "CDLL", missing)
    memory.give_back()
