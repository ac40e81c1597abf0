"""The matrices of Abilene of Y. Zhang (2004), files X01 to X24: a week in steps of five minutes each.

A line is one matrix with 5 numbers for each of the 144 pairs of its 12 routers, row by row: the measured one
first, then four estimates of it. 1 is 100 bytes in 5 minutes, because one packet of a hundred was sampled.
"""

from itertools import islice
from typing import Final

from anabranch.topology.model import DemandUnit
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import TrafficFile, TrafficMatrix
from anabranch.topology.traffic.numbers import CUT, loops_note, number_line, square_matrix

ROUTERS: Final = (
    "ATLAM5", "ATLAng", "CHINng", "DNVRng", "HSTNng", "IPLSng",
    "KSCYng", "LOSAng", "NYCMng", "SNVAng", "STTLng", "WASHng",
)  # fmt: skip
"""In the order of the files, by the names of ``sndlib/abilene``, which has no hyphen in ATLA-M5."""
UNIT: Final = DemandUnit("100 bytes in 5 minutes", 100 * 8 / 300)
NUMBERS: Final = 5 * len(ROUTERS) ** 2
"""Numbers of a line."""
STEP_S: Final = 300.0
_NAME: Final = "Abilene matrices of Zhang"


def read_week(source: FileSource) -> TrafficFile:
    """The measured matrices of a file."""
    matrices: list[TrafficMatrix] = []
    loops = 0
    for number, line in enumerate(source.text().splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{source.where}, line {number}"
        values = number_line(line, where)
        if len(values) != NUMBERS:
            raise TrafficError(where, f"{len(values)} numbers where {NUMBERS} were due", CUT)
        place = len(matrices)
        matrix, self_loops = square_matrix(values[::5], _clock(place), place * STEP_S)
        matrices.append(matrix)
        loops += self_loops
    notes = (
        f"{len(matrices)} matrices, one for each 5 minutes.",
        "Of the 5 numbers of a pair the measured one is taken; the 4 estimates are left out.",
        "The file names no routers: they are those of Abilene in 2004, in their order there.",
        *loops_note(loops),
    )
    return TrafficFile(_NAME, ROUTERS, "names", UNIT, tuple(matrices), notes=notes)


def _clock(place: int) -> str:
    """Day and time of a matrix from the beginning of the file: ``day 1 00:05``."""
    days, minutes = divmod(place * 5, 24 * 60)
    return f"day {days + 1} {minutes // 60:02d}:{minutes % 60:02d}"


def _recognises(text: str) -> bool:
    words = text.split("\n", 1)[0].split()
    return len(words) == NUMBERS and all(word[:1] in "0123456789.+-" for word in islice(words, 10))


READER: Final = TrafficFormat(_NAME, "several matrices", "100 bytes in 5 minutes", read_week, _recognises)
