"""The folder of a study: what is done is kept at once, so that a study that was stopped goes on where it was.

manifest.json          what of it is ours, but for tables/
study.toml             the study, with every level written out
study.json             format, version, fingerprint, factors and metrics
topologies/            the topology files that it uses
tables/NAME/NNNNNN.parquet   tables of the runs, where they are kept
journal.jsonl          a line for each finished run, with the time: the one file that is not reproducible
runs.parquet, runs.csv, cells.parquet, cells.csv   when all runs are done
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import polars as pl
import tomli_w

from anabranch import _core
from anabranch.errors import Problem, ResultError, StudyError, reason
from anabranch.folders import Addition
from anabranch.result import csv_bytes
from anabranch.signals import deferred
from anabranch.study.design import HOSTS, Design
from anabranch.study.files import unpack
from anabranch.study.journal import NAME as JOURNAL
from anabranch.study.journal import Finished, Journal, append, runs_done, runs_table
from anabranch.study.result import FactorInfo, MetricInfo, StudyResult
from anabranch.study.work import Outcome, parquet

FORMAT = "anabranch-study"
"""Value of ``format`` in study.json, by which a study folder is known."""
_FORMAT_VERSION = 4
"""4: completion times of unfinished flows count; 3: the journal has what runs measured."""
_MANIFEST = "study.json"
_STUDY = "study.toml"
_ENDS = ("runs.parquet", "runs.csv", "cells.parquet", "cells.csv")
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
        own = (_MANIFEST, _STUDY, JOURNAL, *design.files)
        claims = (*own, *_ENDS, *_OUTPUTS, "figures/")
        self._addition = Addition(folder, "study", claims, replace=replace)
        try:
            self._addition.open()
            self._addition.claim(own)
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
                self._tidy()
            self._addition.close()

    def _tidy(self) -> None:
        """Removes what was being written when a process was stopped."""
        for pattern in (".*.tmp", "tables/*/.*.tmp"):
            for leftover in self._folder.glob(pattern):
                leftover.unlink()

    def _open(self) -> None:
        folder = self._folder
        # Another one may have worked here until the folder was locked.
        _check_study(folder, self._design)
        self._journal = Journal(folder, self._design)
        self._tidy()
        text = json.dumps(_manifest(self._design), indent=2, ensure_ascii=False, allow_nan=False)
        manifest = f"{text}\n".encode()
        if not (folder / _MANIFEST).is_file() or (folder / _MANIFEST).read_bytes() != manifest:
            # A title or a confidence may have changed, with the tables at the end.
            for name in _ENDS:
                (folder / name).unlink(missing_ok=True)
            _write(folder / _MANIFEST, manifest)
        _write(folder / _STUDY, tomli_w.dumps(_study_data(self._design)).encode())
        unpack(self._design.files, folder)

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
            name = f"{outcome.run:06d}.parquet"
            for table, content in outcome.tables.items():
                (self._folder / "tables" / table).mkdir(parents=True, exist_ok=True)
                _write(self._folder / "tables" / table / name, content)
            self._open_journal.append(outcome)
        except OSError as error:
            raise self._unwritable(error) from None

    def finish(self, add: Callable[[StudyResult, Path], None] | None = None) -> StudyResult:
        """Writes the tables over all runs, once all are done.

        Args:
            add: writes what else there is, such as figures, into the folder that it is given.

        Raises:
            StudyError: if the tables cannot be written.
            ResultError: if the rest cannot.
        """
        result = StudyResult.from_runs(
            title=self._design.title,
            confidence=self._design.confidence,
            replications=self._design.replications,
            factors=self._design.factor_infos,
            metrics=self._design.metric_infos,
            runs=runs_table(self._design, self.finished),
            tables=_kept_tables(self._folder),
            live=self._design.live,
        )
        partial = self._addition.partial
        try:
            for name, table in (("runs", result.runs), ("cells", result.cells)):
                _write(partial / f"{name}.parquet", parquet(table))
                _write(partial / f"{name}.csv", csv_bytes(table))
        except OSError as error:
            raise self._unwritable(error) from None
        if add is not None:
            add(result, partial)
        self._addition.put()
        return result

    def _unwritable(self, error: OSError) -> StudyError:
        message = (
            f"cannot be written: {reason(error)}; the runs that are in it are kept, and the same command "
            "goes on from there"
        )
        return StudyError([Problem("", message)], str(self._folder))


def load(folder: Path) -> StudyResult:
    """The result in the folder of a study whose runs are all done.

    Raises:
        StudyError: if there is none.
    """
    manifest = _read_manifest(folder)
    if manifest is None:
        message = f"not a study folder; it has no {_MANIFEST} that says so"
        raise StudyError([Problem("", message)], str(folder))
    if not all((folder / name).is_file() for name in _ENDS):
        done = f"{runs_done(folder):,} of {manifest['runs']:,} runs"
        message = f"has {done}; start the study again, and it goes on from there"
        raise StudyError([Problem("", message)], str(folder))
    try:
        runs, cells = (pl.read_parquet(folder / f"{name}.parquet") for name in ("runs", "cells"))
        return StudyResult(
            title=manifest["title"],
            confidence=manifest["confidence"],
            replications=manifest["replications"],
            factors=tuple(_factor_info(entry) for entry in manifest["factors"]),
            metrics=tuple(MetricInfo(**entry) for entry in manifest["metrics"]),
            runs=runs,
            cells=cells,
            tables=_kept_tables(folder),
            live=bool(manifest.get("live", False)),
        )
    except (OSError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise StudyError([Problem("", f"cannot be read: {error}")], str(folder)) from None


def _factor_info(entry: Mapping[str, Any]) -> FactorInfo:
    return FactorInfo(entry["name"], entry["label"], entry["kind"], entry["unit"], tuple(entry["levels"]))


def _kept_tables(folder: Path) -> dict[str, Path | pl.DataFrame]:
    return {path.name: path for path in sorted((folder / "tables").glob("*")) if path.is_dir()}


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
    found = []
    for part in {**ours, **theirs}:
        here, there = ours.get(part), theirs.get(part)
        if there == here:
            continue
        if part == "live":
            found.append("live runs" if there else "simulated runs")
            continue
        shown = isinstance(here, int | str) and isinstance(there, int | str) and part != "scenario"
        kind = "another" if part in ("scenario", "version", "keep") else "other"
        found.append(f"{part} = {there} in place of {here}" if shown else f"{kind} {part}")
    return " and ".join(found) or "other contents"


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
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
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
        "metric": [metric.model_dump(mode="json", exclude_defaults=True) for metric in design.metrics],
    }


def _write(path: Path, content: bytes) -> None:
    """A file that appears whole or not at all."""
    partial = f"{path.parent}/.{path.name}.tmp"
    try:
        # Plain calls: with tables kept, this is most of what a study's own process does for a run.
        with open(partial, "wb", buffering=0) as file:  # noqa: PTH123 - see above
            append(file, content)
        os.replace(partial, path)  # noqa: PTH105 - see above
    except OSError:
        Path(partial).unlink(missing_ok=True)
        raise
