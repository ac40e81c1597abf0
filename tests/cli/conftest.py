"""What the tests of the command line share: the program itself, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

SMALL = """
title = "two hosts"
[network]
topology = "dumbbell"
[network.parameters]
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "1 ms"
[[traffic]]
from = "left1"
to = "right1"
[run]
duration = "2 s"
"""

Anabranch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file that takes no time."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture
def anabranch(tmp_path: Path) -> Anabranch:
    """Runs the command line in an empty folder."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "anabranch", *map(str, arguments)]
        environment = {**os.environ, "NO_COLOR": "1"}
        # topohub leaves the file of a graph to the garbage collector.
        environment["PYTHONWARNINGS"] = "error,ignore::ResourceWarning"
        return subprocess.run(  # noqa: S603 - our own program
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=environment
        )

    return call
