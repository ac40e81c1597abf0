"""Folders held by descriptor: what is done in one is done in it, whatever others make of its name meanwhile.

Nothing below a folder is reached through a link, and nothing that exists is opened for writing by its name.
On systems without calls relative to a descriptor (Windows) the same calls go by path; others cannot usually
write to a user's folders there.
"""

# pathlib has no calls relative to a descriptor.
# ruff: noqa: PTH103, PTH101, PTH116, PTH208

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO

from anabranch.errors import reason
from anabranch.results.folders.lock import Lock

RELATIVE = hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd
"""Whether the system has descriptors of folders, and calls relative to them."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""A FIFO is opened at once, so that what it is can be looked at."""
_BINARY = getattr(os, "O_BINARY", 0)
_PATH_ONLY: int | None = getattr(os, "O_PATH", None)
MOST_LINKS = 40
"""As many as Linux follows in one path (path_resolution(7))."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Directory:
    """A folder that is open; close it after use."""

    def __init__(self, descriptor: int | None, place: Path) -> None:
        """Takes a descriptor, None where the system has none of folders, and the name for messages."""
        self._descriptor = descriptor
        self.place = place
        """Its name, as the user gave it."""
        self._lock: Lock | None = None

    @property
    def path(self) -> Path:
        """A path to this very folder for code that opens files by name, wherever its own name leads by now.

        Linux has such paths (proc(5), ``/proc/PID/fd``). Elsewhere it is the folder's name.
        """
        path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        with suppress(OSError):
            if self._descriptor is not None and os.path.samestat(os.stat(path), self.status()):
                return Path(path)
        return self.place

    @property
    def descriptor(self) -> int | None:
        """For a call of the system's; None where it has no descriptors of folders."""
        return self._descriptor

    def status(self) -> os.stat_result:
        """The status of the folder that the system tells."""
        return os.stat(self.place if self._descriptor is None else self._descriptor)

    def mount(self) -> tuple[int, int | None]:
        """On which file system the folder is, and by which mount of it.

        The first is the number of its device. The second tells apart two mounts of one file system, as of a
        folder that is bound to another one (Linux: proc(5), ``/proc/PID/fdinfo``); elsewhere None.
        """
        number = None
        with suppress(OSError, StopIteration, ValueError):
            lines = Path(f"/proc/self/fdinfo/{self._descriptor}").read_bytes().splitlines()
            line = next(line for line in lines if line.startswith(b"mnt_id:"))
            number = int(line.partition(b":")[2])
        return self.status().st_dev, number

    def lock(self) -> bool:
        """Locks the folder until it is closed; False where its file system has no locks.

        Raises:
            BlockingIOError: if another process has locked it.
        """
        if self._lock is None:
            self._lock = Lock(self._descriptor, self.place)
        return self._lock.held

    def close(self) -> None:
        """Closes the folder, and lets others lock it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        if self._descriptor is not None:
            # Forgotten first: after a Ctrl-C in between, nobody closes it once more, or what has its number.
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def names(self) -> list[str]:
        """The names of the entries of the folder, in order."""
        return sorted(os.listdir(self.place if self._descriptor is None else self._descriptor))

    def entry(self, name: str) -> os.stat_result | None:
        """The status of an entry, a link as itself, or None. ``name`` may lead through folders."""
        with suppress(FileNotFoundError, NotADirectoryError), self._holding(name) as (folder, last):
            return os.stat(folder._at(last), dir_fd=folder._descriptor, follow_symlinks=False)
        return None

    def below(self, name: str, *, make: bool = False) -> Directory:
        """Opens a folder in this one.

        Raises:
            FileNotFoundError: if it is not there, and is not to be made.
            NotADirectoryError: if something else is, or a link.
        """
        if make:
            with suppress(FileExistsError):
                os.mkdir(self._at(name), dir_fd=self._descriptor)
        place = self.place / name
        if self._descriptor is None:
            if place.is_symlink() or not place.is_dir():
                missing = not os.path.lexists(place)
                raise (FileNotFoundError if missing else NotADirectoryError)(
                    errno.ENOENT if missing else errno.ENOTDIR, "is no folder", str(place)
                )
            return Directory(None, place)
        return Directory(os.open(name, _FOLDER | _NO_LINK, dir_fd=self._descriptor), place)

    def open_file(self, name: str) -> IO[bytes]:
        """Opens a regular file for reading; ``name`` may lead through folders, and no link is followed.

        Raises:
            OSError: if it is something else, or cannot be read.
        """
        with self._holding(name) as (folder, last):
            return os.fdopen(folder._opened(last, os.O_RDONLY), "rb")

    def read(self, name: str, most: int) -> bytes:
        """The content of a regular file of at most so many bytes.

        Raises:
            OSError: if it is something else, is larger, or cannot be read.
        """
        with self.open_file(name) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", name)
        return content

    def create(self, name: str, *, executable: bool = False) -> IO[bytes]:
        """A new file, for writing, with the rights that the umask leaves.

        Raises:
            OSError: if anything has that name, or it cannot be made.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY
        mode = 0o777 if executable else 0o666
        return os.fdopen(os.open(self._at(name), flags, mode, dir_fd=self._descriptor), "wb", buffering=0)

    def append_to(self, name: str) -> IO[bytes]:
        """A file that grows, new or begun by the same user, for reading and writing.

        Raises:
            OSError: if it is a link, a second name of another file, another user's, or no file.
        """
        descriptor = self._opened(name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        status = os.fstat(descriptor)
        if status.st_nlink != 1 or not is_mine(status):
            os.close(descriptor)
            what = "is another user's" if status.st_nlink == 1 else "is a second name of another file"
            raise OSError(errno.EPERM, f"{name} {what}", name)
        return os.fdopen(descriptor, "a+b", buffering=0)

    def open_as_it_is(self, name: str, flags: int) -> int:
        """A descriptor of an entry, whatever it is, with flags that neither make nor empty it."""
        return os.open(self._at(name), flags, dir_fd=self._descriptor)

    def make(self, name: str, *, private: bool = False) -> None:
        """Makes a folder, with the rights that the umask leaves, or for this user alone."""
        os.mkdir(self._at(name), 0o700 if private else 0o777, dir_fd=self._descriptor)

    def move(self, name: str, other: Directory, new: str) -> None:
        """Renames an entry into another folder; a file takes the place of one that is there."""
        os.replace(
            self._at(name), other._at(new), src_dir_fd=self._descriptor, dst_dir_fd=other._descriptor
        )  # fmt: skip

    def link(self, name: str, other: Directory, new: str, *, copied: bool = True) -> None:
        """Gives a file or a link another name in another folder.

        Where the system has no second names of it, a regular file or a link is copied, if ``copied``.

        Raises:
            OSError: if that cannot be done.
        """
        try:
            os.link(
                self._at(name), other._at(new),
                src_dir_fd=self._descriptor, dst_dir_fd=other._descriptor, follow_symlinks=False,
            )  # fmt: skip
        except FileExistsError:
            # Somebody has taken the name meanwhile: a copy would take the place of what is there.
            raise
        except (OSError, NotImplementedError) as error:
            # Not every file system has second names of files, nor every system those of links.
            status = self.entry(name)
            kind = 0 if status is None else stat.S_IFMT(status.st_mode)
            if not copied or kind not in (stat.S_IFREG, stat.S_IFLNK):
                raise OSError(getattr(error, "errno", errno.ENOTSUP), reason(error), name) from None
            self._copy(name, other, new, is_link=kind == stat.S_IFLNK)

    def _copy(self, name: str, other: Directory, new: str, *, is_link: bool) -> None:
        """A copy with its rights and times, on the disk; none if it cannot be made whole."""
        if is_link:
            os.symlink(os.readlink(self._at(name), dir_fd=self._descriptor), other._at(new),
                       dir_fd=other._descriptor)  # fmt: skip
            return
        with self.open_file(name) as source, other.create(new) as target:
            try:
                shutil.copyfileobj(source, target)
                shutil.copystat(self.path / name, other.path / new, follow_symlinks=False)
                sync(target.fileno())
            except BaseException:
                with suppress(OSError):
                    other.remove(new)
                raise

    def check_writable(self, name: str) -> None:
        """Makes sure that entries of a folder in this one can be removed.

        Raises:
            PermissionError: if this user may not.
        """
        options = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
        if not os.access(self._at(name), os.W_OK | os.X_OK, dir_fd=self._descriptor, **options):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    def remove(self, name: str) -> None:
        """Removes a file, a link, or a folder with all that is in it; links are not followed.

        Raises:
            OSError: if that cannot be done, as where another file system is mounted below: it stays.
        """
        if not stat.S_ISDIR(os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False).st_mode):
            os.unlink(self._at(name), dir_fd=self._descriptor)
            return
        with opened_below(self, [name]) as below:
            if below.mount() != self.mount():
                raise OSError(errno.EBUSY, "another file system is mounted there", str(self.place / name))
            for entry in below.names():
                below.remove(entry)
        os.rmdir(self._at(name), dir_fd=self._descriptor)

    def set_rights(self, status: os.stat_result) -> None:
        """Gives the folder the rights of another one, and, where root does, its owner."""
        folder = self.place if self._descriptor is None else self._descriptor
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            os.chown(folder, status.st_uid, status.st_gid)
        os.chmod(folder, stat.S_IMODE(status.st_mode))

    def sync(self) -> None:
        """Waits until the folder's entries are on the disk."""
        if self._descriptor is not None:
            sync(self._descriptor)

    @contextmanager
    def _holding(self, name: str) -> Iterator[tuple[Directory, str]]:
        """The folder that an entry is in, reached without links, and the entry's last name."""
        *folders, last = name.split("/")
        with opened_below(self, folders) as folder:
            yield folder, last

    def _at(self, name: str) -> str:
        """The name of an entry for a call that has the descriptor, or its path for one that has not."""
        return str(self.place / name) if self._descriptor is None else name

    def _opened(self, name: str, flags: int) -> int:
        """Opens a regular file.

        Raises:
            OSError: if it is something else.
        """
        if self._descriptor is None and (self.place / name).is_symlink():
            raise OSError(errno.ELOOP, f"{name} is a link", name)
        descriptor = os.open(
            self._at(name), flags | _NO_LINK | _NO_WAIT | _BINARY, 0o666, dir_fd=self._descriptor
        )
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, f"{name} is not a regular file", name)
        return descriptor


