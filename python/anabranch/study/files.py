"""Topology files of a study: read once, so that no run depends on what becomes of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from anabranch.errors import reason
from anabranch.scenario.quantity import quoted
from anabranch.topology.sources.files import MAX_FILE_BYTES

_PREFIX = "file:"
_FOLDER = "topologies"


class TopologyFiles:
    """The files that a study's scenario and levels name, under paths that a study folder can have."""

    def __init__(self, base: Path | None) -> None:
        """``base`` is the folder that the names are relative to; None for the current one."""
        self._base = base or Path()
        self._known: dict[str, str] = {}
        self.contents: dict[str, bytes] = {}
        """Contents by path."""

    def adopt(self, topology: object) -> object:
        """What a scenario in a study folder says for a topology: another path, where it is a file.

        Raises:
            ValueError: if it is no regular file, is too large, or cannot be read.
        """
        if not isinstance(topology, str) or not topology.startswith(_PREFIX):
            return topology
        name = topology.removeprefix(_PREFIX)
        if name not in self._known:
            content = _content(self._base / name, name)
            self._known[name] = self._path(name)
            self.contents[self._known[name]] = content
        return _PREFIX + self._known[name]

    def _path(self, name: str) -> str:
        """Where a file goes: a path that was made here stays, so that a resolved study reads back."""
        path = PurePosixPath(name)
        if path.parts[:-1] == (_FOLDER,) and name not in self.contents:
            return name
        number = 1
        while (free := f"{_FOLDER}/{'' if number == 1 else f'{number}-'}{path.name}") in self.contents:
            number += 1
        return free


def _content(path: Path, name: str) -> bytes:
    if path.exists() and not path.is_file():
        raise ValueError(f"{quoted(name)} is not a file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{quoted(name)} cannot be read: {reason(error)}") from None
    if len(content) > MAX_FILE_BYTES:
        raise ValueError(f"{quoted(name)} is larger than {MAX_FILE_BYTES >> 20} MiB, the most that is read")
    return content


def unpack(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes files under their paths."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@contextmanager
def unpacked(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with the files while the block runs."""
    if not files:
        yield Path()
        return
    with tempfile.TemporaryDirectory(prefix="anabranch-topologies-") as folder:
        unpack(files, Path(folder))
        yield Path(folder)
