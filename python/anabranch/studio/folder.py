"""The folder that the studio works in: its scenarios, and what is written there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import StudioError
from anabranch.process.real_path import real_path
from anabranch.results.folders import write_whole
from anabranch.results.folders.stamp import stamp
from anabranch.scenario.reading import read_text

_MOST_FILES = 500
"""Files that are listed."""
_DEEPEST = 3
"""Folders below the first one that are looked into."""


def _is_looked_into(folder: str) -> bool:
    return not folder.startswith((".", "_")) and folder not in ("results", "target")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and all below it; nothing else is read or written."""

    root: Path

    def place(self, name: str) -> Path:
        """The file of a name that the page gives.

        Raises:
            StudioError: if it is none, or lies outside.
        """
        if not name or "\0" in name:
            raise StudioError(f"{name!r} is no file name")
        place = real_path(self.root / name)
        if not place.is_relative_to(real_path(self.root)) or place == real_path(self.root):
            raise StudioError(f'"{name}" lies outside of the folder {self.root}')
        return place

    def name(self, place: Path) -> str:
        """The name of a file for the page."""
        return real_path(place).relative_to(real_path(self.root)).as_posix()

    def scenarios(self) -> list[str]:
        """The names of the files .toml, those of the folder itself first."""
        return sorted(self._files(), key=lambda name: (name.count("/"), name))

    def _files(self) -> Iterator[str]:
        left = _MOST_FILES
        for folder, inner, files in os.walk(self.root):
            here = Path(folder)
            depth = len(here.relative_to(self.root).parts)
            # Neither hidden folders nor those of results, whose scenarios are copies.
            inner[:] = (
                sorted(
                    name
                    for name in inner
                    if not name.startswith((".", "_")) and name not in ("results", "target")
                )
                if depth < _DEEPEST
                else []
            )
            for name in sorted(files):
                if name.endswith(".toml") and left > 0:
                    left -= 1
                    yield (here / name).relative_to(self.root).as_posix()

    def read(self, name: str) -> tuple[str, str]:
        """The text of a file, and its stamp.

        Raises:
            StudioError: if it lies outside.
            ScenarioError: if it cannot be read.
        """
        place = self.place(name)
        before = stamp(place)
        return text_of(place), before or ""

    def write(self, name: str, text: str, seen_stamp: str | None) -> str:
        """Writes a file, and returns its stamp.

        Args:
            name: of the file.
            text: what it holds then.
            seen_stamp: the stamp of what the writer has seen, empty for a file that is new; None writes over
                whatever is there.

        Raises:
            StudioError: if it lies outside, or has changed since.
            ResultError: if it cannot be written.
        """
        place = self.place(name)
        if place.suffix != ".toml":
            raise StudioError(f'"{name}": a scenario is a file .toml')
        now = stamp(place)
        if seen_stamp is not None and now is not None and now != seen_stamp:
            raise StudioError(f'"{name}" has been changed elsewhere since it was read here')
        write_whole(place, (text.replace("\n", "\r\n") if _has_crlf(place) else text).encode())
        return stamp(place) or ""


def text_of(place: Path) -> str:
    """The text of a file with line feeds alone, as pages have it.

    Raises:
        ScenarioError: if it cannot be read.
    """
    return read_text(place).replace("\r\n", "\n")


def _has_crlf(place: Path) -> bool:
    """Whether a file that is there ends its lines as Windows does: it keeps them."""
    try:
        return b"\r\n" in place.read_bytes()
    except OSError:
        return False
