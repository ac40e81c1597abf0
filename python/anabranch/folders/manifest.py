"""Which files of a folder are ours: ``manifest.json`` lists them. All others are the user's."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from anabranch.errors import ResultError

MANIFEST = "manifest.json"
PARTIAL = ".anabranch-partial"
"""Name of the folder in a folder that holds what is being written for it."""
READY = ".anabranch-ready"
"""The same once all of it is written."""
REMEDY = "choose another name, or give --replace (replace=True)"
"""What to do about files that are not ours."""
_FORMAT = "anabranch-manifest"
_FORMAT_VERSION = 1
_MOST_NAMES = 5
_TEMPORARY = f".{MANIFEST}.tmp"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; empty if it has none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = isinstance(manifest, dict) and manifest.get("format") == _FORMAT
    return manifest if known and isinstance(manifest.get("files"), list) else {}


def ours(folder: Path) -> set[str]:
    """The files of a folder that are ours, relative to it."""
    manifest = read_manifest(folder)
    return {MANIFEST, *map(str, manifest["files"])} if manifest else set()


def foreign(folder: Path) -> list[str]:
    """What is in a folder and is not ours: files, and folders with nothing of ours in them (``name/``)."""
    return list(_foreign(folder, "", ours(folder)))


def _foreign(folder: Path, prefix: str, known: set[str]) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        name = f"{prefix}{path.name}"
        if path.is_dir() and not path.is_symlink():
            if any(file.startswith(f"{name}/") for file in known):
                yield from _foreign(path, f"{name}/", known)
            elif name not in (PARTIAL, READY):
                yield f"{name}/"
        elif name not in known and name != _TEMPORARY:
            yield name


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


def record(folder: Path, kind: str, files: Iterable[str], origin: Mapping[str, Any] | None = None) -> None:
    """Adds files to the manifest of a folder; where there is none, it makes one of a kind.

    Args:
        folder: the folder.
        kind: of a new manifest.
        files: relative to the folder.
        origin: what says where the files come from.

    Raises:
        OSError: if it cannot be written.
    """
    manifest = read_manifest(folder)
    origin = manifest.get("origin") if origin is None else origin
    manifest = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "kind": manifest.get("kind", kind),
        **({"origin": dict(origin)} if origin else {}),
        "files": sorted({*manifest.get("files", ()), *files}),
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    partial = folder / _TEMPORARY
    try:
        partial.write_text(text + "\n", encoding="utf-8")
        sync(partial)
        partial.replace(folder / MANIFEST)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def files_in(folder: Path) -> list[str]:
    """All files in a folder and below, relative to it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def sync_all(folder: Path) -> None:
    """Waits until a folder and all that is in it is on the disk."""
    for below, _, names in os.walk(folder):
        for name in (*names, ""):
            sync(Path(below, name))


def sync(path: Path) -> None:
    """Waits until a file or folder is on the disk."""
    windows = os.name == "nt"
    if windows and path.is_dir():
        # It cannot be opened there.
        return
    descriptor = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do it for a folder.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def free_name(path: Path) -> Path:
    """The name itself if nothing has it, or the first of ``name.~1~``, ``name.~2~``, ... that is free."""
    number, free = 0, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.~{number}~")
    return free
