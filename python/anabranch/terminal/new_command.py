"""``anabranch new``: a scenario to start from, or an algorithm of one's own in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.errors import ResultError
from anabranch.own.kinds import KINDS
from anabranch.process.console import say, write
from anabranch.terminal import values
from anabranch.text.suggest import listed

_SCENARIO = "scenario"
_TEMPLATE = Path(__file__).with_name("first_scenario.toml")


def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"{_SCENARIO}, or an algorithm: {listed(KINDS)}.",
            autocompletion=values.new_kinds,
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, and that of its file or module.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder; a new one of that name if left out, for a scenario this one."
        ),
    ] = None,
) -> None:
    """Start a scenario, or an algorithm of your own in Python with a scenario and a study."""
    if kind == _SCENARIO:
        file = _new_scenario(name, out or Path())
        write(str(file))
        say(f"next: anabranch run {file}")
        return
    from anabranch.own.new import new as write_new  # noqa: PLC0415 - as every command, when it is used

    written = write_new(kind, name, out)
    for file in written:
        write(str(file))
    _, scenario, study_file = written
    say(f"next: anabranch run {scenario}, then anabranch study {study_file}")


def _new_scenario(name: str, folder: Path) -> Path:
    """Writes a scenario with a comment on each line.

    Raises:
        ResultError: if the file is there already, or cannot be made.
    """
    from anabranch.results.folders import write_whole  # noqa: PLC0415 - as above

    stem = name.removesuffix(".toml")
    file = folder / f"{stem}.toml"
    if not stem or file.name != f"{stem}.toml":
        raise ResultError(f"{name!r} is no name of a file; give the folder with --out")
    if file.exists():
        raise ResultError(f"{file}: exists; give another name")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(file, _TEMPLATE.read_bytes())
    return file
