"""docs/commands.md: every command with its arguments and options, from the command line's own help."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import examples
import typer.main

from anabranch.process.console import EXIT_INTERRUPTED, EXIT_MISTAKE, EXIT_NO_OUTPUT
from anabranch.terminal.cli import app

HEAD = f"""# The command line

Written by `make reference` from the program's own help; do not edit. `make setup` puts the program into
`.venv/bin`; `anabranch COMMAND --help` says what stands here.

Ctrl-C stops a run at once and keeps what was measured; a study goes on when it is started again. The exit
status is 0 if all went well, {EXIT_MISTAKE} if the input is wrong (the message says where, and what would be
right), {EXIT_NO_OUTPUT} if the output cannot be written, and {EXIT_INTERRUPTED} after Ctrl-C (143 after
SIGTERM, 129 after SIGHUP).

`anabranch --install-completion` makes the Tab key complete commands, options and files in the shell that it
is called from: bash, zsh, fish or PowerShell. `--show-completion` prints what it would install. Both go by
the parent process; `_ANABRANCH_COMPLETE=source_zsh anabranch` prints the script of a given shell.
`python -m anabranch` is the same program.
"""

_ARGUMENT = "argument"


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its full name, those of groups included."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def usage(name: str, command: Any) -> str:
    """How the command is called."""
    arguments = [expected for expected in command.params if expected.param_type_name == _ARGUMENT]
    words = [
        expected.metavar if expected.required or expected.metavar.startswith("[") else f"[{expected.metavar}]"
        for expected in arguments
    ]
    options = ["[OPTIONS]"] if len(arguments) < len(command.params) else []
    return " ".join([f"anabranch {name}", *words, *options])


def rows(command: Any) -> Iterator[str]:
    """Arguments and options, a row for each."""
    for parameter in command.params:
        name = parameter.metavar or ""
        if parameter.param_type_name != _ARGUMENT:
            value = "" if parameter.is_flag else f" {parameter.metavar or 'N'}"
            name = f"{', '.join(parameter.opts)}{value}"
        default = f"`{parameter.default}`" if isinstance(parameter.default, str | Path) else ""
        yield (
            "| "
            + " | ".join(cell.replace("|", "\\|") for cell in (f"`{name}`", default, parameter.help))
            + " |"
        )


def page() -> str:
    """The whole page."""
    entries = list(commands(typer.main.get_command(app)))
    parts = [HEAD, "| command | does |", "|---|---|"]
    for name, command in entries:
        parts.append(f"| [`anabranch {name}`](#anabranch-{name.replace(' ', '-')}) | {command.help} |")
    for name, command in entries:
        parts += ["", f"## `anabranch {name}`\n", command.help, "", f"    {usage(name, command)}", ""]
        if command.params:
            parts += ["| argument or option | default | meaning |", "|---|---|---|", *rows(command)]
        if name in examples.COMMANDS:
            parts += ["", f"```sh\n{examples.COMMANDS[name]}\n```"]
    return "\n".join(parts) + "\n"
