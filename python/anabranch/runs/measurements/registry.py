"""The formats of measurements: one file and one line each.

The help of the command, the manual, the attack and the tests take the names from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from anabranch.runs.measurements import flent, iperf3, qlog, ss, starlink
from anabranch.runs.measurements.model import MeasurementFormat
from anabranch.runs.measurements.reading import MeasurementFile

_ALL: Final = (
    iperf3.READER,
    ss.READER,
    flent.READER,
    qlog.READER,
    starlink.READER,
)
"""In this order they are asked whether a file is theirs."""

READERS: Final[Mapping[str, MeasurementFormat]] = {reader.name: reader for reader in _ALL}
"""Every format by its name."""
TITLES: Final = ", ".join(reader.title for reader in _ALL)
"""Every format for people."""


def reader_of(source: MeasurementFile) -> MeasurementFormat | None:
    """The reader of a file; None where it is of no format.

    Raises:
        UnreadableError: if the file cannot be read.
    """
    if not source.is_text:
        return None
    return next((reader for reader in _ALL if reader.recognises(source)), None)
