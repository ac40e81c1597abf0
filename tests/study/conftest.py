"""What the tests of studies share: a study of some milliseconds a run."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCENARIO = """
title = "two flows"
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "1 ms"
[[traffic]]
name = "pair"
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
size = "30 kB"
start = { distribution = "uniform", low = "0 s", high = "10 ms" }
[run]
duration = "3 s"
"""

STUDY = """
title = "queue and transport"
scenario = "two.toml"
replications = 2
[[factor]]
field = "network.links.queue"
label = "queue"
levels = ["5 packets", "50 packets"]
[[factor]]
field = "traffic[0].transport"
levels = ["newreno", "cubic", "bbr"]
[[metric]]
name = "fct_us"
label = "mean completion time (us)"
column = "completion_s"
scale = 1e6
"""

Write = Callable[..., Path]
Anabranch = Callable[..., subprocess.CompletedProcess[str]]

ENVIRONMENT = {**os.environ, "NO_COLOR": "1"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a study file and its scenario into the test's folder."""

    def do(study: str = STUDY, scenario: str = SCENARIO, name: str = "study.toml") -> Path:
        (tmp_path / "two.toml").write_text(scenario)
        (tmp_path / name).write_text(study)
        return tmp_path / name

    return do


@pytest.fixture
def anabranch(tmp_path: Path) -> Anabranch:
    """Runs the command line in the test's folder."""

    def call(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            command(*arguments), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            env=ENVIRONMENT, **options,
        )  # fmt: skip

    return call


def command(*arguments: str | Path) -> list[str]:
    """The command line as a program and its arguments."""
    return [sys.executable, "-m", "anabranch", *map(str, arguments)]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a study folder but its journal, which tells the time."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != "journal.jsonl"]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
