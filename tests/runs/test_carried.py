"""What cannot be kept beside a new result is told with its name, before anything runs; all else is kept."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from other_user import OTHER_UID, UID, users_folder

from anabranch.errors import ResultError
from anabranch.results.folders import replacing
from anabranch.results.folders.directory import Directory

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: beside a second user")


@contextmanager
def nobody() -> Iterator[None]:
    """The process is that user's while the block runs."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(UID)
    os.seteuid(UID)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that user's, into which another one may write."""
    with users_folder() as around:
        folder = around / "uf"
        folder.mkdir()
        os.chown(folder, UID, UID)
        yield folder


def replace(place: Path) -> None:
    with replacing(place, "run", replace=True) as made:
        made.write("new", b"new")
        made.put()


def plant(form: str, file: Path) -> None:
    """Something of a third user's."""
    if form == "pipe":
        os.mkfifo(file)
    elif form == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(file))
    elif form == "folder":
        file.mkdir()
        (file / "mine").write_text("mine")
    else:
        file.write_text("mine")
        file.chmod(0o600)
    os.chown(file, OTHER_UID, OTHER_UID)


@needs_root
@pytest.mark.parametrize("where", ["ff", "notes/deep/ff"])
@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("pipe", "Operation not permitted"),
        ("socket", "Operation not permitted"),
        ("file that cannot be read", "Operation not permitted"),
        ("folder", "Permission denied"),
    ],
)
def test_what_cannot_be_kept_is_named_before_anything_runs(
    form: str, reason: str, where: str, place: Path
) -> None:
    with nobody():
        (place / where).parent.mkdir(parents=True, exist_ok=True)
    plant(form, place / where)
    before = sorted(place.parent.rglob("*"))
    message = f"^{place}/{where}: cannot be kept beside the new result: {reason}; move it away, or choose"
    with nobody(), pytest.raises(ResultError, match=message), replacing(place, "run", replace=True):
        pytest.fail("it works")
    assert sorted(place.parent.rglob("*")) == before


@needs_root
def test_what_comes_meanwhile_and_cannot_be_kept_is_named(place: Path) -> None:
    with nobody(), replacing(place, "run", replace=True) as made:
        os.seteuid(0)
        plant("pipe", place / "ff")
        os.seteuid(UID)
        with pytest.raises(ResultError, match=f"^{place}/ff: cannot be kept beside the new result"):
            made.put()
    assert stat.S_ISFIFO((place / "ff").lstat().st_mode)
    assert [path.name for path in place.parent.iterdir()] == ["uf"]


@needs_root
def test_root_keeps_whose_a_folder_is(place: Path) -> None:
    with nobody():
        (place / "notes").mkdir(mode=0o750)
        os.mkfifo(place / "notes" / "ff")
    plant("file that cannot be read", place / "other")
    replace(place)
    status = (place / "notes").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (UID, UID, 0o750)
    assert stat.S_ISFIFO((place / "notes" / "ff").lstat().st_mode)
    assert (place / "other").stat().st_uid == OTHER_UID


def test_a_file_is_copied_where_it_can_have_no_second_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its rights and times, and on the disk before the earlier one is removed."""
    place = tmp_path / "out"
    place.mkdir()
    (place / "mine").write_text("six years of work")
    (place / "mine").chmod(0o640)
    os.utime(place / "mine", (1, 2))
    (place / "link").symlink_to("mine")
    before = (place / "mine").stat()
    synced = set()
    fsync, remove = os.fsync, Directory.remove

    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    def noted(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def checked(directory: Directory, name: str) -> None:
        assert (place / "mine").stat().st_ino in synced
        remove(directory, name)

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "fsync", noted)
    with replacing(place, "run", replace=True) as made:
        made.write("new", b"new")
        made.put()
        monkeypatch.setattr(Directory, "remove", checked)
    after = (place / "mine").stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert after.st_ino != before.st_ino
    assert (place / "mine").read_text() == "six years of work"
    assert (place / "link").readlink() == Path("mine")


def test_half_a_copy_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "out"
    place.mkdir()
    (place / "mine").write_text("mine")

    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(ResultError, match="out/mine: cannot be kept beside the new result: No space left"):
        replace(place)
    assert [path.name for path in place.iterdir()] == ["mine"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
