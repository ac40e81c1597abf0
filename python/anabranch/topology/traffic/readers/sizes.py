"""Distributions of sizes, as generators of traffic in data centres read them.

A line has a size in bytes and the percentage of flows that are at most so long, up to 100. Some files have
probabilities up to 1 in place of it::

    0 0
    10000 15
    30000000 100
"""

from itertools import pairwise
from typing import Final

from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import SizePoint, TrafficFile
from anabranch.topology.traffic.numbers import CUT, amount

_NAME: Final = "distribution of sizes"
MOST_POINTS: Final = 100_000


def read_sizes(source: FileSource) -> TrafficFile:
    """The points of a file."""
    points = []
    for number, line in enumerate(source.text().splitlines(), start=1):
        words, where = line.split("#", 1)[0].split(), f"{source.where}, line {number}"
        if not words:
            continue
        if len(words) != 2:
            raise TrafficError(where, f"found {len(words)} numbers where a size and a share were due", CUT)
        points.append((amount(words[0], "a size", where), amount(words[1], "a share", where), where))
    if len(points) > MOST_POINTS:
        raise TrafficError(
            source.where, f"the file has {len(points)} points", f"at most {MOST_POINTS} are taken"
        )
    for (size, share, _), (next_size, next_share, where) in pairwise(points):
        if next_size < size or next_share < share:
            raise TrafficError(where, "the size or its share is below the one before", "both have to ascend")
    whole = points[-1][1]
    if whole not in (1.0, 100.0):
        raise TrafficError(points[-1][2], f"the last share is {whole:g}", "it must be 100, or 1")
    sizes = tuple(SizePoint(size, share / whole) for size, share, _ in points)
    what = "percent" if whole == 100.0 else "probabilities"
    between = "Between two points all sizes are equally likely, as where these files are from."
    return TrafficFile(_NAME, sizes=sizes, notes=(f"{len(sizes)} points, shares are {what}.", between))


def _recognises(text: str) -> bool:
    lines = [line.split("#", 1)[0].split() for line in text.split("\n", 20)[:20]]
    filled = [line for line in lines[:-1] or lines if line]
    return len(filled) > 1 and all(len(line) == 2 and all(map(_is_number, line)) for line in filled)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


READER: Final = TrafficFormat(_NAME, "sizes", "bytes, percent", read_sizes, _recognises)
