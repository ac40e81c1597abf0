"""``anabranch examples`` and ``anabranch help``: what an installation has to read and to start from."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.errors import CommandError, ResultError
from anabranch.process.console import JsonOption, ReplaceOption, console, print_json, say, write
from anabranch.terminal import values


def examples(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Write this one, with the files that it names; all are listed if left out.",
            autocompletion=values.examples,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder to write to; this one if left out.")
    ] = Path(),
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the scenarios and studies that come with the program, or write one to start from."""
    from anabranch.results.folders import write_whole  # noqa: PLC0415 - as every command, when it is used
    from anabranch.terminal import manual  # noqa: PLC0415

    if name is None:
        example_titles = {each: manual.example_title(file) for each, file in manual.examples().items()}
        titles = {each: title for each, title in example_titles.items() if title and each.endswith(".toml")}
        if as_json:
            print_json(titles)
            return
        width = max(map(len, titles))
        write("\n".join(f"{each:{width}}  {title}" for each, title in titles.items()))
        say("next: anabranch examples first.toml, then anabranch run first.toml")
        return
    files = manual.example_files(name)
    targets = {out / each: file for each, file in files.items()}
    there = [target for target in targets if target.exists()]
    if there and not replace:
        raise ResultError(f"{there[0]}: exists; choose another folder with --out, or give --replace")
    for target, file in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, file.read_bytes())
    if as_json:
        print_json([str(target) for target in targets])
        return
    write("\n".join(map(str, targets)))
    first = out / manual.example_name(name)
    from anabranch.terminal.given_files import SCENARIO, STUDY, given_file  # noqa: PLC0415

    given = given_file(first)
    if given is not None and given.kind in (SCENARIO, STUDY):
        say(f"next: {given.command}")


def help_(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOPIC]...",
            help="A page, a section or a command; all pages are listed if left out.",
            autocompletion=values.topics,
        ),
    ] = None,
) -> None:
    """Show a page of the manual, a section of it, or a command's options."""
    from anabranch.terminal import manual  # noqa: PLC0415 - as every command, when it is used

    if not topic:
        titles = {name: manual.title_of(manual.page_text(name)) for name in manual.pages()}
        width = max(map(len, titles))
        write("\n".join(f"{name:{width}}  {title}" for name, title in titles.items()))
        say("next: anabranch help guide; a part of a title finds a section, such as anabranch help codel")
        return
    words = " ".join(topic)
    program = context.find_root()
    if words not in manual.pages() and (text := _command_help(program, topic)) is not None:
        write(text)
        return
    result = manual.find_topic(words)
    if isinstance(result, str):
        _show(result)
        return
    width = max(len(each.page) for each in result)
    lines = (f"{each.page:{width}}  {each.title}" for each in result)
    write("\n".join([f'the manual has "{words}" in these sections:', *lines]))
    say('next: anabranch help "TITLE", or anabranch help PAGE')


def _command_help(program: Any, names: list[str]) -> str | None:
    """The help of a command; None where there is none of that name."""
    command, context = program.command, program
    for name in names:
        if not hasattr(command, "get_command"):
            return None
        try:
            command = command.get_command(context, name)
        except CommandError:
            return None
        if command is None:
            return None
        context = type(program)(command, info_name=name, parent=context)
    return str(command.get_help(context))


def _show(text: str) -> None:
    """Markdown as text: with a pager where somebody sits at the terminal, as it stands in a pipe."""
    from rich.markdown import Markdown  # noqa: PLC0415 - few commands show a page

    output = console()
    if not sys.stdout.isatty():
        write(text)
        return
    # Colours stay, a short page stays on the screen.
    os.environ.setdefault("LESS", "-RFX")
    with output.pager(styles=True):
        output.print(Markdown(text, hyperlinks=False))
