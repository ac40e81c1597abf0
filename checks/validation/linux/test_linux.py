"""A part of the measured points in every test run; `make validate-linux` has all of them."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import points as measured
from linux_page import bounds, host_noise, middle, recorded_errors, recorded_verdicts
from measure import measure, outcome, tasks_of, with_hosts
from points import lost_packets, points
from recorded import HOST_DELAY, METRICS, SEEDS, recorded, simulate_recorded

POINTS = (
    "reno-10M-40ms-q1-p0.001",
    "reno-10M-40ms-q1-p0.01",
    "reno-10M-100ms-q1-p0.01",
    "cubic-10M-40ms-q0.5-p0",
    "cubic-10M-100ms-q1-p0",
    "cubic-10M-40ms-q1-p0.001",
    "cubic-10M-40ms-q1-p0.01",
    "cubic-50M-40ms-q1-p0.01",
    "bbr-10M-40ms-q1-p0",
    "bbr-10M-100ms-q1-p0",
    "bbr-100M-10ms-q1-p0",
)
WITHOUT_LOSS, WITH_LOSS = 0.003, 0.03
"""Largest errors of goodput: what the kernel's own runs repeat within, and the bound of docs/linux.md for
95 % of the points; with matched losses the standard error is up to 0.036."""


def simulated(name: str):
    """The outcome of a point by its name."""
    (point,) = [point for point in points() if point.name == name]
    tasks = tasks_of(point)
    return outcome(point, tasks, [measure(task) for task in tasks])


def told(group: str):
    """The outcome of the point of told.csv in this group."""
    (point,) = [point for point in points("told.csv") if point.group == group]
    tasks = tasks_of(point)
    return outcome(point, tasks, [measure(task) for task in tasks])


@pytest.mark.parametrize("name", POINTS)
def test_goodput_is_the_kernels(name: str) -> None:
    outcome = simulated(name)
    bound = WITH_LOSS if outcome.point.loss else WITHOUT_LOSS
    assert abs(outcome.error) < bound, f"{outcome.simulated} for {outcome.point.kernel} Mbps"


@pytest.mark.parametrize("point", points("slow_start.csv"), ids=lambda point: point.name)
def test_slow_start_ends_where_the_kernels_does(point: measured.Point) -> None:
    """At 10 Mbps and 100 ms it ended at 73 in place of 124 segments with another receive window."""
    assert outcome(
        point, tasks_of(point), [measure(task) for task in tasks_of(point)]
    ).error == pytest.approx(0, abs=0.02)


def test_bursts_of_bbr_queue_as_in_the_kernel() -> None:
    """3.4 ms; segments that leave one by one queue 1 ms."""
    outcome = simulated("bbr-100M-10ms-q1-p0")
    kernel_ms = outcome.point.srtt_ms - outcome.point.rtt_ms
    midway_ms = (1.0 + kernel_ms) / 2
    assert midway_ms < outcome.srtt_ms - outcome.point.rtt_ms < 2 * kernel_ms - midway_ms


def test_sprayed_acks_that_were_overtaken_are_refused() -> None:
    """Without PAWS CUBIC stands at 0.5 Mbps with delays of 10 and 100 ms; the kernel has 1.5."""
    (point,) = [point for point in points() if point.name == "cubic-(10, 100)"]
    runs = [measure(task).value for task in tasks_of(point)[:10]]
    assert min(runs) > 1.0
    assert len(set(runs)) == len(runs), "each draw is a run of its own"


def test_sprayed_bbr_does_not_stand_still() -> None:
    """Two runs of five stood at 4 Mbps for ten seconds where receivers did not answer ACKs of old numbers."""
    (point,) = [point for point in points("told.csv") if point.name == "bbr-(10, 50)"]
    runs = [measure(task).value for task in tasks_of(point)]
    assert min(runs) > 14
    assert sum(runs) / len(runs) == pytest.approx(point.kernel, rel=0.08)


def test_sprayed_bbr_takes_spurious_losses_for_a_policer() -> None:
    """Without its long-term bandwidth it has 2.6 Mbps in the mean, and the kernel has 1.6 in thirty runs."""
    (point,) = [point for point in points("told.csv") if point.name == "bbr-(10, 100)"]
    runs = [measure(task).value for task in tasks_of(point)[:30]]
    for count in (5, 30):
        assert sum(runs[:count]) / count == pytest.approx(point.kernel, rel=0.30)


def test_the_kernel_told_of_sprayed_bbr_is_the_mean_of_its_runs() -> None:
    (point,) = [point for point in points("told.csv") if point.name == "bbr-(10, 100)"]
    with (measured.HERE / "sprayed_runs.csv").open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 30
    goodput_mbps = [float(run["goodput_mbps"]) for run in runs]
    assert sum(goodput_mbps) / len(runs) == pytest.approx(point.kernel, abs=5e-4)
    sent_again = [int(run["retransmissions"]) / int(run["segments_sent"]) for run in runs]
    assert 100 * sum(sent_again) / len(runs) == pytest.approx(point.retransmitted_percent, abs=5e-3)


def test_two_flows_share_as_in_the_kernel() -> None:
    """Over 96 pairs of RTTs; of single pairs the shares go from 0.43 to 0.87 in the kernel."""
    assert abs(told("compete").simulated - 0.70) < 0.05


def test_messages_wait_as_long_as_in_the_kernel() -> None:
    """It was 185 ms and more where a window in use by messages did not grow."""
    assert told("messages").simulated == pytest.approx(128, rel=0.15)


@pytest.mark.parametrize("name", ["cubic-(10, 10, 0, 0)", "cubic-(10, 10, 1, 25)", "cubic-(10, 3, 1, 25)"])
def test_multipath_transfers_take_as_long_as_the_kernels(name: str) -> None:
    assert abs(simulated(name).error) < 0.03


def test_recorded_scenarios_are_simulated_as_the_kernel_runs_them() -> None:
    """All of them in some seconds, with the bounds of docs/linux.md."""
    outcomes = simulate_recorded(recorded())
    assert len(outcomes) == 36
    lines, kept = recorded_verdicts(outcomes)
    assert kept, "\n".join(lines)


def test_what_is_left_of_the_errors_is_the_time_that_hosts_need() -> None:
    outcomes = simulate_recorded(recorded(), processing_delay=HOST_DELAY)
    assert (middle(recorded_errors(outcomes)) or 1.0) < 0.002


def test_recorded_scenarios_name_what_is_there() -> None:
    points_of_file = recorded()
    assert len({point.name for point in points_of_file}) == len(points_of_file)
    assert {point.scenario for point in points_of_file} == {
        file.name for file in (measured.HERE / "recorded").iterdir()
    }
    assert all(point.metric in METRICS and len(point.kernel) == len(SEEDS) for point in points_of_file)


def test_the_rule_of_losses_is_the_measurements() -> None:
    """The example of the README."""
    lost = list(lost_packets(1001239, 0.01, 2420))
    assert lost[:6] == [38, 46, 107, 160, 316, 336]
    assert len(lost) == 26


def test_every_point_is_a_scenario_once() -> None:
    every_point = points()
    assert len(every_point) == 76
    assert len({(point.group, point.name) for point in every_point}) == 76
    assert set(measured.lossy_runs()) == {point.name for point in every_point if point.matched}


def test_hosts_get_their_settings_and_nothing_else_changes() -> None:
    task = tasks_of(next(point for point in points() if point.name == "cubic-10M-40ms-q0.5-p0"))[0]
    noisy = with_hosts(task, {"processing_delay": "1 ms"})
    assert measure(noisy).srtt_ms == pytest.approx(measure(task).srtt_ms + 2, abs=0.6)
    assert "hosts" not in task.document["network"]
    assert {**noisy.document["network"], "hosts": None} == {**task.document["network"], "hosts": None}


def test_the_table_of_hosts_has_every_bound_and_counts_those_kept() -> None:
    table = [line for line in "\n".join(host_noise()).split("\n") if line.startswith("|")]
    names = [line.split(" | ")[0].removeprefix("| ") for line in table]
    assert names[2:-1] == [bound.name for bound in bounds()]
    cells = [[cell.strip(" %") for cell in line.strip("|").split("|")] for line in table[2:-1]]
    kept = [
        sum(float(row[column]) <= float(row[-1]) for row in cells) for column in range(1, len(cells[0]) - 1)
    ]
    assert table[-1].split("|")[2:-2] == [f" {count} " for count in kept]
    assert max(kept) == kept[0], "what docs/linux.md decides"
