"""``anabranch fit`` and ``anabranch predict``, in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import anabranch
from anabranch import Scenario
from anabranch.fitting.path import PathModel
from anabranch.fitting.predict import predict, read_fitted

from .conftest import Captured

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs the command line."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        called = [sys.executable, "-m", "anabranch", *map(str, arguments)]
        return subprocess.run(  # noqa: S603 - our own program
            called, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "NO_COLOR": "1"},
        )  # fmt: skip

    return call


def test_a_fit_is_a_scenario_that_runs_and_predictions_over_it(
    captured: Captured, command: Command, tmp_path: Path
) -> None:
    file = captured(PathModel(12.0, 30.0, 60_000, loss=2e-3), duration_s=10.0)
    done = command("fit", file, "--out", "path", "--budget", "15")
    assert done.returncode == 0, done.stderr
    assert "Explained: random loss" in done.stdout
    assert "the scenario is path/fitted.toml" in done.stdout
    folder = tmp_path / "path"
    text = (folder / "fitted.toml").read_text(encoding="utf-8")
    assert "# capacity: " in text
    assert "# random loss: " in text
    # It runs by chance, not by replay.
    assert "trace" not in text
    link = next(one for one in tomllib.loads(text)["network"]["link"] if one["between"] == ["a", "b"])
    # In bits per second.
    assert float(link["capacity"].removesuffix(" bps")) == pytest.approx(12e6, rel=0.01)
    flows = Scenario.load(folder / "fitted.toml").run().flows
    assert 4 < flows["goodput_mbps"][0] < 12
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Measured beside simulated" in page
    assert "What cannot be told" in page
    assert "measure longer" in page
    again = command("fit", file, "--out", "path")
    assert again.returncode == 2
    assert "exists; choose another folder" in again.stderr
    process = command("predict", "path", "--transport", "linux-bbr", "--buffer", "2 BDP", "--json")
    assert process.returncode == 0, process.stderr
    prediction = json.loads(process.stdout)["predictions"][0]
    goodput = prediction["answers"]["goodput_mbps"]
    # BBR takes what the bottleneck has, less what is lost and its probes; a range has its value.
    assert 10.5 < goodput["value"] < 12
    assert goodput["low"] < goodput["value"] < goodput["high"]
    shown = command("predict", "path/fitted.toml", "--transport", "linux-cubic", "--size", "100 kB")
    assert shown.returncode == 0, shown.stderr
    assert "completion" in shown.stdout


def test_predictions_say_what_is_wrong(command: Command, tmp_path: Path) -> None:
    done = command("predict", "nowhere")
    assert done.returncode == 2
    assert "give the folder that anabranch fit wrote" in done.stderr
    (tmp_path / "fit.json").write_text("{}")
    assert "is no fit of this version" in command("predict", ".").stderr


def test_ranges_are_carried_through(captured: Captured) -> None:
    """What is left open of the loss makes a range of Reno's goodput: the square root of 1 / p."""
    path_fit = anabranch.fit(captured(PathModel(30.0, 40.0, 200_000, loss=3e-3), duration_s=8.0), budget=15)
    loss = next(one for one in path_fit.ranges if one.name == "loss")
    assert loss.high is not None
    goodput = predict(path_fit, transports=["linux-reno"])[0].answers["goodput_mbps"]
    assert goodput is not None
    # Mathis et al. 1997, eq. 3, where the queue is short: from the lowest to the highest probability.
    spread = (loss.high / loss.low) ** 0.5
    assert 1.2 < goodput.high / goodput.low < 2.5 * spread


def test_a_fit_is_read_back(captured: Captured, tmp_path: Path) -> None:
    path_fit = anabranch.fit(
        captured(PathModel(12.0, 30.0, 60_000)), budget=20, out=tmp_path / "p", page=False
    )
    expected = read_fitted(tmp_path / "p")
    assert list(expected.members) == path_fit.members()
    assert not (tmp_path / "p" / "report.html").exists()