@contextmanager
def opened_below(directory: Directory, folders: list[str], *, make: bool = False) -> Iterator[Directory]:
    """A folder below another one, step by step without links; the first one itself if there are no steps."""
    held = directory
    try:
        for name in folders:
            step = held.below(name, make=make)
            left, held = held, step
            if left is not directory:
                left.close()
        yield held
    finally:
        if held is not directory:
            held.close()


@contextmanager
def opened(path: Path, *, make: bool = False) -> Iterator[Directory]:
    """A folder, open while the block runs; see :func:`open_directory`."""
    directory = open_directory(path, make=make)
    try:
        yield directory
    finally:
        directory.close()


def open_directory(path: Path, *, make: bool = False) -> Directory:
    """Opens a folder by its path.

    Links on the way are followed unless another user may have put them there: in a folder that others may
    write to, a link must belong to this user, to root or to that folder's owner. Linux has the same rule for
    sticky folders (proc(5), ``protected_symlinks``).

    Args:
        path: the folder.
        make: whether to make it, and what is missing on the way.

    Raises:
        OSError: if it cannot be opened or made, or such a link is on the way.
    """
    absolute = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps ".."
    if not RELATIVE:
        if make:
            os.makedirs(absolute, exist_ok=True)
        return Directory(None, Path(absolute))
    is_descriptor = absolute.startswith(f"/proc/{os.getpid()}/fd/")
    if is_descriptor or _PATH_ONLY is None:
        if make:
            os.makedirs(absolute, exist_ok=True)
        return Directory(os.open(absolute, _FOLDER), path)
    return Directory(_walk(None, absolute, _PATH_ONLY | _FOLDER, make=make), path)


