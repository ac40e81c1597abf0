"""The commands of ``anabranch``: the library's own, and those that other installed distributions offer.

A distribution offers a command with an entry point of the group ``anabranch.commands``. The entry point has
the name of the command and leads to a function with typer's annotations, like those in ``cli.py``.
Entry points are read only when a command is not the library's own, or when all commands are listed.
"""

from __future__ import annotations

import errno
import os
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
from anabranch.process.console import EXIT_MISTAKE, EXIT_NO_OUTPUT, say, write
from anabranch.process.signals import exit_status
from anabranch.terminal.given_files import FOLDER, RESULTS, given_file
from anabranch.terminal.start_up import check_resources
from anabranch.text.suggest import suggest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_ORDER = (
    *("examples", "new", "run", "watch", "studio", "routes", "load", "transfers", "weights", "capacity"),
    *("brief", "study", "report", "evaluate"),
    *("topology", "import", "capture", "fit", "predict", "export", "live", "schema", "help"),
)
"""The commands in the order in which one comes to need them; all others follow."""
_OTHER_WORDS = {
    "simulate": "run",
    "sim": "run",
    "start": "run",
    "execute": "run",
    "sweep": "study",
    "experiment": "study",
    "plot": "report",
    "figure": "report",
    "page": "report",
    "view": "report",
    "open": "report",
    "init": "new",
    "create": "new",
    "convert": "import",
    "read": "import",
    "analyze": "capture",
    "analyse": "capture",
    "pcap": "capture",
    "calibrate": "fit",
    "infer": "fit",
    "forecast": "predict",
    "plan": "routes",
    "route": "routes",
    "path": "routes",
    "loads": "load",
    "list": "topology list",
    "show": "topology show",
    "topologies": "topology list",
    "networks": "topology list",
    "docs": "help",
    "man": "help",
    "manual": "help",
    "doc": "help",
    "example": "examples",
    "validate": "routes",
    "check": "routes",
    "version": "--version",
    "completion": "--install-completion",
}
"""Words of other programs for what a command does."""
WELCOME = """\
Anabranch simulates TCP over one path or many, packet by packet.

  anabranch examples               list the scenarios that come with it
  anabranch examples first.toml    write one of them into this folder
  anabranch run first.toml         simulate it; open results/first/report.html
  anabranch run first.toml --set run.duration="5 s"    the same with a change
  anabranch studio first.toml      change it by sliders and forms, in a browser
  anabranch new scenario mine      begin a scenario of your own
  anabranch help guide             read on: routes, failures, studies, Python
  anabranch --help                 list all commands
"""
ENTRY_POINTS = "anabranch.commands"
"""The entry-point group in which distributions offer commands."""

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
        names = super().list_commands(ctx)
        places = {name: place for place, name in enumerate(_ORDER)}
        return sorted(names, key=lambda name: places.get(name, len(_ORDER)))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands with whole sentences, on several lines where one is too short."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.help or "") for name, command in commands if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None.

        Raises:
            CommandError: if it is the name of a file or folder, or if a distribution of this repository has
                it that is not installed.
        """
        if cmd_name not in self.commands:
            self._add_offered()
        if cmd_name not in self.commands and (place := Path(cmd_name)).exists():
            raise CommandError(f"{place}: is no command; write: {_command_for(place)}")
        if cmd_name not in self.commands and cmd_name in DISTRIBUTIONS:
            distribution = DISTRIBUTIONS[cmd_name]
            raise CommandError(
                f'"{cmd_name}" is a command of the distribution {distribution}, which is not installed; in a '
                "clone of the repository: make setup, or pip install ./publications"
            )
        if cmd_name not in self.commands and (message := _meant(cmd_name)) is not None:
            raise CommandError(message)
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments; without any, says what there is to do."""
        if not args and not ctx.resilient_parsing:
            write(WELCOME.rstrip())
            ctx.exit()
        return list(super().parse_args(ctx, args))

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


def _meant(name: str) -> str | None:
    """What to say to a word that is no command but may mean one; None for all others."""
    if name in _OTHER_WORDS:
        return f'"{name}": no such command; write: anabranch {_OTHER_WORDS[name]}'
    if name.endswith((".toml", ".pcap", ".pcapng")):
        near = suggest(name, (each.name for each in Path().iterdir() if each.suffix == Path(name).suffix))
        return f"{name}: is no command, and no file is there" + (f'; "{near}" is there' if near else "")
    if "/" not in name:
        return None
    from anabranch import topology  # noqa: PLC0415 - few commands come here

    if any(each.spec == name for each in topology.names()):
        return f"{name}: is a network, not a command; see it by: anabranch topology show {name}"
    return f"{name}: is no command, and no file is there"


def _command_for(place: Path) -> str:
    """The command line for a file or a folder."""
    given = given_file(place)
    if given is None or given.kind in (FOLDER, RESULTS):
        return f"anabranch {'report' if place.is_dir() else 'run'} {place}"
    return given.command


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
