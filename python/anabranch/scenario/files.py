"""The files that a scenario names, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from anabranch.scenario.place import place
from anabranch.scenario.table import Table

FILE = "file:"
"""Before the name of a file, relative to the scenario's folder."""
FILE_FIELDS = {
    ("network", "topology"): "topologies",
    ("network", "weights"): "inputs",
    ("routing", "paths"): "inputs",
    ("routing", "demand", "pair", "from"): "inputs",
    ("routing", "demand", "matrix", "from"): "inputs",
    ("traffic", None, "matrix", "from"): "inputs",
    ("traffic", None, "flow_list"): "inputs",
    ("traffic", None, "size"): "inputs",
    ("profile", None, "from"): "inputs",
}
"""Fields that may name a file, None for a place in a list; the folder where results and studies keep it."""
_CODE = {
    ("transport", "*", "congestion_control", "python"),
    ("transport", "*", "scheduler", "python"),
    ("transport", "*", "path_selector", "python"),
    ("routing", "scheme", "python"),
    ("traffic", None, "routing", "scheme", "python"),
    ("routing", "load_balancing", "python"),
    ("controller", "application", "python"),
}
"""Fields that name a class of the user's own, * for any key."""
_CODE_FOLDER = "code"


@dataclass(frozen=True, slots=True)
class CodeReference:
    """A class of the user's own that a scenario names."""

    place: str
    """Where, such as ``transport.mine.congestion_control``."""
    python: str
    """``module:Class``, or ``path/of/a/file.py:Class``."""
    makes_routes: bool
    """Whether it is a routing scheme, without which there is no plan."""

    @property
    def module(self) -> str:
        """The module, or its file."""
        return self.python.partition(":")[0]


def code_references(value: Any, steps: Sequence[str | int] = ()) -> Iterator[CodeReference]:
    """The classes of the user's own that a scenario names, or a part of it.

    Args:
        value: its tables, or plain data.
        steps: where in a scenario they stand.
    """
    at = tuple(None if isinstance(step, int) else step for step in steps)
    fields = [field for field in _CODE if _leads(at, field)]
    if any(len(at) == len(field) for field in fields):
        if isinstance(value, str):
            yield CodeReference(place(steps[:-1]), value, makes_routes=at[-2] == "scheme")
        return
    following = {field[len(at)] for field in fields}
    entries: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, list):
        entries = enumerate(value) if None in following else ()
    elif isinstance(value, dict):
        entries = ((str(key), entry) for key, entry in value.items() if {key, "*"} & following)
    elif isinstance(value, Table):
        yield from code_references(value.data(given_only=True), steps)
    for step, entry in entries:
        yield from code_references(entry, (*steps, step))


HOSTS = ".hosts"
"""The ending of a file beside traffic that has the names of its nodes."""


def series_of(path: Path) -> list[Path] | None:
    """The files that a folder or a pattern stands for, by their names, 9 before 10; None for one file."""
    if path.is_dir():
        members = [file for file in path.iterdir() if not file.name.startswith(".")]
    elif has_magic(str(path)) and not path.exists():
        # A pattern may be absolute, and Path.glob takes relative ones alone.
        members = [Path(name) for name in glob(str(path))]  # noqa: PTH207 - as said
    else:
        return None
    files = [file for file in members if file.is_file() and file.suffix != HOSTS]
    return sorted(files, key=lambda file: (_natural(file.name), file))


def _natural(name: str) -> list[tuple[int, str]]:
    """A key for names in which 9 comes before 10."""
    parts = re.split(r"([0-9]{1,18})", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def companions_of(path: Path) -> list[Path]:
    """The files beside a file that belong to it: the names of nodes."""
    hosts = path.with_suffix(HOSTS)
    return [hosts] if hosts != path and hosts.is_file() else []


def names_file(text: str) -> bool:
    """Whether a text is ``file:`` and a name."""
    return text.startswith(FILE) and text != FILE


def with_files(
    value: Any,
    change: Callable[[str, str], str],
    steps: Sequence[str | int] = (),
    *,
    base: Path | None = None,
) -> Any:
    """Plain data of a scenario, or of a part of it, with every name of a file changed.

    Args:
        value: the data.
        change: gets a name without ``file:`` and the folder where it is kept; returns another one.
        steps: where in a scenario the data stand.
        base: the scenario's folder, where modules of the user's own are looked for; None for the current one.
    """
    at = tuple(None if isinstance(step, int) else step for step in steps)
    if at in FILE_FIELDS:
        named = isinstance(value, str) and names_file(value)
        return FILE + change(value.removeprefix(FILE), FILE_FIELDS[at]) if named else value
    if any(_leads(at, field) and len(at) == len(field) for field in _CODE):
        return _with_code(value, change, base)
    if not any(_leads(at, field) for field in (*FILE_FIELDS, *_CODE)):
        return value
    if isinstance(value, dict):
        return {key: with_files(entry, change, (*steps, key), base=base) for key, entry in value.items()}
    if isinstance(value, list):
        return [with_files(entry, change, (*steps, place), base=base) for place, entry in enumerate(value)]
    return value


def _leads(at: tuple[str | None, ...], field: tuple[str | None, ...]) -> bool:
    """Whether a place is a field, or on the way to it."""
    return len(at) <= len(field) and all(
        wanted in (step, "*") for step, wanted in zip(at, field, strict=False)
    )


def _with_code(value: Any, change: Callable[[str, str], str], base: Path | None) -> Any:
    if not isinstance(value, str):
        return value
    module, colon, name = value.partition(":")
    file = code_file(module, base)
    return value if file is None else f"{change(file, _CODE_FOLDER)}{colon}{name}"


def code_file(module: str, base: Path | None) -> str | None:
    """The file of a module of the user's own, relative to the scenario's folder or absolute.

    None where it is a package, or lies in neither the scenario's folder nor the current one.

    Args:
        module: its name, or the name of a file that ends in ``.py``.
        base: the scenario's folder; None for the current one.
    """
    if module.endswith(".py"):
        return module
    if not module.isidentifier() or module == "__main__":
        return None
    name = f"{module}.py"
    if ((base or Path()) / name).is_file():
        return name
    here = Path.cwd() / name
    return str(here) if here.is_file() else None
