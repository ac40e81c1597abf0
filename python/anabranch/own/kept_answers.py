"""The code that a user has agreed to: SHA-256 of files, in the user's own configuration.

The list is believed only where nobody else can have written it. A line has the digest of a file and its name;
who deletes a line takes the answer back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from anabranch.errors import reason
from anabranch.own.code_files import CodeFile

_FOLDER = "anabranch"
_FILE = "trusted-code"
_LARGEST_BYTES = 10_000_000
_HEX = frozenset("0123456789abcdef")
_FOLLOW_NOT = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class AnswersError(Exception):
    """The list cannot be believed or written, with its name and why."""


def answers_file() -> Path:
    """The list of the effective user: below ``$XDG_CONFIG_HOME``, or else ``~/.config``.

    A folder of another user, as ``sudo`` may leave it in the environment, is passed over.
    """
    named = os.environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(named) and _is_mine(Path(named)):  # noqa: PTH117 - XDG: others are to be ignored
        return Path(named) / _FOLDER / _FILE
    return _home() / ".config" / _FOLDER / _FILE


def _home() -> Path:
    """The home of the effective user.

    Raises:
        AnswersError: if he has none.
    """
    named = os.environ.get("HOME", "")
    if os.path.isabs(named) and _is_mine(Path(named)):  # noqa: PTH117 - as for XDG
        return Path(named)
    if os.name != "posix":
        return Path.home()
    import pwd  # noqa: PLC0415 - Windows has none

    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        raise AnswersError("this user has no home, and no list of code that he has agreed to") from None


def _is_mine(folder: Path) -> bool:
    """Whether a folder belongs to the effective user, or is yet to be made."""
    try:
        return os.name != "posix" or folder.stat().st_uid == os.geteuid()
    except OSError:
        return True


def read_answers() -> frozenset[str]:
    """The digests that have been agreed to.

    Raises:
        AnswersError: if the list or its folder belongs to somebody else, others can write it, or it is
            a link.
    """
    file = answers_file()
    try:
        with _opened(file, os.O_RDONLY) as descriptor:
            content = os.read(descriptor, _LARGEST_BYTES)
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise AnswersError(f"{file} is not believed: {reason(error)}") from None
    words = (line.split()[:1] for line in content.decode(errors="replace").splitlines())
    return frozenset(word[0] for word in words if word and len(word[0]) == 64 and _HEX.issuperset(word[0]))


def keep_answers(files: Iterable[CodeFile], digests: frozenset[str]) -> None:
    """Adds files to the list that are not among those known.

    Raises:
        AnswersError: if it cannot be written, or would not be believed.
    """
    lines = {file.digest: _line(file) for file in files if file.digest not in digests}
    if not lines:
        return
    file = answers_file()
    try:
        file.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            file.parent.mkdir(mode=0o700)
        with _opened(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
            content = "".join(lines.values()).encode()
            # One call: two runs at a time do not mix their lines.
            written = os.write(descriptor, content)
    except OSError as error:
        raise AnswersError(f"{file} cannot be written: {reason(error)}") from None
    if written < len(content):
        raise AnswersError(f"{file} is written in part; the disk may be full")


def _line(file: CodeFile) -> str:
    name = "".join(letter if letter.isprintable() else "?" for letter in str(file.path))
    return f"{file.digest} {name}\n"


@contextmanager
def _opened(file: Path, flags: int) -> Iterator[int]:
    """A descriptor of a file that only the user can have written, in such a folder."""
    with ExitStack() as stack:
        folder = None
        # Opened once and looked at: what is opened in it cannot be exchanged for a link.
        if os.open in os.supports_dir_fd:
            folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | _FOLLOW_NOT)
            stack.callback(os.close, folder)
            _check(os.fstat(folder), stat.S_IFDIR, "its folder")
        path = str(file) if folder is None else file.name
        descriptor = os.open(path, flags | _FOLLOW_NOT, 0o600, dir_fd=folder)
        stack.callback(os.close, descriptor)
        _check(os.fstat(descriptor), stat.S_IFREG, "it")
        yield descriptor


def _check(status: os.stat_result, kind: int, what: str) -> None:
    if stat.S_IFMT(status.st_mode) != kind:
        raise OSError(None, f"{what} is not of the kind that it should be")
    if os.name != "posix":
        return
    if status.st_uid != os.geteuid():
        raise OSError(None, f"{what} belongs to somebody else")
    if status.st_mode & 0o022:
        raise OSError(None, f"others can write {what}; take that right away (chmod go-w)")
