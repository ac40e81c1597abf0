"""``anabranch import``: files of other programs as a scenario to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.errors import ImportFilesError, ResultError
from anabranch.process.console import JsonOption, ReplaceOption, print_json, say, write
from anabranch.terminal import values
from anabranch.terminal.given_files import FOLDER, NETWORK, TRAFFIC, given_file


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A network, traffic matrices (a file, a folder, a pattern), flows, sizes of flows.",
        ),
    ],
    network: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="NAME",
            help="A network by its name in place of a file of one.",
            autocompletion=values.topologies,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The scenario; the first file's name with .toml if left out."),
    ] = None,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a scenario of files of other programs, and say what was taken from each of them."""
    from anabranch.results.folders import write_whole  # noqa: PLC0415 - as every command, when it is used
    from anabranch.setup.imported import import_files  # noqa: PLC0415

    target = out if out is not None else Path(f"{_plain_stem(files[0])}.toml")
    for given in files:
        _check_kind(given)
    if target.exists() and not replace:
        raise ResultError(f"{target}: exists; choose another name with --out, or give --replace")
    imported = import_files(files, target.parent, named=network)
    write_whole(target, imported.text.encode())
    if as_json:
        taken = [
            {"file": file.name, "holds": file.holds, "notes": list(file.notes)} for file in imported.files
        ]
        print_json({"scenario": str(target), "files": taken, "assumed": list(imported.assumed)})
        return
    for file in imported.files:
        write("\n".join([f"{file.name}: {file.holds}", *(f"  {note}" for note in file.notes)]))
    write(f"scenario in {target}")
    for line in imported.assumed:
        say(f"note: {line}")
    load = f"anabranch load {target}, or " if imported.loads else ""
    say(f"next: {load}anabranch run {target}")


def _check_kind(file: Path) -> None:
    """Raise ImportFilesError for what another command reads."""
    given = given_file(file)
    if given is not None and given.kind not in (NETWORK, TRAFFIC, FOLDER):
        raise ImportFilesError(f"{file}: {given.words}, no network and no traffic; {given.remedy}")


def _plain_stem(file: Path) -> str:
    """The name of a file without its endings; that of a pattern's folder."""
    name = file.name if not any(sign in file.name for sign in "*?[") else file.parent.name
    return name.lstrip(".").split(".", 1)[0] or "imported"
