"""Modules of the user's own, each in a folder of its own."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

# What the tests share besides fixtures lies beside them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def module(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a module ``mine``; returns its folder."""

    def write(text: str) -> Path:
        (tmp_path / "mine.py").write_text(textwrap.dedent(text))
        return tmp_path

    return write