def open_linked(directory: Directory, name: str) -> tuple[Directory, str]:
    """Opens the folder that a link of a folder leads into; also, the name of what it leads to there.

    Raises:
        OSError: as for :func:`open_directory`.
    """
    target = PurePath(os.readlink(directory._at(name), dir_fd=directory._descriptor))
    place = directory.place / target.parent
    if directory._descriptor is None or _PATH_ONLY is None:
        return open_directory(place), target.name
    held = _walk(directory._descriptor, str(target.parent), _PATH_ONLY | _FOLDER, make=False)
    return Directory(held, place), target.name


def _walk(start: int | None, path: str, flags: int, *, make: bool) -> int:
    """Opens a folder component by component; each link is looked at before it is followed.

    Args:
        start: the folder that a relative path begins in.
        path: of the folder.
        flags: for each step.
        make: whether to make what is missing.
    """
    absolute = path.startswith("/")
    steps = deque(PurePath(path).parts[1:] if absolute else PurePath(path).parts)
    held = os.open("/", flags) if absolute else os.open(".", flags, dir_fd=start)
    links = of_links = 0
    try:
        while steps:
            name = steps.popleft()
            # Where a link leads, nothing is made: whoever made it may have meant another place.
            makes, of_links = make and not of_links, max(0, of_links - 1)
            try:
                step = _step(name, held, flags | _NO_LINK, make=makes)
            except NotADirectoryError:
                target = _followed(name, held, path)
                links += 1
                of_links += len(PurePath(target).parts)
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, "too many links", path) from None
                steps.extendleft(reversed(PurePath(target).parts))
                if not target.startswith("/"):
                    continue
                step = os.open(steps.popleft(), flags)
                of_links -= 1
            # The next one is held before this one is closed: a Ctrl-C in between closes none of them twice.
            left, held = held, step
            os.close(left)
        return os.open(".", _FOLDER, dir_fd=held)
    finally:
        os.close(held)


