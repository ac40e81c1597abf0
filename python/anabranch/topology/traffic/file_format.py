"""The parts of a reader of a file format of traffic."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anabranch.topology.readers.text import decode_text
from anabranch.topology.traffic.model import TrafficFile


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file that is being read."""

    data: bytes
    where: str
    """The file, for messages."""
    path: Path | None = None
    """Where it lies; None for bytes that lie nowhere."""

    def text(self) -> str:
        """The text of the file."""
        return decode_text(self.data)[0]

    def companion(self, suffix: str) -> str | None:
        """The text of the file beside it that differs by its suffix; None where there is none."""
        file = None if self.path is None else self.path.with_suffix(suffix)
        if file is None or not file.is_file() or file.stat().st_size > MOST_COMPANION_BYTES:
            return None
        return decode_text(file.read_bytes())[0]


MOST_COMPANION_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class TrafficFormat:
    """A file format of traffic with its reader."""

    name: str
    """For messages and documents."""
    holds: str
    """What a file of it has: a matrix, several matrices, flows or sizes; for documents."""
    unit: str
    """The unit of its numbers; for documents."""
    read: Callable[[FileSource], TrafficFile]
    """The traffic of a whole file. It raises a TrafficError or a TopologyError with the line."""
    recognises: Callable[[str], bool]
    """Whether the beginning of a file is of this format: its text without a byte order mark and blanks."""
