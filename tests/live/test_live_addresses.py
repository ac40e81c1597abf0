"""Backups and addresses that come and go, by the kernel's Multipath TCP."""

from typing import Any

import polars as pl
import pytest
from live_scenarios import LiveRun, paths

from anabranch.results.result import Result

pytestmark = pytest.mark.usefixtures("can_join")


def over_two_paths(live_run: LiveRun, *events: dict[str, Any], duration: str = "4 s") -> Result:
    """A run over two paths of 10 Mbps, with a subflow on each."""
    scenario = paths(
        "10 Mbps",
        [5, 5],
        [{"transport": "two"}],
        transport={"two": {"preset": "linux-mptcp", "path_manager": {"algorithm": "fullmesh", "limit": 4}}},
        routing={"scheme": {"algorithm": "disjoint", "k": 2}, "reaction": "never"},
        run={"duration": duration},
        event=list(events),
    )
    return live_run(scenario)


def carried_mbps(result: Result, path: str, from_s: float, to_s: float) -> float:
    """What a path carries in the mean over some seconds."""
    link = result.links.filter(pl.col("name") == f"source->{path}")["link"][0]
    samples = result.link_series.filter(
        (pl.col("link") == link) & pl.col("time_s").is_between(from_s, to_s, closed="right")
    )
    mean = samples["throughput_mbps"].mean()
    assert isinstance(mean, float)
    return mean


def test_a_backup_carries_nothing_until_the_other_path_fails(live_run: LiveRun) -> None:
    """RFC 8684 section 3.3.8; without the event both paths carry data (the last test)."""
    result = over_two_paths(
        live_run,
        {"at": "0 s", "address": ["source", "path2"], "backup": True},
        {"at": "2 s", "link": ["source", "path1"], "state": "down"},
    )
    assert carried_mbps(result, "path1", 0.5, 2.0) > 8
    assert carried_mbps(result, "path2", 0.5, 2.0) < 0.5
    assert carried_mbps(result, "path2", 3.0, 4.0) > 8


def test_a_backup_that_becomes_regular_carries_data(live_run: LiveRun) -> None:
    result = over_two_paths(
        live_run,
        {"at": "0 s", "address": ["source", "path2"], "backup": True},
        {"at": "2 s", "address": ["source", "path2"], "backup": False},
    )
    assert carried_mbps(result, "path2", 0.5, 2.0) < 0.5
    assert carried_mbps(result, "path2", 2.5, 4.0) > 8


@pytest.mark.parametrize("path", ["path1", "path2"])
def test_an_address_that_goes_carries_nothing_until_it_is_back(live_run: LiveRun, path: str) -> None:
    """The connection begins on path1.

    The kernel sends what waits in the queue of a subflow that it closes: the first one's takes up to 0.26 s.
    """
    result = over_two_paths(
        live_run,
        {"at": "1.5 s", "address": ["source", path], "state": "down"},
        {"at": "3 s", "address": ["source", path], "state": "up"},
        duration="4.5 s",
    )
    assert carried_mbps(result, path, 0.5, 1.5) > 8
    assert carried_mbps(result, path, 2.2, 3.0) < 0.5
    assert carried_mbps(result, path, 3.5, 4.5) > 8
