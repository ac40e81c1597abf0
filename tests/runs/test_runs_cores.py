"""Runs on two cores: the same tables, and a reason where a run stays on one."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError


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


def test_tables_are_the_same_on_two_cores() -> None:
    one, two = ring().run(), ring().run(cores=2)
    assert not [text for text in two.summary["warnings"] if "has one core" in text]
    assert one.tables.keys() == two.tables.keys()
    for name, table in one.tables.items():
        assert table.equals(two.tables[name]), name
    assert one.summary["packet_hops"] == two.summary["packet_hops"] > 10_000


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (
            {"event": [{"at": "0.5 s", "link": ["r0", "r1"], "state": "down"}]},
            "the network changes during the run",
        ),
        ({"capture": [{"link": ["r0", "r1"], "file": "c.pcapng"}]}, "it captures packets"),
    ],
)
def test_what_cannot_be_divided_runs_on_one_core_and_says_why(
    more: dict[str, Any], why: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = ring(**more).run(cores=2)
    assert f"the run has one core, though two were asked for: {why}" in found.summary["warnings"]
    assert found.flows["delivered_bytes"].sum() > 0


@pytest.mark.parametrize("cores", [0, 3])
def test_only_one_and_two_cores_are_there(cores: int) -> None:
    with pytest.raises(ScenarioError, match=f"cores: {cores} is not 1 or 2"):
        ring().run(cores=cores)


def test_a_live_run_is_not_divided() -> None:
    with pytest.raises(ScenarioError, match="the network of a live run works on one"):
        ring().run(live=True, cores=2)
