"""The parts of a reader of a file format."""

from collections.abc import Callable
from dataclasses import dataclass

from anabranch.topology.draft import Draft


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A file format with its reader."""

    name: str
    """For messages and documents; its first word is that of the whole family: ``SNDlib XML``."""
    read: Callable[[bytes, str], Draft]
    """The network of a whole file, and where it is for messages. It raises a TopologyError with the line."""
    recognises: Callable[[str], bool]
    """Whether the beginning of a file is of this format: its text without a byte order mark and blanks."""
