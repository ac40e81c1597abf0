"""The measurements of a run: tables, a summary, and the folder that keeps both."""

from __future__ import annotations

import io
import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, cast, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch.errors import ResultError, installation, reason, written_for
from anabranch.results.folders import (
    Replacement,
    open_inside,
    read_inside,
    read_manifest,
    regular_files,
    replacing,
)
from anabranch.text.csv_cells import FORMULA, NUMBER, escaped

if TYPE_CHECKING:
    import pandas

FORMAT = "anabranch-result"
"""Value of ``format`` in a result's summary.json, by which a result folder is known."""
_FORMAT_VERSION = 1
_SUMMARY = "summary.json"
_SCENARIO = "scenario.toml"
_ORIGIN = (
    *("version", "versions", "seed", "replication", "scenario_sha256", "topology_sha256", "captures"),
    *("host", "started", "wall_s"),
)
"""What of a summary the manifest has, too."""
LOGS = "logs"
"""Folder of the event logs in a result folder."""
CAPTURES = "*.pcapng"
"""Names of the captures of a run."""

Column = NDArray[np.generic] | Sequence[str] | tuple[Sequence[str], NDArray[np.uint8]]
"""A column of the core: numbers, names, or few names and the place of each row's name among them."""


class KeptScenario(Protocol):
    """A scenario, as far as the folder of its result keeps it."""

    def kept_in(self, folder: Path) -> KeptScenario:
        """The scenario with its files copied into the folder."""

    def toml(self) -> str:
        """The text of its file, every default written out."""


class ResultTable:
    """A table of a result, by its name; a result that lacks it raises ResultError."""

    def __init__(self, rows: str) -> None:
        """With what its rows are."""
        self.__doc__ = rows

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, result: None, owner: type) -> Self: ...
    @overload
    def __get__(self, result: Result, owner: type) -> pl.DataFrame: ...
    def __get__(self, result: Result | None, owner: type) -> pl.DataFrame | Self:
        return self if result is None else result._table(self._name)


