"""Files of measurements of one experiment: each recognised and read, then the tables of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from anabranch.errors import CaptureError, Problem
from anabranch.runs.measurements.model import Measurement, MeasurementError, Reader
from anabranch.runs.measurements.reading import STANDARD_INPUT, Source, UnreadableError
from anabranch.runs.measurements.registry import READERS, TITLES, reader_of
from anabranch.runs.measurements.seeming import is_capture, seems
from anabranch.runs.measurements.tables import measured_tables
from anabranch.text.suggest import listed

_LIKE_CAPTURE_S = 1.0
"""Intervals of what is logged event by event, as of captures."""


def measured_files(files: Sequence[Path | str], form: str | None) -> list[tuple[Source, Reader]]:
    """The files with their readers; none where they are packet captures.

    Args:
        files: of one experiment; standard input is a capture where no format is named.
        form: the format of all of them; None to recognise each.

    Raises:
        CaptureError: if a file is of no known kind, measurements are given together with captures, or there
            is no such format.
    """
    if form is not None and form not in READERS:
        raise CaptureError([Problem("--format", f'"{form}" is not known; there are {listed(READERS)}')])
    measured: list[tuple[Source, Reader]] = []
    unknown: list[Problem] = []
    captures: list[str] = []
    for file in files:
        source = Source(file)
        if form is not None:
            measured.append((source, READERS[form]))
            continue
        if file == STANDARD_INPUT or str(file) == STANDARD_INPUT:
            captures.append(source.name)
            continue
        try:
            reader = None if is_capture(source) else reader_of(source)
            if reader is not None:
                measured.append((source, reader))
            elif is_capture(source):
                captures.append(source.name)
            else:
                unknown.append(
                    Problem(
                        source.name,
                        f"is neither a packet capture nor one of {TITLES}; it seems to be {seems(source)}",
                    )
                )
        except UnreadableError as error:
            # What cannot be opened the reader of captures says, of all files together.
            captures.append(source.name)
            if Path(file).is_file():
                unknown.append(Problem(source.name, str(error)))
    if unknown:
        raise CaptureError(unknown)
    if measured and captures:
        first = measured[0]
        message = (
            f"is {first[1].title}, and {captures[0]} a packet capture: give them one after the other, or "
            "one of them "
            "with --against the other"
        )
        raise CaptureError([Problem(first[0].name, message)])
    return measured


def measure(
    sources: Sequence[tuple[Source, Reader]],
    *,
    window_s: float | None = None,
    interval_s: float | None = None,
    ports: Sequence[int] = (),
) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """The tables of measurements, and what the summary has of them.

    Args:
        sources: the files with their readers.
        window_s: length of the measuring window, which ends with the measurement; None for all of it.
        interval_s: length of the intervals of the series; None for those of the tools.
        ports: only flows with one of these ports; empty for all.

    Raises:
        CaptureError: if a file cannot be read as what it is; everything that is wrong together.
    """
    found: list[Measurement] = []
    problems: list[Problem] = []
    for source, reader in sources:
        try:
            found.append(reader.read(source, interval_s or _LIKE_CAPTURE_S))
        except (MeasurementError, UnreadableError) as error:
            problems.append(Problem(source.name, str(error)))
    if problems:
        raise CaptureError(problems)
    for each in found:
        each.flows = [
            flow for flow in each.flows if not ports or {flow.client_port, flow.server_port} & set(ports)
        ]
    if not any(each.flows for each in found):
        of_ports = f" with port {', '.join(map(str, ports))}" if ports else ""
        raise CaptureError([Problem(sources[0][0].name, f"has no flow{of_ports}")])
    offsets_s, began_unix_s, warnings = _clocks(found)
    try:
        tables, summary, further = measured_tables(found, offsets_s, window_s, interval_s)
    except ValueError as error:
        raise CaptureError([Problem("--interval", str(error))]) from None
    several = len(found) > 1
    for (source, _), each in zip(sources, found, strict=True):
        warnings += [
            f"{source.name}: {sentence}" if several else sentence for sentence in each.all_warnings()
        ]
    summary |= {
        "began_unix_s": began_unix_s,
        "measured_by": list(dict.fromkeys(each.tool for each in found)),
        "notes": list(dict.fromkeys(note for each in found for note in each.notes)),
        "interrupted": False,
        "warnings": [*warnings, *further],
    }
    return tables, summary


def _clocks(found: Sequence[Measurement]) -> tuple[list[float], float | None, list[str]]:
    """When each measurement began on a common clock, when that began, and what there is to say of it."""
    begins_s = [each.began_unix_s for each in found]
    known_s = [begin_s for begin_s in begins_s if begin_s is not None]
    if len(known_s) < len(begins_s):
        warnings = (
            ["a file has no time of the day: each is taken to begin at the same moment"]
            if len(begins_s) > 1
            else []
        )
        return [0.0] * len(begins_s), None, warnings
    first_s = min(known_s)
    return [begin_s - first_s for begin_s in known_s], first_s, []
