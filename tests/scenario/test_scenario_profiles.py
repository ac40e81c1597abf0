"""Measured conditions of links: CSV profiles and Mahimahi traces, and the files that a scenario names."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from anabranch import Scenario, ScenarioError, Study
from anabranch.results.folders import read_manifest
from anabranch.scenario.files import with_files
from anabranch.setup import resolve

MBPS = 10**6
MS = 10**9


def data(profile: dict[str, Any], **traffic: Any) -> dict[str, Any]:
    """Two hosts over one link, from left to right, with this profile."""
    return {
        "network": {
            "node": [{"name": "left", "kind": "host"}, {"name": "right", "kind": "host"}],
            "link": [{"between": ["left", "right"], "new": True, "capacity": "50 Mbps", "delay": "1 ms"}],
        },
        "profile": [{"link": ["left", "right"], "direction": "forward", **profile}],
        "traffic": [{"from": "left", "to": "right", **traffic}],
        "run": {"duration": "3 s"},
    }


def loaded(folder: Path, text: str, profile: dict[str, Any], **traffic: Any) -> Scenario:
    """The scenario beside a file with this text."""
    (folder / "measured").write_text(text, encoding="utf-8")
    return Scenario.from_data(data({"from": "file:measured", **profile}, **traffic), base=folder)


def changes(scenario: Scenario) -> list[tuple[int, str, object]]:
    """What changes, and when in ms."""
    return [
        (event.at // MS, event.change.kind, event.change.core()[event.change.kind])
        for event in resolve(scenario).events
    ]


def test_each_value_holds_until_it_changes(tmp_path: Path) -> None:
    text = "time_s, capacity_mbps, delay_ms, loss\n0.5, 10, 1, 0\n\n1, 10, 2.5, 0.01\n2, 0.5, 2.5, 0\n"
    rows = changes(loaded(tmp_path, text, {}))
    assert rows == [
        (500, "capacity", 10 * MBPS), (500, "delay", MS), (500, "loss", {"algorithm": "none"}),
        (1000, "delay", 2.5 * MS), (1000, "loss", {"algorithm": "bernoulli", "probability": 0.01}),
        (2000, "capacity", MBPS // 2), (2000, "loss", {"algorithm": "none"}),
    ]  # fmt: skip


def test_a_profile_begins_anew(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, "time_s,capacity_kbps\n0,1000\n0.5,2000\n", {"repeat": "1.2 s"})
    expected = [(0, 1), (500, 2), (1200, 1), (1700, 2), (2400, 1), (2900, 2)]
    assert changes(scenario) == [(at, "capacity", mbps * MBPS) for at, mbps in expected]


def test_a_trace_of_mahimahi_is_counted_by_intervals(tmp_path: Path) -> None:
    """100 ms with a packet each ms are 12 Mbps. Nothing for 200 ms: the interval from 100 to 400 ms has
    the ten packets of its last 100 ms, 0.4 Mbps. After 450 ms it begins anew."""
    trace = [*range(100), *range(300, 400, 10), *[450] * 5]
    scenario = loaded(tmp_path, "\n".join(map(str, trace)), {"format": "mahimahi"})
    rows = changes(scenario)[:4]
    assert rows == [
        (0, "capacity", 12 * MBPS),
        (100, "capacity", 400_000),
        (400, "capacity", 1_200_000),
        (450, "capacity", 12 * MBPS),
    ]


def test_empty_lines_at_the_end_of_a_trace_do_not_count(tmp_path: Path) -> None:
    plain, ended = (
        changes(loaded(tmp_path, text, {"format": "mahimahi"}))
        for text in ("10\n20\n20", "10\r\n20\r\n20\r\n\r\n \n")
    )
    assert plain == ended != []


def test_a_full_link_carries_what_the_profile_lets_through(tmp_path: Path) -> None:
    """1 s each of 10, 5 and 20 Mbps; a packet that is being sent at a step leaves at the old rate."""
    text = "time_s,capacity_mbps\n0,10\n1,5\n2,20\n"
    scenario = loaded(tmp_path, text, {}, application={"kind": "udp", "rate": "40 Mbps", "packet": "1500 B"})
    result = scenario.run()
    (sent,) = result.links.filter(name="left->right")["bytes"]
    assert abs(sent * 8 - 35 * MBPS) <= 3 * 1500 * 8


@pytest.mark.parametrize(
    ("text", "profile", "message"),
    [
        ("time_s,rate\n", {}, 'measured, line 1: "time_s,rate" is not a header with time_s and'),
        ("capacity_mbps\n1\n", {}, "measured, line 1"),
        ("time_s,delay_ms,delay_us\n0,1,1\n", {}, "each once"),
        ("time_s,capacity_mbps\n0,1\n2,1\n1,3\n", {}, "measured, line 4: 1 s is not after the row before"),
        ("time_s,capacity_mbps\n0,1\n1,\n", {}, "line 3: capacity_mbps is empty; a profile has no gaps"),
        ("time_s,capacity_mbps\n0,1\n1\n", {}, "line 3: has 1 cells in place of 2"),
        ("time_s,capacity_mbps\n0,1e-9\n", {}, "measured, line 2: 0 bps is not between 100 bps"),
        ("time_s,capacity_mbps\n0,1e999\n", {}, 'measured, line 2: "1e999" is no capacity_mbps'),
        ("time_s,capacity_mbps\n0,1e303\n", {}, 'measured, line 2: "1e303" is no capacity_mbps'),
        ("time_s,loss\n0,1.5\n", {}, 'line 2: "1.5" is no loss'),
        ("time_s,delay_ms\n0,nan\n", {}, 'line 2: "nan" is no delay_ms'),
        ("time_s,delay_ms\n-1,1\n", {}, 'line 2: "-1" is no time_s'),
        ("time_s,delay_ms\n", {}, 'profile[0].from: "measured" has no row'),
        ("", {}, "measured, line 1"),
        ("time_s,delay_ms\n0,1\n2,3\n", {"repeat": "1 s"}, "repeat: is shorter than the file, which lasts"),
        ("time_s,delay_ms\n0,1\n", {"repeat": "1 us"}, "profile[0]: makes 3,000,000 changes; at most"),
        ("1\n3\n2\n", {"format": "mahimahi"}, "measured, line 3: 2 ms comes after 3 ms"),
        ("1\nx\n", {"format": "mahimahi"}, 'measured, line 2: "x" is no whole number of milliseconds'),
        ("0\n0\n", {"format": "mahimahi"}, "lasts 0 ms; it has no capacity"),
        ("time_s,loss\n0,0\n", {"from": "file:none"}, '"none" cannot be read'),
        ("time_s,loss\n0,0\n", {"link": ["left", "up"]}, 'profile[0].link[1]: no node "up"'),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, text: str, profile: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve(loaded(tmp_path, text, profile))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"from": "lte.csv"}, 'profile[0].from: "lte.csv" is not like "file:lte.csv"'),
        ({"from": "file:a", "interval": "1 s"}, "profile[0].interval: is for a Mahimahi trace"),
        ({"from": "file:a", "repeat": "0 s"}, "profile[0].repeat"),
        ({"from": "file:a", "format": "pcap"}, "profile[0].format"),
    ],
)
def test_a_wrong_profile_is_refused_at_once(profile: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_data(data(profile))
    assert message in str(caught.value)


def test_a_result_has_the_files_that_its_scenario_names(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, "time_s,capacity_mbps\n0,10\n1,5\n", {}, transport="cubic")
    twice = scenario.data()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "measured").write_text("time_s,delay_ms\n0,3\n", encoding="utf-8")
    twice["profile"].append({"link": ["left", "right"], "from": "file:other/measured"})
    first = Scenario.from_data(twice, base=tmp_path).run(out=tmp_path / "out", page=False)
    kept = Scenario.load(tmp_path / "out" / "scenario.toml")
    assert [profile.source for profile in kept.profile] == ["file:inputs/measured", "file:inputs/2-measured"]
    (tmp_path / "measured").unlink()
    assert kept.run().flows.equals(first.flows)
    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    assert "inputs/2-measured" in manifest.files


def test_a_study_compares_profiles(tmp_path: Path) -> None:
    for name, mbps in (("slow", 1), ("fast", 8)):
        (tmp_path / name).write_text(f"time_s,capacity_mbps\n0,{mbps}\n", encoding="utf-8")
    factor = {"field": "profile[0].from", "label": "trace", "levels": ["file:slow", "file:fast"]}
    study = {"scenario": data({"from": "file:slow"}, transport="cubic"), "factor": [factor]}
    (tmp_path / "study.toml").write_text(tomli_w.dumps(study), encoding="utf-8")
    done = Study.load(tmp_path / "study.toml").run(jobs=1, out=tmp_path / "out")
    slow, fast = done.runs["delivered_mbps"]
    assert 0.9 < slow < 1
    assert 7 < fast < 8
    assert sorted(file.name for file in (tmp_path / "out" / "inputs").iterdir()) == ["fast", "slow"]


def test_only_fields_of_files_are_changed() -> None:
    given = {
        "title": "file:a",
        "network": {"topology": "file:b", "links": {"capacity": "file:c"}},
        "routing": {"demand": {"pair": {"from": "file:d"}}},
        "profile": [{"from": "file:e", "link": ["file:f", "g"]}, {"from": "h"}],
    }
    changed = with_files(given, lambda name, folder: f"{folder}/{name}")
    assert changed == {
        "title": "file:a",
        "network": {"topology": "file:topologies/b", "links": {"capacity": "file:c"}},
        "routing": {"demand": {"pair": {"from": "file:inputs/d"}}},
        "profile": [{"from": "file:inputs/e", "link": ["file:f", "g"]}, {"from": "h"}],
    }
