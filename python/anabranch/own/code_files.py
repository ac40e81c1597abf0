"""The files that run when classes of the user's own are loaded: they are read, and nothing is executed."""

from __future__ import annotations

import ast
import hashlib
import itertools
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from anabranch.errors import reason
from anabranch.process.real_path import real_path
from anabranch.scenario.files import CodeReference, code_file
from anabranch.scenario.quantity import quoted

LARGEST_BYTES = 1_000_000
"""A file of code is smaller."""
_MOST_FILES = 500
"""Of the modules that lie beside a scenario."""
NOTEBOOK = "__main__"
"""The module of the program that runs, which has been executed already."""


class CodeFileError(ValueError):
    """A file that holds no code of the user's own, with a message for the scenario."""


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of code as it is now."""

    path: Path
    size: int
    digest: str
    """SHA-256 of its content, in hexadecimal."""
    owner: int
    """Number of the user whose file it is."""


def read_code(path: Path, name: str | None = None) -> tuple[bytes, CodeFile]:
    """The content of a file of code.

    Args:
        path: the file.
        name: what a message calls it.

    Raises:
        CodeFileError: if it cannot be read, is no regular file, or has a megabyte or more.
    """
    called = quoted(name or str(path))
    try:
        # A FIFO would wait for somebody to write, a device has no end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise CodeFileError(f"{called} cannot be read: {reason(error)}") from None
    except ValueError:
        raise CodeFileError(f"{called} cannot be read: not a file name") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise CodeFileError(f"{called} is not a regular file, and only such files are read as code")
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        content = file.read(LARGEST_BYTES)
    if len(content) >= LARGEST_BYTES:
        raise CodeFileError(f"{called} has a megabyte or more; a file of code is smaller")
    return content, CodeFile(path, len(content), hashlib.sha256(content).hexdigest(), status.st_uid)


def local_module(name: str, folders: Iterable[Path]) -> list[Path]:
    """The files of ``import name`` in these folders: one, or all of a package; empty if there are none.

    Args:
        name: without a dot.
        folders: the first that has such a module counts.
    """
    for folder in folders:
        package = folder / name
        if os.path.lexists(package / "__init__.py"):
            return sorted(package.rglob("*.py"))
        if os.path.lexists(file := folder / f"{name}.py"):
            return [file]
    return []


def module_folders(base: Path | None) -> list[Path]:
    """The folders of a scenario's modules that come first: its own, and the current one."""
    return list(dict.fromkeys([real_path(base or Path()), Path.cwd()]))


def installed_files(name: str, folders: Iterable[Path]) -> list[Path]:
    """The files that are executed to import an installed module, those of its packages first; nothing is.

    Args:
        name: of the module.
        folders: where it is not looked for.
    """
    searched = installed_path(folders)
    files = list[Path]()
    for part in itertools.accumulate(name.split("."), "{}.{}".format):
        spec = PathFinder.find_spec(part, searched)
        if spec is None:
            return []
        if spec.has_location and spec.origin is not None:
            files.append(Path(spec.origin))
            searched = [*(spec.submodule_search_locations or ())]
        else:
            # Of a package without a file, Python would look up the parents among imported modules.
            searched = [str(Path(entry, part.rpartition(".")[2])) for entry in searched]
    return files


def installed_path(folders: Iterable[Path]) -> list[str]:
    """The folders of Python's modules without these folders, by whatever names it has them."""
    places = {real_path(folder) for folder in folders}
    return [entry for entry in sys.path if real_path(Path(entry)) not in places]


def code_files(references: Iterable[CodeReference], base: Path | None) -> list[CodeFile]:
    """The files of these classes, and of the modules beside them that they import, each once.

    Modules that are installed are among them where a scenario names them, and not where code imports them.
    What cannot be read is left out: it cannot run, either.

    Args:
        references: the classes.
        base: the scenario's folder; None for the current one.
    """
    folders = module_folders(base)
    files: dict[Path, CodeFile] = {}
    waiting: list[tuple[Path, list[Path]]] = []
    for reference in references:
        file = code_file(reference.module, base)
        if file is not None:
            path = real_path((base or Path()) / file)
            waiting.append((path, [path.parent, *folders]))
        elif reference.module != NOTEBOOK:
            waiting += ((path, folders) for path in _package_files(reference.module, folders))
    while waiting and len(files) < _MOST_FILES:
        path, searched = waiting.pop()
        if path in files:
            continue
        try:
            content, files[path] = read_code(path)
        except CodeFileError:
            continue
        for name in _imported(content):
            waiting += ((file, searched) for file in local_module(name, searched))
    return sorted(files.values(), key=lambda file: str(file.path))


def _package_files(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files of a module that is none alone: of its package in these folders, or of an installed one."""
    top, *inner = name.split(".")
    yield from local_module(top, folders)
    for folder in folders:
        # Of packages without a file of their own, and behind links.
        for depth in range(1, len(inner) + 1):
            place = folder.joinpath(top, *inner[:depth])
            yield from (place / "__init__.py", place.with_name(f"{place.name}.py"))
    yield from installed_files(name, folders)


def _imported(content: bytes) -> Iterator[str]:
    """The first part of the name of each module that a text imports by a statement."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # It cannot run, either.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module.partition(".")[0]
