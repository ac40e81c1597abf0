"""Whatever becomes of a live run, nothing of it stays, and nothing outside it changes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from live_scenarios import LiveRun, paths

from anabranch.results.result import Result

pytestmark = pytest.mark.usefixtures("can_run", "whole_machine")

KILLED = int(os.environ.get("KILLED", "4"))
"""Runs that are killed at random moments; more: KILLED=50 python -m pytest tests/live -k are_killed."""


def outside() -> dict[str, object]:
    """What a live run may not change: settings, devices, routes, modules, names of namespaces, mounts."""
    settings = {}
    for folder in ("ipv4", "core", "mptcp", "ipv6/conf/all", "ipv4/conf/all"):
        for file in sorted((Path("/proc/sys/net") / folder).glob("*")):
            if file.is_file() and os.access(file, os.R_OK):
                try:
                    settings[str(file)] = file.read_text()
                except OSError:
                    continue
    # Those that count what others do.
    settings = {name: text for name, text in settings.items() if "stable_secret" not in name}
    routes = [line.split()[:8] for line in Path("/proc/net/route").read_text().splitlines()]
    netns, modules = Path("/run/netns"), Path("/proc/modules")
    return {
        "settings": settings,
        "devices": sorted(Path("/sys/class/net").iterdir()),
        "routes": sorted(routes),
        "modules": sorted(modules.read_text().split("\n")) if modules.exists() else [],
        "namespaces": sorted(netns.iterdir()) if netns.is_dir() else [],
        "mounts": sorted(line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()),
    }


def namespaces(processes: str = "[0-9]*") -> set[str]:
    """The network namespaces that processes are in, or hold as open files."""
    outcome = set()
    for process in Path("/proc").glob(processes):
        for link in [process / "ns" / "net", *process.glob("fd/*")]:
            try:
                target = link.readlink().name
            except OSError:
                continue
            if target.startswith("net:"):
                outcome.add(target)
    return outcome


def started(folder: Path, seconds: int = 20) -> subprocess.Popen[str]:
    scenario = paths("20 Mbps", [5], [{"transport": "linux-cubic"}], run={"duration": f"{seconds} s"})
    file = folder / "scenario.toml"
    file.write_text(scenario.toml())
    arguments = ["live", str(file), "--out", str(folder / "out"), "--no-page"]
    return subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", "anabranch", *arguments],
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_a_run_changes_nothing_outside(live_run: LiveRun) -> None:
    before = outside()
    live_run(paths("20 Mbps", [5], [{"transport": "linux-cubic"}], run={"duration": "1 s"}))
    assert outside() == before
    assert namespaces("self") == {Path("/proc/self/ns/net").readlink().name}


def test_nothing_stays_of_runs_that_are_killed(tmp_path: Path) -> None:
    before, own_namespaces = outside(), namespaces("self")
    moments = random.Random(1)  # noqa: S311 - moments, no secret
    for number in range(KILLED):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = started(folder)
        time.sleep(0.5 + 2.5 * moments.random())
        held = namespaces(str(process.pid)) - own_namespaces
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert outside() == before
        assert not held & namespaces()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    own_namespaces = namespaces("self")
    process = started(tmp_path)
    deadline = time.monotonic() + 15
    while not (held := namespaces(str(process.pid)) - own_namespaces) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + number, said
    assert "interrupted; what was measured until then is in" in said
    result = Result.load(tmp_path / "out")
    assert result.interrupted
    assert result.flows["delivered_bytes"][0] > 0
    assert held
    assert not held & namespaces()


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    for process in [started(folder, 2) for folder in folders]:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    for folder in folders:
        assert Result.load(folder / "out").flows["goodput_mbps"][0] == pytest.approx(19, rel=0.1)
