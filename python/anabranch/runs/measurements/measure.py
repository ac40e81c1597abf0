"""Files of measurements of one experiment: each recognised and read, then the tables of all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from anabranch.errors import CaptureError, Problem
from anabranch.runs.measurements.model import Measurement, MeasurementError, MeasurementFormat
from anabranch.runs.measurements.reading import STANDARD_INPUT, MeasurementFile, UnreadableError
from anabranch.runs.measurements.registry import READERS, TITLES, reader_of
from anabranch.runs.measurements.seeming import is_capture, seems
from anabranch.runs.measurements.tables import measured_tables
from anabranch.text.suggest import listed

_LIKE_CAPTURE_S = 1.0
"""Intervals of what is logged event by event, as of captures."""


@dataclass(frozen=True)
class Recognised:
    """Files by what they are."""

    measured: list[tuple[MeasurementFile, MeasurementFormat]]
    """Measurements, with their readers."""
    captures: list[Path | str]
    """Packet captures, and what the reader of captures is to say more about; empty beside measurements."""
    left_out: list[str]
    """Sentences on files beside captures that are something else."""


def recognised(files: Sequence[Path | str], form: str | None) -> Recognised:
    """The files of one experiment by what they are.

    Args:
        files: standard input is a capture where no format is named.
        form: the format of all of them; None to recognise each.

    Raises:
        CaptureError: if no file is of a known kind, measurements are given together with captures, or there
            is no such format.
    """
    if form is not None and form not in READERS:
        raise CaptureError([Problem("--format", f'"{form}" is not known; there are {listed(READERS)}')])
    measured: list[tuple[MeasurementFile, MeasurementFormat]] = []
    unknown: list[Problem] = []
    captures: list[Path | str] = []
    unreadable: list[Problem] = []
    for file in files:
        source = MeasurementFile(file)
        if form is not None:
            measured.append((source, READERS[form]))
            continue
        if os.fspath(file) == STANDARD_INPUT:
            captures.append(file)
            continue
        try:
            source.head  # noqa: B018 - what cannot be read has none
        except UnreadableError as error:
            unreadable.append(Problem(source.name, str(error)))
            captures.append(file)
            continue
        reader, other = _kind(source)
        if reader is not None:
            measured.append((source, reader))
        elif other is not None:
            unknown.append(Problem(source.name, other))
        else:
            captures.append(file)
    if measured and (captures or unknown):
        first, beside = measured[0], MeasurementFile(captures[0]).name if captures else ""
        message = (
            f"is {first[1].title}, and {beside} a packet capture: give "
            "them one after the other, or one of them with --against the other"
        )
        raise CaptureError(unreadable or unknown or [Problem(first[0].name, message)])
    if unknown and not captures:
        raise CaptureError(unknown)
    return Recognised(measured, captures, [f"{each}; it is left out" for each in unknown])


def _kind(source: MeasurementFile) -> tuple[MeasurementFormat | None, str | None]:
    """The reader of a file, or why there is none; neither for the reader of captures."""
    if is_capture(source):
        return None, None
    try:
        reader = reader_of(source)
        what = f"is neither a packet capture nor one of {TITLES}; it seems to be"
        return reader, None if reader else f"{what} {seems(source)}"
    except UnreadableError as error:
        return None, str(error)


def measure(
    sources: Sequence[tuple[MeasurementFile, MeasurementFormat]],
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
    measurements: list[Measurement] = []
    problems: list[Problem] = []
    for source, reader in sources:
        try:
            measurements.append(reader.read(source, interval_s or _LIKE_CAPTURE_S))
        except (MeasurementError, UnreadableError) as error:
            problems.append(Problem(source.name, str(error)))
    if problems:
        raise CaptureError(problems)
    for each in measurements:
        each.flows = [
            flow for flow in each.flows if not ports or {flow.client_port, flow.server_port} & set(ports)
        ]
    if not any(each.flows for each in measurements):
        of_ports = f" with port {', '.join(map(str, ports))}" if ports else ""
        raise CaptureError([Problem(sources[0][0].name, f"has no flow{of_ports}")])
    offsets_s, began_unix_s, warnings = _clocks(measurements)
    try:
        tables, summary, further = measured_tables(measurements, offsets_s, window_s, interval_s)
    except ValueError as error:
        raise CaptureError([Problem("--interval", str(error))]) from None
    several = len(measurements) > 1
    for (source, _), each in zip(sources, measurements, strict=True):
        if source.beside:
            each.warnings.append(f'text around the JSON is left out, such as "{source.beside[:60]}"')
        warnings += [
            f"{source.name}: {sentence}" if several else sentence for sentence in each.all_warnings()
        ]
    summary |= {
        "began_unix_s": began_unix_s,
        "measured_by": list(dict.fromkeys(each.tool for each in measurements)),
        "notes": list(dict.fromkeys(note for each in measurements for note in each.notes)),
        "interrupted": False,
        "warnings": [*warnings, *further],
    }
    return tables, summary


def _clocks(measurements: Sequence[Measurement]) -> tuple[list[float], float | None, list[str]]:
    """When each measurement began on a common clock, when that began, and what there is to say of it."""
    begins_s = [each.began_unix_s for each in measurements]
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
