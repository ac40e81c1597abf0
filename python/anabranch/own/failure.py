"""Failures in code of the user's own: the place, and the traceback of that code alone."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import CodeType
from typing import Any

from anabranch import _core
from anabranch.errors import OwnCodeError

_OURS = str(Path(__file__).parents[1])


def failed(error: _core.OwnCodeError) -> OwnCodeError | KeyboardInterrupt:
    """A failure in the middle of a run, as an error for people; Ctrl-C stays Ctrl-C, with the place."""
    maker, hook, at_s = error.args
    cause = error.__cause__ or error
    where = f"{maker.cls.__name__}.{hook}, at {at_s:.6g} s of the run"
    if isinstance(cause, KeyboardInterrupt):
        return KeyboardInterrupt(f"it was in {_place(cause)} {where}; nothing is kept")
    return OwnCodeError(place_of_mistake(cause, where, getattr(maker.cls, hook, None)))


def place_of_mistake(error: BaseException, where: str, called: Any = None) -> str:
    """A message of an error in user code: what it was doing, what was raised, and the lines that led there.

    Args:
        error: what the code raised.
        where: what was done with the code.
        called: what was called of it, for an error that was found behind the call.
    """
    message = f"{where}: {type(error).__name__}: {_said(error)}"
    if isinstance(error, SyntaxError):
        return f"{where}: {Path(error.filename or '?').name}, line {error.lineno}: {error.msg}"
    frames = _frames(error)
    if frames:
        lines = "".join(traceback.format_list(frames)).rstrip()
        return f"{message}\n{lines}"
    code = getattr(called, "__code__", None)
    if isinstance(code, CodeType):
        # What the core has found: the hook itself has returned.
        line = f'File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}'
        return f"{where}: {words_of(error)}\n  {line}"
    return message


def _said(error: BaseException) -> str:
    if isinstance(error, SystemExit) and not isinstance(error.code, str):
        return f"it would end the program that runs it, with status {words_of(error.code or 0)}"
    return words_of(error)


def words_of(value: object) -> str:
    """The words of an object of the user's own, whose method for them may fail as well."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 - it is the user's
        return f"<its __str__ raises {type(error).__name__}>"


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The lines of a traceback that are not of this package."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if not frame.filename.startswith((_OURS, "<frozen"))]


def _place(error: BaseException) -> str:
    frames = _frames(error)
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}," if frames else ""
