"""Packet captures of TCP and MPTCP, and measurements of other tools: what each connection achieved."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.errors import CaptureError, Problem, ResultError
from anabranch.process.real_path import real_path
from anabranch.results.folders import check_target
from anabranch.results.result import Result, ResultTable
from anabranch.runs.measurements.measure import measure, recognised

STANDARD_INPUT = "-"
"""Stands for standard input among the captures."""
_INTERVAL = "1 s"
_UNKNOWN_COUNTS = (
    "^(data_packets|payload_bytes|retransmissions|retransmitted_bytes|reordered_packets|reordering_extent_max"
    "|three_reordered_packets|missing_bytes|acked_bytes|measured_bytes|window_acked_bytes)$"
)
"""Counts that are null where their direction was not captured."""
_LONGEST_PS = 30 * 86_400 * 10**12


class CaptureResult(Result):
    """The tables and notes of captures, or of measurements of other tools.

    ``tables`` has ``connections``, ``subflows``, ``subflow_series``, ``connection_series``,
    ``capture_series``, ``rtt_distribution`` and, of captures, ``protocols``; ``summary`` T1, T2, the steady
    window, totals and warnings. Times count from the first packet of all flows. What was not captured, or is
    not measured by a tool, is null.
    """

    kind = "capture"

    connections = ResultTable("A row for each connection.")
    subflows = ResultTable("A row for each subflow; single-path TCP has one.")
    subflow_series = ResultTable("A row for each subflow and interval.")
    connection_series = ResultTable("A row for each connection and interval.")
    capture_series = ResultTable("A row for each interval: all connections together, and their fairness.")
    rtt_distribution = ResultTable(
        "How many round-trip times of a subflow and direction are at most so long: a row for each step."
    )
    protocols = ResultTable("What the packets are: a row for each protocol and the headers around it.")


def check_folder(folder: Path, files: Sequence[Path | str], *, replace: bool = False) -> None:
    """Makes sure that tables saved in a folder would replace nothing but those of earlier captures.

    Raises:
        ResultError: if something else is there, or one of the captures that are to be analysed.
    """
    check_target(folder, CaptureResult.kind, replace=replace)
    inside = next((file for file in files if real_path(folder) in real_path(Path(file)).parents), None)
    if inside is not None:
        raise ResultError(f"{folder}: would be replaced, and {inside} is in it; choose another name")


def analyze(
    files: Sequence[Path | str],
    *,
    window: str | None = None,
    interval: str | None = None,
    ports: Sequence[int] = (),
    disjoint: bool = False,
    subflows: int | None = None,
    jobs: int | None = None,
    form: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CaptureResult:
    """Analyses captures of one experiment (pcap and pcapng), or measurements of it by other tools.

    Args:
        files: the captures, compressed with gzip, zstd or not, or files of other tools
            (docs/measurements.md); ``-`` for standard input.
        window: length TM of the steady window, such as ``"200 s"``, which ends with the first end of data;
            left out: from the moment when the last subflow has connected.
        interval: length of the intervals of the series; left out: a second, or of a measurement those of its
            tool.
        ports: only flows with one of these ports; empty for all.
        disjoint: no packet passes two capture points, so that each is counted wherever it was seen.
        subflows: how many subflows the experiment has; another number found is a warning.
        jobs: files that are read at once; all cores if left out.
        form: format of the measurements; left out: recognised. Standard input is a capture if it is left out.
        progress: called now and then with the bytes read and the bytes to be read.

    Raises:
        CaptureError: if files are neither captures nor measurements, cannot be read, or have nothing to
            analyse; everything that is wrong together.
    """
    window_ps, interval_ps = _checked(files, window, interval, ports)
    begin = time.perf_counter()
    kinds = recognised(files, form)
    if sources := kinds.measured:
        if disjoint or jobs is not None:
            option = "--disjoint" if disjoint else "--jobs"
            raise CaptureError(
                [Problem(option, f"is for packet captures; {sources[0][0].name} is {sources[0][1].title}")]
            )
        tables, facts = measure(
            sources,
            window_s=None if window_ps is None else window_ps / 1e12,
            interval_s=None if interval is None else interval_ps / 1e12,
            ports=ports,
        )
        return CaptureResult(tables, _summary(files, facts, subflows, begin))
    try:
        outcome = _core.analyze_captures(
            [os.fspath(file) for file in kinds.captures],
            window_ps,
            interval_ps,
            list(ports),
            disjoint,
            jobs or _cores(),
            progress,
        )
    except _core.CaptureFileError as error:
        raise CaptureError([Problem(place, message) for place, message in error.args[0]]) from None
    facts = dict(outcome["summary"]) | {"interval_s": interval_ps / 1e12}
    summary = _summary(files, facts, subflows, begin)
    summary["warnings"] = [*kinds.left_out, *summary["warnings"]]
    return _with_counts(CaptureResult.from_columns(outcome["tables"], summary))


def _checked(
    files: Sequence[Path | str], window: str | None, interval: str | None, ports: Sequence[int]
) -> tuple[int | None, int]:
    """Window and interval in picoseconds.

    Raises:
        CaptureError: with everything that is wrong with them, the ports and the list of files.
    """
    problems: list[Problem] = []
    window_ps = None if window is None else _span_ps("--window", window, problems)
    interval_ps = _span_ps("--interval", interval or _INTERVAL, problems)
    problems.extend(
        Problem("--port", f"{port} is no TCP port; they go from 1 to 65535")
        for port in ports
        if not 1 <= port <= 65535
    )
    if not files:
        problems.append(Problem("", "no capture; give at least one file"))
    problems.extend(_repeated(files))
    if problems:
        raise CaptureError(problems)
    return window_ps, interval_ps


def _summary(
    files: Sequence[Path | str], facts: dict[str, Any], subflows: int | None, begin: float
) -> dict[str, Any]:
    """The summary of what was found, which was begun at a time of the performance counter."""
    warnings = [*facts.pop("warnings"), *_count_warning(subflows, facts)]
    return {
        "version": _core.version(),
        "captures": [capture_name(file) for file in files],
        **facts,
        "warnings": warnings,
        "wall_s": time.perf_counter() - begin,
    }


def _with_counts(result: CaptureResult) -> CaptureResult:
    """The result with whole numbers for counts that may be unknown, which the core has as numbers."""
    counts = pl.col(_UNKNOWN_COUNTS).cast(pl.UInt64)
    tables = {
        name: table.with_columns(counts) if name in ("connections", "subflows", "subflow_series") else table
        for name, table in result.tables.items()
    }
    return CaptureResult(tables, result.summary)


def capture_name(file: Path | str) -> str:
    """The name of a capture for people."""
    return "standard input" if os.fspath(file) == STANDARD_INPUT else Path(file).name


def _count_warning(expected: int | None, summary: dict[str, object]) -> list[str]:
    """What there is to say if other subflows connected than should have."""
    connected = summary["subflows_established"]
    if expected is None or connected == expected:
        return []
    noun = "subflow" if connected == 1 else "subflows"
    return [f"{connected} {noun} connected, not {expected}: this is not the experiment that was meant"]


def _repeated(files: Sequence[Path | str]) -> list[Problem]:
    """Files that are given again, under whatever name: their packets would count twice."""
    seen: dict[tuple[int, int], Path | str] = {}
    problems = []
    for file in files:
        if os.fspath(file) == STANDARD_INPUT:
            # No file, even if one has this name.
            continue
        try:
            status = Path(file).stat()
        except OSError:
            # Reading it will say what is wrong.
            continue
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            first = os.fspath(seen[identity])
            other = "" if first == os.fspath(file) else f", also as {first}"
            problems.append(Problem(os.fspath(file), f"is given twice{other}"))
        seen.setdefault(identity, file)
    return problems


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _span_ps(place: str, text: str, problems: list[Problem]) -> int:
    """A length of time in picoseconds; what is wrong with it becomes a problem."""
    try:
        span_ps = _core.parse_span(text)
    except ValueError as error:
        problems.append(Problem(place, str(error)))
        return 0
    if not 1000 <= span_ps <= _LONGEST_PS:
        problems.append(Problem(place, f'"{text}" is not between 1 ns and 30 days'))
    return span_ps
