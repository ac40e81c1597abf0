"""Folders that are held open, and a Ctrl-C right after one was closed: none is closed once more."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.results.folders.directory import RELATIVE, opened, opened_below

pytestmark = pytest.mark.skipif(not RELATIVE, reason="not here: descriptors of folders")


def walks(folder: Path) -> None:
    with opened(folder / "one" / "two" / "three"):
        pass


def walks_below(folder: Path) -> None:
    with opened(folder) as around, opened_below(around, ["one", "two", "three"]):
        pass


@pytest.mark.parametrize("work", [walks, walks_below])
def test_ctrl_c_after_a_close_stays_an_interrupt(
    work: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one" / "two" / "three").mkdir(parents=True)
    close, stop, count = os.close, 0, 0

    def interrupted(descriptor: int) -> None:
        nonlocal count
        # A second close of the same one fails here, or takes a file away that has got its number since.
        close(descriptor)
        count += 1
        if count == stop:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted)
    work(tmp_path)
    closed = count
    assert closed > 3
    for stop in range(1, closed + 1):  # noqa: B007 - interrupted() reads it
        count = 0
        with pytest.raises(KeyboardInterrupt):
            work(tmp_path)
