"""Numbers in files of traffic, checked with their line."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.model import TrafficMatrix

CUT: Final = "the file is cut off or damaged: fetch it again, or mend it here"
MOST_BYTES: Final = 10**18
"""A larger flow is a mistake."""
MOST_START_S: Final = 30 * 24 * 3600
"""Runs are at most 30 days long."""


def amount(text: str, what: str, where: str) -> float:
    """The number of 0 or more that a text states; ``what`` names it in the message.

    Raises:
        TrafficError: for anything else.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TrafficError(where, f'"{text[:40]}" is not {what}', "give a finite number")
    if value < 0:
        raise TrafficError(where, f"{what} is {text[:40]}", "give 0 or more")
    return value


def whole(text: str, what: str, where: str, most: int = 2**31) -> int:
    """The whole number of 0 or more that a text states.

    Raises:
        TrafficError: for anything else, and for a number above ``most``.
    """
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise TrafficError(where, f'"{text[:40]}" is not {what}', "give a whole number of 0 or more")
    if int(text) > most:
        raise TrafficError(where, f"{what} is {text}", f"at most {most} is taken")
    return int(text)


def flow_bytes(value: float, where: str) -> int:
    """The size of a flow.

    Raises:
        TrafficError: for no byte, or more than any flow has.
    """
    # Times its unit, a number that a text states may be infinite, which has no round one.
    if value > MOST_BYTES or round(value) < 1:
        raise TrafficError(where, f"the size is {value:g} bytes", "a flow has 1 byte to 1 EB")
    return round(value)


def start_ps(seconds: float, where: str) -> int:
    """A start in picoseconds.

    Raises:
        TrafficError: for one after the longest run.
    """
    if seconds > MOST_START_S:
        raise TrafficError(where, f"the start is {seconds:g} s", "a run is at most 30 days long")
    return round(seconds * 1e12)


def number_line(line: str, where: str) -> NDArray[np.float64]:
    """The numbers of a line, none of them below zero.

    Raises:
        TrafficError: with what is none.
    """
    try:
        values = np.array(line.split(), np.float64)
    except ValueError:
        values = np.array([amount(word, "a number", where) for word in line.split()])
    if not np.isfinite(values).all() or (values < 0).any():
        for word in line.split():
            amount(word, "a number", where)
    return values


def square_matrix(
    values: NDArray[np.float64], label: str = "", start_s: float | None = None
) -> tuple[TrafficMatrix, int]:
    """The matrix whose rows stand one after the other, and how many entries are left out: of loops.

    Args:
        values: shape (n * n,).
        label: of the matrix.
        start_s: of the matrix.
    """
    count = math.isqrt(len(values))
    origin, to = np.divmod(np.flatnonzero(values), count)
    loops = origin == to
    kept = ~loops
    columns = (origin[kept].astype(np.uint32), to[kept].astype(np.uint32))
    return TrafficMatrix(*columns, values[np.flatnonzero(values)][kept], label, start_s), int(loops.sum())


def loops_note(loops: int) -> list[str]:
    """Sentences on traffic of nodes to themselves."""
    if not loops:
        return []
    entries = "1 entry is" if loops == 1 else f"{loops} entries are"
    return [f"{entries} of a node to itself, and left out: such traffic crosses no link."]
