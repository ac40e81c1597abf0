"""The journal of a study: a line for each run that is done, in the order in which they were.

A line is an object of JSON:

run, status, reason       which run, ``ok`` or ``failed``, and why it failed (null)
metrics                   the value of each metric by its name; null where there is none
host, finished            where and when it was done
wall_s, cpu_s, engine_cpu_s   how long it took; of the processor time, what the engine took

One file that grows, because to create a file for each run takes a disk longer than the run itself. A number
that is written so is the same when it is read again.
"""

from __future__ import annotations

import errno
import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import polars as pl

from anabranch.errors import Problem, StudyError
from anabranch.results.folders import read_inside
from anabranch.results.stored import check_censored, metric_value, read_json
from anabranch.study.counts import check_counts
from anabranch.study.description import Metric
from anabranch.study.design import Design
from anabranch.study.work import Outcome

NAME = "journal.jsonl"
"""Of the file, in the folder of the study."""
_BEGINNING = b'{"run": '
"""Of every line."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The line of the journal for a run that is done."""

    reason: str | None
    """Why it failed; None if it did not."""
    values: tuple[float | None, ...]
    """The metrics, in the order of the design."""


class Journal:
    """The journal of one study, open for the process that works on it."""

    def __init__(self, file: IO[bytes], path: Path, design: Design) -> None:
        """Takes its file, new or begun; what a crash has cut off of its last line is not there any more.

        Args:
            file: open for reading and appending, unbuffered.
            path: of the file, for messages.
            design: of the study.

        A line of a run whose values cannot be is left out, so that the run is done again.

        Raises:
            StudyError: if a line is of no run of this study.
            OSError: if it cannot be read or written.
        """
        self._path = path
        self._names = design.value_names
        self._metrics = list(zip(design.metrics, design.metric_infos, strict=True))
        self._host = platform.node()
        self._file = file
        try:
            self._file.seek(0)
            content = self._file.read()
            whole = content[: content.rfind(b"\n") + 1]
            self._cut_off(content[len(whole) :], len(whole))
            self.rejected: dict[int, str] = {}
            """By run: why its line is left out, of runs that no other line has."""
            self.finished = dict(self._read(whole, design.runs))
            self.rejected = {run: why for run, why in self.rejected.items() if run not in self.finished}
        except BaseException:
            self._file.close()
            raise

    def _cut_off(self, rest: bytes, size: int) -> None:
        """Removes the beginning of a line that a crash has left, and nothing else.

        Raises:
            StudyError: if something else stands there.
        """
        if not (rest.startswith(_BEGINNING) or _BEGINNING.startswith(rest)):
            message = "is of no run of this study, and is not cut off; move it away"
            raise StudyError([Problem("last line", message)], str(self._path))
        if rest:
            self._file.truncate(size)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def append(self, outcome: Outcome) -> None:
        """Adds a run.

        Raises:
            OSError: if it cannot be written; what was written before stays.
        """
        line = {
            "run": outcome.run,
            "status": status(outcome.reason),
            "reason": outcome.reason,
            "metrics": dict(zip(self._names, outcome.values, strict=True)),
            "host": self._host,
            "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "wall_s": round(outcome.wall_s, 6),
            "cpu_s": round(outcome.cpu_s, 6),
            "engine_cpu_s": round(outcome.engine_cpu_s, 6),
        }
        append(self._file, json.dumps(line).encode() + b"\n")
        self.finished[outcome.run] = Finished(outcome.reason, outcome.values)

    def _read(self, content: bytes, runs: int) -> Iterator[tuple[int, Finished]]:
        for number, line in enumerate(content.split(b"\n")[:-1], 1):
            run = _run_of(line)
            if run is None or not 0 <= run < runs:
                message = "is of no run of this study; remove the line, and the study goes on without it"
                raise StudyError([Problem(f"line {number}", message)], str(self._path))
            try:
                finished = self._finished(read_json(line))
            except ValueError as error:
                self.rejected[run] = f"line {number}: {error}"
                continue
            yield run, finished

    def _finished(self, entry: dict[str, Any]) -> Finished:
        """What a line says of its run.

        Raises:
            ValueError: if this cannot be.
        """
        reason, metrics = entry.get("reason"), entry.get("metrics")
        if not (reason is None or isinstance(reason, str)) or entry.get("status") != status(reason):
            raise ValueError("status and reason do not belong together")
        if not isinstance(metrics, dict) or set(metrics) != set(self._names):
            raise ValueError("the metrics are not those of the study")
        values: dict[str, float | None] = {}
        for name in self._names:
            try:
                values[name] = metric_value(metrics[name])
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        if reason is not None and any(value is not None for value in values.values()):
            raise ValueError("the run has failed, and has metrics")
        if reason is None:
            check_counts([metric for metric, _ in self._metrics], values)
        for metric, info in self._metrics if reason is None else ():
            try:
                _check(metric, values[info.name])
                if info.censored:
                    check_censored(*(values[column] for column in info.columns))
            except ValueError as error:
                raise ValueError(f"{info.name}: {error}") from None
        return Finished(reason, tuple(values.values()))


