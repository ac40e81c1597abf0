"""Failures that a folder keeps as they are looked at, and that a cluster looks at."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from anabranch import Scenario, StudyError
from anabranch.errors import ScenarioError
from anabranch.plans.worst_loads import WorstLoads, worst_loads
from anabranch.study import failure_pieces
from anabranch.study.failure_pieces import JOURNAL, kept_loads

KINDS = "links,pairs"
TEXT = """
[network]
topology = "zoo/Abilene"
links = { capacity = "10 Gbps" }
[routing]
scheme = "ecmp"
metric = "hops"
[routing.demand]
"""
MATRIX = 'matrix = { from = "file:tm.csv" }'


def scenario(folder: Path, demand: str = MATRIX) -> Scenario:
    nodes = ("New York", "Chicago", "Seattle", "Los Angeles", "Houston")
    rows = [
        f"{a},{b},{number}"
        for number, (a, b) in enumerate(((a, b) for a in nodes for b in nodes if a != b), 1)
    ]
    (folder / "tm.csv").write_text("\n".join(["from,to,rate_gbps", *rows]))
    (folder / "net.toml").write_text(TEXT + demand)
    return Scenario.load(folder / "net.toml")


def same(one: WorstLoads, other: WorstLoads) -> None:
    assert one.failures == other.failures
    assert one.links == other.links


@pytest.mark.parametrize("demand", [MATRIX, 'pair = "10 Mbps"', 'pair = "10 Mbps"\ningress = "20 Mbps"'])
def test_kept_failures_are_those_of_one_go(demand: str, tmp_path: Path) -> None:
    network = scenario(tmp_path, demand)
    whole = worst_loads(network, failures=KINDS)
    assert len(whole.failures or ()) == 14 + 91
    progress = list[tuple[int, int]]()
    first = kept_loads(network, KINDS, out=tmp_path / "out", progress=lambda *done: progress.append(done))
    same(first, whole)
    assert progress == [(0, 105), (32, 105), (64, 105), (96, 105), (105, 105)]
    same(
        kept_loads(network, KINDS, out=tmp_path / "out", progress=lambda *done: progress.append(done)), whole
    )
    assert progress[5:] == [(105, 105)], "nothing is looked at again"


def test_a_table_that_is_stopped_goes_on(tmp_path: Path) -> None:
    network, out = scenario(tmp_path), tmp_path / "out"

    def stop(done: int, _: int) -> None:
        if done >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept_loads(network, KINDS, out=out, progress=stop)
    assert (out / JOURNAL).read_bytes().count(b"\n") == 2
    # What a crash has left of a line goes, and so does a line of which somebody has changed a name.
    lines = (out / JOURNAL).read_bytes().splitlines(keepends=True)
    (out / JOURNAL).write_bytes(lines[0] + lines[1].replace(b'"pairs"', b'"pears"', 1) + b'{"piece": 2, "lo')
    done_counts = list[int]()
    same(
        kept_loads(network, KINDS, out=out, progress=lambda done, _: done_counts.append(done)),
        worst_loads(network, failures=KINDS),
    )
    assert done_counts == [32, 64, 96, 105]


def test_killed_by_force_it_goes_on(tmp_path: Path) -> None:
    scenario(tmp_path, 'pair = "10 Mbps"\ningress = "20 Mbps"')
    journal = tmp_path / "out" / JOURNAL
    command = [
        sys.executable,
        "-m",
        "anabranch",
        "load",
        "net.toml",
        "--failures",
        KINDS,
        "--out",
        "out",
        "--json",
    ]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    deadline = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n"):
            break
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL) if running.poll() is None else None
    running.wait()
    kept = journal.read_bytes()
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - as above
    whole = [*command[:-3], "--json"]
    alone = subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - as above
    assert json.loads(ran.stdout) == json.loads(alone.stdout)
    assert journal.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])


def test_a_folder_of_other_failures_is_refused(tmp_path: Path) -> None:
    network, out = scenario(tmp_path), tmp_path / "out"
    kept_loads(network, "links", out=out)
    with pytest.raises(StudyError, match='out: holds loads of failures "links"; choose another folder'):
        kept_loads(network, KINDS, out=out)
    with pytest.raises(StudyError, match="holds loads of another scenario, or other files of it"):
        kept_loads(network.replace({"routing.metric": "delay"}), "links", out=out)
    (tmp_path / "tm.csv").write_text("from,to,rate_gbps\nChicago,Houston,1")
    with pytest.raises(StudyError, match="holds loads of another scenario, or other files of it"):
        kept_loads(network, "links", out=out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / JOURNAL).write_text("mine")
    with pytest.raises(StudyError, match=JOURNAL):
        kept_loads(network, "links", out=tmp_path / "mine")
    assert (tmp_path / "mine" / JOURNAL).read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "out"], "--out: is for failures; give --failures as well"),
        (["--dask", "tcp://127.0.0.1:9"], "--dask: is for failures; give --failures as well"),
        (["--failures", "--out", "out", "--series"], "--out: is for one matrix"),
        (["--failures", "--dask", "nonsense"], "no Dask scheduler answers at nonsense"),
        (["--failures", "--dask", "tcp://127.0.0.1:9", "--jobs", "2"], "the cluster says how many workers"),
    ],
)
def test_options_that_do_not_go_together(options: Sequence[str], words: str, tmp_path: Path) -> None:
    scenario(tmp_path)
    command = [sys.executable, "-m", "anabranch", "load", "net.toml", *options]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - as above
    assert ran.returncode == 2
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="not installed: distributed")
    network = scenario(tmp_path)
    whole = worst_loads(network, failures=KINDS)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as running,
    ):
        address = running.scheduler_address
        same(kept_loads(network, KINDS, out=tmp_path / "out", dask=address), whole)
        same(kept_loads(network, KINDS, dask=address), whole)
    # Here only the journal can say it.
    monkeypatch.setattr(failure_pieces, "_here", lambda *_: iter(()))
    same(kept_loads(network, KINDS, out=tmp_path / "out"), whole)


def test_mistakes_of_the_scenario_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match='no kind "linkz"'):
        kept_loads(scenario(tmp_path), "linkz", out=tmp_path / "out")
