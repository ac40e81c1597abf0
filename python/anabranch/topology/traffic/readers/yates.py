"""Matrices of YATES (Kumar et al. 2018): a line is one matrix, its rows one after the other, in bps.

The hosts stand in the file beside it that ends in ``.hosts``, a name in each line, in the order of rows and
columns. YATES does not say how far apart the matrices of a series are.
"""

import math
from itertools import islice
from typing import Final

from anabranch.topology.model import DemandUnit
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import TrafficFile, TrafficMatrix
from anabranch.topology.traffic.numbers import CUT, loops_note, number_line, square_matrix

UNIT: Final = DemandUnit("bps", 1.0)
HOSTS: Final = ".hosts"
_NAME: Final = "YATES demands"


def read_series(source: FileSource) -> TrafficFile:
    """The matrices of a file, with the names of its ``.hosts``."""
    listed = source.companion(HOSTS)
    if listed is None:
        stem = source.where.rpartition(".")[0] or source.where
        raise TrafficError(
            source.where,
            "the file has no names of its nodes",
            f"put them into {stem}{HOSTS}, one in each line, in the order of rows and columns",
        )
    hosts = tuple(line.strip() for line in listed.splitlines() if line.strip())
    if len(set(hosts)) != len(hosts):
        raise TrafficError(source.where, f"its {HOSTS} names a node twice", "give each a line of its own")
    matrices: list[TrafficMatrix] = []
    loops = 0
    for number, line in enumerate(source.text().splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{source.where}, line {number}"
        values = number_line(line, where)
        if len(values) != len(hosts) ** 2:
            side, due = math.sqrt(len(values)), len(hosts)
            nodes = f", those of {side:.0f} nodes," if side.is_integer() else ""
            raise TrafficError(
                where,
                f"{len(values)} numbers{nodes} and its {HOSTS} names {due} nodes, which need {due**2}",
                f"take the {HOSTS} that belongs to the matrices, or fetch a line again that is cut off",
            )
        matrix, self_loops = square_matrix(values, f"matrix {len(matrices) + 1}")
        matrices.append(matrix)
        loops += self_loops
    if not matrices:
        raise TrafficError(source.where, "the file has no matrix", CUT)
    notes = (
        f"{len(matrices)} matrices of {len(hosts)} nodes, whose names stand in the {HOSTS} beside it.",
        *loops_note(loops),
    )
    return TrafficFile(_NAME, hosts, "names", UNIT, tuple(matrices), notes=notes)


def _recognises(text: str) -> bool:
    """Whether the first line has n * n numbers, for two nodes at least."""
    words = text.split("\n", 1)[0].split()
    side = math.isqrt(len(words))
    return side >= 2 and side**2 == len(words) and all(map(_is_number, islice(words, 10)))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


READER: Final = TrafficFormat(_NAME, "several matrices", "bps", read_series, _recognises)
