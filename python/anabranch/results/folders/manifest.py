"""The files of a folder that are ours: ``manifest.json`` lists them with contents. All others are not.

A name alone makes nothing ours. A file is, if the manifest has it and its content is the one that was written
(SHA-256); one that the user has changed, or put there under a name of ours, is the user's. So is what has no
hash: a list of names that grow, in a manifest that may come from elsewhere, takes nothing from anybody.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from anabranch.errors import ResultError
from anabranch.results.folders.content import Content
from anabranch.results.folders.directory import Directory, opened, opened_below
from anabranch.results.folders.staging import is_lock, is_staging

MANIFEST = "manifest.json"
REMEDY = "choose another name, or give --replace (replace=True)"
"""What to do about files that are not ours."""
_FORMAT = "anabranch-manifest"
_FORMAT_VERSION = 2
"""2: files have their sizes and hashes; before, they were names."""
_MOST_NAMES = 5
_MOST_BYTES = 64 << 20
"""A manifest of that size would list half a million files."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The statement of a folder about itself."""

    kind: str
    """Of result."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Where its files come from."""
    files: Mapping[str, Content] = field(default_factory=dict)
    """By name, relative to the folder."""
    growing: tuple[str, ...] = ()
    """Files that grow and folders that get files (``name/``). What they hold has no hash, and so is nobody's
    but the user's for all but the command that adds to them, which knows their names without this list."""

    @classmethod
    def from_data(cls, data: object) -> Self | None:
        """The manifest in a JSON document; None if there is none, or anything that no manifest has."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            return None
        if data.get("format_version") != _FORMAT_VERSION:
            return None
        kind, files = data.get("kind"), data.get("files")
        origin, growing = data.get("origin", {}), data.get("growing", [])
        if not (isinstance(kind, str) and isinstance(files, dict) and isinstance(origin, dict)):
            return None
        contents = {name: Content.from_data(entry) for name, entry in files.items()}
        digests = {name: content for name, content in contents.items() if content is not None}
        names = [*files, *(growing if isinstance(growing, list) else [None])]
        if len(digests) < len(files) or not all(map(_is_below, names)):
            return None
        return cls(kind, origin, digests, tuple(growing))

    def data(self) -> dict[str, Any]:
        """As a JSON document."""
        return {
            "format": _FORMAT,
            "format_version": _FORMAT_VERSION,
            "kind": self.kind,
            **({"origin": dict(self.origin)} if self.origin else {}),
            "files": {name: self.files[name].data() for name in sorted(self.files)},
            **({"growing": sorted(self.growing)} if self.growing else {}),
        }

    def text(self) -> bytes:
        """As the content of a file."""
        return f"{json.dumps(self.data(), indent=2, ensure_ascii=False)}\n".encode()


def _is_below(name: object) -> bool:
    """Whether it is the name of something in a folder or below."""
    return isinstance(name, str) and all(
        step not in ("", ".", "..") and "\0" not in step for step in name.removesuffix("/").split("/")
    )


def manifest_in(directory: Directory) -> Manifest | None:
    """The manifest of a folder; None if it has none that can be believed."""
    try:
        return Manifest.from_data(json.loads(directory.read(MANIFEST, _MOST_BYTES)))
    except (OSError, ValueError, RecursionError):
        return None


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if there is no folder, or none that can be believed in it."""
    try:
        with opened(folder) as directory:
            return manifest_in(directory)
    except OSError:
        return None


class Inventory:
    """Our files in an open folder. Contents are read once, and again if a file has changed since."""

    def __init__(self, directory: Directory) -> None:
        """Takes a folder; it is read when something is asked."""
        self._directory = directory
        self._judged: dict[str, tuple[tuple[int, ...], Content, bool]] = {}

    def is_ours(self, name: str, contents: Iterable[Content | None]) -> bool:
        """Whether a file holds one of the contents that were written under its name."""
        return any(self._holds(name, content) for content in contents if content is not None)

    def foreign(self, manifest: Manifest | None) -> list[str]:
        """The entries that are not ours: files, and folders with nothing of ours in them (``name/``)."""
        return list(self._foreign(self._directory, "", manifest or Manifest("")))

    def _holds(self, name: str, content: Content) -> bool:
        status = self._directory.entry(name)
        if status is None:
            return False
        state = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        judged = self._judged.get(name)
        if judged is None or judged[:2] != (state, content):
            judged = self._judged[name] = (state, content, content.is_in(self._directory, name))
        return judged[2]

    def _foreign(self, directory: Directory, prefix: str, manifest: Manifest) -> Iterator[str]:
        for entry in directory.names():
            name = f"{prefix}{entry}"
            status = directory.entry(entry)
            if status is not None and stat.S_ISDIR(status.st_mode):
                if is_staging(directory, entry):
                    continue
                if any(file.startswith(f"{name}/") for file in manifest.files):
                    with opened_below(directory, [entry]) as below:
                        yield from self._foreign(below, f"{name}/", manifest)
                else:
                    yield f"{name}/"
            elif not self._is_listed(name, manifest) and not is_lock(entry):
                yield name

    def _is_listed(self, name: str, manifest: Manifest) -> bool:
        if name == MANIFEST:
            return bool(manifest.kind)
        return self.is_ours(name, [manifest.files.get(name)])


def foreign(folder: Path) -> list[str]:
    """The entries of a folder that are not ours; see :meth:`Inventory.foreign`."""
    with opened(folder) as directory:
        return Inventory(directory).foreign(manifest_in(directory))


def check_folder(folder: Path) -> None:
    """Makes sure that nothing but a folder has this name.

    Raises:
        ResultError: if something else has it.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ResultError(f"{folder}: exists and is not a folder; choose another name")


def some(names: list[str]) -> str:
    """Names for a message, the first few."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
