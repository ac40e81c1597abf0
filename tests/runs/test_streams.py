"""Pipes, devices and open files are written to; nothing else is, whatever has the name meanwhile."""

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import ResultError
from anabranch.results.folders import write_whole
from anabranch.results.folders.directory import Directory

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: to give files to a second user")


class Reader(threading.Thread):
    """Reads a pipe to its end."""

    def __init__(self, file: Path) -> None:
        super().__init__(daemon=True)
        self._file, self.content = file, b""
        self.start()

    def run(self) -> None:
        self.content = self._file.read_bytes()


@pytest.fixture
def precious(tmp_path: Path) -> Iterator[Path]:
    """A file that nobody has asked to write to."""
    file = tmp_path / "precious"
    file.write_text("root's own")
    yield file
    assert file.read_text() == "root's own"


@pytest.mark.parametrize("form", ["itself", "a link", "a relative link", "a link to a link"])
def test_a_pipe_is_written_to(form: str, tmp_path: Path) -> None:
    pipe, name = tmp_path / "pipe", tmp_path / "sub" / "x.csv"
    (tmp_path / "sub").mkdir()
    os.mkfifo(pipe)
    if form == "itself":
        name = pipe
    elif form == "a link":
        name.symlink_to(pipe)
    elif form == "a relative link":
        name.symlink_to("../pipe")
    else:
        (tmp_path / "way").symlink_to(tmp_path)
        (tmp_path / "other").symlink_to("way/pipe")
        name.symlink_to("../way/other")
    before = name.lstat()
    reader = Reader(pipe)
    write_whole(name, b"rows")
    reader.join(30)
    assert reader.content == b"rows"
    assert os.path.samestat(name.lstat(), before)


@pytest.mark.parametrize("form", ["/dev/null", "link", "/dev/full"])
def test_a_device_is_written_to(form: str, tmp_path: Path) -> None:
    name = tmp_path / "x.csv" if form == "link" else Path(form)
    if form == "link":
        name.symlink_to("/dev/null")
    before = name.lstat()
    if form == "/dev/full":
        with pytest.raises(ResultError, match="/dev/full: cannot be written: No space left on device"):
            write_whole(name, b"rows")
    else:
        write_whole(name, b"rows")
    assert os.path.samestat(name.lstat(), before)


PRINTS = """
import sys
from pathlib import Path
from anabranch.results.folders import write_whole
print("before", flush=True)
write_whole(Path(sys.argv[1]), b"rows\\n")
print("after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_open_file_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    """As with ``>>`` of a shell: what is in the file stays, and what is printed comes in order."""
    with (tmp_path / "log").open("ab") as log:
        log.write(b"kept\n")
        log.flush()
        command = [sys.executable, "-c", PRINTS, name]
        subprocess.run(command, stdout=log, check=True, timeout=60)  # noqa: S603 - our own program
    assert (tmp_path / "log").read_text() == "kept\nbefore\nrows\nafter\n"
    with pytest.raises(ResultError, match="/dev/fd/9999: cannot be written: Bad file descriptor"):
        write_whole(Path("/dev/fd/9999"), b"")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="not here: /dev/shm, which Linux has")  # noqa: S108
def test_a_folder_below_dev_is_as_any_other(precious: Path) -> None:
    """``/dev/shm`` is a folder in which everybody may write."""
    folder = Path(f"/dev/shm/anabranch-{os.getpid()}")  # noqa: S108 - of its own
    folder.mkdir()
    try:
        (folder / "x.xlsx").symlink_to(precious)
        if os.geteuid() == 0:
            for path in (folder, folder / "x.xlsx"):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        write_whole(folder / "x.xlsx", b"rows")
        assert not (folder / "x.xlsx").is_symlink()
        assert (folder / "x.xlsx").read_bytes() == b"rows"
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


@pytest.mark.parametrize("form", ["a link", "a file"])
def test_what_takes_the_place_of_a_pipe_is_not_written_to(
    form: str, precious: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a pipe and its opening, another user exchanges it."""
    file = tmp_path / "x.csv"
    os.mkfifo(file)
    look = Directory.entry

    def entry(directory: Directory, name: str) -> os.stat_result | None:
        status = look(directory, name)
        if status is not None and stat.S_ISFIFO(status.st_mode):
            file.unlink()
            file.symlink_to(precious) if form == "a link" else file.hardlink_to(precious)
        return status

    monkeypatch.setattr(Directory, "entry", entry)
    said = "Too many levels of symbolic links" if form == "a link" else "has changed it meanwhile"
    with pytest.raises(ResultError, match=rf"x\.csv: cannot be written: .*{said}"):
        write_whole(file, b"rows")


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("x.csv")
        message = r"^x\.csv: cannot be written: is a socket; choose another name$"
        with pytest.raises(ResultError, match=message):
            write_whole(Path("x.csv"), b"rows")
    assert Path("x.csv").is_socket()


@needs_root
def test_a_block_device_is_refused(tmp_path: Path) -> None:
    # A loop device that no system has.
    os.mknod(tmp_path / "disk", stat.S_IFBLK | 0o600, os.makedev(7, 1_000_000))
    with pytest.raises(ResultError, match="disk: cannot be written: is a block device"):
        write_whole(tmp_path / "disk", b"rows")


@needs_root
@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_link_of_another_users_is_replaced(mode: int, tmp_path: Path) -> None:
    """It may lead to a pipe or a device that only root may write to."""
    os.mkfifo(tmp_path / "control", 0o600)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "x.csv").symlink_to(tmp_path / "control")
    os.chown(shared / "x.csv", NOBODY, NOBODY, follow_symlinks=False)
    if mode == 0o755:
        os.chown(shared, NOBODY, NOBODY)
    shared.chmod(mode)
    write_whole(shared / "x.csv", b"rows")
    assert (shared / "x.csv").read_bytes() == b"rows"
    assert not (shared / "x.csv").is_symlink()


@needs_root
def test_a_pipe_of_a_strangers_is_refused(tmp_path: Path) -> None:
    """Nobody reads it, so that a command would wait for ever."""
    os.mkfifo(tmp_path / "x.csv", 0o666)
    os.chown(tmp_path / "x.csv", NOBODY, NOBODY)
    tmp_path.chmod(0o1777)
    with pytest.raises(ResultError, match=r"x\.csv: cannot be written: is a pipe of another user's"):
        write_whole(tmp_path / "x.csv", b"rows")
