"""Studios for tests, each with its server in a thread, over a folder of its own."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# What the tests share lies beside them; the browser is that of the pages of results.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "report"))

from reader import browser
from running_studio import EXAMPLES, Running

__all__ = ["browser"]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts studios over a folder with ``first.toml`` in it."""
    running: list[Running] = []
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copyfile(EXAMPLES / "first.toml", folder / "first.toml")

    def start(**more: Any) -> Running:
        running.append(Running(folder, **more).start())
        return running[-1]

    yield start
    for each in running:
        each.stop()
