"""``anabranch compare`` as its users meet it, on a ring of four routers."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch_publications.comparison.systems import SYSTEMS

from .conftest import Anabranch, Write


def by_system(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The systems of the only network of a comparison."""
    (network,) = document["networks"]
    return {entry["system"]: entry for entry in network["systems"]}


def test_every_system_runs_on_a_scenario_of_the_users(
    write: Write, anabranch: Anabranch, tmp_path: Path
) -> None:
    done = anabranch("compare", write(), "--replications", "1", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    systems = by_system(document)
    assert list(systems) == list(SYSTEMS)
    (network,) = document["networks"]
    # Between neighbours all but the way round goes over a - b, and the ring stands its loss.
    assert network["failure"].startswith("a - b goes down at 1 s; 4 flows a run")
    # Half of the median capacity.
    assert network["demand"] == {"ingress": "2000000 bps", "egress": "2000000 bps"}
    # Of three transfers in two seconds one may not end.
    missing = {(name, measure) for name, entry in systems.items() for measure in entry["missing"]}
    assert missing <= {("semper-mptcp", "completion_p95_ms")}
    # Three other routers each.
    assert systems["hops"]["values"]["entries_max"] == 3
    assert systems["hops"]["values"]["control_messages_per_s"] == 0
    assert systems["sdn-paced"]["values"]["control_messages_per_s"] > 0
    # Two disjoint paths a pair: of the 24 paths each router begins 6 and forwards the rest of a path's hops.
    # Adjacent pairs have 1 + 3 hops, opposite ones 2 + 2: 12 pairs of 4 entries are 48, 12 for each router.
    for name in ("semper-mptcp", "sprayed-mprc", "sprayed-cubic"):
        assert systems[name]["values"]["entries_mean"] == 12
    # Below what two directions of one path carry, and of two.
    assert 1 < systems["hops"]["values"]["goodput_mbps"] < 8
    assert systems["sprayed-mprc"]["values"]["goodput_mbps"] < 16
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "comparison.csv",
        "runs.csv",
        "comparison.parquet",
        "comparison.json",
        "README.md",
        "report.html",
    } <= written
    with (tmp_path / "out" / "comparison.csv").open() as file:
        assert [row["system"] for row in csv.DictReader(file)] == list(SYSTEMS)
    page = (tmp_path / "out" / "README.md").read_text()
    assert all(f"| {name} |" in page for name in SYSTEMS)
    assert sorted(p.name for p in (tmp_path / "out" / "figures").glob("*.png")) == [
        "load.png",
        "ring.png",
        "state.png",
    ]


