"""Exit statuses, messages and JSON documents, which all commands share.

Commands of other distributions (see :mod:`anabranch.terminal.command_group`) use it, too.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from anabranch.process.foreign import plain, plain_json

EXIT_MISTAKE = 2
"""The user's input is wrong; the message says where and what would be right."""
EXIT_NO_OUTPUT = 1
"""Standard output cannot be written, as on a full disk."""
EXIT_INCOMPLETE = 1
"""A part of the work failed, the message says why; the rest is there."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C, as a shell reports it (128 + SIGINT); after SIGTERM 143, after SIGHUP 129."""

JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]
"""The type of a command's parameter that asks for JSON."""
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Write though the folder has files that Anabranch did not write; they stay in it.",
    ),
]
"""The type of a command's parameter that lets it write into a folder with other files."""
JobsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Processes or threads; all cores if left out.", min=1)
]
"""The type of a command's parameter that bounds how many parts of the work run at once."""


def console() -> Console:
    """Standard output for people: the full width in a pipe, where nothing would be gained by folding."""
    output = Console()
    if not output.is_terminal:
        output = Console(width=200)
    output.push_render_hook(_Filter())
    return output


class _Filter(RenderHook):
    """Whatever a console prints goes through :func:`plain`; the console's own colours come after it."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What is printed in place of these."""
        return [_Filtered(renderable) for renderable in renderables]


class _Filtered:
    """Something to print, without the characters that a terminal would obey."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(plain(segment.text), segment.style)


def write(text: str) -> None:
    """Writes lines of text to standard output, without the characters that a terminal would obey."""
    sys.stdout.write(plain(text) + "\n")


def print_json(document: Any) -> None:
    """Writes one JSON document to standard output.

    Raises:
        ValueError: if a number in it is not finite.
    """
    # Other encodings lack letters, and what Python writes in their place is no JSON.
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(document, indent=2, ensure_ascii=not unicode, allow_nan=False)
    sys.stdout.write(plain_json(text) + "\n")


def say(message: str) -> None:
    """Writes a line to standard error, without the characters that a terminal would obey."""
    sys.stderr.write(plain(message) + "\n")


def confirmed(question: str) -> bool | None:
    """Whether the person at the terminal says yes; the default is no. None where there is no terminal."""
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        return None
    sys.stderr.write(plain(f"{question} [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at a standard stream; nobody does at one that is closed, or that there is not."""
    return stream is not None and not stream.closed and stream.isatty()