@dataclass(frozen=True)
class Result:
    """Tables and summary of a run.

    Attributes:
        tables: data frames by name; units are part of the column names. Every number that the run does not
            have, such as the completion time of a flow that has not ended, is null.
        summary: version, seed, replication, hash of the scenario, wall time, and totals.
    """

    kind: ClassVar[str] = "run"
    """What the manifest of its folder calls it."""
    tables: Mapping[str, pl.DataFrame]
    summary: Mapping[str, Any]

    @classmethod
    def from_columns(
        cls,
        tables: Mapping[str, Mapping[str, Column]],
        summary: Mapping[str, Any],
    ) -> Self:
        """A result from columns as the core returns them."""
        return cls({name: frame(columns) for name, columns in tables.items()}, dict(summary))

    flows = ResultTable("A row for each flow.")
    links = ResultTable("A row for each directed link.")
    flow_series = ResultTable("A row for each sample and flow.")
    datagram_flows = ResultTable("A row for each ping, and each flow of UDP.")
    datagram_series = ResultTable("A row for each sample and flow of ``datagram_flows``.")
    latencies = ResultTable("The distribution of the latencies of each flow of ``datagram_flows``.")
    connections = ResultTable("A row for each flow of Multipath TCP.")
    subflows = ResultTable("A row for each subflow of Multipath TCP.")
    subflow_series = ResultTable("A row for each sample and established subflow of Multipath TCP.")
    spray_flows = ResultTable("A row for each flow of the transport ``spray``.")
    collectives = ResultTable("A row for each collective operation.")
    collective_steps = ResultTable("A row for each step of each collective operation.")
    link_series = ResultTable("A row for each sample and link.")
    events = ResultTable("A row for each change of the network and of its routes.")
    sequence = ResultTable("A row for each segment that a flow of ``run.sequences`` sent or received.")
    log = ResultTable("A row for each decision of the senders of the flows in ``run.log``.")

    def to_pandas(self, table: str = "flows") -> pandas.DataFrame:
        """A table as a frame of pandas; null is NaN.

        Args:
            table: its name, of ``tables``.

        Raises:
            ResultError: if there is no such table, or pandas is not installed.
        """
        return pandas_frame(self._table(table))

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end."""
        return bool(self.summary.get("interrupted", False))

    def _table(self, name: str) -> pl.DataFrame:
        if name not in self.tables:
            raise ResultError(f"this result has no table {name}; it has {', '.join(self.tables)}")
        return self.tables[name]

    def save(
        self,
        folder: Path | str,
        *,
        scenario: KeptScenario | None = None,
        captures: Path | None = None,
        add: Callable[[Path], object] | None = None,
        replace: bool = False,
    ) -> Path:
        """Writes the result folder, all of it or nothing: it appears under its name when it is complete.

        Args:
            folder: where; an earlier result there is replaced.
            scenario: kept in the folder as ``scenario.toml``, every default written out, with its topology
                file if it has one.
            captures: folder of capture files, to be copied in if it is another one.
            add: writes what else belongs into the folder, such as a page; called when all but the summary is
                there, with the folder that will take the place of ``folder``.
            replace: go on though the folder has other files, which stay in it.

        Returns:
            The folder.

        Raises:
            ResultError: if the folder has other files, is being written to, or cannot be written.
        """
        with replacing(Path(folder), self.kind, replace=replace) as place:
            return self.put(place, scenario=scenario, captures=captures, add=add)

    def put(
        self,
        place: Replacement,
        *,
        scenario: KeptScenario | None = None,
        captures: Path | None = None,
        add: Callable[[Path], object] | None = None,
    ) -> Path:
        """Writes the result into a folder that has been opened for it; see :meth:`save`.

        Raises:
            ResultError: if it cannot be written.
        """
        try:
            with written_for(place.place, place.partial):
                self._write(place.partial, scenario, captures, add)
            place.put({key: self.summary[key] for key in _ORIGIN if key in self.summary})
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ResultError(f"{place.place}: cannot be written: {reason(error)}") from None
        return place.place

    def _write(
        self,
        folder: Path,
        scenario: KeptScenario | None,
        captures: Path | None,
        add: Callable[[Path], object] | None,
    ) -> None:
        for name, table in self.tables.items():
            write_parquet(table, folder / f"{name}.parquet")
        if scenario is not None:
            (folder / _SCENARIO).write_text(scenario.kept_in(folder).toml(), encoding="utf-8")
        if captures is not None and captures != folder:
            for file in sorted(captures.glob(CAPTURES)):
                # Not moved: if this folder cannot be completed, another may.
                shutil.copy2(file, folder / file.name)
        if "log" in self.tables:
            from anabranch.results.event_log import save_log  # noqa: PLC0415 - few runs have a log

            save_log(self.log, dict(self.flows.select("flow", "name").iter_rows()), folder / LOGS)
        if add is not None:
            add(folder)
        summary = json_ready({"format": FORMAT, "format_version": _FORMAT_VERSION, **self.summary})
        text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
        (folder / _SUMMARY).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """The result in a folder.

        Raises:
            ResultError: if there is none.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise ResultError(f"{folder}: is not there" if not folder.exists() else f"{folder}: is no folder")
        summary = _read_summary(folder)
        if summary is None:
            if not folder.exists():
                raise ResultError(f"{folder}: there is no such folder")
            raise ResultError(f"{folder}: not a result folder; it has no {_SUMMARY} that says so")
        try:
            manifest = read_manifest(folder)
            files = regular_files(folder)
            if manifest is not None and _SUMMARY in manifest.files:
                files = sorted(manifest.files)
            names = [name for name in files if name.endswith(".parquet") and "/" not in name]
            tables = {Path(name).stem: read_parquet(folder, name) for name in names}
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ResultError(f"{folder}: a table cannot be read: {error}") from None
        from anabranch.results.stored import REMEDY, check_table  # noqa: PLC0415 - as in _read_summary

        try:
            for name, table in tables.items():
                check_table(f"{name}.parquet", table)
        except ValueError as error:
            raise ResultError(f"{folder}: {error}: {REMEDY}") from None
        for key in ("format", "format_version"):
            summary.pop(key, None)
        return cls(tables, summary)


