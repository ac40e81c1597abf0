"""What the tests of the publications share: the command line."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch.terminal.cli import app

Anabranch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def anabranch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Anabranch:
    """Runs the command line in the test's folder; in this process, since starting one takes two seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
        return subprocess.CompletedProcess(list(arguments), done.exit_code, done.stdout, done.stderr)

    return call
