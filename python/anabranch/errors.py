"""Errors through no fault of Anabranch, each with a place and a remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

_REMEDY = "look at it first, and then give --trust (in Python: trust=True); docs/security.md says more"


class AnabranchError(Exception):
    """Base of every error that a user can cause and repair."""

    def report(self) -> str:
        """The text that the command line says."""
        return str(self)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a scenario."""

    place: str
    """Where, as a path of keys such as ``traffic[0].from``; empty for the scenario as a whole."""
    message: str
    """What was read and what would be right."""
    line: int | None = field(default=None, compare=False)
    """Its line in the file, or that of the table around it, from 1 on; None for what is in no file."""
    column: int | None = field(default=None, compare=False)
    """Its column in that line, from 1 on."""

    def __str__(self) -> str:
        if self.place:
            return f"{self.place}: {self.message}"
        return (
            self.message if self.line is None else f"line {self.line}, column {self.column}: {self.message}"
        )

    def located(self, origin: str) -> str:
        """``file:line:column: place: message``, as compilers write it: an editor opens the file there."""
        if self.line is None:
            return f"{origin}: {self}"
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{origin}:{self.line}:{self.column}: {text}"


Positions = Callable[[Sequence[str]], Sequence[tuple[int, int] | None]]
"""Line and column of each place in a text, from 1 on; None where a place is not in it."""


class Origin(str):
    """The name of a file for messages, which knows the lines of the places in it."""

    _positions: Positions | None
    _changed: tuple[str, ...]

    def __new__(cls, name: str, positions: Positions | None = None, changed: Iterable[str] = ()) -> Self:
        """Notes where places stand, and which fields have other values than those in the file."""
        origin = super().__new__(cls, name)
        origin._positions, origin._changed = positions, tuple(changed)
        return origin

    def with_changes(self, fields: Iterable[str]) -> Origin:
        """The origin, of which these fields have got other values."""
        return Origin(self, self._positions, (*self._changed, *fields))

    def locate(self, problems: Sequence[Problem]) -> Iterator[Problem]:
        """Problems with line and column, where they have none and their places stand in the file."""
        places = [problem.place for problem in problems]
        positions = self._positions(places) if self._positions and places else [None] * len(places)
        for problem, position in zip(problems, positions, strict=True):
            if position and problem.line is None and not self._is_changed(problem.place):
                yield replace(problem, line=position[0], column=position[1])
            else:
                yield problem

    def _is_changed(self, place: str) -> bool:
        return any(place == field or place.startswith((f"{field}.", f"{field}[")) for field in self._changed)


class ProblemsError(AnabranchError):
    """A file that does not hold, with everything that is wrong with it.

    Attributes:
        problems: every problem that was found, in the order of the file.
        origin: name of the file, or None for what was built in Python.
    """

    def __init__(self, problems: Sequence[Problem], origin: str | None = None) -> None:
        self.problems = tuple(origin.locate(problems) if isinstance(origin, Origin) else problems)
        self.origin = origin
        super().__init__("\n".join(self.lines()))

    def __reduce__(self) -> tuple[type[ProblemsError], tuple[Sequence[Problem], str | None]]:
        # An exception is made anew of its arguments, which are the text here.
        return type(self), (self.problems, self.origin)

    def lines(self) -> list[str]:
        """One line for each problem: ``file: place: message``."""
        start = f"{self.origin}: " if self.origin else ""
        return [f"{start}{problem}" for problem in self.problems]

    def report(self) -> str:
        """One line for each problem, with its line and column in the file."""
        origin = self.origin
        return "\n".join(each.located(origin) if origin else str(each) for each in self.problems)


class ScenarioError(ProblemsError):
    """A scenario that cannot be run, with everything that is wrong with it."""


class StudyError(ProblemsError):
    """A study that cannot be run, or whose folder cannot be used, with everything that is wrong with it."""


class CaptureError(ProblemsError):
    """Packet captures that cannot be analysed, with everything that is wrong with them."""


class OwnCodeError(AnabranchError):
    """An algorithm of the user's own has failed in the middle of a run, with its place and its traceback."""


class ConsentError(AnabranchError):
    """Code that a scenario names and that nobody has agreed to: nothing of it has run.

    Attributes:
        listing: what would run, and why it does not.
        files: the files, as :class:`anabranch.own.code_files.CodeFile`.
    """

    def __init__(self, listing: str, files: Sequence[Any] = ()) -> None:
        self.listing = listing
        self.files = tuple(files)
        super().__init__(f"{listing}\n{_REMEDY}")

    def __reduce__(self) -> tuple[type[ConsentError], tuple[str, Sequence[Any]]]:
        # An exception is made anew of its arguments, which are the text here.
        return type(self), (self.listing, self.files)


class StudioError(AnabranchError):
    """A request that the studio cannot fulfil, as for a port in use or a file outside of its folder."""


class CommandError(AnabranchError):
    """A command line that names no command, or files that its command does not read."""


class ResultError(AnabranchError):
    """A result folder that cannot be read or must not be overwritten."""


class ExportError(AnabranchError):
    """A format of ``anabranch export`` cannot express something, or there is no such format."""


class ImportFilesError(AnabranchError):
    """Files of other programs that make no scenario, with what to do."""


class LiveError(AnabranchError):
    """A live run that this machine cannot make, or that its system has ended."""


def installation(extra: str) -> str:
    """The command that installs what an extra brings, by the names of its packages.

    It asks no registry for Anabranch itself, which may come from a clone or from a wheel.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - for messages alone

    try:
        listed = requires("anabranch") or []
    except PackageNotFoundError:
        listed = []
    marker = re.compile(rf"""extra\s*==\s*['"]{extra}['"]""")
    packages = [each.partition(";")[0].strip() for each in listed if marker.search(each)]
    words = " ".join(f'"{each}"' for each in packages or [f"anabranch[{extra}]"])
    return f"pip install {words}"


def system_error(number: int | None, what: str | None = None) -> OSError:
    """The error with this number of the system, in its words; ``what`` was to be done."""
    code = number or 0
    return OSError(code, os.strerror(code), what)


def reason(error: BaseException) -> str:
    """Why something cannot be read or written: the system's words, or the library's where it has its own."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """A file is written in this block.

    Raises:
        ResultError: if the system cannot, with the file's name, which its own error may lack.
    """
    try:
        yield
    except OSError as error:
        raise ResultError(f"{file}: cannot be written: {reason(error)}") from None


@contextmanager
def written_for(place: Path, hidden: Path) -> Iterator[None]:
    """Messages of this block name another folder, whose place the hidden one that is written to takes.

    Raises:
        ResultError: if something of it cannot be written, with its name in the place.
        OSError: if the system does not say what, or it is something else.
    """
    try:
        yield
    except ResultError as error:
        raise ResultError(str(error).replace(f"{hidden}{os.sep}", f"{place}{os.sep}")) from None
    except OSError as error:
        name = error.filename if isinstance(error.filename, str | bytes) else ""
        if not os.fsdecode(name).startswith(f"{hidden}{os.sep}"):
            raise
        file = os.fsdecode(name).replace(f"{hidden}{os.sep}", f"{place}{os.sep}")
        raise ResultError(f"{file}: cannot be written: {reason(error)}") from None
