"""The commands of ``anabranch``: the library's own, and those that other installed distributions offer.

A distribution offers a command with an entry point of the group ``anabranch.commands``. The entry point has
the name of the command and leads to a function with typer's annotations, like those in ``cli.py``.
Entry points are read only when a command is not the library's own, or when all commands are listed.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperGroup

from anabranch import _core
from anabranch.errors import AnabranchError, CommandError, reason
from anabranch.process.console import EXIT_MISTAKE, EXIT_NO_OUTPUT, say
from anabranch.process.signals import exit_status
from anabranch.terminal.start_up import check_resources

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "anabranch.commands"
"""The entry-point group in which distributions offer commands."""

_OF_A_STUDY = re.compile(r"^\s*(\[\[factor\]\]|\[\[metric\]\]|replications\s*=)", re.MULTILINE)
DISTRIBUTIONS: Mapping[str, str] = {
    "reproduce": "anabranch-publications",
    "compare": "anabranch-publications",
}
"""Commands in other distributions of this repository, for the message when one is not installed."""


class CommandGroup(TyperGroup):
    """Commands whose errors become one message and an exit status, never a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands: the library's own, then those offered."""
        self._add_offered()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None.

        Raises:
            CommandError: if it is the name of a file or folder, or if a distribution of this repository has
                it that is not installed.
        """
        if cmd_name not in self.commands:
            self._add_offered()
        if cmd_name not in self.commands and (place := Path(cmd_name)).exists():
            raise CommandError(f"{place}: is no command; write: anabranch {_command_for(place)} {place}")
        if cmd_name not in self.commands and cmd_name in DISTRIBUTIONS:
            distribution = DISTRIBUTIONS[cmd_name]
            raise CommandError(
                f'"{cmd_name}" is a command of the distribution {distribution}, which is not installed; in a '
                "clone of the repository: make setup, or pip install ./publications"
            )
        command = super().get_command(ctx, cmd_name)
        if command is None and Path(cmd_name).is_file():
            raise CommandError(f"{cmd_name} is a file, not a command; try: anabranch run {cmd_name}")
        return command

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Reads the arguments; options such as ``--version`` write there."""
        with _interrupts(), _messages():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        with _interrupts(), _messages():
            check_resources()
            return super().invoke(ctx)

    def _add_offered(self) -> None:
        """Adds the commands of other distributions; the library's own keep their names."""
        from importlib.metadata import entry_points  # noqa: PLC0415 - for this alone

        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name not in self.commands:
                self.add_command(_offered(entry), entry.name)


def _command_for(place: Path) -> str:
    """The command that takes a file or a folder."""
    if place.is_dir():
        return "report"
    if place.suffix != ".toml":
        return "capture" if place.suffix in (".pcap", ".pcapng", ".gz", ".zst") else "run"
    try:
        text = place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "run"
    return "study" if _OF_A_STUDY.search(text) else "run"


@contextmanager
def _messages() -> Iterator[None]:
    """What goes wrong becomes one message and an exit status."""
    try:
        yield
        sys.stdout.flush()
    except AnabranchError as error:
        say(error.report())
        sys.exit(EXIT_MISTAKE)
    except OSError as error:
        # A reader that has gone is no error; typer sees to it.
        if error.errno == errno.EPIPE:
            raise
        if isinstance(error.filename, str | bytes):
            say(f"{os.fsdecode(error.filename)}: {reason(error)}")
            sys.exit(EXIT_MISTAKE)
        say(f"output cannot be written: {reason(error)}")
        # What is still buffered cannot be written at the exit, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_NO_OUTPUT)
    except MemoryError:
        say("there is not enough memory; make the run smaller, or take a machine with more of it")
        sys.exit(EXIT_MISTAKE)
    except BaseException as error:
        # Polars is written in Rust, whose panics are no exceptions of Python's.
        if type(error).__name__ != "PanicException":
            raise
        say(
            f"Polars cannot go on: {' '.join(str(error).split())}; look at the limits of this shell "
            "(ulimit -a) and at POLARS_MAX_THREADS"
        )
        sys.exit(EXIT_MISTAKE)


@contextmanager
def _interrupts() -> Iterator[None]:
    """An interrupt becomes a message and its exit status."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        say(f"interrupted; {interrupt}" if str(interrupt) else "interrupted")
        sys.exit(exit_status())


def _offered(entry: EntryPoint) -> Any:
    """The command of an entry point; one that cannot be loaded says so when it is called."""
    holder = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    try:
        command = entry.load()
    except (ImportError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        origin = entry.dist.name if entry.dist is not None else entry.value

        def command() -> None:
            raise CommandError(
                f'"{entry.name}" is a command of the distribution {origin} and cannot be loaded ({reason}); '
                f"install the version of {origin} that belongs to anabranch {_core.version()}"
            )

        command.__doc__ = f"Cannot be loaded: {reason}."
    holder.command(entry.name)(command)
    return typer.main.get_command(holder)
