"""Results whose files cannot be what a run or a study has written."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from anabranch.errors import ResultError

_SIGNS = (
    ArithmeticError, AttributeError, LookupError, RecursionError, RuntimeWarning,
    TypeError, ValueError,
    pl.exceptions.PolarsError, pl.exceptions.PanicException,
)  # fmt: skip


@contextmanager
def damage_told(folder: Path) -> Iterator[None]:
    """Tells as damage of a folder what this block reads from it and cannot work with.

    Raises:
        ResultError: in place of whatever a library makes of such data, with its words.
    """
    try:
        # Numbers out of range make numpy warn, and go on with others.
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            yield
    except MemoryError as error:
        raise ResultError(
            f"{folder}: cannot be shown: there is not enough memory (see ulimit -v, and the limits of a "
            "batch system); if there is plenty, a file in it is damaged: run it again"
        ) from error
    except _SIGNS as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ResultError(
            f"{folder}: cannot be shown ({what}): a file in it is damaged, or was changed; run it again. If "
            "nobody has changed it, this is a mistake in Anabranch"
        ) from error
