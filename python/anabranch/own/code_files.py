"""The files that run when classes of the user's own are loaded: they are read, and nothing is executed."""

from __future__ import annotations

import ast
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import reason
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
    """What ``import name`` finds in these folders: a file, or all files of a package; empty if nothing.

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
    """Where modules of a scenario are looked for first: in its folder, and in the current one."""
    return list(dict.fromkeys([(base or Path()).resolve(), Path.cwd()]))


def code_files(references: Iterable[CodeReference], base: Path | None) -> list[CodeFile]:
    """The files of these classes, and of the modules beside them that they import, each once.

    Modules that are installed are not among them. What cannot be read is left out: it cannot run, either.

    Args:
        references: the classes.
        base: the scenario's folder; None for the current one.
    """
    folders = module_folders(base)
    found: dict[Path, CodeFile] = {}
    waiting: list[tuple[Path, list[Path]]] = []
    for reference in references:
        file = code_file(reference.module, base)
        if file is not None:
            path = ((base or Path()) / file).resolve()
            waiting.append((path, [path.parent, *folders]))
        elif reference.module != NOTEBOOK:
            top = reference.module.partition(".")[0]
            waiting += ((path, folders) for path in local_module(top, folders))
            inner = Path(*reference.module.split(".")).with_suffix(".py")
            waiting += ((folder / inner, folders) for folder in folders)
    while waiting and len(found) < _MOST_FILES:
        path, searched = waiting.pop()
        if path in found:
            continue
        try:
            content, found[path] = read_code(path)
        except CodeFileError:
            continue
        for name in _imported(content):
            waiting += ((file, searched) for file in local_module(name, searched))
    return sorted(found.values(), key=lambda file: str(file.path))


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