def test_what_is_not_ours_stays(write: Write, anabranch: Anabranch, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.md").write_text("mine")
    command = ("compare", write(), "--systems", "hops", "--replications", "1", "--out", "out")
    refused = anabranch(*command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("out: has what Anabranch did not write there: README.md; ")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["README.md"]
    for _ in range(2):
        done = anabranch(*command, "--replace")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "README.md.~1~").read_text() == "mine"
    assert (tmp_path / "out" / "README.md").read_text().startswith("# Systems compared")
    kept = {path.name for path in (tmp_path / "out").iterdir()}
    assert kept == {
        "README.md", "README.md.~1~", "comparison.csv", "comparison.json", "comparison.parquet", "figures",
        "manifest.json", "report.html", "runs.csv", "studies",
    }  # fmt: skip


def test_what_a_system_cannot_carry_is_a_dash_with_its_reason(write: Write, anabranch: Anabranch) -> None:
    # A host between two routers forwards for the searches, but the paced SDN's switches are routers alone.
    more = """
[[network.node]]
name = "relay"
kind = "host"
[[network.node]]
name = "far"
[[network.link]]
between = ["a", "relay"]
new = true
[[network.link]]
between = ["relay", "far"]
new = true
[[traffic]]
name = "beyond"
from = "host a"
to = "far"
transport = "cubic"
[[event]]
at = "1 s"
link = ["a", "b"]
state = "down"
"""
    done = anabranch(
        "compare",
        write(more=more),
        "--systems",
        "sdn-paced,hops",
        "--replications",
        "1",
        "--out",
        "out",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    systems = by_system(document)
    assert list(systems) == ["hops", "sdn-paced"]
    assert document["networks"][0]["failure"] == "what the scenario takes down at 1 s"
    assert systems["hops"]["values"]["failure_lost_percent"] is not None
    assert systems["sdn-paced"]["values"]["goodput_mbps"] is None
    assert "no path from" in systems["sdn-paced"]["missing"]["goodput_mbps"]
    for entry in systems.values():
        for name, value in entry["values"].items():
            assert (value is None) == (name in entry["missing"]), (entry["system"], name)


def test_mistakes_are_answered_with_what_would_be_right(
    write: Write, anabranch: Anabranch, tmp_path: Path
) -> None:
    def said(*arguments: str | Path) -> str:
        done = anabranch("compare", *arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        return done.stderr

    assert 'nearest: "Abilene"' in said("zoo/Abilen")
    assert 'nearest: "NSFNET"' in said("NSFNE")
    assert "cannot be read" in said("missing.toml")
    # Longer than the name of any file.
    assert "no topology" in said("[" * 2000)
    assert 'no system "hopps"; nearest: "hops"' in said("zoo/Abilene", "--systems", "hopps")
    write()
    (tmp_path / "bare.toml").write_text(
        '[network]\ntopology = "dumbbell"\n[network.links]\ncapacity = "4 Mbps"\ndelay = "1 ms"\n'
        '[run]\nduration = "1 s"\n'
    )
    assert "traffic" in said("bare.toml")
    (tmp_path / "file").write_text("")
    assert "is not a folder" in said("ring.toml", "--out", "file")


def test_a_comparison_that_is_interrupted_goes_on(
    write: Write, anabranch: Anabranch, interrupted: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    command = ("compare", write(), "--systems", "hops,delay", "--replications", "4", "--jobs", "1")
    status, message = interrupted(*command, "--out", "cut")
    assert status == 130
    assert "goes on from there" in message
    assert not (tmp_path / "cut" / "README.md").exists()
    (study,) = (tmp_path / "cut" / "studies").iterdir()
    before = (study / "journal.jsonl").read_text()
    assert before.endswith("\n")
    assert anabranch(*command, "--out", "cut").returncode == 0
    # No run was made again.
    assert (study / "journal.jsonl").read_text().startswith(before)
    assert anabranch(*command, "--out", "whole").returncode == 0
    for name in ("comparison.csv", "runs.csv", "README.md"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


CONTROL = """
from anabranch.own import CongestionControl


class Still(CongestionControl):
    def on_ack(self, ack):
        self.cwnd_bytes = 2 * self.mss_bytes

    def on_loss(self, episode):
        pass
"""
STILL = """
title = "Two segments"
[network]
topology = "dumbbell"
[transport.still]
preset = "newreno"
congestion_control = { python = "still:Still" }
[routing]
scheme = "shortest"
metric = "hops"
[[traffic]]
from = "left1"
to = "right1"
transport = "still"
[run]
duration = "1 s"
"""


def test_a_system_of_ones_own_is_compared(write: Write, anabranch: Anabranch, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "still.py").write_text(CONTROL, encoding="utf-8")
    (tmp_path / "mine" / "scenario.toml").write_text(STILL, encoding="utf-8")
    options = ("--systems", "hops", "--add", "mine/scenario.toml", "--replications", "1", "--json", "--trust")
    done = anabranch("compare", write(), "--out", "out", *options)
    assert done.returncode == 0, done.stderr
    systems = by_system(json.loads(done.stdout))
    assert list(systems) == ["hops", "mine"]
    assert systems["mine"]["what"] == "as in scenario.toml: Two segments"
    # Two segments in flight lose nothing on the queues, and carry less.
    assert systems["mine"]["values"]["goodput_mbps"] < systems["hops"]["values"]["goodput_mbps"]
    assert systems["mine"]["values"]["worst_load"] == systems["hops"]["values"]["worst_load"]


def test_paths_that_a_class_chooses_have_no_worst_load(
    write: Write, anabranch: Anabranch, tmp_path: Path
) -> None:
    gallery = Path(__file__).parents[3] / "examples" / "own"
    chosen = f'application = {{ python = "{gallery}/least_used.py:LeastUsed" }}\n'
    text = STILL.replace('[routing]\nscheme = "shortest"\nmetric = "hops"\n', f"[controller]\n{chosen}")
    text = text.replace('{ python = "still:Still" }', '"newreno"')
    (tmp_path / "least.toml").write_text(text, encoding="utf-8")
    options = ("--systems", "hops", "--add", "least.toml", "--replications", "1", "--json", "--trust")
    done = anabranch("compare", write(), "--out", "out", *options)
    assert done.returncode == 0, done.stderr
    systems = by_system(json.loads(done.stdout))["least"]
    assert systems["missing"]["worst_load"] == "a class chooses the paths while a run is under way"
    assert systems["values"]["goodput_mbps"] > 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("hops.toml", STILL, 'there is a system "hops" already; rename the file hops.toml'),
        (
            "two.toml",
            STILL + '[[traffic]]\nfrom = "left1"\nto = "right1"\ntransport = "cubic"\n',
            'the flows of two.toml must have one transport, which the system has; they have "cubic", "still"',
        ),
    ],
)
def test_a_scenario_that_is_no_system_is_refused(
    name: str, text: str, message: str, anabranch: Anabranch, tmp_path: Path
) -> None:
    (tmp_path / "still.py").write_text(CONTROL, encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = anabranch("compare", "NSFNET", "--add", name, "--out", "out", "--trust")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()
