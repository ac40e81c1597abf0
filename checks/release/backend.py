"""The build backend: maturin, with the manual and the examples put into the package while it builds.

A wheel and an sdist have them in ``anabranch/manual``, however they are built: ``pip install .``, ``pip
wheel``, ``python -m build``; around ``maturin build`` the commands ``python checks/release/backend.py copy``
and ``remove`` do the same. The copies are in no commit, and gone after the build: where the sources are, the
program reads those.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "python" / "anabranch" / "manual"
PATTERNS = {"docs": ("*.md", "reproductions/*.md"), "examples": ("**/*",)}
"""What goes into the package, by folder."""


def is_sources() -> bool:
    """Whether pages and examples are here; an unpacked sdist has them in the package alone."""
    return all((ROOT / folder).is_dir() for folder in PATTERNS)


def copy() -> None:
    """Puts pages and examples into the package."""
    if not is_sources():
        return
    remove()
    for folder, patterns in PATTERNS.items():
        for file in {file for pattern in patterns for file in (ROOT / folder).glob(pattern)}:
            if file.is_file() and "__pycache__" not in file.parts:
                target = TARGET / folder / file.relative_to(ROOT / folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


def remove() -> None:
    """Takes the copies away, unless they are all that there is."""
    if is_sources():
        shutil.rmtree(TARGET, ignore_errors=True)


@contextmanager
def with_manual() -> Iterator[Any]:
    """Gives maturin's hooks while the copies are there."""
    import maturin  # noqa: PLC0415 - copies alone need none

    copy()
    try:
        yield maturin
    finally:
        remove()


def build_wheel(*arguments: Any, **options: Any) -> str:
    """Builds a wheel (PEP 517)."""
    with with_manual() as maturin:
        name: str = maturin.build_wheel(*arguments, **options)
    return name


def build_sdist(*arguments: Any, **options: Any) -> str:
    """Builds an sdist (PEP 517)."""
    with with_manual() as maturin:
        name: str = maturin.build_sdist(*arguments, **options)
    return name


def __getattr__(name: str) -> Any:
    """All other hooks are maturin's own."""
    import maturin  # noqa: PLC0415 - as above

    return getattr(maturin, name)


if __name__ == "__main__":
    {"copy": copy, "remove": remove}[sys.argv[1]]()
