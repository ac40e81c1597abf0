"""Files that a study's scenario names: read once, so that no run depends on what becomes of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import Any

from anabranch.errors import reason
from anabranch.scenario.files import companions_of, series_of, with_files
from anabranch.scenario.quantity import quoted
from anabranch.text.files import open_given
from anabranch.topology.traffic.load import MOST_FILE_BYTES


class InputFiles:
    """The files that a study's scenario and levels name, under paths that a study folder can have."""

    def __init__(self, base: Path | None) -> None:
        """``base`` is the folder that the names are relative to; None for the current one."""
        self.base = base or Path()
        self._known: dict[str, str] = {}
        self.contents: dict[str, bytes] = {}
        """Contents by path."""

    def adopt(self, value: object, steps: Sequence[str | int] = ()) -> Any:
        """The scenario as a study folder has it: other paths, where it names files.

        Args:
            value: plain data of a scenario, or of a part of it.
            steps: where in a scenario they stand.

        Raises:
            ValueError: if one is no regular file, is too large, or cannot be read.
        """
        return with_files(value, self._adopt, steps, base=self.base)

    def _adopt(self, name: str, folder: str) -> str:
        if name in self._known:
            return self._known[name]
        source = self.base / name
        series = series_of(source)
        self._known[name] = kept = self._path(name, folder)
        if series is None:
            self.contents[kept] = _content(source, name)
            for beside in companions_of(source):
                self.contents[str(PurePosixPath(kept).with_suffix(beside.suffix))] = _content(beside, name)
        for file in series or ():
            for one in (file, *companions_of(file)):
                self.contents[f"{kept}/{one.name}"] = _content(one, name)
        return kept

    def _path(self, name: str, folder: str) -> str:
        """Where a file goes: a path that was made here stays, so that a resolved study reads back."""
        path = PurePosixPath(name)
        if has_magic(path.name):
            # A pattern becomes a folder with what it stands for.
            path = path.with_name("series")
        if path.parts[:-1] == (folder,) and name not in self.contents:
            return name
        number = 1
        while (free := f"{folder}/{'' if number == 1 else f'{number}-'}{path.name}") in self._known.values():
            number += 1
        return free


def _content(path: Path, name: str) -> bytes:
    try:
        with open_given(path, MOST_FILE_BYTES) as file:
            return file.read()
    except OSError as error:
        raise ValueError(f"{quoted(name)} cannot be read: {reason(error)}") from None


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
    with tempfile.TemporaryDirectory(prefix="anabranch-inputs-") as folder:
        unpack(files, Path(folder))
        yield Path(folder)
