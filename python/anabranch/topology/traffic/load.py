"""Files of traffic by name: what a file is, its first bytes say, not its name."""

import codecs
import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from anabranch.errors import reason
from anabranch.text.files import open_given
from anabranch.text.suggest import suggest
from anabranch.topology.describe import format_bps
from anabranch.topology.error import PlacedError
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NAMING_NOTE, NodeList, TrafficFile, TrafficMatrix
from anabranch.topology.traffic.readers import TRAFFIC_READERS

MOST_FILE_BYTES: Final = 256 * 2**20
"""Largest file read; the matrices of a week of Abilene have 20 MB."""
MOST_FILES: Final = 100_000
"""Most files of a series."""
MOST_ENTRIES: Final = 50_000_000
"""Most entries of all matrices of a series, so that they fit into memory."""
_HEAD_BYTES: Final = 1 << 16
_RATES: Final = re.compile(r"from\s*,\s*to\s*,\s*rate(_kbps|_mbps|_gbps)?\s*(\r?\n|$)")


def is_rate_table(text: str) -> bool:
    """Whether a text begins as the CSV of rates that the core reads: ``from,to,rate_mbps``."""
    return _RATES.match(text.lstrip("\ufeff").replace('"', "").lstrip()) is not None


def load_traffic(name: str, base: Path | None = None) -> TrafficFile | None:
    """The traffic in a file.

    Args:
        name: of the file, relative to ``base``.
        base: a folder; None for the current one.

    Returns:
        What was read; None for a CSV of rates, which the core reads.

    Raises:
        TrafficError: for a file that is missing, too large, of no known format, cut off or wrong.
    """
    with _told(name):
        return _one(name, (base or Path()) / name)


def load_series(name: str, files: Sequence[Path]) -> TrafficFile:
    """The matrices of several files, in their order.

    Args:
        name: what stands for them, such as ``tms/*.xml``.
        files: the files.

    Raises:
        TrafficError: for no file, several kinds of files, and as :func:`load_traffic`.
    """
    with _told(name):
        return _series(name, files)


_REMEDIES: Final = {
    errno.EINVAL: "name a file, a folder, or a pattern",
    errno.EFBIG: "divide it into a series of files",
}


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What readers and the system say in this block becomes a TrafficError."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "check the path")
        raise TrafficError(name, f"cannot be read: {reason(error)}", remedy) from error
    except PlacedError as error:
        if isinstance(error, TrafficError):
            raise
        raise TrafficError(error.where, error.what, error.remedy) from error
    except ValueError as error:
        raise TrafficError(name, f"is no path ({error})", "check the path") from error


def recognised(head: bytes) -> TrafficFormat | None:
    """The format of a file with this head; None for none that is known."""
    text = head_text(head)
    if not text or "\0" in text:
        return None
    return next((reader for reader in TRAFFIC_READERS.values() if reader.recognises(text)), None)


def _one(name: str, path: Path) -> TrafficFile | None:
    if not path.exists():
        raise TrafficError(name, "cannot be read: No such file", _neighbour(path))
    with open_given(path, MOST_FILE_BYTES) as stream:
        head = stream.read(_HEAD_BYTES)
        if is_rate_table(head_text(head)):
            return None
        reader = recognised(head)
        if reader is None:
            # It imports the readers of all networks.
            from anabranch.topology.traffic.seems import what_it_seems  # noqa: PLC0415

            seems = what_it_seems(head, path.name)
            raise TrafficError(f"{name}{seems.line}", seems.what, seems.remedy)
        read = reader.read(FileSource(head + stream.read(), name, path))
    notes = [f"Read from {name} ({read.format}).", *read.notes, NAMING_NOTE[read.numbering]]
    if read.matrices:
        notes.append(
            "Neither the file nor its format says what 1 means: unit does."
            if read.unit is None
            else f"The unit is {read.unit.name}; 1 is {_rate(read.unit.bps)}."
        )
    return replace(read, notes=tuple(notes if read.nodes else notes[: 1 + len(read.notes)]))


def _rate(bps: float) -> str:
    return format_bps(int(bps)) if bps.is_integer() else f"{bps:g} bps"


def _series(name: str, files: Sequence[Path]) -> TrafficFile:
    if not files:
        raise TrafficError(name, "there are no such files", "check the pattern, or the folder")
    if len(files) > MOST_FILES:
        raise TrafficError(name, f"these are {len(files)} files", f"at most {MOST_FILES} are read")
    nodes, matrices, entries = NodeList(), [], 0
    first: TrafficFile | None = None
    for file in files:
        read = _one(str(Path(name).parent / file.name), file)
        if read is None or not read.matrices:
            remedy = "leave it out"
            if read is None:
                remedy = "take a format with a unit of its own, or a study: [[factor]] matrices reads it"
            what = "CSV of rates" if read is None else read.format
            raise TrafficError(name, f"{file.name} ({what}) is no part of a series", remedy)
        first = first or read
        if (read.format, read.unit, read.numbering) != (first.format, first.unit, first.numbering):
            raise TrafficError(
                name, f"{file.name} is {_kind(read)}, and the file before it {_kind(first)}", "take one kind"
            )
        places = [nodes.place(node) for node in read.nodes]
        for matrix in read.matrices:
            entries += len(matrix.value)
            matrices.append(_renumbered(matrix, places, file.stem))
        if entries > MOST_ENTRIES:
            raise TrafficError(
                name, f"the matrices have more than {MOST_ENTRIES} entries", "take fewer files"
            )
    if first is None:
        raise TrafficError(name, "there is no matrix", "check the pattern, or the folder")
    notes = (
        f"Read from {len(files)} files of {name} ({first.format}), in the order of their names.",
        f"{len(matrices)} matrices.",
        *first.notes[-2:],
    )
    return replace(first, nodes=nodes.names(), matrices=tuple(matrices), notes=notes)


def _kind(read: TrafficFile) -> str:
    return f"{read.format} in {'no unit' if read.unit is None else read.unit.name}"


def _renumbered(matrix: TrafficMatrix, places: list[int], stem: str) -> TrafficMatrix:
    import numpy as np  # noqa: PLC0415 - series alone need it here

    places_of = np.array(places, np.uint32)
    return replace(
        matrix,
        origin=places_of[matrix.origin],
        to=places_of[matrix.to],
        label=matrix.label or stem,
        start_s=None,
    )


def head_text(head: bytes) -> str:
    """The text of the beginning of a file, without a byte order mark and blanks."""
    utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = head.decode("utf-16" if utf16 else "latin-1", errors="replace")
    return text.removeprefix("\xef\xbb\xbf").lstrip()


def _neighbour(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f'there is no folder "{folder.name}" either; check the path'
    near = suggest(path.name, sorted(entry.name for entry in folder.iterdir()))
    return f'nearest: "{near}"' if near is not None else "check the path"
