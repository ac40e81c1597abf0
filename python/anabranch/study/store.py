"""The folder of a study: what is done is kept at once, so that a study that was stopped goes on where it was.

manifest.json          what of it is ours, but for tables/ and the journal
study.toml             the study, with every level written out
study.json             format, version, fingerprint, factors and metrics
topologies/            the topology files that it uses
tables/NAME/NNNNNN.parquet   tables of the runs, where they are kept
journal.jsonl          a line for each finished run, with the time: the one file that is not reproducible
runs.parquet, runs.csv, cells.parquet, cells.csv   when all runs are done
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, TypeVar

import polars as pl
import tomli_w

from anabranch import _core
from anabranch.errors import Problem, ResultError, StudyError, reason, written_for
from anabranch.process.signals import deferred
from anabranch.results.folders import Addition, read_inside, regular_files
from anabranch.results.result import FactorInfo, MetricInfo, csv_bytes, read_parquet
from anabranch.results.stored import REMEDY, StoredStudy, check_censored, check_table, read_json
from anabranch.study.design import HOSTS, Design
from anabranch.study.journal import NAME as JOURNAL
from anabranch.study.journal import Finished, Journal, runs_done, runs_table
from anabranch.study.work import Outcome, parquet

Loaded = TypeVar("Loaded")
"""What :func:`load` makes."""
FORMAT = "anabranch-study"
"""Value of ``format`` in study.json, by which a study folder is known."""
_FORMAT_VERSION = 4
"""4: completion times of unfinished flows count; 3: the journal has what runs measured."""
_MANIFEST = "study.json"
_STUDY = "study.toml"
_ENDS = ("runs.parquet", "runs.csv", "cells.parquet", "cells.csv")
_TABLES = "tables/"
_OUTPUTS = ("report.html", "study.xlsx")


class Store:
    """A study's folder, open for one process at a time."""

    def __init__(self, folder: Path, design: Design, *, replace: bool = False) -> None:
        """Opens a folder for a design, new or begun.

        Raises:
            StudyError: if it holds something else, belongs to another study, is in use, or cannot be written.
        """
        self._folder = folder
        self._design = design
        self._journal: Journal | None = None
        _check_study(folder, design)
        files = (_MANIFEST, _STUDY, JOURNAL, *design.files)
        claims = (*files, *_ENDS, *_OUTPUTS, "figures/", _TABLES)
        self._addition = Addition(folder, "study", claims, growing=(JOURNAL, _TABLES), replace=replace)
        try:
            self._addition.open()
            self._open()
        except BaseException as error:
            self.close()
            if isinstance(error, ResultError):
                raise StudyError([Problem("", str(error))]) from None
            if isinstance(error, OSError):
                raise self._unwritable(error) from None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets another process use the folder."""
        with deferred():
            if self._journal is not None:
                self._journal.close()
            self._addition.close()

    def _open(self) -> None:
        # Another one may have worked here until the folder was locked.
        _check_study(self._folder, self._design)
        self._addition.grow()
        self._journal = Journal(self._addition.open_growing(JOURNAL), self._folder / JOURNAL, self._design)
        text = json.dumps(_manifest(self._design), indent=2, ensure_ascii=False, allow_nan=False)
        manifest = f"{text}\n".encode()
        if not self._addition.has(_MANIFEST, manifest):
            # A title or a confidence may have changed, with the tables at the end.
            self._addition.remove(_ENDS)
        study = tomli_w.dumps(_study_data(self._design)).encode()
        self._addition.write({_MANIFEST: manifest, _STUDY: study, **self._design.files})

    @property
    def _open_journal(self) -> Journal:
        assert self._journal is not None  # noqa: S101 - open until the store is closed
        return self._journal

    @property
    def finished(self) -> Mapping[int, Finished]:
        """The runs that are done, by their numbers."""
        return self._open_journal.finished

    def keep(self, outcome: Outcome) -> None:
        """Keeps a run: first its tables, then its line in the journal, by which it is done.

        Raises:
            StudyError: if it cannot be written; what was kept before stays.
        """
        try:
            for table, content in outcome.tables.items():
                self._addition.keep(f"{_TABLES}{table}/{outcome.run:06d}.parquet", content)
            self._open_journal.append(outcome)
        except OSError as error:
            raise self._unwritable(error) from None

    def runs(self) -> pl.DataFrame:
        """The table of all runs that are done."""
        return runs_table(self._design, self.finished)

    def tables(self) -> dict[str, pl.DataFrame | Path]:
        """The tables that are kept of each run, by name."""
        return _kept_tables(self._folder)

    @property
    def repeated(self) -> tuple[str, ...]:
        """Why live runs were repeated."""
        return tuple(self._open_journal.rejected.values())

    def finish(self, tables: Mapping[str, pl.DataFrame], add: Callable[[Path], None]) -> None:
        """Writes the tables over all runs, once all are done.

        Args:
            tables: these tables, by the names of their files.
            add: writes what else there is, such as figures, into the folder that it is given.

        Raises:
            StudyError: if the tables cannot be written.
            ResultError: if the rest cannot.
        """
        partial = self._addition.partial
        try:
            for name, table in tables.items():
                (partial / f"{name}.parquet").write_bytes(parquet(table))
                (partial / f"{name}.csv").write_bytes(csv_bytes(table))
            with written_for(self._folder, partial):
                add(partial)
            self._addition.put()
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> StudyError:
        message = (
            f"cannot be written: {reason(error)}; the runs that are in it are kept, and the same command "
            "goes on from there"
        )
        return StudyError([Problem("", message)], str(self._folder))


def load(folder: Path, made_of: Callable[..., Loaded]) -> Loaded:
    """The result in the folder of a study whose runs are all done.

    Args:
        folder: of the study.
        made_of: makes the result of its fields.

    Raises:
        StudyError: if there is none.
    """
    if not folder.is_dir():
        message = "is no folder" if folder.exists() else "is not there"
        raise StudyError([Problem("", message)], str(folder))
    manifest = _read_manifest(folder)
    if manifest is None:
        message = f"not a study folder; it has no {_MANIFEST} that says so"
        raise StudyError([Problem("", message)], str(folder))
    try:
        stored = StoredStudy.of_data(manifest)
    except ValueError as error:
        raise StudyError([Problem(_MANIFEST, f"{error}: {REMEDY}")], str(folder)) from None
    if not set(_ENDS) <= set(regular_files(folder)):
        done = f"{runs_done(folder):,} of {stored.runs:,} runs"
        message = f"has {done}; start the study again, and it goes on from there"
        raise StudyError([Problem("", message)], str(folder))
    try:
        runs, cells = (read_parquet(folder, f"{name}.parquet") for name in ("runs", "cells"))
        tables = _kept_tables(folder)
        _check_tables(stored, runs, cells)
    except ValueError as error:
        raise StudyError([Problem("", f"{error}: {REMEDY}")], str(folder)) from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StudyError([Problem("", f"cannot be read: {error}")], str(folder)) from None
    return made_of(
        title=stored.title,
        confidence=stored.confidence,
        replications=stored.replications,
        factors=tuple(
            FactorInfo(each.name, each.label, each.kind, each.unit, tuple(each.levels))
            for each in stored.factors
        ),
        metrics=tuple(
            MetricInfo(each.name, each.label, each.censored, each.better) for each in stored.metrics
        ),
        runs=runs,
        cells=cells,
        tables=tables,
        live=stored.live,
    )


def _check_tables(stored: StoredStudy, runs: pl.DataFrame, cells: pl.DataFrame) -> None:
    """Makes sure that the tables of a study are those of its factors and metrics.

    Raises:
        ValueError: if a column is missing, of another kind, or has a value that no study writes.
    """
    infos = [MetricInfo(each.name, each.label, each.censored) for each in stored.metrics]
    values = dict.fromkeys((column for each in infos for column in each.columns), pl.Float64)
    # Counts of runs add up to whole numbers.
    counts = {f"{each.name}_{end}": pl.Int64 for each in infos if each.censored for end in ("done", "flows")}
    ends = dict.fromkeys(
        (f"{each.name}{end}" for each in infos for end in ("_ci", "_min", "_max")), pl.Float64
    )
    levels = {
        factor.name: pl.Float64 if factor.kind == "continuous" else pl.String for factor in stored.factors
    }
    for table, frame, kinds in (
        ("runs", runs, dict.fromkeys(("run", "cell", "replication"), pl.Int64)),
        ("cells", cells, dict.fromkeys(("cell", "runs", "failed"), pl.Int64)),
    ):
        of_metrics = values if table == "runs" else {**values, **ends, **counts}
        texts = dict.fromkeys(("status", "reason") if table == "runs" else (), pl.String)
        for column, kind in {**kinds, **levels, **texts, **of_metrics}.items():
            if column not in frame.columns:
                raise ValueError(f"{table}.parquet: column {column} is missing")
            if frame.schema[column] != kind:
                raise ValueError(f"{table}.parquet: column {column} is of {frame.schema[column]}, not {kind}")
        check_table(f"{table}.parquet", frame)
    for info in infos:
        if info.censored:
            _check_censored(info, runs, cells)
    if (runs.height, cells.height) != (stored.runs, stored.cells):
        raise ValueError(
            f"{stored.runs:,} runs in {stored.cells:,} cells in {_MANIFEST}, and {runs.height:,} in "
            f"{cells.height:,} in the tables"
        )


def _check_censored(info: MetricInfo, runs: pl.DataFrame, cells: pl.DataFrame) -> None:
    """Makes sure that the columns of a censored metric are together what a study writes.

    Raises:
        ValueError: if they cannot be.
    """
    try:
        for row in runs.filter(pl.col("status") == "ok").select(info.columns).iter_rows():
            check_censored(*row)
    except ValueError as error:
        raise ValueError(f"runs.parquet: {info.name}: {error}") from None
    if not (cells[f"{info.name}_done"] <= cells[f"{info.name}_flows"]).all():
        raise ValueError(f"cells.parquet: {info.name}: more flows are done in a cell than it has")


def _kept_tables(folder: Path) -> dict[str, Path | pl.DataFrame]:
    """The folders of the tables that runs have kept, by the names of the tables.

    Raises:
        OSError: if one is a link, or has anything but regular files.
    """
    folders: dict[str, Path | pl.DataFrame] = {}
    for path in sorted((folder / "tables").glob("*")):
        if path.is_dir():
            regular = set(regular_files(folder, f"{_TABLES}{path.name}"))
            for file in path.glob("*.parquet"):
                if file.name not in regular:
                    raise OSError(errno.EINVAL, f"{file} is not a regular file", str(file))
            folders[path.name] = path
    return folders


def _check_study(folder: Path, design: Design) -> None:
    """Makes sure that a folder is not another study's, nor of another version's form."""
    manifest = _read_manifest(folder)
    if manifest is not None and manifest.get("format_version") != _FORMAT_VERSION:
        message = (
            f"holds a study in format {manifest.get('format_version')}, and this version goes on with format "
            f"{_FORMAT_VERSION} only; choose another folder"
        )
        raise StudyError([Problem("", message)], str(folder))
    if manifest is not None and manifest.get("fingerprint") != design.fingerprint():
        differs = _differences(manifest.get("parts", {}), design.parts())
        message = f"holds another study, with {differs}; choose another folder"
        raise StudyError([Problem("", message)], str(folder))


def _differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """What two studies differ in."""
    if not isinstance(theirs, dict):
        return "other contents"
    differences = []
    for part in {**ours, **theirs}:
        here, there = ours.get(part), theirs.get(part)
        if there == here:
            continue
        if part == "live":
            differences.append("live runs" if there else "simulated runs")
            continue
        shown = isinstance(here, int | str) and isinstance(there, int | str) and part != "scenario"
        kind = "another" if part in ("scenario", "version", "keep") else "other"
        differences.append(f"{part} = {there} in place of {here}" if shown else f"{kind} {part}")
    return " and ".join(differences) or "other contents"


def _manifest(design: Design) -> dict[str, Any]:
    parts = design.parts()
    return {
        "format": FORMAT,
        "format_version": _FORMAT_VERSION,
        "version": _core.version(),
        "fingerprint": design.fingerprint(),
        "title": design.title,
        "confidence": design.confidence,
        "replications": design.replications,
        "cells": design.cells,
        "runs": design.runs,
        **({"live": True} if design.live else {}),
        "factors": parts["factors"],
        "metrics": [asdict(info) for info in design.metric_infos],
        "parts": parts,
    }


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    """What study.json has; None if the folder has none of ours.

    Raises:
        StudyError: if it cannot be read: nobody knows then of which study the journal is.
    """
    try:
        manifest = read_json(read_inside(folder, _MANIFEST))
    except OSError:
        return None
    except ValueError as error:
        raise StudyError([Problem(_MANIFEST, f"{error}: {REMEDY} in another folder")], str(folder)) from None
    return manifest if isinstance(manifest, dict) and manifest.get("format") == FORMAT else None


def _study_data(design: Design) -> dict[str, Any]:
    """The study as a file would say it, with every level and metric written out."""
    return {
        "title": design.title,
        "replications": design.replications,
        "confidence": design.confidence,
        "keep": design.keep,
        "scenario": design.data,
        "factor": [dimension.data() for dimension in design.dimensions if dimension != HOSTS],
        "metric": [metric.data(given_only=True) for metric in design.metrics],
    }
