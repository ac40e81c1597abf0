"""From rows of a file to a matrix."""

from collections.abc import Sequence

import numpy as np

from anabranch.topology.traffic.model import TrafficMatrix


def matrix_of(
    rows: Sequence[tuple[int, int, float]], label: str = "", start_s: float | None = None
) -> tuple[TrafficMatrix, int]:
    """The matrix of rows (sender, receiver, value), and how many nodes send to themselves; they are left out.

    Args:
        rows: its entries; those of one pair are added up where the matrix is used.
        label: of the matrix.
        start_s: of the matrix.
    """
    kept = [row for row in rows if row[0] != row[1]]
    origin, to, value = zip(*kept, strict=True) if kept else ((), (), ())
    columns = (np.array(origin, np.uint32), np.array(to, np.uint32), np.array(value, np.float64))
    return TrafficMatrix(*columns, label, start_s), len(rows) - len(kept)
