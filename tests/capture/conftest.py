"""The program itself, for the tests of captures."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Anabranch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def anabranch(tmp_path: Path) -> Anabranch:
    """Runs the command line in an empty folder."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "anabranch", *map(str, arguments)]
        environment = {**os.environ, "NO_COLOR": "1"}
        return subprocess.run(  # noqa: S603 - our own program
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=environment
        )

    return call