def _check(metric: Metric, value: float | None) -> None:
    """Makes sure that a metric can have this value.

    Raises:
        ValueError: if no run has it.
    """
    if value is None or not metric.scale:
        return
    unscaled = value / metric.scale
    # No column goes below 0, but a summary may have anything.
    is_share = metric.statistic == "jain" or (metric.table, metric.column) == ("summary", "jain_index")
    if (unscaled < 0 and metric.table != "summary") or (
        is_share and not -_ROUNDING < unscaled < 1 + _ROUNDING
    ):
        raise ValueError(f"{value:g} is no number of a run")


def _run_of(line: bytes) -> int | None:
    """The run that a line is of, if it says so at all."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    run = entry.get("run") if isinstance(entry, dict) else None
    return run if isinstance(run, int) and not isinstance(run, bool) else None


_ROUNDING = 1e-6


def runs_done(folder: Path) -> int:
    """How many runs the journal of a folder has; 0 where there is none."""
    try:
        return read_inside(folder, NAME).count(b"\n")
    except OSError:
        return 0


def runs_table(design: Design, finished: Mapping[int, Finished]) -> pl.DataFrame:
    """The table ``runs`` of a study: a row for each run that is done, in order.

    The columns are ``run``, ``cell``, ``replication``, the factors, ``status``, ``reason`` and the metrics.
    """
    numbers = sorted(finished)
    cells = [number // design.replications for number in numbers]
    levels = {cell: design.levels(cell) for cell in set(cells)}
    columns = [
        pl.Series("run", numbers, dtype=pl.Int64),
        pl.Series("cell", cells, dtype=pl.Int64),
        pl.Series("replication", [number % design.replications for number in numbers], dtype=pl.Int64),
    ]
    for place, info in enumerate(design.factor_infos):
        kind = pl.Float64 if info.kind == "continuous" else pl.String
        columns.append(pl.Series(info.name, [info.levels[levels[cell][place]] for cell in cells], dtype=kind))
    reasons = [finished[number].reason for number in numbers]
    columns.append(pl.Series("status", [status(reason) for reason in reasons], dtype=pl.String))
    columns.append(pl.Series("reason", reasons, dtype=pl.String))
    for place, name in enumerate(design.value_names):
        values = [finished[number].values[place] for number in numbers]
        columns.append(pl.Series(name, values, dtype=pl.Float64))
    return pl.DataFrame(columns)


def status(reason: str | None) -> str:
    """``ok`` or ``failed``, for a run with or without a reason why it failed."""
    return "ok" if reason is None else "failed"


def append(file: Any, content: bytes) -> None:
    """Writes all of it; an unbuffered file that has no room left takes what it can, and says nothing.

    Raises:
        OSError: if there is no room for it.
    """
    if (file.write(content) or 0) < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
