"""Which folders are known as made by a process of this user."""

import os
import signal
from pathlib import Path

import pytest

from anabranch.results.folders.directory import Directory, opened
from anabranch.results.folders.staging import Staging, is_staging, staging


def test_a_folder_of_another_users_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has everything else: mode 700, its own token and inode number, and the ticket."""

    def recover(_: Staging) -> None:
        pytest.fail("it is taken for that of a process that was killed")

    with opened(tmp_path) as around, staging(around, "out", recover):
        (name,) = around.names()
        assert is_staging(around, name)
        ours = os.geteuid()
        with monkeypatch.context() as patch:
            patch.setattr(os, "geteuid", lambda: ours + 1)
            assert not is_staging(around, name)
        if ours == 0:
            for path in (tmp_path / name / "ticket.json", tmp_path / name):
                os.chown(path, 65534, 65534)
            assert not is_staging(around, name)
            with staging(around, "out", recover) as other:
                assert (tmp_path / name).is_dir()
                assert other.inside.status().st_uid == 0


def test_a_signal_while_a_folder_is_made_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the folder and its ticket, without which nobody may remove it."""
    make = Directory.make

    def interrupted(directory: Directory, name: str, *, private: bool = False) -> None:
        make(directory, name, private=private)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Directory, "make", interrupted)
    with (
        pytest.raises(KeyboardInterrupt),
        opened(tmp_path) as around,
        staging(around, "out", lambda _: None),
    ):
        pytest.fail("it begins")
    assert list(tmp_path.iterdir()) == []
