"""The line of progress on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from anabranch import Scenario
from anabranch.plans.routes import routes
from anabranch.process import progress
from anabranch.runs.runner import run

ABILENE = """
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
[[traffic]]
from = "*"
to = "*"
size = "10 kB"
transport = "cubic"
[run]
duration = "1 s"
"""


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 120 columns gets; each report is drawn at once."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    return screen


@pytest.mark.parametrize(
    ("reports", "shown"),
    [
        ([("plan", (30, 110))], "routes of 30 of 110 pairs, left"),
        ([("plan", (30, 110)), ("run", (0.5, 9))], "0.5 of 2 s simulated, left"),
    ],
)
def test_the_line_shows_the_last_report(
    terminal: io.StringIO, reports: list[tuple[str, tuple[float, int]]], shown: str
) -> None:
    with progress.run_progress("abilene [small]", 2.0) as bars:
        for kind, values in reports:
            report = getattr(bars, kind)
            report(*values)
    assert "abilene [small]" in terminal.getvalue()
    assert shown in terminal.getvalue()


def test_a_pipe_gets_no_line(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.run_progress("abilene", 2.0) as bars:
        assert bars == progress.RunProgress()
    with progress.plan_progress("abilene") as plan:
        assert plan is None
    assert capfd.readouterr() == ("", "")


def test_routes_and_runs_report_the_pairs_that_have_routes(tmp_path: Path) -> None:
    entries: list[tuple[int, int]] = []
    scenario = Scenario.loads(ABILENE)
    routes(scenario, lambda done, pairs: entries.append((done, pairs)))
    assert entries
    assert {pairs for _, pairs in entries} == {110}
    before = len(entries)
    run(scenario, out=tmp_path / "out", plan_progress=lambda *at: entries.append(at))
    assert len(entries) > before