class _Written(io.RawIOBase):
    """A file that polars writes to piece by piece, and the system's error if it cannot be written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, piece: Any, /) -> int:
        try:
            return int(self._file.write(piece))
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()


def write_parquet(table: pl.DataFrame, file: Path) -> None:
    """Writes a table in a stream: a copy of millions of rows in memory would be as large as the table.

    Raises:
        OSError: the system's error if the file cannot be written, whatever polars makes of it.
    """
    with file.open("wb") as opened:
        written = _Written(opened)
        try:
            table.write_parquet(cast(IO[bytes], written))
        except pl.exceptions.PolarsError:
            if written.error is not None:
                raise written.error from None
            raise


def read_parquet(folder: Path, name: str) -> pl.DataFrame:
    """A table of a folder, which is a regular file in it.

    Raises:
        OSError: if it is something else, or cannot be read.
        polars.exceptions.PolarsError: if it is no table.
    """
    with open_inside(folder, name) as file:
        return pl.read_parquet(file)


def json_ready(value: Any) -> Any:
    """Plain data that JSON can say: what is infinite or not a number becomes null."""
    match value:
        case float():
            return float(value) if math.isfinite(value) else None
        case np.generic():
            return json_ready(value.item())
        case dict():
            return {key: json_ready(entry) for key, entry in value.items()}
        case list() | tuple():
            return [json_ready(entry) for entry in value]
        case _:
            return value


def _read_summary(folder: Path) -> dict[str, Any] | None:
    """The summary of a result folder; None if it is none.

    Raises:
        ResultError: if it has something that no run writes.
    """
    try:
        content = read_inside(folder, _SUMMARY)
    except OSError:
        return None
    from anabranch.results.stored import REMEDY, check_summary, read_json  # noqa: PLC0415 - whoever writes need not wait

    try:
        summary = read_json(content)
        if not isinstance(summary, dict) or summary.get("format") != FORMAT:
            return None
        check_summary(summary)
    except ValueError as error:
        if read_manifest(folder) is None and FORMAT.encode() not in content:
            return None
        raise ResultError(f"{folder / _SUMMARY}: {error}: {REMEDY}") from None
    return summary


def frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """A data frame; what is no number becomes null, so that no mean is NaN, and so does empty text."""
    return pl.DataFrame([_series(name, values) for name, values in columns.items()])


def csv_bytes(table: pl.DataFrame) -> bytes:
    """A table as CSV, of which a spreadsheet runs nothing (``csv_cells.py``)."""
    text = pl.col(pl.String)
    formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    safe = table.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep())
    return safe.rename(escaped).write_csv().encode()


def _series(name: str, values: Column) -> pl.Series:
    if isinstance(values, np.ndarray):
        return pl.Series(name, values, nan_to_null=True)
    if isinstance(values, tuple):
        names, places = values
        return _series(name, names).gather(places)
    return pl.Series(name, [text or None for text in values], dtype=pl.String)


@dataclass(frozen=True, slots=True)
class FactorInfo:
    """A factor as the tables of a study show it."""

    name: str
    """Name of its column, with the unit at the end where it has one."""
    label: str
    """Name for people, as on an axis."""
    kind: Literal["continuous", "categorical"]
    unit: str | None
    """Unit of the levels of a continuous factor; None where they are plain numbers."""
    levels: tuple[float | str, ...]
    """Numbers, in ``unit``, for a continuous factor; texts for a categorical one."""


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """A metric as the tables of a study show it."""

    name: str
    """Name of its column, with the unit at the end."""
    label: str
    """Name for people, as on an axis."""
    censored: bool = False
    """Whether it is of times that flows may not have come to: those are known only as more than a bound."""
    better: Literal["more", "less", ""] = ""
    """Whether more of it is better, or less; empty where neither is, or nobody knows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the metric in the table of runs.

        The value; where it is censored, also what it is more than if it is null, how many flows are done, and
        of how many.
        """
        return (self.name, *(f"{self.name}_{end}" for end in ENDS_OF_CENSORED if self.censored))


ENDS_OF_CENSORED = ("more_than", "done", "flows")
"""Of the names of the columns that a censored metric has beside its own."""


def pandas_frame(table: pl.DataFrame) -> pandas.DataFrame:
    """A table as a frame of pandas, which no other part of the library needs.

    Raises:
        ResultError: if pandas or PyArrow is not installed.
    """
    for package in ("pandas", "pyarrow"):
        if find_spec(package) is None:
            raise ResultError(
                f"to_pandas: {package} is not installed; install it with: {installation('pandas')}"
            )
    return table.to_pandas()
