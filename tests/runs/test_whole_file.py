"""A file that is written whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from anabranch.errors import ResultError
from anabranch.results.folders import write_whole
from anabranch.results.folders.directory import Directory


def test_a_full_disk_leaves_the_earlier_file_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_whole(tmp_path / "a.txt", b"before")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Directory, "move", full)
    with pytest.raises(ResultError, match=r"a\.txt: cannot be written: No space left.*; free some space"):
        write_whole(file, b"after")
    assert file.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(ResultError, match="part of this path is a file"):
        write_whole(tmp_path / "out" / "a.txt", b"")


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    # The administrator may write anywhere, so that taking away a right is no test for everybody.
    monkeypatch.setattr(Directory, "make", denied)
    with pytest.raises(ResultError, match="choose a folder that you may write to"):
        write_whole(tmp_path / "a.txt", b"")


def test_a_folder_of_the_file_s_name_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(ResultError, match="a folder has this name"):
        write_whole(tmp_path / "a.txt", b"")


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inode of the file is synced, and that of the folder after the file has got its name."""
    synced: list[tuple[int, bool]] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, (tmp_path / "a.txt").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    file = write_whole(tmp_path / "a.txt", b"whole")
    assert synced == [(file.stat().st_ino, False), (tmp_path.stat().st_ino, True)]
