"""The comparison itself: what it accepts, what it refuses, and that both peers are told the same."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import (
    BROKEN,
    KEPT,
    KNOWN,
    KNOWN_DIFFERENCES,
    MISSING,
    Pair,
    goodput_row,
    jain_row,
    report,
    speed_row,
)
from ns3_claims import AUTHOR, ON_THE_WIRE, Claim, claims, in_ns3, verdict
from ns3_peer import find_wheel
from records import Results, RunRecord
from scenarios import Scenario, all_scenarios

SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}


def runs(scenario: Scenario, *, scale: float = 1.0, cpu_s: float = 0.1) -> list[RunRecord]:
    """A run for each seed in which every flow has a goodput of `scale`."""
    flows = (scale,) * len(scenario.flows)
    return [
        RunRecord(scenario.name, seed, scenario.fingerprint(), flows, 1_000_000, cpu_s)
        for seed in scenario.seeds
    ]


@pytest.mark.parametrize(
    ("name", "inside", "outside"), [("dumbbell/cubic", 1.029, 0.969), ("lossy/1e-03/bbr", 0.851, 1.151)]
)
def test_goodput_is_held_against_the_tolerance_of_its_group(name: str, inside: float, outside: float) -> None:
    scenario = SCENARIOS[name]
    theirs = runs(scenario)
    assert goodput_row(Pair(scenario, theirs, runs(scenario, scale=inside))).verdict == KEPT
    assert goodput_row(Pair(scenario, theirs, runs(scenario, scale=outside))).verdict == BROKEN


@pytest.mark.parametrize("name", sorted(KNOWN_DIFFERENCES))
def test_a_known_difference_is_accepted_with_its_reason_and_only_as_far_as_it_explains(name: str) -> None:
    scenario, expected = SCENARIOS[name], KNOWN_DIFFERENCES[name]
    theirs = runs(scenario)
    row = goodput_row(Pair(scenario, theirs, runs(scenario, scale=expected.least + 0.01)))
    assert (row.verdict, row.reason) == (KNOWN, expected.reason)
    row = goodput_row(Pair(scenario, theirs, runs(scenario, scale=expected.least - 0.01)))
    assert (row.verdict, row.reason) == (BROKEN, "")
    assert goodput_row(Pair(scenario, theirs, runs(scenario))).verdict == KEPT
    assert goodput_row(Pair(scenario, theirs, [])).verdict == MISSING


def test_unfairness_beyond_the_tolerance_is_seen_at_equal_goodput() -> None:
    scenario = SCENARIOS["dumbbell/bbr"]
    fair = runs(scenario)
    # Five of ten flows share everything: Jain's index is one half.
    unfair = [replace(run, goodput_mbps=(2.0,) * 5 + (0.0,) * 5) for run in fair]
    assert unfair[0].jain == pytest.approx(0.5)
    assert fair[0].jain == pytest.approx(1.0)
    assert goodput_row(Pair(scenario, fair, unfair)).verdict == KEPT
    assert jain_row(Pair(scenario, fair, unfair)).verdict == BROKEN


def test_a_missing_seed_is_not_passed_over() -> None:
    scenario = SCENARIOS["dumbbell/newreno"]
    all_runs = runs(scenario)
    for pair in (Pair(scenario, all_runs, all_runs[1:]), Pair(scenario, [], all_runs)):
        assert goodput_row(pair).verdict == MISSING
        assert jain_row(pair).verdict == MISSING


def test_speed_goals() -> None:
    scenario = SCENARIOS["speed/100-mbps"]
    assert speed_row(Pair(scenario, [], runs(scenario, cpu_s=0.6))).verdict == KEPT
    assert speed_row(Pair(scenario, [], runs(scenario, cpu_s=0.61))).verdict == BROKEN
    scenario = SCENARIOS["speed/1-gbps"]
    assert speed_row(Pair(scenario, [], runs(scenario, cpu_s=0.19))).verdict == KEPT
    assert speed_row(Pair(scenario, [], runs(scenario, cpu_s=0.21))).verdict == BROKEN


def test_results_survive_their_file_and_stale_ones_do_not_count(tmp_path: Path) -> None:
    scenario = SCENARIOS["dumbbell/cubic"]
    results = Results("ns-3", "3.44", "test", runs=runs(scenario))
    results.save(tmp_path / "results.json")
    loaded = Results.load(tmp_path / "results.json")
    assert loaded == results
    assert loaded.has(scenario, 1)
    changed = replace(scenario, duration_s=31)
    assert not loaded.has(changed, 1)
    assert loaded.of(changed) == []
    assert not report(loaded, loaded)[1]


def test_both_forms_say_the_same() -> None:
    for scenario in all_scenarios():
        toml = tomllib.loads(scenario.toml(2, scenario.duration_s))
        lines = [line.split() for line in scenario.ns3_input(2).splitlines()]
        new = [link for link in toml["network"]["link"] if link.get("new")]
        links = [line for line in lines if line[0] == "link"]
        assert [(*e["between"], e["capacity"], e["queue"]) for e in new] == [
            (a, b, f"{rate} bps", f"{queue} packets") for _, a, b, rate, _, queue, _, _ in links
        ]
        assert [int(e["delay"].removesuffix(" us")) * 1000 for e in new] == [int(line[4]) for line in links]
        losses = {tuple(e["between"]): e["loss"] for e in toml["network"]["link"] if "loss" in e}
        assert losses == {(line[1], line[2]): float(line[6]) for line in links if float(line[6]) > 0}
        flows = [line for line in lines if line[0] == "flow"]
        assert [
            (e["from"], e["to"], int(e["start"].removesuffix(" us")) * 1000) for e in toml["traffic"]
        ] == [(origin, to, int(start)) for _, origin, to, start in flows]


def test_without_ns3_the_peer_says_so_and_succeeds(tmp_path: Path) -> None:
    # Isolated mode without site packages finds no wheel; an empty PATH no pkg-config.
    peer = Path(__file__).parent / "ns3_peer.py"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-S", str(peer), "--out", str(tmp_path / "out.json")],
        env={"PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("skipped: ns-3 is not installed")
    assert not (tmp_path / "out.json").exists()


BBR = next(claim for claim in claims() if claim.scenario.name == "claims/2.4/bbr")
"""Printed: at most 2.5 Mbps."""


@pytest.mark.parametrize(
    ("author", "ours", "error", "expected"),
    [
        ([14.0], [1.0], [], "agrees"),
        ([0.1], [14.0], [0.1], "agrees as ns-3 does"),
        ([0.1], [14.0], [14.0], "differs"),
        # One seed of the author's simulator gives it.
        ([14.0, 0.1, 14.0], [14.0], [14.0], "differs"),
        ([14.0, 13.0], [14.0], [14.0], "refuted"),
        ([], [14.0], [14.0], "differs (no ns-3 of that version ran)"),
        ([14.0], [2.54], [14.0], "refuted"),
    ],
)
def test_what_the_author_s_simulator_says_of_a_claim(
    author: list[float], ours: list[float], error: list[float], expected: str
) -> None:
    assert verdict(BBR, author, ours, error) == expected


def test_a_claim_is_held_to_ip_bytes_or_to_the_best_of_its_rivals() -> None:
    assert pytest.approx(1500 / 1448) == ON_THE_WIRE
    # 2.45 Mbps of payload are 2.54 of IP bytes.
    assert BBR.numbers(lambda _: [2.45]) == pytest.approx([2.538], abs=1e-3)
    first = next(claim for claim in claims() if claim.rivals)
    goodputs = {"cubic": [6.0, 9.0], "newreno": [8.0, 6.0], "bbr": [1.0, 4.5]}
    assert first.numbers(lambda scenario: goodputs[scenario.tcp.transport]) == pytest.approx([0.75, 1.5])


def test_every_claim_has_its_own_scenario() -> None:
    outcome: list[Claim] = list(claims())
    assert len({claim.scenario.name for claim in outcome}) == len(outcome) == 19
    assert {claim.figure for claim in outcome} == {"2.4", "5.3", "5.4", "5.5", "5.6", "5.7", "5.8"}


def test_a_folder_without_ns_3_is_skipped_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_ns3(tmp_path, 1.0)
    assert f"skipped: no ns-3 in {tmp_path}" in capsys.readouterr().out


def test_the_version_of_ns_3_is_its_package_s(tmp_path: Path) -> None:
    """The library of 3.39 is `libns3-dev-core.so`: its name has no version."""
    for file in ("lib64/libns3-dev-core.so", "include/ns3/core-module.h"):
        (tmp_path / "ns3" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ns3" / file).touch()
    about = tmp_path / "ns3-3.39.post2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ns3\nVersion: 3.39.post2\n")
    outcome = find_wheel(tmp_path)
    assert outcome is not None
    assert (outcome.version, outcome.source, outcome.prefix) == (AUTHOR, "PyPI ns3 3.39.post2", "ns3-dev-")