def _step(name: str, held: int, flags: int, *, make: bool) -> int:
    try:
        return os.open(name, flags, dir_fd=held)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=held)
    return os.open(name, flags, dir_fd=held)


def _followed(name: str, folder: int, path: str) -> str:
    """Where a link leads, if it may be followed.

    Raises:
        OSError: if it is no link, or a stranger may have put it there.
    """
    link, holder = os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(folder)
    if not stat.S_ISLNK(link.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "is no folder", path)
    if may_be_strangers(link, holder):
        raise PermissionError(errno.EACCES, f"{name} on this path is a link of another user's", path)
    return os.readlink(name, dir_fd=folder)


def missing_folders(folder: Path) -> list[Path]:
    """A folder and those around it that are not there, the innermost first."""
    return [path for path in (folder, *folder.parents) if not os.path.lexists(path)]


def remove_if_empty(folders: list[Path]) -> None:
    """Removes folders that have nothing in them, the innermost first."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def is_trusted(status: os.stat_result, holder: os.stat_result) -> bool:
    """Whether this user has put a file or folder there; for root, also the owner of the folder around it."""
    return is_mine(status) or (os.geteuid() == 0 and status.st_uid == holder.st_uid)


def may_be_strangers(status: os.stat_result, holder: os.stat_result) -> bool:
    """Whether another user may have put an entry into a folder.

    Nobody may where the folder is not for others to write to. Where it is, the entry must be this user's,
    root's or the folder's owner's.
    """
    if not hasattr(os, "geteuid"):
        return False
    return bool(holder.st_mode & _OTHERS_WRITE) and status.st_uid not in (0, os.geteuid(), holder.st_uid)


def is_mine(status: os.stat_result) -> bool:
    """Whether it belongs to this user."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def write_new(
    directory: Directory, name: str, content: bytes, *, executable: bool = False, synced: bool = True
) -> None:
    """Writes a file that is not there yet, and waits until it is on the disk unless ``synced`` is False.

    Raises:
        OSError: if it cannot be written; then there is none.
    """
    try:
        with directory.create(name, executable=executable) as file:
            write_all(file, content)
            if synced:
                sync(file.fileno())
    except FileExistsError:
        raise
    except BaseException:
        with suppress(OSError):
            directory.remove(name)
        raise


def write_all(file: IO[bytes], content: bytes) -> None:
    """Writes all of it to an unbuffered file, which may take it in pieces."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def sync(descriptor: int) -> None:
    """Waits until an open file or folder is on the disk."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do it for a folder.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def free_name(directory: Directory, name: str) -> str:
    """The name itself if nothing has it, or the first of ``name.~1~``, ``name.~2~``, ... that is free."""
    number, free = 0, name
    while directory.entry(free) is not None:
        number += 1
        free = f"{name}.~{number}~"
    return free


def new_token() -> str:
    """A name that nobody can foretell (64 random bits, in hexadecimal digits)."""
    return secrets.token_hex(8)
