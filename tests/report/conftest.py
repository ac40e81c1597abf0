"""Studies to make output of."""

import sys
from pathlib import Path

import pytest

# What the tests share besides fixtures lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from made_study import GAP, LOSS, SIZE, TRANSPORT, MadeStudy, make
from reader import browser, reader

__all__ = ["bars", "blocks", "browser", "lines", "reader"]


@pytest.fixture
def lines() -> MadeStudy:
    """Two factors, the first continuous."""
    return make(GAP, SIZE)


@pytest.fixture
def bars() -> MadeStudy:
    """Two factors, the first categorical."""
    return make(TRANSPORT, SIZE)


@pytest.fixture
def blocks() -> MadeStudy:
    """Three factors."""
    return make(GAP, TRANSPORT, LOSS)
